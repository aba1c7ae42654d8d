import { encodingBlockMessage } from '#shared/core/block-codec.ts';
import { type BlockMessage, blockStream } from '#shared/core/chain-events.ts';
import { POLICY } from '#shared/core/policy.ts';
import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '#shared/platform/breathe.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { currentTraceparent } from '#shared/platform/tracing.ts';
import type { ChainEvent } from '#state-machines/chain/machine.ts';
import { LEASE_SECONDS, RENEW_MS, takePulse } from './lease.ts';
import type { Child, IndexerDeps, Life } from './life.ts';
import { createPatience } from './patience.ts';

/** How often the database is asked what it wants and told how far this is, while there is something that it will say more of. */
const PULSE_MS = 500;
/** The consumer standing still for this long makes it worth asking whether Redis still has what was sent. */
const STILL_MS = 3_000;
const APPEND_RETRY_MS = 200;

/** A message without what only its sending decides. */
export type Draft = Omit<BlockMessage, 'network' | 'epoch' | 'seq' | 'traceparent'>;

/**
 * Appends one message: waits while the consumer is too far behind or the lease is in doubt, and repeats until Redis
 * confirmed it, so that a message may be in the stream twice but never missing. Meanwhile `life.unsent` says why it did not.
 */
export async function publish(deps: IndexerDeps, life: Life, draft: Draft, signal: AbortSignal): Promise<void> {
  const traceparent = currentTraceparent();
  const message = { network: life.network.name, epoch: life.epoch, seq: life.seq + 1, ...draft, ...(traceparent === undefined ? {} : { traceparent }) };
  const payload = await inTurns(encodingBlockMessage(message), breathe);
  const mustWait = (): boolean => life.seq - life.appliedSeq >= POLICY.messagesAhead || isTooLong(life, payload) || deps.monotonicMs() >= life.leaseUntilMs;
  crashPoint('publish.before');
  for (;;) {
    while (mustWait()) {
      life.pulseWake.ring();
      await life.appliedWake.wait(PULSE_MS, signal);
      signal.throwIfAborted();
    }
    signal.throwIfAborted();
    try {
      life.lastEntryId = await deps.streams.append(blockStream(life.network.name), payload);
      life.unsent = undefined;
      break;
    } catch (error) {
      const level = life.unsent === undefined ? 'warn' : 'debug';
      deps.log[level]({ err: error, network: life.network.name }, 'Redis did not confirm a message; sending it again until it does');
      life.unsent = error instanceof Error ? error.message : String(error);
      await life.appliedWake.wait(APPEND_RETRY_MS, signal);
    }
  }
  life.seq += 1;
  life.ahead.push({ seq: life.seq, characters: payload.length });
  crashPoint('publish.after');
}

/** Whether what the consumer has not applied yet would be more with this than Redis and the consumer should have to hold; one alone never is. */
function isTooLong(life: Pick<Life, 'ahead' | 'appliedSeq'>, payload: string): boolean {
  const { ahead, appliedSeq } = life;
  while (ahead[0] !== undefined && ahead[0].seq <= appliedSeq) ahead.shift();
  return ahead.length > 0 && ahead.reduce((sum, { characters }) => sum + characters, payload.length) > POLICY.charactersAhead;
}

/**
 * The indexer's pulse: renews the lease with how far it has come, learns the consumer's tip, finds addresses that wait to
 * be watched, and starts over when somebody asked for it or when what was sent is no longer in Redis. It beats when somebody nudges it, as often as
 * the lease needs, and twice a second while an acknowledgement or a message is on its way, or while no nudge can arrive. What is noted of a block about to be read goes with a
 * beat that is due soon, so that where blocks come often the lease costs no statement of its own.
 */
export const keepPulse: Child = async (deps, life, tell, signal) => {
  const { sql, metrics } = deps;
  const chain = life.network.name;
  const patience = createPatience(deps);
  let movedAtMs = deps.monotonicMs();
  let dueMs = movedAtMs;
  let [beating, over, rung, earlier] = [false, false, false, false];
  const end = (event: ChainEvent): void => {
    over = true;
    tell(event);
  };

  const beat = async (note?: string): Promise<void> => {
    beating = true;
    rung = false;
    try {
      const askedAtMs = deps.monotonicMs();
      const progress = {
        publishedHeight: life.trail.joined() ? (life.trail.last()?.height ?? null) : null,
        caughtUpSecondsAgo: life.caughtUpAtMs === undefined ? null : (askedAtMs - life.caughtUpAtMs) / 1_000,
      };
      const lease = { networkId: life.networkId, holder: deps.holder, epoch: life.epoch };
      const { held, appliedSeq, unacked, rewind, rescan, now } = await takePulse(sql, lease, progress, note);
      patience.reset();
      if (!held) return end({ type: 'FAILED', reason: 'another indexer holds the lease' });
      life.leaseUntilMs = askedAtMs + LEASE_SECONDS * 1_000;
      life.serviceTime = { atMs: now.getTime(), heardAtMs: deps.monotonicMs() };
      if (rewind !== null) return end({ type: 'REWIND', reason: rewind });
      if (appliedSeq !== life.appliedSeq || appliedSeq === life.seq) movedAtMs = askedAtMs;
      life.appliedSeq = appliedSeq;
      life.appliedWake.ring();
      if (askedAtMs - movedAtMs > STILL_MS && (await isLost(deps, life)))
        return end({ type: 'REWIND', reason: 'the stream lost messages that were not applied yet' });
      life.watchlist.expect(unacked);
      metrics.watchedAddresses.set({ chain }, life.watchlist.size);
      if (life.watchlist.hasAcks(deps.monotonicMs())) life.scanWake.ring();
      life.rescanOpen = rescan;
      if (rescan) life.rescanWake.ring();
      const isQuiet = unacked.length === 0 && appliedSeq === life.seq && !deps.streams.deaf();
      dueMs = deps.monotonicMs() + (isQuiet ? RENEW_MS : PULSE_MS);
    } finally {
      beating = false;
    }
  };

  life.noteWithPulse = async (note) => {
    if (beating || over || signal.aborted || dueMs - deps.monotonicMs() > RENEW_MS / 2) return false;
    const wasDueMs = dueMs;
    try {
      await beat(note);
    } finally {
      // Below somebody rests until this beat was due. A nudge that came meanwhile is for another one.
      earlier = !rung && (over || dueMs < wasDueMs);
      if (rung || earlier) life.pulseWake.ring();
    }
    return true;
  };
  metrics.leader.set({ chain }, 1);
  try {
    while (!signal.aborted && !over) {
      if (!beating && (rung || deps.monotonicMs() >= dueMs))
        await beat().catch((error: unknown) => {
          // The database being away stops publishing as soon as the lease may have run out, and nothing else.
          dueMs = deps.monotonicMs() + Math.max(PULSE_MS, patience.next(error as Error));
        });
      if (over) return;
      const rang = await life.pulseWake.wait(Math.max(beating ? PULSE_MS : 0, dueMs - deps.monotonicMs()), signal);
      if (rang && !earlier) rung = true;
      earlier = false;
    }
  } finally {
    life.noteWithPulse = undefined;
    metrics.leader.set({ chain }, 0);
  }
};

/** Whether Redis forgot what was sent last; unknown while it is away counts as no. */
async function isLost({ streams }: IndexerDeps, { network, lastEntryId }: Life): Promise<boolean> {
  if (lastEntryId === undefined || streams.problem() !== null) return false;
  return !(await streams.holds(blockStream(network.name), lastEntryId));
}
