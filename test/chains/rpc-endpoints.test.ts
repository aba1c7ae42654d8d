import { beforeEach, describe, expect, it } from 'vitest';
import { type BlockRef, ChainUnavailable, type Head, type Payer, type Reader, type TransactionFacts, type Trouble } from '#shared/chains/chain.ts';
import { type EndpointReport, type Endpoints, watchEndpoints } from '#shared/chains/watch-endpoints.ts';
import { joinPayers } from '#shared/chains/join-payers.ts';
import { type JoinedReader, joinReaders } from '#shared/chains/join-readers.ts';
import type { SoughtTransfer, SecondOpinion } from '#shared/chains/endpoint-votes.ts';
import type { Transfer } from '#shared/core/chain-events.ts';

const GENESIS = 'genesis';

/** One endpoint as a test has it: what it answers, and what it was asked. */
interface Fake {
  provider: string;
  genesis: string;
  height: number;
  /** Hashes that are not `b<height>`. */
  other: Map<number, string>;
  known: Set<string>;
  /** What it tells of mined transactions. */
  facts: Map<string, TransactionFacts>;
  /** Whether it shows what contracts pass on. */
  sighted: boolean;
  fault: ChainUnavailable | null;
  asked: string[];
  took: Uint8Array[];
}

let now: number;
let fakes: Fake[];
let changes: string[];
let endpoints: Endpoints;
let reader: JoinedReader;
let payer: Payer;

beforeEach(() => {
  now = 0;
  changes = [];
});

function fake(provider: string): Fake {
  return { provider, genesis: GENESIS, height: 100, other: new Map(), known: new Set(), facts: new Map(), sighted: true, fault: null, asked: [], took: [] };
}

