import { describe, expect, it } from 'vitest';
import { ChainUnavailable, type Head, type Reader, type TransactionFacts } from '#shared/chains/chain.ts';
import { askFate, type FateQuestion, type SignedBytes } from '#shared/chains/ask-fate.ts';
import type { Transfer } from '#shared/core/chain-events.ts';

const WALLET = '0xwallet';
const SHOP = '0xshop';
const TOKEN = '0xtoken';
const block = (height: number, time = 0) => ({ height, hash: `0x${height}`, parentHash: `0x${height - 1}`, time });
/** Everything up to block 90 is final. */
const HEAD: Head = { latest: block(100), safeHeight: 95, finalizedHeight: 90 };
const FINAL = { tag: 'finalized' } as const;

const bytes = (txid: string, over: Partial<SignedBytes> = {}): SignedBytes => ({
  txid,
  kind: 'transfer',
  sender: WALLET,
  recipient: SHOP,
  contract: TOKEN,
  ...over,
});
const ask = (over: Partial<FateQuestion> = {}): FateQuestion => ({
  signed: [bytes('a')],
  anchor: null,
  nonce: { sender: WALLET, nonce: 7 },
  expiresAtMs: null,
  absenceCounts: true,
  ...over,
});
const moved = (over: Partial<Transfer> = {}): Transfer => ({
  kind: 'token',
  txid: 'a',
  ordinal: 0,
  height: 80,
  blockHash: '0x80',
  position: 0,
  time: 0,
  sender: WALLET,
  recipient: SHOP,
  contract: TOKEN,
  rawAmount: '5',
  ...over,
});
const included = (over: Partial<TransactionFacts> = {}): TransactionFacts => ({
  txid: 'a',
  height: 80,
  blockHash: '0x80',
  succeeded: true,
  transfers: [],
  ...over,
});

const OUTPUT = `${'0a'.repeat(32)}:1`;
const SPENT: Partial<FateQuestion> = { nonce: null, anchor: { output: OUTPUT, spenders: [{ txid: 'x', inBlock: '0x80' }] } };

/** A provider with these transactions, this many nonces used up to its final block, whose blocks are at these times. */
function aProvider(known: Record<string, TransactionFacts | 'unknowable'>, { used = 0, time = 0 } = {}): Pick<Reader, 'transaction' | 'blockAt' | 'nonceAt'> {
  return {
    async transaction(txid) {
      const facts = known[txid] ?? null;
      if (facts === 'unknowable') throw new ChainUnavailable('it has no index of all transactions');
      return facts;
    },
    blockAt: async (height) => block(height, time),
    nonceAt: async (address, height) => (address === WALLET && height === 90 ? used : 0),
  };
}
const fate = (provider: Parameters<typeof askFate>[0], question = ask(), head = HEAD) => askFate(provider, head, FINAL, question);

describe('what was signed is dead, by the word of a provider,', () => {
  it.each([
    ['when a final transaction of it failed', aProvider({ a: included({ succeeded: false }) }), ask()],
    ['when a final transaction of it succeeded and moved nothing', aProvider({ a: included() }), ask()],
    ['when a final close took its place', aProvider({ c: included({ txid: 'c' }) }), ask({ signed: [bytes('a'), bytes('c', { kind: 'close' })] })],
    ['when a final block has used its nonce with something else', aProvider({}, { used: 8 }), ask()],
    ['when it still waits somewhere though its nonce is used', aProvider({ a: included({ height: null, succeeded: null }) }, { used: 8 }), ask()],
    ['when something else has spent its output in a final block', aProvider({ x: included({ txid: 'x', spends: [OUTPUT] }) }), ask(SPENT)],
    [
      'when its close is final, though the node cannot tell of the others',
      aProvider({ c: included({ txid: 'c' }), a: 'unknowable' }),
      ask({ ...SPENT, signed: [bytes('a'), bytes('c', { kind: 'close' })] }),
    ],
    ['when a final block is beyond its end', aProvider({}, { time: 11 }), ask({ nonce: null, expiresAtMs: 10_000 })],
  ])('%s', async (_, provider, question) => {
    expect(await fate(provider, question)).toEqual({ is: 'dead' });
  });
});

describe('what was signed has paid, by the word of a provider,', () => {
  it.each([
    ['when its token moved', aProvider({ a: included({ transfers: [moved()] }) }), ask()],
    ['in a block that is not final yet', aProvider({ a: included({ height: 99, transfers: [moved()] }) }), ask()],
    ['when less arrived than was meant', aProvider({ a: included({ transfers: [moved({ rawAmount: '1' })] }) }), ask()],
    ['when its token took something from the wallet for somebody else', aProvider({ a: included({ transfers: [moved({ recipient: '0xother' })] }) }), ask()],
    ['when its coins went', aProvider({ a: included() }), ask({ signed: [bytes('a', { contract: null })] })],
    ['when its outcome is not told', aProvider({ a: included({ succeeded: null }) }), ask()],
    [
      'though another of it failed',
      aProvider({ a: included({ succeeded: false }), b: included({ transfers: [moved()] }) }),
      ask({ signed: [bytes('a'), bytes('b')] }),
    ],
  ])('%s', async (_, provider, question) => {
    expect((await fate(provider, question)).is).toBe('paid');
  });
});

describe('what was signed may still pay, by the word of a provider,', () => {
  it.each([
    ['when it failed in a block that is not final', aProvider({ a: included({ height: 91, succeeded: false }) }), ask(), HEAD],
    ['when its nonce is not used in a final block', aProvider({}, { used: 7 }), ask(), HEAD],
    ['when no final block is beyond its end', aProvider({}, { time: 10 }), ask({ nonce: null, expiresAtMs: 10_000 }), HEAD],
    ['when it can only be told by a transaction, and there is none', aProvider({}, { used: 99 }), ask({ nonce: null }), HEAD],
    ['when it is so old that a node may have forgotten it', aProvider({}, { used: 8, time: 11 }), ask({ absenceCounts: false }), HEAD],
    ['when what the books say spent its output did not', aProvider({ x: included({ txid: 'x', spends: ['other:0'] }) }), ask(SPENT), HEAD],
    ['when what spent its output is not final', aProvider({ x: included({ txid: 'x', height: 91, spends: [OUTPUT] }) }), ask(SPENT), HEAD],
    ['when the provider knows of no final block', aProvider({}, { used: 8 }), ask(), { ...HEAD, finalizedHeight: null }],
  ])('%s', async (_, provider, question, head) => {
    expect((await fate(provider, question, head)).is).toBe('open');
  });
});

it('a provider that cannot be trusted has said nothing', async () => {
  const provider = { ...aProvider({}), transaction: async () => Promise.reject(new ChainUnavailable('no')) };
  await expect(fate(provider)).rejects.toBeInstanceOf(ChainUnavailable);
});
