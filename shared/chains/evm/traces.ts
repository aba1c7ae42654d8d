import { type Outcome, readAddress, readList, readObject, readQuantity, readTxid, unsure } from './replies.ts';

/** Coins that moved from one account to another inside a transaction, other than by its own value. */
export interface CoinMove {
  /** Place among such movements of the transaction that took effect, from 1, in the order they happened. */
  ordinal: number;
  sender: string;
  recipient: string;
  value: bigint;
}

/** One transaction as a node traced it. */
export interface TracedTransaction {
  txid: string;
  /** The outermost frame, which says again what transaction and receipt say. */
  from: string;
  /** Null when it names none: a contract that was not created. */
  to: string | null;
  value: bigint;
  failed: boolean;
  moves: readonly CoinMove[];
  /** False when it is known without a look at `moves` that none of them is of a watched address (walk-traces.ts). */
  named?: boolean;
}

/** One that the node has no trace of: it took too long alone, or the tracer cannot follow what the chain did. */
interface Unshown {
  txid: string;
  unshown: true;
}

/** What the transactions of one block moved. */
export interface BlockTraces {
  readonly traced: ReadonlyMap<string, TracedTransaction>;
  /** Successful transactions that may have moved coins which nobody was shown. */
  readonly unshown: ReadonlySet<string>;
  /** Nobody asks any more what was traced: the reply it is read from is given back. */
  release?(): void;
}

/** A frame in the words of both dialects. */
interface Frame {
  /** Whether its value goes from `from` to `to` when it succeeds. */
  moves: boolean;
  /** Whether its code runs on the coins of whoever called it. */
  borrowed: boolean;
  /** Whether it is the end of the contract whose code runs above it. */
  end: boolean;
  from: string;
  to: string | null;
  value: bigint;
  failed: boolean;
}

/** What callTracer calls the frames whose value goes to their `to`; of all others (delegatecall, callcode, staticcall) it stays where it is. */
const MOVING = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);
const BORROWED = new Set(['DELEGATECALL', 'CALLCODE']);

/** The account whose coins the code of a frame moves; `above` is that of the frame around it. */
function holderOf(frame: Frame, above: string | null): string | null {
  return frame.borrowed ? above : frame.to;
}

/**
 * A frame with its true sender. What a contract leaves behind at its end is its own, whoever a node names: revm's tracers
 * (reth, anvil) name its caller when it ends in favour of itself, which moves nothing.
 */
function ownedBy(frame: Frame, holder: string | null): Frame {
  return frame.end ? { ...frame, from: holder ?? unsure('a contract ends that nobody called') } : frame;
}

/** Counts movements as they happen; whoever walks the frames hands them over depth first and without the failed ones. */
function collector(): { moves: CoinMove[]; take(frame: Frame): void } {
  const moves: CoinMove[] = [];
  return {
    moves,
    take({ moves: moving, from, to, value }) {
      // Node versions show different frames where nothing moves (precompiles, calls that could not be paid for): they are not counted.
      if (!moving || value === 0n || to === null || to === from) return;
      moves.push({ ordinal: moves.length + 1, sender: from, recipient: to, value });
    },
  };
}

/** Reads `debug_traceBlockByHash` with callTracer. A child of a reverted frame carries no error of its own, so nothing below one is walked. */
export function readCallTraces(answer: unknown): (TracedTransaction | Unshown)[] {
  return readList(answer, 'the traces').map((entry) => {
    const { txHash, result, error } = readObject(entry, 'a trace');
    const txid = readTxid(txHash, "a trace's transaction hash");
    if ((result ?? null) === null && typeof error === 'string') return { txid, unshown: true };
    const top = readCallFrame(readObject(result, `the trace of ${txid}`));
    const { moves, take } = collector();
    const waiting: { frame: unknown; above: string | null }[] = [];
    const walk = (parent: Frame & { children: unknown[] }, above: string | null): void => {
      for (const frame of parent.children.toReversed()) waiting.push({ frame, above: holderOf(parent, above) });
    };
    if (!top.failed) walk(top, null);
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const frame = readCallFrame(next.frame);
      if (frame.failed) continue;
      take(ownedBy(frame, next.above));
      walk(frame, next.above);
    }
    return { txid, from: top.from, to: top.to, value: top.value, failed: top.failed, moves };
  });
}

function readCallFrame(value: unknown): Frame & { children: unknown[] } {
  const frame = readObject(value, 'a call frame');
  const failed = frame.error !== undefined && frame.error !== null;
  const type = typeof frame.type === 'string' ? frame.type.toUpperCase() : unsure('a call frame has no type');
  const moves = MOVING.has(type);
  const to = frame.to === undefined || frame.to === null ? null : readAddress(frame.to, "a frame's recipient");
  if (moves && to === null && !failed) unsure('a call frame has no recipient');
  return {
    moves,
    borrowed: BORROWED.has(type),
    end: type === 'SELFDESTRUCT',
    from: readAddress(frame.from, "a frame's sender"),
    to,
    value: moves || frame.value !== undefined ? readQuantity(frame.value, "a frame's value") : 0n,
    failed,
    children: frame.calls === undefined || frame.calls === null ? [] : readList(frame.calls, 'the calls of a frame'),
  };
}

