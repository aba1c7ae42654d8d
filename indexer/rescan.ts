import { ChainUnavailable, type RangeContent } from '#shared/chains/chain.ts';
import { askingSize, isTooMuch } from '#shared/chains/too-much.ts';
import { encodingBlockMessage } from '#shared/core/block-codec.ts';
import { rescanStream } from '#shared/core/chain-events.ts';
import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '#shared/platform/breathe.ts';
import { type Caution, createCaution } from './caution.ts';
import type { Child, IndexerDeps, Life } from './life.ts';
import { inParts, MOST_SIGHTINGS, type Part } from './scan.ts';
import { noteRescanProblem, type OpenRescan, readRescan } from './truth.ts';
import { createWake } from './wake.ts';

const FIRST_RANGE = 100;
const LONGEST_RANGE = 1_000;
/** How often the database is asked whether work may begin, and whether the last part of it arrived; the pulse says when there is any. */
const IDLE_MS = 1_000;
const NOTHING_MS = 60_000;
const STEP_MS = 200;
/** A part that is not in the books by then is sent again: its message may be lost. */
const RESEND_MS = 5_000;
const LONGEST_PAUSE_MS = 30_000;
/** A node that is away for a moment is no news; what is told then stands until the rescan goes on. */
const TOLD_AFTER_FAILURES = 3;
const LONGEST_PROBLEM = 300;
/** Messages that stay in Redis: one is on its way at a time. */
const KEPT = 8;

/** Runs several children as one, for as long as the longest of them. */
export function beside(...children: readonly Child[]): Child {
  return async (...given) => {
    await Promise.all(children.map((child) => child(...given)));
  };
}

/**
 * Reads again the final blocks that an operator asked for, and those that were read by logs, one part at a time on a stream of its own, while the head is followed. Postgres
 * says what is asked for and how far it is, so it goes on wherever this process, or another one, stopped. A rescan that does not get on rests while the
 * others have their turn, is tried again, and says in its row why.
 */
export const serveRescans: Child = async (deps, life, _tell, signal) => {
  const never = createWake();
  const size = askingSize(FIRST_RANGE, LONGEST_RANGE);
  const caution = createCaution(deps, life, 'rescanning', life.left.rescanning);
  const rests = createRests(deps.monotonicMs);
  let sent: { id: string; from: number; atMs: number } | undefined;
  let seq = 0;

  const goOn = async (open: OpenRescan): Promise<void> => {
    const now = deps.monotonicMs();
    if (sent?.id === open.id && sent.from === open.nextHeight) {
      if (now - sent.atMs <= RESEND_MS) return;
      sent = undefined;
      rests.begin(open.id);
      return;
    }
    if (now >= life.leaseUntilMs) return;
    if (sent?.id === open.id) rests.end(open.id);
    const to = Math.min(open.toHeight, open.nextHeight + Math.min(size.now(), caution.most(open.nextHeight)) - 1);
    try {
      await readAgain(deps, life, { ...open, to, seq: seq + 1 }, caution);
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof ChainUnavailable && isTooMuch(error) && size.shrink()) return;
      deps.log.warn({ err: error, rescan: open.id, from: open.nextHeight }, 'blocks cannot be read again; trying again');
      // Whatever it is, the others have their turn.
      const problem = error instanceof Error ? error.message : String(error);
      if (rests.begin(open.id) >= TOLD_AFTER_FAILURES) await noteRescanProblem(deps.sql, open.id, problem.slice(0, LONGEST_PROBLEM));
      return;
    }
    seq += 1;
    sent = { id: open.id, from: open.nextHeight, atMs: now };
    size.grow();
  };

  let failures = 0;
  while (!signal.aborted) {
    let waitMs = IDLE_MS;
    try {
      const resting = rests.now();
      const open = life.rescanOpen ? await readRescan(deps.sql, life.networkId, resting) : undefined;
      if (open === undefined && resting.length === 0) {
        life.rescanOpen = false;
        waitMs = NOTHING_MS;
      }
      // What logs told of is read completely once the head is reached: until then, the way there matters more.
      if (open !== undefined && (open.cause === 'operator' || life.caughtUpAtMs !== undefined)) {
        waitMs = STEP_MS;
        await goOn(open);
      }
      failures = 0;
    } catch (error) {
      if (signal.aborted) break;
      failures += 1;
      if (failures === 1) deps.log.warn({ err: error }, 'blocks are not read again; trying again');
      waitMs = Math.min(LONGEST_PAUSE_MS, IDLE_MS * 2 ** Math.min(failures, 10));
    }
    await (waitMs === NOTHING_MS ? life.rescanWake : never).wait(waitMs, signal);
  }
  await caution.forget();
};

/** Rescans that are left alone for a while, longer each time they failed in a row. */
function createRests(monotonicMs: () => number): { now(): string[]; begin(id: string): number; end(id: string): void } {
  const resting = new Map<string, { failures: number; untilMs: number }>();
  return {
    now: () => [...resting].flatMap(([id, { untilMs }]) => (untilMs > monotonicMs() ? [id] : [])),
    /** Answers how often it failed in a row. */
    begin(id) {
      const failures = (resting.get(id)?.failures ?? 0) + 1;
      resting.set(id, { failures, untilMs: monotonicMs() + Math.min(LONGEST_PAUSE_MS, IDLE_MS * 2 ** Math.min(failures, 10)) });
      return failures;
    },
    end: (id) => void resting.delete(id),
  };
}

async function readAgain(
  deps: IndexerDeps,
  life: Life,
  { nextHeight: from, to, seq }: OpenRescan & { to: number; seq: number },
  caution: Caution,
): Promise<void> {
  await caution.begin({ from, to });
  const read = caution.isLean(from) ? await readLean(life, from) : await life.reader.range(from, to, life.watchlist, { enough: MOST_SIGHTINGS });
  // What one message does not carry is read again for the next one.
  const [{ sightings, last }] = (await inParts(deps, life, read)) as [Part];
  const message = {
    network: life.network.name,
    epoch: life.epoch,
    seq,
    from,
    to: last.height,
    parentHash: read.parentHash,
    hash: last.hash,
    safeNumber: last.height,
    finalNumber: last.height,
    headNumber: Math.max(last.height, life.head?.latest.height ?? 0),
    time: last.time,
    sightings,
    acks: [],
    ...(read.internalUnseen === undefined ? {} : { internalUnseen: read.internalUnseen }),
  };
  const payload = await inTurns(encodingBlockMessage(message), breathe);
  await deps.streams.append(rescanStream(life.network.name), payload, KEPT);
}

async function readLean({ reader, watchlist }: Life, height: number): Promise<RangeContent> {
  const content = await reader.block((await reader.blockAt(height)).hash, watchlist, { lean: true });
  const { block, internalUnseen } = content;
  return { parentHash: block.parentHash, last: block, contents: [content], ...(internalUnseen === undefined ? {} : { internalUnseen }) };
}
