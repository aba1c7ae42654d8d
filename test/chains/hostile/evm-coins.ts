import { createWalletClient, custom, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { FAUCET } from '#ops/dev/local-evm.ts';
import { hex, transferData } from '#ops/dev/services/evm-node.ts';
import { calling, type EvmBench } from './evm-bench.ts';
import { asCreation, die, FAIL, IDLE, makeCall, SPIN } from './evm-code.ts';
import { coins, passed, type Row } from './row.ts';

const V = 5_000_000_000_000_001n;
const eth = (rawAmount: bigint) => coins('ETH', rawAmount);
const inner = (rawAmount: bigint, ordinal: number) => passed('ETH', rawAmount, ordinal);

/** A transaction of the newest type, signed by the faucet, whose authorization hands `delegate`'s code to somebody. */
async function setCodeTransaction({ chain }: EvmBench, to: string, delegate: string, value: bigint): Promise<string> {
  const authority = privateKeyToAccount(`0x${'7'.repeat(64)}`);
  const account = privateKeyToAccount(FAUCET.privateKey as Hex);
  const chainId = 31_337;
  const nonce = Number(await chain.node.call<string>('eth_getTransactionCount', [chain.faucet, 'latest']));
  const authorization = await authority.signAuthorization({ contractAddress: delegate as Hex, chainId, nonce: 0 });
  const client = createWalletClient({ account, transport: custom({ request: ({ method, params }) => chain.node.call(method, params as unknown[]) }) });
  const raw = await client.signTransaction({
    chain: null,
    type: 'eip7702',
    chainId,
    nonce,
    to: to as Hex,
    value,
    gas: 300_000n,
    maxFeePerGas: 10_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    authorizationList: [authorization],
  });
  const txid = await chain.node.call<string>('eth_sendRawTransaction', [raw]);
  await chain.node.mine();
  return txid;
}

/** Native coins that did not arrive. */
export const LOST_COINS: readonly Row<EvmBench>[] = [
  {
    name: 'a payment to a deposit address that reverts',
    reason: 'a failed transaction still shows its value and recipient; exchanges credited these in 2017',
    make: (bench, to) => bench.with(to, FAIL, { value: V }),
  },
  {
    name: 'a payment to a deposit address that runs out of gas',
    reason: 'the same without a revert: every gas is spent, nothing moves',
    make: (bench, to) => bench.with(to, SPIN, { value: V, gas: 60_000n }),
  },
  {
    name: 'a payment inside a call that reverts while the transaction succeeds',
    reason: 'the frame of the payment carries no error of its own (the try/catch deposit of 2018)',
    make: async (bench, to) => bench.send({ to: await bench.deploy('Passer'), data: calling('tryAndFail(address)', to), value: V }),
  },
  {
    name: 'a payment two calls below the one that reverts',
    reason: 'only looking at the parent of a frame is not enough',
    make: async (bench, to) => {
      const [first, second] = [await bench.deploy('Passer'), await bench.deploy('Passer')];
      return bench.send({ to: first, data: calling('failAbove(address,address)', to, second), value: V });
    },
  },
  {
    name: 'a payment through a contract that fails as a whole',
    reason: 'traces of failed transactions list what was undone',
    make: async (bench, to) => bench.send({ to: await bench.deploy('Passer'), data: calling('forwardAndFail(address)', to), value: V }),
  },
  {
    name: 'borrowed code with a value (delegatecall to the address)',
    reason: 'its frame shows the value of the call around it, and none of it moves',
    make: async (bench, to) => bench.send({ to: await bench.place(makeCall({ kind: 'DELEGATECALL', to })), value: V }),
  },
  {
    name: 'borrowed code of the old kind with a value (callcode to the address)',
    reason: 'callcode names a value and pays it to the caller itself',
    make: async (bench, to) => bench.send({ to: await bench.place(makeCall({ kind: 'CALLCODE', to, value: V })), value: V }),
  },
  {
    name: 'a static call to the address',
    reason: 'it cannot carry coins, whatever a tracer shows of it',
    make: async (bench, to) => bench.send({ to: await bench.place(makeCall({ kind: 'STATICCALL', to })), value: V }),
  },
  {
    name: 'a call to the address without coins',
    reason: 'address poisoning: noise that must leave no row',
    make: async (bench, to) => bench.send({ to: await bench.place(makeCall({ to })), value: V }),
  },
  {
    name: 'a transaction to the address without coins',
    reason: 'address poisoning by plain transactions',
    make: (bench, to) => bench.send({ to, data: '0x1234' }),
  },
  {
    name: 'a call that offers more coins than there are',
    reason: 'a tracer lists the attempt with its whole value',
    make: async (bench, to) => bench.send({ to: await bench.place(makeCall({ to, value: 10n ** 24n })), value: V }),
  },
  {
    name: 'a call to an address that refuses it, inside a transaction that succeeds',
    reason: 'failure at the very end of the call tree',
    make: async (bench, to) => {
      const through = await bench.place(makeCall({ to, value: V }));
      return bench.with(to, FAIL, { to: through, value: V });
    },
  },
  {
    name: 'a creation that pays the address and then fails',
    reason: 'no contract, no address, and no payment either',
    make: (bench, to) => bench.send({ data: `0x${makeCall({ to, value: V })}${FAIL}`, value: V }),
  },
  {
    name: 'an end of a contract that is undone',
    reason: 'a selfdestruct below a reverted call hands nothing over',
    make: async (bench, to) => {
      const dying = await bench.place(die(to));
      const failing = await bench.place(`${makeCall({ to: dying, value: V })}${FAIL}`);
      return bench.send({ to: await bench.place(makeCall({ to: failing, value: V })), value: V });
    },
  },
  {
    name: 'the tips of a block made in its favour',
    reason: 'coinbase payments are in no transaction: they are left to the balance audit (chains 1.2)',
    make: async (bench, to) => {
      await bench.unseen(to, async () => {
        const { node } = bench.chain;
        const { miner } = await node.call<{ miner: string }>('eth_getBlockByNumber', ['latest', false]);
        await node.call('anvil_setCoinbase', [to]);
        await bench.sendRaw({ to: bench.chain.outsider, value: '0x1', maxFeePerGas: hex(10n ** 10n), maxPriorityFeePerGas: hex(10n ** 9n) });
        await node.call('anvil_setCoinbase', [miner]);
      });
      return undefined;
    },
  },
  {
    name: 'a balance that grows without any transaction',
    reason: 'withdrawals of stakers and rewards of a rollup appear like this',
    make: async (bench, to) => {
      await bench.unseen(to, async () => {
        await bench.chain.node.call('anvil_setBalance', [to, hex(V)]);
        await bench.chain.mine();
      });
      return undefined;
    },
  },
];

/** Native coins that did arrive, in ways that are easy to count twice or not at all. */
export const ODD_COINS: readonly Row<EvmBench>[] = [
  {
    name: 'a transaction of the first type',
    reason: 'wallets still sign without a chain of fees: type 0',
    make: (bench, to) => bench.sendRaw({ to, value: hex(V), gasPrice: hex(10n ** 10n), type: '0x0' }),
    gets: [eth(V)],
  },
  {
    name: 'a transaction with an access list',
    reason: 'type 1',
    make: (bench, to) =>
      bench.sendRaw({ to, value: hex(V), gasPrice: hex(10n ** 10n), type: '0x1', accessList: [{ address: bench.chain.tokens.USDT, storageKeys: [] }] }),
    gets: [eth(V)],
  },
  {
    name: 'a transaction with a tip',
    reason: 'type 2, with the dearest fee nobody should add to the amount',
    make: (bench, to) => bench.sendRaw({ to, value: hex(V), maxFeePerGas: hex(10n ** 11n), maxPriorityFeePerGas: hex(10n ** 11n), type: '0x2' }),
    gets: [eth(V)],
  },
  {
    name: 'a transaction that sets somebody’s code',
    reason: 'type 4 (EIP-7702): an authorization is no payment, the value is',
    make: async (bench, to) => setCodeTransaction(bench, to, await bench.deploy('Passer'), V),
    gets: [eth(V)],
  },
  {
    name: 'a payment to an address that is delegated to a contract',
    reason: 'EIP-7702: the code runs on arrival and the trace has frames of it',
    make: async (bench, to) => bench.with(to, `ef0100${(await bench.place(IDLE)).slice(2)}`, { value: V }),
    gets: [eth(V)],
  },
  {
    name: 'a payment that carries the calldata of a token transfer',
    reason: 'the data of a plain payment is a memo: only its value counts',
    make: (bench, to) => bench.send({ to, value: V, data: transferData(to, 10n ** 12n) }),
    gets: [eth(V)],
  },
  {
    name: 'an address that ends in favour of itself',
    reason: 'since Cancun this moves nothing; before, it burnt: the value that came with it is all there is',
    make: (bench, to) => bench.with(to, die(), { value: V }),
    gets: [eth(V)],
  },
  {
    name: 'a contract that ends in its favour',
    reason: 'selfdestruct runs no code at the address and makes no call',
    make: async (bench, to) => bench.send({ to: await bench.place(die(to)), value: V }),
    gets: [inner(V, 1)],
  },
  {
    name: 'a contract that exists only to end in its favour',
    reason: 'created and gone in one transaction',
    make: async (bench, to) => bench.send({ to: await bench.deploy('Passer'), data: calling('dieFor(address)', to), value: V }),
    gets: [inner(V, 2)],
  },
  {
    name: 'a creation that pays from its constructor',
    reason: 'there is no recipient to the transaction at all',
    make: (bench, to) => bench.send({ data: asCreation(makeCall({ to, value: V })), value: V }),
    gets: [inner(V, 1)],
  },
  {
    name: 'two payments of one amount in one transaction',
    reason: 'they differ by their place alone, and one of them is no duplicate',
    make: async (bench, to) => bench.send({ to: await bench.place(makeCall({ to, value: V }).repeat(2)), value: 2n * V }),
    gets: [inner(V, 1), inner(V, 2)],
  },
  {
    name: 'a payment in vain before a real one',
    reason: 'what failed must not take the number of what counts',
    make: async (bench, to) => bench.send({ to: await bench.deploy('Passer'), data: calling('tryThenSend(address,uint256)', to, V), value: 2n * V }),
    gets: [inner(V, 1)],
  },
  {
    name: 'a payment by a smart wallet',
    reason: 'the payer is the borrower of the code, and the code’s own frame shows the value a second time',
    make: async (bench, to) => {
      const wallet = await bench.deploy('Wallet', (await bench.deploy('Passer')).slice(2).padStart(64, '0'));
      return bench.send({ to: wallet, data: calling('send(address,uint256)', to, V), value: V });
    },
    gets: [inner(V, 1)],
  },
  {
    name: 'coins and a token in one transaction',
    reason: 'one payment must not hide the other',
    make: async (bench, to) => {
      const { USDT } = bench.chain.tokens;
      return bench.send({
        to: await bench.place(`${makeCall({ to, value: V })}${makeCall({ to: USDT, data: calling('mint(address,uint256)', to, 7_000_001n) })}`),
        value: V,
      });
    },
    gets: [inner(V, 1), { symbol: 'USDT', kind: 'token', ordinal: 0, rawAmount: 7_000_001n }],
  },
];
