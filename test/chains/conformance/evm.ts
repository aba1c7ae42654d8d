import { getContractAddress } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { callData, hex, transferData } from '#ops/dev/services/evm-node.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { CommonChain, TestChain } from '#test/harness/chain.ts';
import { aChainOf } from '#test/harness/chains.ts';
import { EVM_CORPUS, EVM_PUBLISHED } from './evm-corpus.ts';
import { strangerHex } from './stranger.ts';
import { makingCalls } from './evm-calls.ts';
import type { Fault, FamilyDriver, FamilyNode, Paying, Payment, TransferWay } from './family.ts';
import { jsonRpc, startMeddler } from './meddler.ts';

/** Accounts 1 to 3 of every anvil: rich and unlocked, and nothing to do with the faucet. */
const PAYERS = [
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
] as const;
const PLENTY = 10n ** 12n;
const APPROVE = '095ea7b3';
const TRANSFER_FROM = '23b872dd';

/** What anvil starts with. */
const BLOCK_GAS = '0x1c9c380';

const paying: Paying = {
  money: { ETH: { earned: '2', cashout: '1' }, USDT: { earned: '50', cashout: '20' } },
  needsGas: true,
  plenty: 10n ** 19n,
  replacing: 'bump',
  outdatedSeconds: POLICY.payoutBumpSeconds,
  closeSeconds: POLICY.payoutCloseSeconds,
  async forget(chain, txid) {
    await (chain as TestChain).node.call('anvil_dropTransaction', [txid]);
  },
  async mineWithout(chain, blocks) {
    const { node } = chain as TestChain;
    // A block with no room takes nothing, and what waits goes on waiting.
    await node.call('evm_setBlockGasLimit', ['0x1']);
    await node.mine(blocks);
    await node.call('evm_setBlockGasLimit', [BLOCK_GAS]);
  },
  passTime: async () => undefined,
  breakToken,
};

/** EVM chains, on anvil. */
export const evm: FamilyDriver = {
  family: 'evm',
  network: 'ethereum',
  payments: { ETH: 2n * 10n ** 18n, USDT: 2_000_000n, USDC: 2_000_000n },
  main: 'USDT',
  published: EVM_PUBLISHED,
  deriveElsewhere: async (mnemonic, path) => mnemonicToAccount(mnemonic, { path: path as `m/44'/60'/${string}` }).address.toLowerCase(),
  corpora: [EVM_CORPUS],
  deepest: 64,
  stranger: (index) => `0x${strangerHex(index)}`,
  open,
  faults: withholding(),
  paying,
  async lag(node, blocks) {
    const { node: rpc } = node.chain as TestChain;
    const height = await rpc.height();
    const [old, gone] = [await rpc.call('eth_getBlockByNumber', [hex(BigInt(height - blocks)), false]), new Set<unknown>()];
    for (let at = height - blocks + 1; at <= height; at++) {
      const { hash } = await rpc.call<{ hash: string }>('eth_getBlockByNumber', [hex(BigInt(at)), false]);
      gone.add(hash).add(hex(BigInt(at)));
    }
    return ({ call, params, answer }) => {
      const [which] = params as unknown[];
      if (call === 'eth_blockNumber') return hex(BigInt(height - blocks));
      if (which === 'latest' && call === 'eth_getBlockByNumber') return old;
      return gone.has(which) ? null : answer;
    };
  },
};

/** Where the token's real code is kept while it is paused. */
const KEPT_AT = `${'0'.repeat(36)}c0de`;
/** Runtime code that refuses transfer(address,uint256) and hands everything else to the code kept aside. */
const PAUSED = [
  `0x60003560e01c63a9059cbb14604557`,
  `3660006000376000600036600073${KEPT_AT}5af4`,
  `3d600060003e604057`,
  `3d6000fd5b3d6000f3`,
  `5b60006000fd`,
].join('');

async function breakToken(chain: CommonChain): Promise<() => Promise<void>> {
  const { node, tokens } = chain as TestChain;
  const real = await node.call<string>('eth_getCode', [tokens.USDT, 'latest']);
  await node.call('anvil_setCode', [`0x${KEPT_AT}`, real]);
  await node.call('anvil_setCode', [tokens.USDT, PAUSED]);
  return async () => {
    await node.call('anvil_setCode', [tokens.USDT, real]);
  };
}

