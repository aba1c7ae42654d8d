import { setTimeout as pause } from 'node:timers/promises';
import type { Deps } from '#api/deps.ts';
import { matureCredits } from '#api/ledger/mature-credits.ts';
import { creditFinalDeposits, type WrittenTip } from '#api/payments/credit-deposit.ts';
import { readTip, parkMessage } from '#api/store/chain-blocks.ts';
import { readIndexerLease } from '#api/store/leases.ts';
import { requestRewind } from '#api/store/rescans.ts';
import { decodingBlockMessage } from '#shared/core/block-codec.ts';
import { blockStream } from '#shared/core/chain-events.ts';
import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '#shared/platform/breathe.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { toldOf } from '#shared/platform/database-problems.ts';
import type { StreamEntry, StreamReader, Streams } from '#shared/platform/redis-streams.ts';
import { continueTrace, withSpan } from '#shared/platform/tracing.ts';
import { type Applied, applyMessage, type ConsumedNetwork } from './apply-message.ts';
import { type ConsumerLeases, openConsumerLeases } from './consumer-leases.ts';

const GROUP = 'api';
/** One name for whoever holds the lease, so that what a predecessor left unacknowledged is ours. */
const CONSUMER = 'consumer';
const RETRY_MS = 1_000;
/** How long a stream may be silent while its indexer says it published more, before the indexer is asked to start again. */
const MISSING_AFTER_MS = 3_000;

export interface ChainConsumer {
  /** Finishes the message in hand, gives the leases up and disconnects. */
  stop(): Promise<void>;
}

/**
 * Applies every network's block stream for as long as it runs; of all workers exactly one holds a network's lease. After
 * each batch it credits what became final and matures what is due, both of which periodic work does as well.
 * `holder` must be unique per process, and is `api:` and its id where its sessions at Postgres bear that.
 */
