import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '../breathe.ts';
import { ChainUnavailable, type Trouble, type WatchSet } from '../chain.ts';
import { type Header, type Outcome, readPlace } from './replies.ts';
import { type Rpc, RpcRefused } from '../rpc.ts';
import { readAnswer, Unread } from '../unread.ts';
import { type BlockTraces, movesByTransaction, readCallTraces, readParityTraces } from './traces.ts';
import { walkCallTraces, walkParityTraces } from './walk-traces.ts';

/** A node gives up on a block it cannot trace in this time; our own deadline is not far behind. */
const TRACER = { tracer: 'callTracer', timeout: '9s' };
/** How nodes and gateways say that they do not offer a method, beside the code that means it. */
const NOT_OFFERED_CODE = -32_601;
const NOT_OFFERED =
  /not (found|available|supported|exist|allowed|enabled|whitelisted|authorized)|unsupported|unknown method|disabled|upgrade|paid|tier|plan\b/i;
/** A full node keeps the state of about 128 blocks; older ones it cannot trace (chains 1.2). */
const STATE_GONE = /historical|missing trie node|state (is )?(not|un)available|state .*(pruned|unavailable|not available)|pruned|archive|reexec/i;
const BLOCK_GONE = /(block|header).*(not found|unknown|missing)|unknown block/i;

/**
 * A block that a node was asked to trace so often, and neither did nor is busy or away, is read without: anybody can send a
 * transaction that is heavy or strange, and one block must not hold up a network.
 */
const TRIES_PER_BLOCK = 5;
/** What contradicts itself may be a node between two branches, or one that lies: it is given longer, so that another one is asked more often. */
const TRIES_OF_NONSENSE = 10;
/** After so many of those in a row the endpoint is not asked for a while: what it says of this network is of no use. */
const USELESS_BLOCKS = 3;
const RESTED_BLOCKS = 200;
/** Blocks whose tries are counted at the same time; a range reads several at once. */
const COUNTED_BLOCKS = 64;

const NOTHING: BlockTraces = { traced: new Map(), unshown: new Set() };
/** Trouble that says nothing about the block: it is asked again for as long as it lasts. */
const PASSING = new Set<Trouble>(['down', 'busy', 'wrong-chain']);

const NO_ONE: WatchSet = { has: () => false };

type Place = Pick<Header, 'hash' | 'height'>;
type Spoken = 'debug' | 'parity';
type Dialect = Spoken | 'none';
/** What a block's transactions did, and the reply in which the rest of that is still to be read; null where it was read whole. */
interface Traced {
  traces: ReturnType<typeof readCallTraces>;
  unread: Unread | null;
}

/** What an endpoint can say of coins moved inside contract calls. */
export interface Tracing {
  /** Whether the endpoint traces at all. @throws ChainUnavailable when it does not answer */
  offered(): Promise<boolean>;
  /**
   * Whether the endpoint says of every dialect that it does not offer it; asked again each time, so that it is noticed when it does. One that fails,
   * rests after an error or has no state left is none of these. @throws ChainUnavailable when it does not answer
   */
  neverOffered(): Promise<boolean>;
  /** Begins to ask for the traces of a block that may be traced next, where it is known how; `trace` takes what came of it, and asks anew where that failed. */
  foresee(place: Place): void;
  /** The transactions of a block as traced; undefined when this endpoint cannot trace it. @throws ChainUnavailable */
  trace(header: Header, receipts: readonly Outcome[], watched: WatchSet): Promise<BlockTraces | undefined>;
  /** The endpoint failed: what it offers is found out again. */
  forget(): void;
}

/**
 * Traces blocks in the dialect the endpoint speaks: `trace_block`, which nodes that have it answer from what they keep, else
 * `debug_traceBlockByHash`, which runs the block again; found out with the first block that is asked for. A block without a
 * successful transaction moved nothing and is not traced; every other one is, because a receipt cannot tell whether code ran, and tracing plain transfers costs next to nothing (decision 0009).
 */
