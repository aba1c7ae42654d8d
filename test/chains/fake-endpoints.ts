import { type BlockRef, ChainUnavailable, type Head, type Payer, type Reader, type TransactionFacts, type Trouble } from '#shared/chains/chain.ts';
import { type EndpointReport, type Endpoints, watchEndpoints } from '#shared/chains/watch-endpoints.ts';
import { joinPayers } from '#shared/chains/join-payers.ts';
import { type JoinedReader, joinReaders } from '#shared/chains/join-readers.ts';

export const GENESIS = 'genesis';

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

/** The clock that whoever watches them reads, milliseconds. */
export let now: number;
export let fakes: Fake[];
export let changes: string[];
export let endpoints: Endpoints;
export let reader: JoinedReader;
export let payer: Payer;

/** Before each test: what one file of a worker left is there for the next. */
export function beginAnew(): void {
  now = 0;
  changes = [];
}

/** Sets that clock. */
export function moveTo(ms: number): void {
  now = ms;
}

function fake(provider: string): Fake {
  return { provider, genesis: GENESIS, height: 100, other: new Map(), known: new Set(), facts: new Map(), sighted: true, fault: null, asked: [], took: [] };
}

/** Why an endpoint does not answer. */
export function fault(trouble: Trouble, retryAfterMs?: number): ChainUnavailable {
  return new ChainUnavailable(`no answer (${trouble})`, { trouble, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

function blockOf(one: Fake, height: number): BlockRef {
  if (height > one.height) throw new ChainUnavailable(`it does not know block ${height}`);
  const hash = (at: number): string => one.other.get(at) ?? `b${at}`;
  return { height, hash: hash(height), parentHash: hash(height - 1), time: height };
}

/** Opens a reader over endpoints that answer as their fakes say; the clock goes on. */
export function open(...providers: string[]): void {
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

/** The endpoint at a place among those that were opened. */
export const at = (index: number): Fake => fakes[index] as Fake;
/** What each endpoint was asked since the last look, identity aside. */
export function asked(): string[][] {
  const questions = fakes.map((one) => one.asked.filter((what) => what !== 'genesis'));
  for (const one of fakes) one.asked.length = 0;
  return questions;
}
/** Lets questions that nobody waits for be answered. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** How each of them is seen. */
export const states = (): string[] => endpoints.report().map((one) => one.state);