export function startChainConsumer(deps: Deps, streams: Streams, holder: string): ChainConsumer {
  const stopping = new AbortController();
  const networks = [...deps.chains.values()].map((chain) => ({ id: chain.id, name: chain.config.name }));
  const leases = openConsumerLeases(
    deps.db.sql,
    networks.map(({ id }) => id),
    holder,
  );
  const running = networks.map((network) => consume(deps, streams, network, leases, stopping.signal));
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

async function consume(deps: Deps, streams: Streams, network: ConsumedNetwork, leases: ConsumerLeases, signal: AbortSignal): Promise<void> {
  const log = deps.log.child({ network: network.name });
  let failing = false;
  while (!signal.aborted) {
    try {
      const fence = await leases.fence(network.id);
      failing = false;
      if (fence !== undefined) {
        const reader = streams.reader(blockStream(network.name), GROUP, CONSUMER);
        try {
          await follow(deps, { streams, reader }, network, { leases, fence }, signal);
        } finally {
          await reader.close();
          await leases.release(network.id);
        }
      }
    } catch (error) {
      if (!failing) log.error(toldOf(error), 'chain consumer failed; starting again');
      failing = true;
    }
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Reads and applies until stopped, or until somebody else has the lease. */
async function follow(deps: Deps, from: { streams: Streams; reader: StreamReader }, network: ConsumedNetwork, lease: Held, signal: AbortSignal): Promise<void> {
  const { streams, reader } = from;
  let heardAt = deps.wallClock();
  // Whether what was applied last left anything to be credited, then or by a later tip.
  let awaited = false;
  const stillHeld = async (): Promise<boolean> => (await lease.leases.fence(network.id)) === lease.fence;
  while (!signal.aborted) {
    if (!(await stillHeld())) return;
    const entries = await reader.read();
    let tip: WrittenTip | undefined;
    const acknowledged: Promise<void>[] = [];
    let trace: string | undefined;
    for (const entry of entries) {
      if (signal.aborted || !(await stillHeld())) return;
      const { outcome, traceparent, toCredit } = await consumeEntry(deps, network, { ...lease, isLast: entry === entries.at(-1), awaited }, entry);
      deps.metrics?.messagesApplied.inc({ chain: network.name, result: outcome });
      if (outcome === 'fenced') return;
      if (outcome === 'failed') {
        reader.redeliver();
        await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
        break;
      }
      acknowledged.push(acknowledge(reader, entry));
      if (outcome === 'applied') awaited = toCredit !== undefined;
      if (toCredit === undefined) continue;
      tip = toCredit;
      trace = traceparent;
    }
    // While Redis is away its silence says nothing.
    if (entries.length > 0 || streams.problem() !== null) heardAt = deps.wallClock();
    else if (deps.wallClock() - heardAt >= MISSING_AFTER_MS) await requestMissing(deps, network);
    const written = tip;
    if (written !== undefined) await continueTrace(trace, () => settleFinal(deps, network, written));
    // Redis answers while payments are credited; the next read is to find nothing unacknowledged.
    await Promise.all(acknowledged);
  }
}

/** The lease that a stream is applied under. */
interface Held {
  leases: ConsumerLeases;
  fence: number;
}

/** How one entry is applied. */
interface Applying extends Held {
  /** Whether payments are credited right behind it. */
  isLast: boolean;
  /** Whether there were any to be credited before it. */
  awaited: boolean;
}

interface Consumed {
  outcome: Applied['outcome'] | 'forged' | 'parked' | 'failed';
  /** What is final since its blocks were applied, where there was anything to be credited or to mature then. */
  toCredit?: WrittenTip | undefined;
  traceparent?: string | undefined;
}

/** One entry from Redis to Postgres; a crash anywhere before its acknowledgement only delivers it again. */
async function consumeEntry(deps: Deps, network: ConsumedNetwork, lease: Applying, entry: StreamEntry): Promise<Consumed> {
  crashPoint('ingest.received');
  try {
    return await applyEntry(deps, network, lease, entry);
  } catch (error) {
    deps.log.error({ ...toldOf(error), network: network.name, streamId: entry.id }, 'cannot apply a stream message; it will be tried again');
    return { outcome: 'failed' };
  }
}

async function acknowledge(reader: StreamReader, entry: StreamEntry): Promise<void> {
  crashPoint('xack.before');
  await reader.ack([entry.id]);
  crashPoint('xack.after');
}

/** A refused message is set aside, so that one bad entry never stops the stream: what is missing then shows as a gap. */
async function applyEntry(deps: Deps, network: ConsumedNetwork, { leases, fence, isLast, awaited }: Applying, entry: StreamEntry): Promise<Consumed> {
  const decoded = entry.forged ? ({ ok: false, problem: 'its MAC is missing or wrong' } as const) : await inTurns(decodingBlockMessage(entry.payload), breathe);
  if (!decoded.ok) return parkEntry(deps, network, entry, decoded.problem);
  const { message } = decoded;
  if (message.network !== network.name) return parkEntry(deps, network, entry, `it belongs to ${message.network}`);
  crashPoint('ingest.mac-checked');
  const renewal = leases.renewal(network.id);
  const listsOpen = isLast && (awaited || message.sightings.length > 0);
  const applied = await continueTrace(message.traceparent, () =>
    withSpan('ingest.apply', { network: network.name, height: message.to }, () =>
      applyMessage(deps, network, fence, message, { seconds: renewal?.seconds, listsOpen }),
    ),
  );
  if (applied.outcome !== 'fenced') renewal?.kept();
  report(deps, network, message, applied);
  return { outcome: applied.outcome, traceparent: message.traceparent, toCredit: applied.outcome === 'applied' ? applied.toCredit : undefined };
}

async function parkEntry(deps: Deps, network: ConsumedNetwork, entry: StreamEntry, reason: string): Promise<Consumed> {
  deps.log.error({ network: network.name, streamId: entry.id, reason }, 'refused a stream message');
  await parkMessage(deps.db.sql, { networkId: network.id, streamId: entry.id, reason, payload: entry.forged ? '' : entry.payload });
  return { outcome: entry.forged ? 'forged' : 'parked' };
}

function report(deps: Deps, network: ConsumedNetwork, message: { from: number; to: number; epoch: number; seq: number }, applied: Applied): void {
  const log = deps.log.child({ network: network.name, from: message.from, to: message.to, epoch: message.epoch, seq: message.seq });
  if (applied.outcome === 'applied' && applied.orphanedBlocks > 0)
    log.warn({ blocks: applied.orphanedBlocks, droppedDeposits: applied.droppedDeposits }, 'chain reorganised');
  else if (applied.outcome === 'rewind' && applied.requested) log.warn({ reason: applied.reason }, 'asked the indexer to start again from the tip');
  else if (applied.outcome === 'frozen') log.fatal({ reason: applied.reason }, 'network frozen');
  else log.debug({ outcome: applied.outcome }, 'stream message');
}

/**
 * Asks for what got lost between an indexer that says it published and a stream that has nothing left to read: a wiped
 * Redis, or one restored from an older state. Answers whether it had to ask.
 */
export async function requestMissing(deps: Deps, network: ConsumedNetwork): Promise<boolean> {
  const [lease, tip] = await Promise.all([readIndexerLease(deps.db.sql, network.id), readTip(deps.db.sql, network.id)]);
  if (lease === undefined || lease.publishedHeight === null || lease.publishedHeight <= (tip?.height ?? -1)) return false;
  const asked = await requestRewind(deps.db.sql, {
    networkId: network.id,
    epoch: lease.epoch,
    reason: `published up to block ${lease.publishedHeight}, but the stream ended at ${tip?.height ?? 'nothing'}`,
  });
  if (asked) {
    deps.nudgeIndexer(network.name);
    deps.log.warn(
      { network: network.name, published: lease.publishedHeight, tip: tip?.height },
      'stream lost messages; asked the indexer to start again from the tip',
    );
  }
  return asked;
}

/** What follows from a new tip; periodic work finds again what fails here. */
async function settleFinal(deps: Deps, network: ConsumedNetwork, tip: WrittenTip): Promise<void> {
  try {
    await creditFinalDeposits(deps, network.id, tip);
    await matureCredits(deps);
  } catch (error) {
    deps.log.error({ err: error, network: network.name }, 'crediting failed; periodic work tries again');
  }
}
