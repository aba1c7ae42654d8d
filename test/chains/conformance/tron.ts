import { addressWord, toHex, word } from '#ops/devnet/tron/bytes.ts';
import { selector } from '#ops/devnet/tron/abi.ts';
import { type TronControl, tronControl } from '#ops/devnet/tron/control.ts';
import { TRON_FAUCET } from '#ops/devnet/tron/demo.ts';
import { broadcast, callLocally, signPayment } from '#ops/devnet/tron/send.ts';
import { bytesOf, addressOfKey } from '#ops/devnet/tron/transaction.ts';
import { toBase58, toHex20 } from '#shared/chains/tron/address.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { POLICY } from '#shared/core/policy.ts';
import { aChainOf } from '#test/harness/chains.ts';
import type { TronChain } from '#test/harness/tron-chain.ts';
import type { Fault, FamilyDriver, FamilyNode, Paying, Payment, TransferWay } from './family.ts';
import { type Meddling, plainHttp, startMeddler } from './meddler.ts';
import { strangerHex } from './stranger.ts';
import { TRON_CORPUS, TRON_PUBLISHED } from './tron-corpus.ts';

/** Keys of three payers, made of nothing and known to everybody. */
const PAYERS = ['1', '2', '3'].map((digit) => digit.repeat(64));
const PLENTY = 10n ** 12n;
const SILENCE: readonly [string, unknown][] = [
  ['null', null],
  ['[]', []],
  ['{}', {}],
];

const ENERGY_PRICE = 'getEnergyFee';

const paying: Paying = {
  money: { TRX: { earned: '500', cashout: '200' }, USDT: { earned: '50', cashout: '20' } },
  needsGas: true,
  plenty: 5_000_000_000n,
  replacing: 'expiry',
  // Longer than any bytes of ours are good for.
  outdatedSeconds: 180,
  closeSeconds: POLICY.payoutCloseSeconds,
  async forget(chain, txid) {
    const control = tronControl(chain.url);
    await control.mine(1, [txid]);
    await control.reorg(1, 'drop');
  },
  async mineWithout(chain, blocks) {
    await tronControl(chain.url).mine(blocks, []);
  },
  async passTime(chain, seconds) {
    await tronControl(chain.url).warp(seconds);
  },
  async breakToken(chain) {
    const control = tronControl(chain.url);
    // What was signed with a limit for a tenth of this runs out of energy.
    await control.setParameter(ENERGY_PRICE, 1_000n);
    return () => control.setParameter(ENERGY_PRICE, 100n);
  },
};

/** TRON, on the node of ops/devnet/tron. */
export const tron: FamilyDriver = {
  family: 'tron',
  network: 'tron',
  payments: { TRX: 2_000_000n, USDT: 2_000_000n },
  main: 'USDT',
  published: TRON_PUBLISHED,
  async deriveElsewhere(mnemonic, path) {
    const { TronWeb } = await import('tronweb');
    return TronWeb.fromMnemonic(mnemonic, path).address;
  },
  corpora: [TRON_CORPUS],
  deepest: 27,
  stranger: (index) => toBase58(strangerHex(index)),
  open,
  faults: withholding(),
  paying,
  lag,
};

async function open(configured: NetworkConfig, { notFinal }: { notFinal: number }): Promise<FamilyNode> {
  const chain = (await aChainOf(configured, { blockSeconds: 0 })) as TronChain;
  const control = tronControl(chain.url);
  await control.setSolidLag(notFinal);
  for (const key of PAYERS) {
    const address = toBase58(addressOfKey(key));
    await control.fund(address, PLENTY);
    await control.mint(chain.tokens.USDT, address, PLENTY);
  }
  await control.mine(notFinal + 2);
  const meddler = await startMeddler(chain.url, plainHttp);
  const signed = new Map<string, { hex: string; payer: string; symbol: string }>();
  const contractOf = (symbol: string): string | null => (symbol === configured.nativeSymbol ? null : chain.tokens[symbol as 'USDT']);
  const sign = async (privateKey: string, symbol: string, { to, rawAmount }: Payment) => {
    const transaction = await signPayment(chain.url, { to, contract: contractOf(symbol), raw: rawAmount, privateKey });
    signed.set(transaction.txid, { hex: toHex(bytesOf(transaction)), payer: privateKey, symbol });
    return transaction;
  };
  return {
    chain,
    network: { ...configured, rpcUrls: [meddler.url] },
    ways: waysOf(chain, control, configured),
    payFrom: async (payer, symbol, payment) => broadcast(chain.url, await sign(PAYERS[payer] as string, symbol, payment)),
    async reorganise(depth, { again, replaced }) {
      const blocks: string[][] = Array.from({ length: depth }, () => []);
      for (const { txid, block } of again) blocks[block]?.push(signed.get(txid)?.hex as string);
      for (const { txid, by, block } of replaced) {
        const old = signed.get(txid) as { payer: string; symbol: string };
        blocks[block]?.push(toHex(bytesOf(await sign(old.payer, old.symbol, by))));
      }
      const { refused } = await control.reorg(depth, blocks);
      if (refused.length > 0) throw new Error(`the new branch has no place for ${JSON.stringify(refused)}`);
    },
    meddle: meddler.meddle,
    async stop() {
      await Promise.all([meddler.stop(), chain.stop()]);
    },
  };
}

