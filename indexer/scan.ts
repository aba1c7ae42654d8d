import { ChainUnavailable, type RangeContent } from '#shared/chains/chain.ts';
import { askingSize, isTooMuch } from '#shared/chains/too-much.ts';
import type { Sighting, Transfer } from '#shared/core/chain-events.ts';
import { heightsOf } from '#shared/core/finality.ts';
import { matching, payersNamed, withFewerPayers, withoutStrangeTokens } from '#shared/core/match.ts';
import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '#shared/platform/breathe.ts';
import { inTracesOf } from './block-trace.ts';
import { type Caution, createCaution } from './caution.ts';
import { createLogReading, type LogReading } from './log-reading.ts';
import type { Child, IndexerDeps, Life, SeenHead } from './life.ts';
import { createPatience } from './patience.ts';
import { type Plan, planNext } from './plan.ts';
import { publish } from './publish.ts';
import { readTokenContracts } from './truth.ts';

const FIRST_RANGE = 200;
const LONGEST_RANGE = 1_000;
/** More than this is told in several messages. */
export const MOST_SIGHTINGS = 20_000;
/** Of a block with more than this, tokens nobody configured are left out: they cost their sender a log each, and us a row. */
const MOST_STRANGE = 1_000;
/** The same of the payers that sightings name beside the first: each is up to 128 characters in a message of 32 million. */
const MOST_PAYERS = 100_000;
/** With nothing to do the scan waits for a bell; this is for one that was never rung. */
const IDLE_MS = 1_000;

/** What one turn did: appended a message, changed where the next one joins, or found nothing to do. */
type Turn = 'published' | 'moved' | 'idle';

/**
 * Reads the chain forward from the last published block and publishes what it finds: ranges below final, block by hash near
 * the head. One message at a time, so an address is watched from a block that certainly was not read yet.
 */
export const scanChain: Child = async (deps, life, tell, signal) => {
  const patience = createPatience(deps);
  const rangeSize = askingSize(FIRST_RANGE, LONGEST_RANGE);
  const caution = createCaution(deps, life, 'following', life.left.following);
  const logs = createLogReading(deps, life);
  let tailing = false;
  while (!signal.aborted) {
    const { head } = life;
    if (head === undefined) {
      await life.scanWake.wait(IDLE_MS, signal);
      continue;
    }
    const { finalHeight } = heightsOf(life.network.finality, head);
    const next = (life.trail.last()?.height ?? -1) + 1;
    // A range that a process may have died of is read by no shortcut.
    const byLogs = caution.most(next) === Number.POSITIVE_INFINITY && (await logs.offers(finalHeight - next));
    const plan = planNext(life.trail, head, finalHeight, byLogs ? logs.most() : Math.min(rangeSize.now(), caution.most(next)));
    const near = plan.step !== 'range' && plan.step !== 'begin';
    if (near !== tailing) tell({ type: near ? 'CAUGHT_UP' : 'FELL_BEHIND' });
    tailing = near;
    try {
      if (plan.step === 'caught-up') foresee(life, caution);
      const turn = await take(deps, life, { head, finalHeight, plan, caution, byLogs: byLogs ? logs : undefined }, signal);
      patience.reset();
      if (turn === 'published') tell({ type: 'PUBLISHED' });
      if (turn === 'published' && plan.step === 'range' && !byLogs) rangeSize.grow();
      if (turn === 'idle') await life.scanWake.wait(IDLE_MS, signal);
    } catch (error) {
      if (signal.aborted) break;
      if (!(error instanceof ChainUnavailable)) throw error;
      // Asking for less is a way on, not another failure: however slow the node, this gets to where it can answer.
      if (plan.step === 'range' && !byLogs && isTooMuch(error) && rangeSize.shrink()) continue;
      await life.scanWake.wait(patience.next(error), signal);
    }
  }
  await caution.forget();
};

interface Reading {
  head: SeenHead;
  finalHeight: number;
  plan: Plan;
  caution: Caution;
  /** How to read a range by logs, where it is to be. */
  byLogs: LogReading | undefined;
}

async function take(deps: IndexerDeps, life: Life, reading: Reading, signal: AbortSignal): Promise<Turn> {
  const { plan, head } = reading;
  switch (plan.step) {
    case 'caught-up':
      life.caughtUpAtMs = head.askedAtMs;
      return acknowledge(deps, life, reading, signal);
    case 'behind':
      return acknowledge(deps, life, reading, signal);
    case 'fork':
      return leaveBranch(deps, life, head);
    case 'begin':
    case 'block':
      return readBlock(deps, life, reading, { height: plan.height, hash: plan.step === 'block' ? plan.hash : undefined }, signal);
    case 'range':
      // A single block is cheaper read by itself.
      if (reading.caution.isLean(plan.from)) return readBlock(deps, life, reading, { height: plan.from, hash: undefined }, signal);
      return readRange(deps, life, reading, plan, signal);
  }
}