function fault(trouble: Trouble, retryAfterMs?: number): ChainUnavailable {
  return new ChainUnavailable(`no answer (${trouble})`, { trouble, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

function blockOf(one: Fake, height: number): BlockRef {
  if (height > one.height) throw new ChainUnavailable(`it does not know block ${height}`);
  const hash = (at: number): string => one.other.get(at) ?? `b${at}`;
  return { height, hash: hash(height), parentHash: hash(height - 1), time: height };
}

/** Opens a reader over endpoints that answer as their fakes say. */
function open(...providers: string[]): void {
  fakes = providers.map(fake);
  const reading = <T>(one: Fake, what: string, answer: () => T): Promise<T> => {
    one.asked.push(what);
    if (one.fault !== null) return Promise.reject(one.fault);
    try {
      return Promise.resolve(answer());
    } catch (error) {
      return Promise.reject(error);
    }
  };
  const readers = fakes.map(
    (one): Reader => ({
      genesisHash: () => reading(one, 'genesis', () => one.genesis),
      head: () => reading(one, 'head', (): Head => ({ latest: blockOf(one, one.height), safeHeight: null, finalizedHeight: null })),
      blockAt: (height) => reading(one, `blockAt ${height}`, () => blockOf(one, height)),
      foresee: ({ hash }) => void one.asked.push(`foresee ${hash}`),
      block: (hash) => reading(one, `block ${hash}`, () => ({ block: blockOf(one, Number(hash.slice(1))), transfers: [], sent: [] })),
      range: (from, to) => reading(one, `range ${from}..${to}`, () => ({ parentHash: `b${from - 1}`, last: blockOf(one, to), contents: [] })),
      transaction: (txid) =>
        reading(
          one,
          `transaction ${txid}`,
          (): TransactionFacts | null =>
            one.facts.get(txid) ?? (one.known.has(txid) ? { txid, height: null, blockHash: null, succeeded: null, transfers: [] } : null),
        ),
      balance: () => reading(one, 'balance', () => BigInt(one.height)),
      waitingSpenders: (wanted) => reading(one, 'waitingSpenders', () => wanted.map(({ txid }) => (one.known.has(txid) ? `spends ${txid}` : null))),
      seesInternal: () => (one.fault === null ? Promise.resolve(one.sighted) : Promise.reject(one.fault)),
      close: () => Promise.resolve(),
    }),
  );
  const quote = { rawFee: 1n, fields: {}, expiresAtMs: null };
  const payers = fakes.map(
    (one): Payer => ({
      quote: () => reading(one, 'quote', () => ({ ok: true as const, quote })),
      estimate: () => reading(one, 'estimate', () => ({ ok: true as const, quote })),
      bump: () => reading(one, 'bump', () => quote),
      nonce: () => reading(one, 'nonce', () => one.height),
      balance: () => reading(one, 'balance', () => BigInt(one.height)),
      broadcast: (bytes) => {
        one.asked.push('broadcast');
        if (one.fault !== null) return Promise.resolve({ accepted: false, answer: one.fault.message });
        one.took.push(bytes);
        return Promise.resolve({ accepted: true, answer: `taken by ${one.provider}` });
      },
    }),
  );
  const opened = fakes.map((one, at) => ({ provider: one.provider, identify: () => (readers[at] as Reader).genesisHash() }));
  const note = (report: EndpointReport, before: string): void => void changes.push(`${report.provider} ${before} → ${report.state}`);
  endpoints = watchEndpoints({ name: 'ethereum', blockSeconds: 12 }, opened, { now: () => now, observe: { endpoint: () => undefined, changed: note } });
  reader = joinReaders(endpoints, readers, { now: () => now, blockSeconds: 12 });
  payer = joinPayers(endpoints, payers);
}

const at = (index: number): Fake => fakes[index] as Fake;
/** What each endpoint was asked since the last look, identity aside. */
function asked(): string[][] {
  const questions = fakes.map((one) => one.asked.filter((what) => what !== 'genesis'));
  for (const one of fakes) one.asked.length = 0;
  return questions;
}
/** Lets questions that nobody waits for be answered. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const states = (): string[] => endpoints.report().map((one) => one.state);

describe('several endpoints', () => {
  it('asks the preferred endpoint alone while it is well', async () => {
    open('a', 'b');
    expect((await reader.blockAt(7)).hash).toBe('b7');
    expect((await reader.block('b8', { has: () => true })).block.height).toBe(8);
    expect(asked()).toEqual([['blockAt 7', 'block b8'], []]);
  });

  it('runs a whole call on one endpoint, and all of it again on the next when the first cannot be trusted', async () => {
    open('a', 'b');
    at(0).fault = fault('untrusted');
    expect((await reader.range(5, 9, { has: () => true })).last.hash).toBe('b9');
    expect(asked()).toEqual([[], ['range 5..9']]);
  });

  it('gives no answer when nobody has one, and says what each of them said', async () => {
    open('a', 'b');
    await reader.blockAt(1);
    at(0).fault = fault('down');
    at(1).fault = fault('slow');
    await expect(reader.blockAt(2)).rejects.toThrow(/ethereum: no endpoint.*\(down\).*\(slow\)/);
    await expect(reader.blockAt(2)).rejects.toBeInstanceOf(ChainUnavailable);
  });

  it('lets an error that is about the program through at once', async () => {
    open('a', 'b');
    await expect(reader.range(5, 4, { has: () => true }).then(() => endpoints.first(() => Promise.reject(new Error('mine'))))).rejects.toThrow(/^mine$/);
    expect(at(1).asked).toEqual([]);
  });

  it('leaves an endpoint alone after three failures, and comes back to it when it is well again', async () => {
    open('a', 'b');
    await reader.blockAt(1);
    at(0).fault = fault('down');
    for (let i = 0; i < 3; i++) await reader.blockAt(1);
    asked();
    await reader.blockAt(1);
    expect(asked()).toEqual([[], ['blockAt 1']]);
    at(0).fault = null;
    now = 1_000;
    await reader.blockAt(1);
    expect(asked()).toEqual([['blockAt 1'], []]);
    expect(changes).toEqual(['a well → failing', 'a failing → well']);
  });

  it('does not hold a question against an endpoint that it rightly refuses', async () => {
    open('a', 'b');
    at(0).fault = fault('refused');
    await reader.genesisHash();
    at(0).fault = null;
    await reader.blockAt(1);
    at(0).fault = fault('refused');
    for (let i = 0; i < 9; i++) expect(await reader.balance('x', null, 3)).toBe(100n);
    expect(endpoints.report()[0]).toMatchObject({ state: 'well', failures: 0, lastTrouble: 'refused' });
  });

  it('asks nobody before the time it was told to come back at', async () => {
    open('a');
    await reader.blockAt(1);
    at(0).fault = fault('busy', 5_000);
    await expect(reader.blockAt(1)).rejects.toBeInstanceOf(ChainUnavailable);
    at(0).fault = null;
    asked();
    await expect(reader.blockAt(1)).rejects.toMatchObject({ trouble: 'busy', retryAfterMs: 5_000 });
    expect(asked()).toEqual([[]]);
    now = 5_000;
    expect((await reader.blockAt(1)).hash).toBe('b1');
  });

  it('still asks a single endpoint whose circuit is open, because a question must not stay unasked', async () => {
    open('a');
    at(0).fault = fault('down');
    for (let i = 0; i < 9; i++) await expect(reader.blockAt(1)).rejects.toBeInstanceOf(ChainUnavailable);
    at(0).fault = null;
    expect((await reader.blockAt(1)).hash).toBe('b1');
  });
});

describe('a block that a node announced', () => {
  it('is foreseen by the endpoint that would be asked for it, and by no other', async () => {
    open('a', 'b');
    at(0).sighted = false;
    await reader.head();
    await settle();
    asked();
    reader.foresee?.({ height: 101, hash: 'b101', parentHash: 'b100' });
    await settle();
    expect(asked()).toEqual([[], ['foresee b101']]);
  });

  it('is no question that an endpoint can fail', async () => {
    open('a');
    await reader.head();
    const before = endpoints.report();
    at(0).fault = fault('down');
    reader.foresee?.({ height: 101, hash: 'b101', parentHash: 'b100' });
    await settle();
    expect(endpoints.report()).toEqual(before);
  });
});

describe('what contracts pass on', () => {
  it('is read from an endpoint that shows it before one that does not', async () => {
    open('a', 'b');
    at(0).sighted = false;
    await reader.block('b8', { has: () => true });
    await reader.range(5, 9, { has: () => true });
    await reader.blockAt(7);
    expect(asked()).toEqual([['blockAt 7'], ['block b8', 'range 5..9']]);
    expect(await reader.seesInternal()).toBe(true);
  });

  it('is left unseen when nobody who shows it answers, for the rest of the block must not wait', async () => {
    open('a', 'b');
    at(0).sighted = false;
    at(1).fault = fault('down');
    expect((await reader.block('b8', { has: () => true })).block.height).toBe(8);
    expect(asked()[0]).toEqual(['block b8']);
    at(1).sighted = false;
    expect(await reader.seesInternal()).toBe(false);
  });
});

describe('an endpoint of another chain', () => {
  it('is found out before its first use, and never asked again', async () => {
    open('a', 'b');
    await reader.blockAt(1);
    at(1).genesis = 'another';
    at(0).fault = fault('down');
    await expect(reader.blockAt(1)).rejects.toBeInstanceOf(ChainUnavailable);
    expect(at(1).asked).toEqual(['genesis']);
    at(1).genesis = GENESIS;
    now = 3_600_000;
    await expect(reader.blockAt(1)).rejects.toBeInstanceOf(ChainUnavailable);
    expect(at(1).asked).toEqual(['genesis']);
    expect(endpoints.report()[1]).toMatchObject({ state: 'foreign', foreign: 'b serves another chain than ethereum: its first block is another, not genesis' });
    expect(changes).toContain('b well → foreign');
  });

  it('is never asked again either when it says itself that it is one', async () => {
    open('a', 'b');
    at(0).fault = fault('wrong-chain');
    expect((await reader.blockAt(1)).hash).toBe('b1');
    at(0).fault = null;
    now = 3_600_000;
    asked();
    await reader.blockAt(1);
    expect(asked()).toEqual([[], ['blockAt 1']]);
    expect(states()).toEqual(['foreign', 'well']);
  });

  it('is found out when it changes sides while it is in use', async () => {
    open('a', 'b');
    expect(await reader.genesisHash()).toBe(GENESIS);
    at(0).genesis = 'another';
    expect(await reader.genesisHash()).toBe(GENESIS);
    expect(states()).toEqual(['foreign', 'well']);
  });

  it('alone tells its new identity, which those who keep the books compare', async () => {
    open('a');
    expect(await reader.genesisHash()).toBe(GENESIS);
    at(0).genesis = 'another';
    expect(await reader.genesisHash()).toBe('another');
  });

  it('leaves nobody to ask when it is the only one', async () => {
    open('a');
    at(0).fault = fault('wrong-chain');
    await expect(reader.blockAt(1)).rejects.toMatchObject({ trouble: 'wrong-chain' });
    at(0).fault = null;
    await expect(reader.blockAt(1)).rejects.toMatchObject({ trouble: 'wrong-chain' });
    expect(await reader.genesisHash()).toBe(GENESIS);
    expect((await reader.blockAt(1)).hash).toBe('b1');
  });

  it('is not who happens to be configured first: what the books recorded decides', async () => {
    open('a', 'b', 'c');
    at(0).genesis = 'another';
    expect(await reader.genesisHash(GENESIS)).toBe(GENESIS);
    expect(states()).toEqual(['foreign', 'well', 'well']);
    expect((await reader.blockAt(1)).hash).toBe('b1');
    expect(at(0).asked).toEqual(['genesis']);
  });

  it('is corrected by the books when the wrong one was asked before they were', async () => {
    open('a', 'b');
    at(0).genesis = 'another';
    await reader.blockAt(1);
    at(0).fault = fault('down');
    await expect(reader.blockAt(1)).rejects.toBeInstanceOf(ChainUnavailable);
    expect(states()).toEqual(['well', 'foreign']);
    at(0).fault = null;
    expect(await reader.genesisHash(GENESIS)).toBe(GENESIS);
    expect(states()).toEqual(['foreign', 'well']);
  });

  it('cannot be told from the right one while nothing is recorded: then nobody decides', async () => {
    open('a', 'b');
    at(0).genesis = 'another';
    await expect(reader.genesisHash()).rejects.toThrow(/different chains, and none is recorded yet: a begins with another, b begins with genesis/);
    expect(states()).not.toContain('foreign');
    at(0).genesis = GENESIS;
    expect(await reader.genesisHash()).toBe(GENESIS);
  });

  it('that all endpoints serve is told, for those who keep the books to compare', async () => {
    open('a', 'b');
    for (const index of [0, 1]) at(index).genesis = 'another';
    expect(await reader.genesisHash(GENESIS)).toBe('another');
    at(1).fault = fault('down');
    await expect(reader.genesisHash(GENESIS)).rejects.toBeInstanceOf(ChainUnavailable);
  });

  it('is asked again after a minute which chain it serves, and nothing else before it is the right one', async () => {
    open('a', 'b');
    at(0).genesis = 'another';
    await reader.genesisHash(GENESIS);
    at(0).asked.length = 0;
    now = 59_000;
    await reader.head();
    await settle();
    expect(at(0).asked).toEqual([]);
    now = 60_000;
    await reader.head();
    await settle();
    expect(at(0).asked).toEqual(['genesis']);
    at(0).genesis = GENESIS;
    now = 130_000;
    await reader.head();
    await settle();
    expect(states()).toEqual(['well', 'well']);
    asked();
    await reader.blockAt(1);
    expect(asked()).toEqual([['blockAt 1'], []]);
  });
});

describe('the head of several endpoints', () => {
  it('is not told by an endpoint that lags, and is told by it again when it has caught up', async () => {
    open('a', 'b');
    await reader.head();
    await settle();
    at(1).height = 110;
    now = 60_000;
    await reader.head();
    await settle();
    now = 61_000;
    expect((await reader.head()).latest.height).toBe(110);
    expect(states()).toEqual(['lagging', 'well']);
    at(0).height = 111;
    now = 120_000;
    await reader.head();
    await settle();
    expect((await reader.head()).latest.height).toBe(111);
    expect(states()).toEqual(['well', 'well']);
  });

  it('is not told by a lagging endpoint either while whoever was ahead is away, but for so long only', async () => {
    open('a', 'b');
    at(1).height = 110;
    await reader.head();
    await settle();
    at(1).fault = fault('down');
    await expect(reader.head()).rejects.toThrow(/a lags: its head is block 100/);
    now = 60_001;
    expect((await reader.head()).latest.height).toBe(100);
  });

  it('does not go back because another endpoint is asked', async () => {
    open('a', 'b');
    at(1).height = 99;
    expect((await reader.head()).latest.height).toBe(100);
    at(0).fault = fault('down');
    await expect(reader.head()).rejects.toThrow(/b is behind: its head is block 99, but block 100 was seen/);
    at(1).height = 100;
    expect((await reader.head()).latest.height).toBe(100);
  });

  it('goes back when the chain did: the endpoint that told it takes it back', async () => {
    open('a', 'b');
    await reader.head();
    at(0).height = 97;
    expect((await reader.head()).latest.height).toBe(97);
  });

  it('binds nobody for ever: an endpoint that is left alone may tell a lower one', async () => {
    open('a', 'b');
    at(1).height = 90;
    await reader.head();
    at(0).fault = fault('down');
    await expect(reader.head()).rejects.toBeInstanceOf(ChainUnavailable);
    now = 60_001;
    expect((await reader.head()).latest.height).toBe(90);
  });

  it('counts an endpoint on another branch as lagging', async () => {
    open('a', 'b');
    at(1).other.set(100, 'fork');
    await reader.head();
    await settle();
    expect(states()).toEqual(['well', 'lagging']);
  });

  /** Follows the head of whoever tells it up to block `to`, one every twelve seconds, where the first one is so many blocks ahead. */
  async function followTo(to: number, ahead = 0): Promise<void> {
    for (let height = at(1).height + 1; height <= to; height++) {
      for (const one of fakes) one.height = height;
      at(0).height += ahead;
      now += 12_000;
      await reader.head();
      await settle();
    }
  }

  it('is not told by an endpoint that comes back on another branch, though it is ahead, while another one follows ours', async () => {
    open('a', 'b');
    await followTo(110);
    at(0).fault = fault('down');
    await followTo(120);
    at(0).fault = null;
    for (let height = 105; height <= 130; height++) at(0).other.set(height, `x${height}`);
    await followTo(125, 1);
    expect((await reader.head()).latest.hash).toBe('b125');
    expect(states()).toEqual(['lagging', 'well']);
    for (let height = 105; height <= 130; height++) at(0).other.delete(height);
    await followTo(130);
    expect(states()).toEqual(['well', 'well']);
  });

  it('is told by an endpoint on another branch once nobody followed ours for a minute', async () => {
    open('a', 'b');
    await followTo(110);
    at(0).fault = fault('down');
    for (let height = 105; height <= 111; height++) at(1).other.set(height, `x${height}`);
    at(1).height = 111;
    await expect(reader.head()).rejects.toThrow(/b is on another branch: block 107 is not the one that was followed/);
    now += 60_001;
    expect((await reader.head()).latest.hash).toBe('x111');
  });

  it('is told by another endpoint at once where only the last blocks differ', async () => {
    open('a', 'b');
    await followTo(110);
    at(0).fault = fault('down');
    for (const height of [109, 110, 111]) at(1).other.set(height, `x${height}`);
    at(1).height = 111;
    expect((await reader.head()).latest.hash).toBe('x111');
  });

  it('is told by another endpoint right after both followed a reorganisation, however deep that was', async () => {
    open('a', 'b');
    await followTo(110);
    for (const one of fakes) for (let height = 101; height <= 112; height++) one.other.set(height, `x${height}`);
    await followTo(111);
    at(0).fault = fault('down');
    at(1).height = 112;
    expect((await reader.head()).latest.hash).toBe('x112');
  });

  it('asks those that are not in use now and then, and no more often', async () => {
    open('a', 'b');
    for (now = 0; now < 30_000; now += 1_000) {
      await reader.head();
      await settle();
    }
    const [first, second] = asked();
    expect(first).toHaveLength(30);
    expect(second).toHaveLength(2);
  });
});

describe('what waits to spend our outputs', () => {
  const outputs = [
    { txid: 'x', vout: 0 },
    { txid: 'y', vout: 1 },
  ];

  it('is known when any endpoint has it, for what one has forgotten another may still mine', async () => {
    open('a', 'b');
    at(1).known.add('y');
    expect(await reader.waitingSpenders?.(outputs)).toEqual([null, 'spends y']);
  });

  it('stays unknown while one of them does not answer', async () => {
    open('a', 'b');
    at(1).fault = fault('down');
    await expect(reader.waitingSpenders?.(outputs)).rejects.toThrow(ChainUnavailable);
  });
});

describe('a transaction that is not found', () => {
  it('is missing once a second provider says so', async () => {
    open('a', 'b');
    expect(await reader.transaction('t')).toBeNull();
    expect(asked()).toEqual([['transaction t'], ['transaction t']]);
  });

  it('is found when the second provider has it', async () => {
    open('a', 'b');
    at(1).known.add('t');
    expect(await reader.transaction('t')).toMatchObject({ txid: 't' });
  });

  it('needs nobody else when it was found', async () => {
    open('a', 'b');
    at(0).known.add('t');
    expect(await reader.transaction('t')).toMatchObject({ txid: 't' });
    expect(asked()).toEqual([['transaction t'], []]);
  });

  it('is missing by one word when there is only one provider', async () => {
    open('a');
    expect(await reader.transaction('t')).toBeNull();
    open('a', 'a');
    expect(await reader.transaction('t')).toBeNull();
  });

  it('stays unknown while nobody confirms it', async () => {
    open('a', 'b');
    at(1).fault = fault('down');
    await expect(reader.transaction('t')).rejects.toThrow(/only a says/);
  });

  it('stays unknown while whoever confirms it lags', async () => {
    open('a', 'b');
    at(1).height = 50;
    await reader.head();
    await settle();
    await expect(reader.transaction('t')).rejects.toThrow(/only a says/);
  });
});

describe('a second opinion', () => {
  const CLAIM: SoughtTransfer = { txid: 't', kind: 'token', ordinal: 3, height: 50, blockHash: 'b50', recipient: 'alice', contract: 'usdt', rawAmount: '900' };
  const transfer = (over: Partial<Transfer> = {}): Transfer => ({ ...CLAIM, sender: 'payer', position: 0, time: 50, ...over });
  const factsOf = (transfers: Transfer[], over: Partial<TransactionFacts> = {}): TransactionFacts => {
    return { txid: 't', height: 50, blockHash: 'b50', succeeded: true, transfers, ...over };
  };
  const tell = (index: number, facts: TransactionFacts = factsOf([transfer()])): unknown => at(index).facts.set('t', facts);
  const twoOfThem = (): void => {
    open('a', 'b');
    tell(0);
    tell(1);
  };
  const opinion = (...sought: SoughtTransfer[]): Promise<SecondOpinion> =>
    reader.agrees(sought.length === 0 ? [CLAIM] : sought, ({ latest }) => latest.height >= 60);

  it('is the transfer that two providers tell of', async () => {
    open('a', 'b', 'c');
    for (const index of [0, 1, 2]) tell(index);
    expect(await opinion()).toBe('agreed');
    expect(asked()).toEqual([['head', 'transaction t'], ['head', 'transaction t'], []]);
  });

  it('is asked of a third one when one of two tells otherwise or nothing', async () => {
    open('a', 'b', 'c');
    for (const index of [0, 2]) tell(index);
    expect(await opinion()).toBe('agreed');
    at(1).fault = fault('down');
    expect(await opinion()).toBe('agreed');
  });

  it.each<[string, TransactionFacts | null]>([
    ['another amount', factsOf([transfer({ rawAmount: '9' })])],
    ['another recipient', factsOf([transfer({ recipient: 'bob' })])],
    ['another token', factsOf([transfer({ contract: 'fake' })])],
    ['the native coin', factsOf([transfer({ contract: null })])],
    ['another kind', factsOf([transfer({ kind: 'internal' })])],
    ['another place', factsOf([transfer({ ordinal: 2 })])],
    ['it twice', factsOf([transfer(), transfer()])],
    ['no transfer', factsOf([])],
    ['no transfer, and does not show what contracts pass on', factsOf([], { internalUnseen: true })],
    ['another block', factsOf([transfer()], { blockHash: 'fork' })],
    ['another height', factsOf([transfer()], { height: 51 })],
    ['a failure', factsOf([transfer()], { succeeded: false })],
    ['a transaction that waits', factsOf([], { height: null, blockHash: null, succeeded: null })],
    ['no such transaction', null],
  ])('is a dispute when the other provider tells of %s', async (_what, facts) => {
    twoOfThem();
    if (facts === null) at(1).facts.clear();
    else tell(1, facts);
    expect(await opinion()).toBe('disputed');
  });

  it('is a dispute whichever of the two is asked first, the one that is lying or the one that is not', async () => {
    twoOfThem();
    tell(0, factsOf([transfer({ rawAmount: '9' })]));
    expect(await opinion()).toBe('disputed');
  });

  it('must be of every transfer of a batch', async () => {
    twoOfThem();
    const second = { ...CLAIM, ordinal: 4, rawAmount: '1' };
    expect(await opinion(CLAIM, second)).toBe('disputed');
    for (const index of [0, 1]) tell(index, factsOf([transfer(), transfer(second)]));
    expect(await opinion(CLAIM, second)).toBe('agreed');
    expect(await opinion(CLAIM, { ...CLAIM, txid: 'never' })).toBe('disputed');
  });

  it('of an internal transfer is not known where the other provider does not show any: it neither agrees nor disputes', async () => {
    const passed = { ...CLAIM, kind: 'internal', contract: null } as const;
    open('a', 'b', 'c');
    tell(0, factsOf([transfer(passed)]));
    for (const index of [1, 2]) tell(index, factsOf([], { internalUnseen: true }));
    expect(await opinion(passed)).toBe('unseen');
    tell(2, factsOf([transfer(passed)]));
    expect(await opinion(passed)).toBe('agreed');
    tell(2, factsOf([]));
    expect(await opinion(passed)).toBe('disputed');
  });

  it.each([49, 59])('is none while the other provider is at block %i: it does not have the block, or not as final', async (height) => {
    twoOfThem();
    at(1).height = height;
    await expect(opinion()).rejects.toBeInstanceOf(ChainUnavailable);
  });

  it('is none when the others cannot be asked', async () => {
    twoOfThem();
    at(1).fault = fault('slow');
    await expect(opinion()).rejects.toBeInstanceOf(ChainUnavailable);
  });

  it('needs two providers: one provider with two keys is alone, and so is one without a second', async () => {
    open('a');
    expect(await opinion()).toBe('alone');
    open('a', 'a');
    expect(await opinion()).toBe('alone');
  });

  it('is not given by two keys of one provider, of which the second serves when the first is away', async () => {
    open('a', 'b', 'b');
    for (const index of [0, 1, 2]) tell(index);
    at(0).fault = fault('down');
    await expect(opinion()).rejects.toBeInstanceOf(ChainUnavailable);
    at(0).fault = null;
    at(1).fault = fault('down');
    expect(await opinion()).toBe('agreed');
  });

  it('is not that of an endpoint of another chain, whose absence makes nobody believed alone', async () => {
    twoOfThem();
    await reader.blockAt(1);
    at(1).genesis = 'another';
    await expect(opinion()).rejects.toBeInstanceOf(ChainUnavailable);
    expect(states()).toEqual(['well', 'foreign']);
    await expect(opinion()).rejects.toBeInstanceOf(ChainUnavailable);
  });
});

describe('a second opinion on a block', () => {
  const opinion = (hash = 'b50', rule = 'deep', final = 60): Promise<SecondOpinion> =>
    reader.agreesOnBlock({ height: 50, hash }, ({ latest }) => latest.height >= final, rule);

  it('is the hash that two providers tell, and is asked for once', async () => {
    open('a', 'b', 'c');
    expect(await opinion()).toBe('agreed');
    expect(asked()).toEqual([['head', 'blockAt 50'], ['head', 'blockAt 50'], []]);
    expect(await opinion()).toBe('agreed');
    expect(asked()).toEqual([[], [], []]);
  });

  it('holds for the rule it was asked under, and no other', async () => {
    open('a', 'b');
    expect(await opinion()).toBe('agreed');
    await expect(opinion('b50', 'deeper', 200)).rejects.toBeInstanceOf(ChainUnavailable);
  });

  it('is a dispute when the other one has another block there, and is never remembered', async () => {
    open('a', 'b');
    at(1).other.set(50, 'fork');
    expect([await opinion(), await opinion('fork')]).toEqual(['disputed', 'disputed']);
    at(1).other.delete(50);
    expect(await opinion()).toBe('agreed');
    expect(await opinion('fork')).toBe('disputed');
  });

  it('takes a third one when one of two tells otherwise or nothing', async () => {
    open('a', 'b', 'c');
    at(1).other.set(50, 'fork');
    expect(await opinion()).toBe('agreed');
    expect(await opinion('fork')).toBe('disputed');
  });

  it('is none while the other one is behind or away, and nobody gives it alone', async () => {
    open('a', 'b');
    at(1).height = 55;
    await expect(opinion()).rejects.toBeInstanceOf(ChainUnavailable);
    at(1).height = 100;
    at(1).fault = fault('slow');
    await expect(opinion()).rejects.toBeInstanceOf(ChainUnavailable);
    open('a', 'a');
    expect(await opinion()).toBe('alone');
  });
});

describe('a pool that pays', () => {
  const bytes = new Uint8Array([1, 2, 3]);

  it('asks one endpoint and then the next for everything but broadcasting', async () => {
    open('a', 'b');
    await reader.blockAt(1);
    at(0).fault = fault('down');
    at(1).height = 7;
    expect(await payer.nonce('x')).toBe(7);
    expect(await payer.balance('x', null)).toBe(7n);
    expect(await payer.quote({ sender: 'x', recipient: 'y', contract: null, rawAmount: 1n })).toMatchObject({ ok: true });
    expect(await payer.bump?.({})).toMatchObject({ rawFee: 1n });
  });

  it('hands bytes to every endpoint', async () => {
    open('a', 'b', 'c');
    expect(await payer.broadcast(bytes)).toEqual({ accepted: true, answer: 'taken by a' });
    await settle();
    expect(fakes.map((one) => one.took.length)).toEqual([1, 1, 1]);
  });

  it('has them accepted when any endpoint took them', async () => {
    open('a', 'b');
    at(0).fault = fault('down');
    expect(await payer.broadcast(bytes)).toEqual({ accepted: true, answer: 'taken by b' });
  });

  it('does not have them accepted when none did, and says what each of them said', async () => {
    open('a', 'b');
    at(0).fault = fault('down');
    at(1).fault = fault('slow');
    expect(await payer.broadcast(bytes)).toEqual({ accepted: false, answer: 'a: no answer (down); b: no answer (slow)' });
  });

  it('hands nothing to an endpoint of another chain', async () => {
    open('a', 'b');
    await reader.blockAt(1);
    at(1).genesis = 'another';
    await payer.broadcast(bytes);
    await settle();
    expect(fakes.map((one) => one.took.length)).toEqual([1, 0]);
  });
});