function waysOf(chain: TronChain, control: TronControl, { nativeSymbol }: NetworkConfig): TransferWay[] {
  const { url, tokens } = chain;
  const single = (name: string, symbol: string, send: (payment: Payment) => Promise<string>): TransferWay => ({
    name,
    symbol,
    kind: symbol === nativeSymbol ? 'native' : 'token',
    several: false,
    send: ([payment]) => send(payment as Payment),
  });
  const hexOf = (address: string): string => `41${toHex20(address)}`;
  const sumOf = (payments: readonly Payment[]): bigint => payments.reduce((sum, { rawAmount }) => sum + rawAmount, 0n);
  return [
    single('a plain payment', nativeSymbol, ({ to, rawAmount }) => chain.pay(to, null, rawAmount)),
    single('a token that returns zero bytes', 'USDT', ({ to, rawAmount }) => chain.pay(to, tokens.USDT, rawAmount)),
    single('transferFrom by somebody with an allowance', 'USDT', async ({ to, rawAmount }) => {
      const [owner] = PAYERS as [string];
      const spender = hexOf(TRON_FAUCET.address);
      await callLocally(url, { contract: tokens.USDT, data: selector('approve(address,uint256)') + addressWord(spender) + word(rawAmount), privateKey: owner });
      await chain.mine();
      const words = addressWord(addressOfKey(owner)) + addressWord(hexOf(to)) + word(rawAmount);
      return callLocally(url, { contract: tokens.USDT, data: selector('transferFrom(address,address,uint256)') + words });
    }),
    {
      name: 'a contract that passes coins on',
      symbol: nativeSymbol,
      kind: 'internal',
      several: true,
      async send(payments) {
        const contract = await control.script({ steps: payments.map(({ to, rawAmount }) => ({ do: 'send', to: hexOf(to), sun: String(rawAmount) })) });
        return callLocally(url, { contract, callValue: sumOf(payments) });
      },
    },
    {
      name: 'a contract that passes tokens on',
      symbol: 'USDT',
      kind: 'token',
      several: true,
      async send(payments) {
        const transfers = payments.map(({ to, rawAmount }) => ({
          do: 'transferToken' as const,
          contract: hexOf(tokens.USDT),
          to: hexOf(to),
          raw: String(rawAmount),
        }));
        const contract = await control.script({ steps: transfers });
        await control.mint(tokens.USDT, contract, sumOf(payments));
        return callLocally(url, { contract });
      },
    },
  ];
}

/** Empty answers to each question a block is read with. */
function withholding(): Fault[] {
  const paths = ['wallet/getblockbynum', 'wallet/gettransactioninfobyblocknum', 'walletsolidity/getblock'];
  const empty = (path: string, what: string, answer: unknown, concerns: (body: Record<string, unknown>) => boolean = () => true): Fault => ({
    name: `${what} to ${path}`,
    meddling: ({ call, params, answer: real }) => (call === path && concerns((params ?? {}) as Record<string, unknown>) ? answer : real),
  });
  return [
    ...paths.flatMap((path) => SILENCE.map(([what, answer]) => empty(path, what, answer))),
    ...SILENCE.map(([what, answer]) => empty('wallet/getblock', what, answer, ({ id_or_num }) => id_or_num === undefined)),
    ...SILENCE.map(([what, answer]) => empty('wallet/getblock', `${what} for a height`, answer, ({ id_or_num }) => id_or_num !== undefined)),
  ];
}

async function lag({ chain }: FamilyNode, blocks: number): Promise<Meddling> {
  const ask = async (body: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(new URL('wallet/getblock', chain.url), { method: 'POST', body: JSON.stringify(body) });
    return (await response.json()) as Record<string, unknown>;
  };
  const { height } = await tronControl(chain.url).status();
  const seen = height - blocks;
  const old = await ask({ id_or_num: String(seen), detail: false });
  return ({ call, params, answer }) => {
    const { id_or_num, num } = (params ?? {}) as { id_or_num?: string; num?: number };
    if (call === 'wallet/getblock') return id_or_num === undefined ? old : Number(id_or_num) > seen ? {} : answer;
    if (call === 'wallet/getblockbynum') return Number(num) > seen ? {} : answer;
    if (call === 'wallet/gettransactioninfobyblocknum') return Number(num) > seen ? [] : answer;
    return answer;
  };
}