async function open(configured: NetworkConfig, { notFinal }: { notFinal: number }): Promise<FamilyNode> {
  const chain = (await aChainOf(configured, { blockSeconds: 0 })) as TestChain;
  for (const payer of PAYERS) for (const token of Object.values(chain.tokens)) await chain.mint(token, payer, PLENTY);
  await chain.mine(2);
  const meddler = await startMeddler(chain.url, jsonRpc);
  const rule = { blocks: notFinal + 1 };
  const contractOf = (symbol: string): string | null => (symbol === configured.nativeSymbol ? null : (chain.tokens[symbol as 'USDT'] ?? null));
  return {
    chain,
    network: { ...configured, rpcUrls: [meddler.url], finality: { resolve: [{ rule }], mature: rule } },
    ways: waysOf(chain, configured.nativeSymbol),
    payFrom: (payer, symbol, payment) => payAs(chain, PAYERS[payer] as string, contractOf(symbol), payment),
    async reorganise(depth, { again, replaced }) {
      const transactions: { transaction: string | Record<string, unknown>; block: number }[] = [];
      for (const { txid, block } of again) transactions.push({ transaction: await chain.node.call<string>('eth_getRawTransactionByHash', [txid]), block });
      for (const { txid, by, block } of replaced) {
        const old = await chain.node.call<{ from: string; nonce: string; to: string; value: string }>('eth_getTransactionByHash', [txid]);
        const { from, nonce } = old;
        const call = old.value === '0x0' ? { to: old.to, data: transferData(by.to, by.rawAmount) } : { to: by.to, value: hex(by.rawAmount) };
        transactions.push({ transaction: { from, nonce, gas: hex(200_000n), ...call }, block });
      }
      await chain.reorg(depth, transactions);
    },
    meddle: meddler.meddle,
    async stop() {
      await Promise.all([meddler.stop(), chain.stop()]);
    },
  };
}

function payAs(chain: TestChain, from: string, contract: string | null, { to, rawAmount }: Payment): Promise<string> {
  return contract === null
    ? chain.node.send({ from, to, value: rawAmount })
    : chain.node.send({ from, to: contract, data: transferData(to, rawAmount), gas: 200_000n });
}

function waysOf(chain: TestChain, coin: string): TransferWay[] {
  const { tokens, faucet, node } = chain;
  const single = (name: string, symbol: string, send: (payment: Payment) => Promise<string>): TransferWay => ({
    name,
    symbol,
    kind: symbol === coin ? 'native' : 'token',
    several: false,
    send: ([payment]) => send(payment as Payment),
  });
  const create = (payments: readonly Payment[], calls: Parameters<typeof makingCalls>[0]): Promise<string> =>
    node.send({
      from: faucet,
      data: makingCalls(calls),
      value: calls.reduce((sum, call) => sum + (call.value ?? 0n), 0n),
      gas: 300_000n + 100_000n * BigInt(payments.length),
    });
  return [
    single('a plain payment', coin, (payment) => payAs(chain, faucet, null, payment)),
    single('a token that returns nothing', 'USDT', (payment) => payAs(chain, faucet, tokens.USDT, payment)),
    single('a token that returns true', 'USDC', (payment) => payAs(chain, faucet, tokens.USDC, payment)),
    single('transferFrom by somebody with an allowance', 'USDC', async ({ to, rawAmount }) => {
      await node.send({ from: PAYERS[0], to: tokens.USDC, data: callData(APPROVE, faucet, rawAmount), gas: 200_000n });
      await chain.mine();
      return node.send({ from: faucet, to: tokens.USDC, data: callData(TRANSFER_FROM, PAYERS[0], to, rawAmount), gas: 200_000n });
    }),
    {
      name: 'a contract that passes coins on',
      symbol: coin,
      kind: 'internal',
      several: true,
      send: (payments) =>
        create(
          payments,
          payments.map(({ to, rawAmount }) => ({ to, value: rawAmount })),
        ),
    },
    {
      name: 'a contract that spends an allowance',
      symbol: 'USDC',
      kind: 'token',
      several: true,
      async send(payments) {
        const nonce = BigInt(await node.call<string>('eth_getTransactionCount', [faucet, 'pending']));
        const spender = getContractAddress({ from: faucet as `0x${string}`, nonce: nonce + 1n });
        const sum = payments.reduce((total, { rawAmount }) => total + rawAmount, 0n);
        await node.send({ from: faucet, to: tokens.USDC, data: callData(APPROVE, spender, sum), gas: 200_000n });
        await chain.mine();
        return create(
          payments,
          payments.map(({ to, rawAmount }) => ({ to: tokens.USDC, data: callData(TRANSFER_FROM, faucet, to, rawAmount) })),
        );
      },
    },
  ];
}

/** Empty answers to each question a block is read with. */
function withholding(): Fault[] {
  const empty = (method: string, what: string, answer: unknown, only?: (params: unknown[]) => boolean): Fault => ({
    name: `${what} to ${method}`,
    meddling: (exchange) => (exchange.call === method && (only?.(exchange.params as unknown[]) ?? true) ? answer : exchange.answer),
  });
  const answers: [string, unknown][] = [
    ['null', null],
    ['[]', []],
    ['{}', {}],
  ];
  const methods = ['eth_getBlockReceipts', 'eth_getBlockByHash'];
  const bodies: Fault[] = answers.map(([what, answer]) => empty('eth_getBlockByHash', `${what} for its transactions`, answer, ([, whole]) => whole === true));
  const heads: Fault[] = answers.map(([what, answer]) => empty('eth_getBlockByNumber', what, answer, ([which]) => which === 'latest'));
  const heights: Fault[] = answers.map(([what, answer]) =>
    empty('eth_getBlockByNumber', `${what} for a height`, answer, ([which]) => String(which).startsWith('0x')),
  );
  return [...methods.flatMap((method) => answers.map(([what, answer]) => empty(method, what, answer))), ...bodies, ...heads, ...heights];
}