export function openTracing(rpc: Rpc): Tracing {
  let dialect: Dialect | undefined;
  const tries = new Map<string, number>();
  let useless = 0;
  let resting = 0;

  const question: Record<Spoken, (header: Place) => Promise<unknown>> = {
    debug: ({ hash }) => rpc('debug_traceBlockByHash', [hash, TRACER], 'unread'),
    parity: ({ height }) => rpc('trace_block', [`0x${height.toString(16)}`], 'unread'),
  };
  let foreseen: { hash: string; dialect: Spoken; answer: Promise<unknown> } | undefined;
  const answerOf = (spoken: Spoken, header: Place): Promise<unknown> => {
    const before = foreseen;
    foreseen = undefined;
    return before?.hash === header.hash && before.dialect === spoken ? before.answer.catch(() => question[spoken](header)) : question[spoken](header);
  };

  /** Walks over the traces where that is enough, and reads each of them where it is not (decision 0049): what is believed is the same. */
  const ask: Record<Spoken, (header: Place, watched: WatchSet) => Promise<Traced>> = {
    async debug(header, watched) {
      const answer = await answerOf('debug', header);
      const walked = answer instanceof Unread ? await inTurns(walkCallTraces(answer, watched), breathe) : undefined;
      return tracedBy(answer, walked, () => readCallTraces(readAnswer(answer)));
    },
    async parity(header, watched) {
      const answer = await answerOf('parity', header);
      const walked = answer instanceof Unread ? await inTurns(walkParityTraces(answer, header.hash, watched), breathe) : undefined;
      return tracedBy(answer, walked, () => readParityTraces(readAnswer(answer), header.hash));
    },
  };

  /** Undefined when the endpoint does not offer this dialect. */
  const attempt = async (tried: Spoken, header: Place, watched: WatchSet): Promise<Traced | 'state-gone' | undefined> => {
    try {
      return await ask[tried](header, watched);
    } catch (error) {
      if (!(error instanceof RpcRefused)) throw error;
      if (error.code === NOT_OFFERED_CODE) return undefined;
      if (STATE_GONE.test(error.message)) return 'state-gone';
      if (!BLOCK_GONE.test(error.message) && NOT_OFFERED.test(error.message)) return undefined;
      throw new ChainUnavailable(error.message, { cause: error });
    }
  };

  const traced = async (header: Place, watched: WatchSet): Promise<Traced | undefined> => {
    const candidates: Dialect[] = dialect === undefined ? ['parity', 'debug'] : [dialect];
    let kept = false;
    for (const tried of candidates) {
      if (tried === 'none') return undefined;
      const answer = await attempt(tried, header, watched);
      if (answer === undefined) continue;
      if (answer === 'state-gone') {
        // The other dialect may belong to a node that keeps more.
        kept = true;
        continue;
      }
      dialect = tried;
      return answer;
    }
    if (!kept) dialect = 'none';
    return undefined;
  };

  const findDialect = async (): Promise<void> => {
    if (dialect !== undefined) return;
    const latest = await rpc('eth_getBlockByNumber', ['latest', false]);
    if (latest === null) throw new ChainUnavailable('the node has no latest block');
    await traced(readPlace(latest), NO_ONE);
  };

  return {
    async offered() {
      await findDialect();
      return resting === 0 && (dialect === 'debug' || dialect === 'parity');
    },
    async neverOffered() {
      dialect = undefined;
      await findDialect();
      return dialect === 'none';
    },
    foresee(place) {
      if (resting > 0 || dialect === undefined || dialect === 'none') return;
      const answer = question[dialect](place);
      // Whoever takes it hears of it; nobody may.
      answer.catch(() => undefined);
      foreseen = { hash: place.hash, dialect, answer };
    },
    async trace(header, receipts, watched) {
      if (!receipts.some((receipt) => receipt.succeeded)) return NOTHING;
      if (resting > 0) {
        resting -= 1;
        return undefined;
      }
      let part: BlockTraces | undefined;
      try {
        const found = await traced(header, watched);
        const moves = found === undefined ? undefined : blockTracesOf(receipts, found);
        part = moves;
        const lost = receipts.find(({ txid, gasUsed }) => gasUsed > 0n && moves?.unshown.has(txid));
        // Another endpoint, or another try, may show it.
        if (lost !== undefined) throw new ChainUnavailable(`transaction ${lost.txid} was not traced`, { trouble: 'refused' });
        tries.delete(header.hash);
        useless = 0;
        return moves;
      } catch (error) {
        if (!(error instanceof ChainUnavailable) || PASSING.has(error.trouble) || BLOCK_GONE.test(error.message)) throw error;
        const tried = (tries.get(header.hash) ?? 0) + 1;
        if (tries.size >= COUNTED_BLOCKS) tries.clear();
        tries.set(header.hash, tried);
        if (tried < (error.trouble === 'untrusted' ? TRIES_OF_NONSENSE : TRIES_PER_BLOCK)) throw error;
        tries.delete(header.hash);
        if (part === undefined) useless += 1;
        if (useless >= USELESS_BLOCKS) [useless, resting] = [0, RESTED_BLOCKS];
        return part;
      }
    },
    forget() {
      dialect = undefined;
      resting = 0;
    },
  };
}

function tracedBy(answer: unknown, walked: Traced['traces'] | undefined, read: () => Traced['traces']): Traced {
  return walked !== undefined && answer instanceof Unread ? { traces: walked, unread: answer } : { traces: read(), unread: null };
}

function blockTracesOf(receipts: readonly Outcome[], { traces, unread }: Traced): BlockTraces {
  return { ...movesByTransaction(receipts, traces), release: () => unread?.release() };
}