/**
 * Begins to ask for the block that a node announced as the next one while the head itself is asked for, once for each height. A block that a process
 * ended on is not asked for before it is known what may be left out of it. Nothing is read of the answers before the note is written: readBlock waits for it.
 */
function foresee(life: Life, caution: Caution): void {
  const { announced } = life;
  life.announced = undefined;
  const last = life.trail.last();
  if (announced === undefined || last === undefined || announced.parentHash !== last.hash || announced.height !== last.height + 1) return;
  if (life.foreseenHeight === announced.height || caution.most(announced.height) !== Number.POSITIVE_INFINITY) return;
  life.foreseenHeight = announced.height;
  void caution.begin({ from: announced.height, to: announced.height });
  life.reader.foresee?.(announced);
}

async function readBlock(
  deps: IndexerDeps,
  life: Life,
  reading: Reading,
  at: { height: number; hash: string | undefined },
  signal: AbortSignal,
): Promise<Turn> {
  const startedMs = deps.monotonicMs();
  const last = life.trail.last();
  const acks = life.watchlist.takeAcks(at.height, startedMs);
  await reading.caution.begin({ from: at.height, to: at.height });
  const hash = at.hash ?? (await life.reader.blockAt(at.height)).hash;
  const lean = reading.caution.isLean(at.height);
  if (lean)
    deps.log.warn({ network: life.network.name, height: at.height }, 'processes ended while they read this block: it is read without what can be left out');
  const content = await life.reader.block(hash, life.watchlist, { lean });
  if (content.block.height !== at.height) throw new ChainUnavailable(`block ${hash} is at ${content.block.height}, not at ${at.height}`);
  if (last !== undefined && content.block.parentHash !== last.hash) return leaveBranch(deps, life, reading.head);
  const { parentHash, time } = content.block;
  const sightings = await bounded(deps, life, at.height, await inTurns(matching([content], life.watchlist), breathe));
  await send(deps, life, reading, { from: at.height, to: at.height, parentHash, hash, time, sightings, acks, ...unseenOf(content) }, startedMs, signal);
  deps.metrics.blockArrival.observe({ chain: life.network.name }, Math.max(0, Date.now() / 1_000 - time));
  return 'published';
}

async function readRange(deps: IndexerDeps, life: Life, reading: Reading, { from, to }: { from: number; to: number }, signal: AbortSignal): Promise<Turn> {
  const startedMs = deps.monotonicMs();
  const last = life.trail.last();
  const acks = life.watchlist.takeAcks(from, startedMs);
  await reading.caution.begin({ from, to });
  const { byLogs } = reading;
  const read = byLogs ? await byLogs.read(from, to, MOST_SIGHTINGS) : await life.reader.range(from, to, life.watchlist, { enough: MOST_SIGHTINGS });
  // Another plan is made: for fewer blocks, or for reading all of them.
  if (read === undefined) return 'moved';
  if (last !== undefined && read.parentHash !== last.hash) return leaveBranch(deps, life, reading.head);
  let [next, parentHash] = [from, read.parentHash];
  for (const { last: end, sightings } of await inParts(deps, life, read)) {
    const blocks = { from: next, to: end.height, parentHash, hash: end.hash, time: end.time };
    const content: Content = { ...blocks, sightings, acks: next === from ? acks : [], ...unseenOf(read), ...(byLogs && { byLogs: true }) };
    await send(deps, life, reading, content, startedMs, signal);
    [next, parentHash] = [end.height + 1, end.hash];
  }
  return 'published';
}

/** As much of a range as one message carries. */
export interface Part {
  last: RangeContent['last'];
  sightings: Sighting[];
}

/** What a range holds for us, in as many messages as carry it: a message ends where the sightings of another block would be too many. */
export async function inParts(deps: IndexerDeps, life: Life, { contents, last }: Pick<RangeContent, 'contents' | 'last'>): Promise<Part[]> {
  const parts: Part[] = [];
  let current: Part = { last, sightings: [] };
  for (const content of contents) {
    const { block } = content;
    const found = await bounded(deps, life, block.height, await inTurns(matching([content], life.watchlist), breathe));
    if (current.sightings.length > 0 && isFlood([...current.sightings, ...found])) {
      parts.push(current);
      current = { last: block, sightings: [] };
    }
    for (const one of found) current.sightings.push(one);
    current.last = block;
  }
  return [...parts, { ...current, last }];
}