/**
 * Reads `trace_block`: a flat list, depth first, whose places in the tree are spelled out; what follows a failed frame below
 * its own place failed with it. @throws ChainUnavailable when an entry is of another block than `blockHash`
 */
export function readParityTraces(answer: unknown, blockHash: string): TracedTransaction[] {
  const traced: TracedTransaction[] = [];
  /** `holders` are those of the frames on the way down to the last one, the outermost first. */
  let current: { take: (frame: Frame) => void; path: string[]; failedAt: number; holders: (string | null)[] } | undefined;
  for (const value of readList(answer, 'the traces')) {
    const entry = readObject(value, 'a trace');
    // Rewards for making the block belong to no transaction.
    if (entry.type === 'reward') continue;
    if (readTxid(entry.blockHash, "a trace's block hash") !== blockHash) unsure('a trace is from another block');
    const txid = readTxid(entry.transactionHash, "a trace's transaction hash");
    const place = readList(entry.traceAddress, 'the place of a trace').map((step) =>
      Number.isSafeInteger(step) ? String(step) : unsure('a trace is nowhere'),
    );
    const frame = readParityFrame(entry);
    if (place.length === 0) {
      const { moves, take } = collector();
      traced.push({ txid, from: frame.from, to: frame.to, value: frame.value, failed: frame.failed, moves });
      current = { take, path: [], failedAt: frame.failed ? 0 : Number.POSITIVE_INFINITY, holders: [frame.to] };
      continue;
    }
    if (current === undefined || traced.at(-1)?.txid !== txid) unsure(`the traces of ${txid} do not begin with the transaction itself`);
    const parent = place.slice(0, -1);
    if (parent.length > current.path.length || parent.some((step, depth) => step !== current?.path[depth])) unsure(`a trace of ${txid} has no parent`);
    if (place.length <= current.failedAt) current.failedAt = frame.failed ? place.length : Number.POSITIVE_INFINITY;
    current.path = place;
    const above = current.holders[parent.length] ?? null;
    current.holders = [...current.holders.slice(0, place.length), holderOf(frame, above)];
    if (current.failedAt === Number.POSITIVE_INFINITY) current.take(ownedBy(frame, above));
  }
  return traced;
}

function readParityFrame(entry: Record<string, unknown>): Frame {
  const action = readObject(entry.action, 'the action of a trace');
  const failed = entry.error !== undefined && entry.error !== null;
  switch (entry.type) {
    case 'call':
      return {
        moves: action.callType === 'call',
        borrowed: action.callType === 'delegatecall' || action.callType === 'callcode',
        end: false,
        from: readAddress(action.from, "a trace's sender"),
        to: readAddress(action.to, "a trace's recipient"),
        value: readQuantity(action.value, "a trace's value"),
        failed,
      };
    case 'create':
      return {
        moves: true,
        borrowed: false,
        end: false,
        from: readAddress(action.from, "a trace's sender"),
        to: failed ? null : readAddress(readObject(entry.result, 'the result of a trace').address, 'a created contract'),
        value: readQuantity(action.value, "a trace's value"),
        failed,
      };
    case 'suicide':
    case 'selfdestruct':
      return {
        moves: true,
        borrowed: false,
        end: true,
        from: readAddress(action.address, "a trace's sender"),
        to: readAddress(action.refundAddress, "a trace's recipient"),
        value: readQuantity(action.balance, "a trace's value"),
        failed,
      };
    default:
      return unsure('a trace is of a type that nobody knows');
  }
}

/**
 * The movements of each transaction, once the traces have been found to be of exactly these receipts: one each, in order,
 * agreeing about both ends and the outcome. Only what used no gas (a system's own entry in the block) may have no trace, or
 * one with other ends: each node makes up its own.
 */
export function movesByTransaction(receipts: readonly Outcome[], traces: readonly (TracedTransaction | Unshown)[]): BlockTraces {
  const traced = new Map<string, TracedTransaction>();
  const unshown = new Set<string>();
  let next = 0;
  for (const receipt of receipts) {
    const trace = traces[next];
    const own = receipt.gasUsed === 0n;
    if (trace?.txid !== receipt.txid) {
      if (!own) unsure(`transaction ${receipt.txid} has no trace in its place`);
      // Without a log nothing was handed over: what a chain gives out to somebody leaves one.
      if (receipt.succeeded && receipt.logs.length > 0) unshown.add(receipt.txid);
      continue;
    }
    next += 1;
    if ('unshown' in trace) {
      // A failed one moved nothing, shown or not.
      if (receipt.succeeded) unshown.add(receipt.txid);
      continue;
    }
    if (own && !receipt.succeeded) continue;
    const recipient = receipt.to ?? receipt.created;
    if (trace.failed === receipt.succeeded) unsure(`the trace of ${receipt.txid} ends otherwise than its receipt`);
    if (!own && (trace.from !== receipt.from || (receipt.succeeded && trace.to !== recipient)))
      unsure(`the trace of ${receipt.txid} is of another transaction`);
    traced.set(receipt.txid, trace);
  }
  if (next !== traces.length) unsure(`${traces.length - next} traces belong to no transaction of the block`);
  return { traced, unshown };
}
