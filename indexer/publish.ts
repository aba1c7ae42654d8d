import { encodingBlockMessage } from '#shared/core/block-codec.ts';
import { type BlockMessage, blockStream } from '#shared/core/chain-events.ts';
import { POLICY } from '#shared/core/policy.ts';
import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '#shared/platform/breathe.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { currentTraceparent } from '#shared/platform/tracing.ts';
import { LEASE_SECONDS, renewLease } from './lease.ts';
import type { Child, IndexerDeps, Life } from './life.ts';
import { createPatience } from './patience.ts';
import { readRewindRequest, readTip, readUnacked } from './truth.ts';

/** How often the database is asked what it wants and told how far this is. */
const PULSE_MS = 500;
/** The consumer standing still for this long makes it worth asking whether Redis still has what was sent. */
const STILL_MS = 3_000;
const APPEND_RETRY_MS = 200;

/** A message without what only its sending decides. */
export type Draft = Omit<BlockMessage, 'network' | 'epoch' | 'seq' | 'traceparent'>;

/**
 * Appends one message: waits while the consumer is too far behind or the lease is in doubt, and repeats until Redis
 * confirmed it, so that a message may be in the stream twice but never missing.
 */
export async function publish(deps: IndexerDeps, life: Life, draft: Draft, signal: AbortSignal): Promise<void> {
  const traceparent = currentTraceparent();
  const message = { network: life.network.name, epoch: life.epoch, seq: life.seq + 1, ...draft, ...(traceparent === undefined ? {} : { traceparent }) };
  const payload = await inTurns(encodingBlockMessage(message), breathe);
  const mustWait = (): boolean => life.seq - life.appliedSeq >= POLICY.messagesAhead || isTooLong(life, payload) || deps.monotonicMs() >= life.leaseUntilMs;
  crashPoint('publish.before');
  for (;;) {
    while (mustWait()) {
      await life.appliedWake.wait(PULSE_MS, signal);
      signal.throwIfAborted();
    }
    signal.throwIfAborted();
    try {
      life.lastEntryId = await deps.streams.append(blockStream(life.network.name), payload);
      break;
    } catch (error) {
      deps.log.debug({ err: error, network: life.network.name }, 'the stream did not confirm a message; sending it again');
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
 * be watched, and starts over when somebody asked for it or when what was sent is no longer in Redis.
 */
export const keepPulse: Child = async (deps, life, tell, signal) => {
  const { sql, metrics } = deps;
  const chain = life.network.name;
  const patience = createPatience(deps);
  let movedAtMs = deps.monotonicMs();
  metrics.leader.set({ chain }, 1);
  try {
    while (!signal.aborted) {
      let waitMs = PULSE_MS;
      try {
        const askedAtMs = deps.monotonicMs();
        const progress = {
          publishedHeight: life.trail.joined() ? (life.trail.last()?.height ?? null) : null,
          caughtUpSecondsAgo: life.caughtUpAtMs === undefined ? null : (askedAtMs - life.caughtUpAtMs) / 1_000,
        };
        const [held, tip, unacked, rewind] = await Promise.all([
          renewLease(sql, life.networkId, deps.holder, life.epoch, progress),
          readTip(sql, life.networkId),
          readUnacked(sql, life.networkId),
          readRewindRequest(sql, life.networkId, life.epoch),
        ]);
        patience.reset();
        if (!held) return tell({ type: 'FAILED', reason: 'another indexer holds the lease' });
        life.leaseUntilMs = askedAtMs + LEASE_SECONDS * 1_000;
        if (rewind !== undefined) return tell({ type: 'REWIND', reason: rewind });
        const applied = tip?.epoch === life.epoch ? tip.seq : 0;
        if (applied !== life.appliedSeq || applied === life.seq) movedAtMs = askedAtMs;
        life.appliedSeq = applied;
        life.appliedWake.ring();
        if (askedAtMs - movedAtMs > STILL_MS && (await isLost(deps, life)))
          return tell({ type: 'REWIND', reason: 'the stream lost messages that were not applied yet' });
        life.watchlist.expect(unacked);
        metrics.watchedAddresses.set({ chain }, life.watchlist.size);
        if (life.watchlist.hasAcks(deps.monotonicMs())) life.scanWake.ring();
      } catch (error) {
        // The database being away stops publishing as soon as the lease may have run out, and nothing else.
        waitMs = Math.max(PULSE_MS, patience.next(error as Error));
      }
      await life.pulseWake.wait(waitMs, signal);
    }
  } finally {
    metrics.leader.set({ chain }, 0);
  }
};

/** Whether Redis forgot what was sent last; unknown while it is away counts as no. */
async function isLost({ streams }: IndexerDeps, { network, lastEntryId }: Life): Promise<boolean> {
  if (lastEntryId === undefined || streams.problem() !== null) return false;
  return !(await streams.holds(blockStream(network.name), lastEntryId));
}
