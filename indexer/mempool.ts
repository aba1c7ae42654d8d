import { payersNamed, withFewerPayers } from '#shared/core/match.ts';
import { encodingMempoolMessage, mempoolStream, type SeenTransaction } from '#shared/core/mempool-message.ts';
import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '#shared/platform/breathe.ts';
import type { Child, IndexerDeps, Life } from './life.ts';
import { readServiceTime } from './truth.ts';
import { createWake } from './wake.ts';

/** Polls per block, within bounds: often enough that a payer sees his coins found, seldom enough for a large mempool. */
const POLLS_PER_BLOCK = 4;
const SHORTEST_POLL_MS = 500;
const LONGEST_POLL_MS = 5_000;
/** Everything is told again this often though nothing changed, because any message may have been lost. */
const REPEAT_MS = 10_000;
const LONGEST_PAUSE_MS = 60_000;
/** More than this is a flood: the first that came are told. Transfers, payers and spent outputs each count, about a hundred characters of a message of 32 million. */
const MOST_TOLD = 200_000;
/** Payers named beside the first: nobody is screened by a hint. */
const MOST_PAYERS = 10;
/** Messages that stay in Redis: each says all of it anew, and may be tens of megabytes long. */
const KEPT = 4;

/**
 * Asks the node what waits to be mined and tells all of it on a stream of its own (architecture 3.3). These are hints: whatever
 * fails is tried again later and later, and the chain is followed all the same. Ends at once where the family's nodes tell of nothing.
 */
export const followMempool: Child = async (deps, life, _tell, signal) => {
  if (life.reader.mempool === undefined) return;
  const chain = life.network.name;
  const pollMs = Math.min(LONGEST_POLL_MS, Math.max(SHORTEST_POLL_MS, (life.network.blockSeconds * 1_000) / POLLS_PER_BLOCK));
  const ask = createMempoolWatch(deps, life);
  const never = createWake();
  let failures = 0;
  while (!signal.aborted) {
    try {
      await ask();
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures === 1 && !signal.aborted) deps.log.warn({ err: error }, 'what waits to be mined is not known; trying again');
    }
    deps.metrics.mempoolPolls.inc({ chain, result: failures === 0 ? 'ok' : 'failed' });
    await never.wait(Math.min(LONGEST_PAUSE_MS, pollMs * 2 ** Math.min(failures, 10)), signal);
  }
};

/** Answers a function that asks the node once and tells what there is to tell. @throws Error when the node, the database or Redis fails */
export function createMempoolWatch(
  deps: Pick<IndexerDeps, 'sql' | 'streams' | 'monotonicMs' | 'metrics'>,
  life: Pick<Life, 'network' | 'epoch' | 'reader' | 'watchlist' | 'leaseUntilMs' | 'mempoolSeq' | 'serviceTime'>,
): () => Promise<void> {
  const chain = life.network.name;
  /** Whatever waits, ours or not, so that the node is asked about each transaction once. */
  let known: ReadonlySet<string> = new Set();
  let ours = new Map<string, SeenTransaction>();
  /** Null while the last word was not heard. */
  let toldAtMs: number | null = null;

  return async () => {
    const askedAtMs = deps.monotonicMs();
    // What the answer has was there by then, and what it lacks may have been mined until it came.
    const readAskedAt = async (): Promise<number> => {
      const now = await readServiceTime(deps.sql);
      return now - Math.ceil(deps.monotonicMs() - askedAtMs);
    };
    const mempool = await life.reader.mempool?.(life.watchlist, known);
    if (mempool === undefined) return;
    const { txids, fresh } = mempool;
    const still = new Map([...ours].filter(([txid]) => txids.has(txid)));
    const added = fresh.filter((one) => txids.has(one.txid) && one.spends.length > 0 && !still.has(one.txid));
    const askedAt = added.length > 0 ? await readAskedAt() : 0;
    for (const { txid, spends, transfers } of added)
      still.set(txid, { txid, firstSeenAt: askedAt, spends: [...new Set(spends)], transfers: withFewerPayers(transfers, MOST_PAYERS * transfers.length) });
    const changed = added.length > 0 || still.size < ours.size;
    ours = still;
    known = txids;
    deps.metrics.mempoolTransactions.set({ chain }, ours.size);
    if (changed) toldAtMs = null;
    const now = deps.monotonicMs();
    if ((toldAtMs !== null && now - toldAtMs < REPEAT_MS) || now >= life.leaseUntilMs) return;
    // A message that tells once more of nothing gives nobody a time: what the pulse heard, and what has passed since, is enough for it.
    const heard = toldAtMs !== null && ours.size === 0 ? life.serviceTime : undefined;
    const takenAt = heard === undefined ? Math.max(askedAt, await readServiceTime(deps.sql)) : heard.atMs + Math.floor(now - heard.heardAtMs);
    life.mempoolSeq += 1;
    // The clock may have gone back since: nothing was seen later than it says now.
    const transactions = firstOf(ours.values()).map((one) => ({ ...one, firstSeenAt: Math.min(one.firstSeenAt, takenAt) }));
    const message = { network: chain, epoch: life.epoch, seq: life.mempoolSeq, takenAt, transactions };
    const payload = await inTurns(encodingMempoolMessage(message), breathe);
    await deps.streams.append(mempoolStream(chain), payload, KEPT);
    toldAtMs = now;
  };
}

/** As many as a message carries, in the order they came. */
function firstOf(all: Iterable<SeenTransaction>): SeenTransaction[] {
  const told: SeenTransaction[] = [];
  let left = MOST_TOLD;
  for (const one of all) {
    left -= one.spends.length + 3 * one.transfers.length + payersNamed(one.transfers);
    if (left < 0) break;
    told.push(one);
  }
  return told;
}
