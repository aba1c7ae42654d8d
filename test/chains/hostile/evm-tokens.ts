import { keccak256, toBytes } from 'viem';
import { transferData } from '#ops/dev/services/evm-node.ts';
import { addressWord, calling, type EvmBench, TRANSFER, word } from './evm-bench.ts';
import { emit, FAIL, IDLE, makeCall, type WantedLog } from './evm-code.ts';
import { type Row, tokens } from './row.ts';

const V = 9_000_001n;
const PAYER = `0x${'66'.repeat(20)}`;
const SYSTEM = '0xfffffffffffffffffffffffffffffffffffffffe';
const LARGEST = 2n ** 256n - 1n;
const topic = (signature: string): string => keccak256(toBytes(signature)).slice(2);
const usdt = (rawAmount: bigint, ordinal: number) => tokens('USDT', rawAmount, ordinal);
/** The very log that is credited when a configured token emits it. */
const transfer = (to: string, value = V): WantedLog => ({ topics: [TRANSFER, addressWord(PAYER), addressWord(to)], data: word(value) });

/** A log of the configured token itself, made by giving it other code for one transaction. */
const said = (name: string, reason: string, log: (to: string) => WantedLog): Row<EvmBench> => ({
  name,
  reason,
  make: (bench, to) => bench.with(bench.chain.tokens.USDT, emit(log(to))),
});

/** Logs of a configured token that are no transfer of it. */
export const NO_TRANSFERS: readonly Row<EvmBench>[] = [
  said('four topics', 'ERC-721 has the same signature, and its fourth topic is a number, not an amount', (to) => ({
    topics: [...transfer(to).topics, word(V)],
    data: '',
  })),
  said('four topics and a word of data', 'made to be read by whoever checks the data alone', (to) => ({
    topics: [...transfer(to).topics, word(1n)],
    data: word(V),
  })),
  said('two topics', 'early tokens indexed one end only, and its data is two words long', (to) => ({
    topics: [TRANSFER, addressWord(PAYER)],
    data: addressWord(to) + word(V),
  })),
  said('two topics, the recipient among them', 'a topic that is missing must not move the others up', (to) => ({
    topics: [TRANSFER, addressWord(to)],
    data: word(V),
  })),
  said('the signature alone', 'nothing is indexed: CryptoKitties did this', (to) => ({
    topics: [TRANSFER],
    data: addressWord(PAYER) + addressWord(to) + word(V),
  })),
  said('no topics', 'an anonymous event may hold anything in its data', (to) => ({
    topics: [],
    data: TRANSFER + addressWord(PAYER) + addressWord(to) + word(V),
  })),
  said('no data', 'an amount that is left out is not zero, it is nothing', (to) => ({ ...transfer(to), data: '' })),
  said('data of 31 bytes', 'a short word must not be padded on either side', (to) => ({ ...transfer(to), data: word(V).slice(2) })),
  said('data of 33 bytes', 'a long word must not be cut', (to) => ({ ...transfer(to), data: `${word(V)}00` })),
  said('two words of data', 'ERC-223 and others put more behind the amount; whose amount it is cannot be told', (to) => ({
    ...transfer(to),
    data: word(V) + word(V),
  })),
  said('a recipient whose padding is dirty', 'the last twenty bytes are ours, the word is not: an address is 20 bytes', (to) => ({
    ...transfer(to),
    topics: [TRANSFER, addressWord(PAYER), `01${addressWord(to).slice(2)}`],
  })),
  said('a recipient at the wrong end of its word', 'addresses stand right, bytes20 stands left', (to) => ({
    ...transfer(to),
    topics: [TRANSFER, addressWord(PAYER), to.slice(2).padEnd(64, '0')],
  })),
  said('a sender whose padding is dirty', 'a log of which one end is no address is believed at neither', (to) => ({
    ...transfer(to),
    topics: [TRANSFER, `ff${addressWord(PAYER).slice(2)}`, addressWord(to)],
  })),
  said('an amount of zero', 'address poisoning: anybody can make a real token say this', (to) => transfer(to, 0n)),
  said('an approval', 'an allowance is a promise', (to) => ({
    ...transfer(to),
    topics: [topic('Approval(address,address,uint256)'), ...transfer(to).topics.slice(1)],
  })),
  said('a deposit of wrapped coins', 'WETH says Deposit(to, amount), and no transfer', (to) => ({
    topics: [topic('Deposit(address,uint256)'), addressWord(to)],
    data: word(V),
  })),
  said('a withdrawal of wrapped coins', 'WETH says Withdrawal(from, amount)', (to) => ({
    topics: [topic('Withdrawal(address,uint256)'), addressWord(to)],
    data: word(V),
  })),
  said('a transfer of one kind of many', 'ERC-1155 names operator, sender and recipient, and an id before the amount', (to) => ({
    topics: [topic('TransferSingle(address,address,address,uint256,uint256)'), addressWord(PAYER), addressWord(PAYER), addressWord(to)],
    data: word(1n) + word(V),
  })),
  said('a transfer of ERC-223', 'the same name with another signature', (to) => ({
    ...transfer(to),
    topics: [topic('Transfer(address,address,uint256,bytes)'), ...transfer(to).topics.slice(1)],
  })),
  said('a message of ERC-777', 'Sent comes beside Transfer; counting both would pay twice', (to) => ({
    topics: [topic('Sent(address,address,address,uint256,bytes,bytes)'), addressWord(PAYER), addressWord(PAYER), addressWord(to)],
    data: word(V),
  })),
  said('a signature that differs in its last digit', 'a prefix of the signature is not the signature', (to) => ({
    ...transfer(to),
    topics: [`${TRANSFER.slice(0, -1)}e`, ...transfer(to).topics.slice(1)],
  })),
];