/** A flood in one block must not grow beyond what a message carries, nor fill the books with what is in none: nobody could make that block any smaller. */
async function bounded(deps: IndexerDeps, life: Life, height: number, sightings: Sighting[]): Promise<Sighting[]> {
  if (sightings.length <= MOST_STRANGE && !isFlood(sightings)) return sightings;
  const known = sightings.length <= MOST_STRANGE ? sightings : withoutStrangeTokens(sightings, await readTokenContracts(deps.sql, life.networkId));
  if (known.length === sightings.length && !isFlood(known)) return known;
  const kept = payersNamed(known.filter(isTransfer)) <= MOST_PAYERS ? known : fewerPayersOf(known);
  deps.log.warn(
    { network: life.network.name, height, sightings: sightings.length, kept: kept.length },
    'a block floods our addresses: tokens nobody configured are left out, and most of those who paid a transaction together',
  );
  return kept;
}

/** Whether one message could not carry these. */
function isFlood(sightings: readonly Sighting[]): boolean {
  return sightings.length > MOST_SIGHTINGS || payersNamed(sightings.filter(isTransfer)) > MOST_PAYERS;
}

function isTransfer(sighting: Sighting): sighting is Transfer {
  return sighting.kind !== 'sent';
}

function fewerPayersOf(sightings: readonly Sighting[]): Sighting[] {
  return [...withFewerPayers(sightings.filter(isTransfer), MOST_PAYERS), ...sightings.filter((one) => !isTransfer(one))];
}

interface Content {
  from: number;
  to: number;
  parentHash: string;
  hash: string;
  time: number;
  sightings: Sighting[];
  acks: ReturnType<Life['watchlist']['takeAcks']>;
  internalUnseen?: true;
  byLogs?: true;
}

function unseenOf({ internalUnseen }: { internalUnseen?: true }): { internalUnseen?: true } {
  return internalUnseen === undefined ? {} : { internalUnseen };
}

async function send(deps: IndexerDeps, life: Life, { head, finalHeight }: Reading, content: Content, startedMs: number, signal: AbortSignal): Promise<void> {
  const { metrics } = deps;
  const chain = life.network.name;
  const headNumber = Math.max(head.latest.height, content.to);
  const safeNumber = Math.min(headNumber, head.safeHeight ?? finalHeight);
  await inTracesOf(deps, life, { ...content, startedMs }, () => publish(deps, life, { ...content, safeNumber, finalNumber: finalHeight, headNumber }, signal));
  life.trail.push({ height: content.to, hash: content.hash, time: content.time });
  if (content.hash === head.latest.hash) life.caughtUpAtMs = head.askedAtMs;
  for (const sighting of content.sightings) metrics.sightings.inc({ chain, kind: sighting.kind });
  if (content.byLogs) metrics.blocksByLogs.inc({ chain }, content.to - content.from + 1);
  else if (content.internalUnseen) metrics.blindBlocks.inc({ chain }, content.to - content.from + 1);
  metrics.processedBlock.set({ chain }, content.to);
  metrics.processedBlockTimestamp.set({ chain }, content.time);
  metrics.backfillRemaining.set({ chain }, headNumber - content.to);
  metrics.blockProcessing.observe({ chain }, (deps.monotonicMs() - startedMs) / 1_000);
  if (life.forkedBelowFinal)
    throw new Error(
      `the chain left its own block ${life.finalHeight}, which was final, at block ${content.from - 1}; somebody has to look before this network goes on`,
    );
  life.finalHeight = Math.max(life.finalHeight, Math.min(finalHeight, content.to));
}

/** Says at once that addresses are watched, when no block comes to carry the word. */
async function acknowledge(deps: IndexerDeps, life: Life, { head, finalHeight }: Reading, signal: AbortSignal): Promise<Turn> {
  const last = life.trail.last();
  if (last === undefined || !life.trail.joined()) return 'idle';
  const from = last.height + 1;
  const acks = life.watchlist.takeAcks(from, deps.monotonicMs());
  if (acks.length === 0) return 'idle';
  const headNumber = Math.max(head.latest.height, last.height);
  const marks = { safeNumber: Math.min(headNumber, head.safeHeight ?? finalHeight), finalNumber: finalHeight, headNumber };
  await publish(deps, life, { from, to: last.height, parentHash: last.hash, hash: last.hash, time: last.time, sightings: [], acks, ...marks }, signal);
  return 'published';
}

/** Walks back to the last published block that the chain still has; the next message joins there. */
async function leaveBranch(deps: IndexerDeps, life: Life, head: SeenHead): Promise<Turn> {
  const last = life.trail.last();
  for (const height of life.trail.heights()) {
    if (height > head.latest.height) continue;
    const block = await life.reader.blockAt(height);
    if (block.hash !== life.trail.hashAt(height)) continue;
    const depth = (last?.height ?? height) - height;
    deps.log.warn({ network: life.network.name, ancestor: height, depth }, 'the chain was reorganised');
    if (depth > 0) deps.metrics.reorgDepth.observe({ chain: life.network.name }, depth);
    life.forkedBelowFinal = height < life.finalHeight;
    life.trail.cutTo(height);
    return 'moved';
  }
  throw new Error('the chain has none of the blocks this deployment knows; for a local chain that was made anew: npm start -- --reset');
}