/** Transfers that other contracts than the configured ones tell of. */
export const STRANGE_TOKENS: readonly Row<EvmBench>[] = [
  {
    name: 'a token of the same name, symbol and decimals',
    reason: 'the symbol is whatever its author says; only the contract counts',
    make: async (bench, to) => {
      const text = (value: string): string => word(BigInt(value.length)) + Buffer.from(value).toString('hex').padEnd(64, '0');
      const fake = await bench.deploy('SilentToken', word(0x60n) + word(0xa0n) + word(6n) + text('Tether USD') + text('USDT'));
      return bench.send({ to: fake, data: calling('mint(address,uint256)', to, V) });
    },
  },
  {
    name: 'a contract that says whatever it likes',
    reason: 'a log names its emitter; its topics are text',
    make: async (bench, to) => bench.send({ to: await bench.place(emit(transfer(to))) }),
  },
  {
    name: 'more than all the money there is, of an unknown token',
    reason: 'amounts of strangers are as large as a word; nothing may overflow',
    make: async (bench, to) => bench.send({ to: await bench.place(emit(transfer(to, LARGEST))) }),
  },
  {
    name: 'a contract whose address begins and ends like the token’s',
    reason: 'people compare the ends of addresses; code compares all of them',
    make: async (bench, to) => {
      const { USDT } = bench.chain.tokens;
      return bench.with(`${USDT.slice(0, 8)}${'0'.repeat(28)}${USDT.slice(-6)}`, emit(transfer(to)));
    },
  },
  {
    name: 'the token’s own code in a stranger’s name',
    reason: 'a delegatecall makes the borrower the emitter, though the code is the real one',
    make: async (bench, to) => {
      const { USDT } = bench.chain.tokens;
      return bench.send({ to: await bench.place(makeCall({ kind: 'DELEGATECALL', to: USDT, data: calling('mint(address,uint256)', to, V) })) });
    },
  },
  {
    name: 'calldata of a transfer to a contract that does nothing',
    reason: 'success and the right calldata are no transfer',
    make: async (bench, to) => bench.send({ to: await bench.place(IDLE), data: transferData(to, V) }),
  },
  {
    name: 'calldata of a transfer to the token while it does nothing',
    reason: 'the same with the real contract: only its log counts',
    make: (bench, to) => bench.with(bench.chain.tokens.USDT, IDLE, { data: transferData(to, V) }),
  },
  {
    name: 'calldata of a transfer to somebody who is not a contract',
    reason: 'every call of nobody succeeds',
    make: (bench, to) => bench.send({ to: PAYER, data: transferData(to, V) }),
  },
  {
    name: 'a log of the chain itself where the switch for these is off',
    reason: 'EIP-7708 logs every movement of coins from a system address in the shape of a transfer; it is the coin, never a token',
    make: (bench, to) => bench.with(SYSTEM, emit(transfer(to))),
  },
  {
    name: 'a stranger’s transfer that names the address as its sender',
    reason: 'address poisoning: an outgoing payment that never was must neither book nor alarm anything',
    make: async (bench, to) => bench.send({ to: await bench.place(emit({ topics: [TRANSFER, addressWord(to), addressWord(PAYER)], data: word(V) })) }),
  },
  {
    name: 'a transfer of nothing from the address, by anybody, with the real token',
    reason: 'transferFrom of zero needs no allowance: the address poisoning of 2022',
    make: (bench, to) => bench.send({ to: bench.chain.tokens.USDT, data: calling('transferFrom(address,address,uint256)', to, PAYER, 0n) }),
  },
  {
    name: 'a transfer of the token that is undone',
    reason: 'a reverted call takes its logs with it, in a transaction that succeeds',
    make: async (bench, to) => {
      const failing = await bench.place(`${makeCall({ to: bench.chain.tokens.USDT, data: calling('mint(address,uint256)', to, V) })}${FAIL}`);
      return bench.send({ to: await bench.place(makeCall({ to: failing })) });
    },
  },
  {
    name: 'a transfer of the token in a transaction that fails',
    reason: 'the whole of it is undone',
    make: async (bench, to) =>
      bench.send({ to: await bench.place(`${makeCall({ to: bench.chain.tokens.USDT, data: calling('mint(address,uint256)', to, V) })}${FAIL}`) }),
  },
  {
    name: 'a transfer of the token that its sender cannot pay for',
    reason: 'a plain failure, with perfect calldata',
    make: (bench, to) => bench.send({ to: bench.chain.tokens.USDT, data: transferData(to, 10n ** 30n) }),
  },
];

/** Transfers of configured tokens that count, exactly as their log says. */
export const ODD_TOKENS: readonly Row<EvmBench>[] = [
  {
    name: 'new tokens, sent by nobody',
    reason: 'a mint is a transfer from the zero address: who receives it has it',
    make: (bench, to) => bench.send({ to: bench.chain.tokens.USDT, data: calling('mint(address,uint256)', to, V) }),
    gets: [usdt(V, 0)],
  },
  {
    name: 'less than the calldata asked for',
    reason: 'USDT can charge a fee on transfers: what arrives is in the log, never in the calldata',
    make: async (bench, to) => {
      const { USDT } = bench.chain.tokens;
      const txid = await bench.with(USDT, emit(transfer(to, 7_000_003n)), { data: transferData(to, V) });
      await bench.back(USDT, to, 7_000_003n);
      return txid;
    },
    gets: [usdt(7_000_003n, 0)],
  },
  {
    name: 'two transfers among logs of other things',
    reason: 'the place in the receipt tells them apart, whatever stands between',
    make: async (bench, to) => {
      const mint = makeCall({ to: bench.chain.tokens.USDT, data: calling('mint(address,uint256)', to, V) });
      const noise = emit({ topics: [word(1n)], data: '' });
      return bench.send({ to: await bench.place(`${noise}${mint}${noise}${noise}${mint}`) });
    },
    gets: [usdt(V, 1), usdt(V, 4)],
  },
  {
    name: 'a real transfer next to a stranger’s larger one',
    reason: 'the largest log of a transaction is not the payment',
    make: async (bench, to) => {
      const mint = makeCall({ to: bench.chain.tokens.USDT, data: calling('mint(address,uint256)', to, V) });
      return bench.send({ to: await bench.place(`${emit(transfer(to, 10n ** 15n))}${mint}`) });
    },
    gets: [usdt(V, 1)],
  },
  {
    name: 'another configured token than the payment waits for',
    reason: 'it is booked as what it is, and never as what was asked for',
    make: (bench, to) => bench.send({ to: bench.chain.tokens.USDC, data: calling('mint(address,uint256)', to, V) }),
    gets: [tokens('USDC', V, 0)],
  },
];
