import type { Chain, Deps } from '#api/deps.ts';
import { postEach } from '#api/ledger/post.ts';
import { listFinalDeposits, type WrittenTip } from '#api/payments/credit-deposit.ts';
import { readStoredBefore, recordDeposits, type StoredBefore } from '#api/payments/record-deposits.ts';
import { takeApart } from '#api/payments/take-apart.ts';
import {
  insertBlindBlocks,
  findCanonicalBlocks,
  type Blocks,
  orphanBlocks,
  pruneBlocksBelow,
  upsertBlock,
  type ChainTip,
  lockTip,
  touchTip,
  writeTip,
} from '#api/store/chain-blocks.ts';
import { isAnyMaturing } from '#api/store/credits.ts';
import { dropDeposits, isAnyToCredit, loseBookedDeposits, type OpenPayment } from '#api/store/deposits.ts';
import { insertFreeze, insertLossFreeze, isAnyLost, liftRegained } from '#api/store/freezes.ts';
import { holdsConsumerLease, isNewestEpoch } from '#api/store/leases.ts';
import { unmine } from '#api/store/mempool.ts';
import { mayHaveWork } from '#api/store/outbox.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { requestRewind, rescanAfterLogs } from '#api/store/rescans.ts';
import { listUntold, orphanSightings } from '#api/store/sightings.ts';
import { acknowledgeWatches } from '#api/store/deposit-addresses.ts';
import { applyOutgoing, isAnyOutgoing } from '#api/payouts/apply-outgoing.ts';
import type { BlockMessage } from '#shared/core/chain-events.ts';
import { bothEnded } from '#shared/core/both-ended.ts';
import type { ChainHeights } from '#shared/core/finality.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { formatAmount } from '#shared/core/money.ts';
import { type Mark, reconcile } from '#shared/core/reconcile.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { lose } from '#state-machines/ledger/postings.ts';

/** Fewest blocks whose hashes are kept below the tip, however shallow finality is. */
const KEPT_BLOCKS = 64;

export interface ConsumedNetwork {
  /** Id of its row in `networks`. */
  id: string;
  name: string;
}

/** What became of one message; `toCredit` is what is final now, where there is anything to be credited or to mature. */
export type Applied =
  | { outcome: 'applied'; orphanedBlocks: number; droppedDeposits: number; lostDeposits: string[]; toCredit: WrittenTip | undefined }
  | { outcome: 'acknowledged' | 'duplicate' | 'fenced' }
  | { outcome: 'dropped' | 'frozen'; reason: string }
  | { outcome: 'rewind'; reason: string; requested: boolean };

/**
 * Applies one authentic stream message to Postgres in one transaction: blocks, sightings, deposits, acknowledgements,
 * what it means for outgoing transactions, and the new tip (architecture 3.3). Safe to call twice with the same message.
 * `fence` is the caller's consumer lease, which it renews for `seconds` where they are given; with an older one nothing happens and the outcome is `fenced`.
 * With `listsOpen` it lists the payments to be credited with the rest. Announces whose payments it is about. Locks both leases (shared) and the tip, then deposits, then ledger accounts.
 */
export async function applyMessage(
  deps: Deps,
  network: ConsumedNetwork,
  fence: number,
  message: BlockMessage,
  { seconds, listsOpen = false }: { seconds?: number | undefined; listsOpen?: boolean } = {},
): Promise<Applied> {
  const paid = new Set<string>();
  let within: Tx | undefined;
  const applied = await deps.db.transaction(async (tx): Promise<Applied> => {
    within = tx;
    // Sent together and answered in this order: a caller that lost its lease waits for the tip once more, and does nothing.
    const [held, newest, tip, known, untold, stored] = await Promise.all([
      holdsConsumerLease(tx, network.id, fence, seconds),
      isNewestEpoch(tx, network.id, message.epoch),
      lockTip(tx, network.id),
      findCanonicalBlocks(tx, network.id, { heights: [message.to, message.from - 1], hashes: [message.parentHash] }),
      listUntold(tx, network.id, message),
      readStoredBefore(tx, network.id, message.sightings),
    ]);
    if (!held) return { outcome: 'fenced' };
    // A writer that was superseded may still finish a sentence. What it says of watches would be about a list nobody keeps any more.
    if (!newest) return { outcome: 'dropped', reason: 'older_epoch' };
    const verdict = reconcile(tip ?? null, known, message);
    switch (verdict.action) {
      case 'drop':
        return { outcome: 'dropped', reason: verdict.reason };
      case 'rewind':
        crashPoint('rewind.requested');
        return {
          outcome: 'rewind',
          reason: verdict.reason,
          requested: await requestRewind(tx, { networkId: network.id, epoch: message.epoch, reason: verdict.reason }),
        };
      case 'freeze':
        await insertFreeze(tx, { scope: `network:${network.name}`, reason: verdict.reason });
        return { outcome: 'frozen', reason: verdict.reason };
      case 'acks':
        await acknowledgeWatches(tx, network.id, message.epoch, message.acks);
        await touchTip(tx, network.id, verdict.mark);
        return { outcome: 'acknowledged' };
      case 'duplicate':
        // A rescan says again what blocks held: what is new in it is as true as the first time.
        await storeContent(tx, deps, network, message, { paid, stored });
        await applyOutgoing(tx, deps, { networkId: network.id, networkName: network.name });
        await touchTip(tx, network.id, verdict.mark);
        return { outcome: 'duplicate' };
      case 'apply':
        return applyBlocks(tx, deps, network, message, { tip, untold, stored, listsOpen, mark: verdict.mark, ancestorHeight: null, paid });
      case 'reorganise':
        return applyBlocks(tx, deps, network, message, { tip, untold, stored, listsOpen, mark: verdict.mark, ancestorHeight: verdict.ancestorHeight, paid });
    }
  });
  crashPoint('ingest.committed');
  if (within !== undefined && mayHaveWork(within)) deps.wake();
  if (applied.outcome === 'rewind' && applied.requested) deps.nudgeIndexer(network.name);
  const moved = applied.outcome === 'applied' || message.acks.length > 0;
  if (moved || paid.size > 0) deps.announce([...paid], moved ? network.name : undefined);
  return applied;
}

async function applyBlocks(
  tx: Tx,
  deps: Deps,
  network: ConsumedNetwork,
  message: BlockMessage,
  given: {
    tip: ChainTip | undefined;
    untold: readonly string[];
    stored: StoredBefore;
    listsOpen: boolean;
    mark: Mark;
    ancestorHeight: number | null;
    paid: Set<string>;
  },
): Promise<Applied> {
  const reached = given.tip?.height ?? message.to;
  const orphaned =
    given.ancestorHeight === null
      ? { orphanedBlocks: 0, droppedDeposits: 0, lostDeposits: [] }
      : await orphan(tx, deps, network, { above: given.ancestorHeight, upTo: reached, mark: given.mark });
  // An inquiry may have booked what these blocks hold before the indexer came to them.
  const { untold } = given;
  if (untold.length > 0) {
    deps.log.error(
      { network: network.name, from: message.from, to: message.to, txids: untold },
      'the indexer does not see what an inquiry was told of its blocks',
    );
    const taken = await orphan(tx, deps, network, { above: reached, upTo: message.to, mark: given.mark });
    orphaned.droppedDeposits += taken.droppedDeposits;
    orphaned.lostDeposits.push(...taken.lostDeposits);
  }
  const blockTime = new Date(message.time * 1_000);
  // What was not applied is not final here, whatever a node says of it: it may be mistaken, and this never goes back below what was applied.
  const finalHeight = Math.max(Math.min(message.finalNumber, message.to), given.tip === undefined ? -1 : Math.min(given.tip.finalHeight, given.tip.height));
  // Sent ahead of what the block holds, which asks nothing about them.
  const tipWritten = Promise.all([
    upsertBlock(tx, { networkId: network.id, height: message.to, hash: message.hash, parentHash: message.parentHash, blockTime }),
    writeTip(tx, {
      networkId: network.id,
      height: message.to,
      hash: message.hash,
      blockTime,
      safeHeight: message.safeNumber,
      finalHeight,
      headHeight: message.headNumber,
      epoch: given.mark.epoch,
      seq: given.mark.seq,
    }),
    pruneBlocksBelow(tx, network.id, message.to - Math.max(KEPT_BLOCKS, 2 * (message.to - finalHeight))),
  ]);
  const heights = { height: message.to, safeHeight: message.safeNumber, finalHeight };
  let asking: Promise<Following> | undefined;
  // Behind the tip, which says what is final, and behind sightings and deposits, which are what is to be credited.
  const following = (): Promise<Following> => (asking ??= readFollowing(tx, given.listsOpen ? deps.chains.get(network.name) : undefined, network.id, heights));
  // What blocks that are taken away were stored with is not there any more.
  const stored = given.ancestorHeight === null && untold.length === 0 ? given.stored : undefined;
  // Where the tip cannot be written, what is sent behind it fails too, but says nothing of why.
  await bothEnded(tipWritten, storeContent(tx, deps, network, message, { paid: given.paid, stored, behind: following }));
  if (message.byLogs) await rescanAfterLogs(tx, { id: uuidFrom(deps.randomBytes(16)), networkId: network.id, from: message.from, to: message.to });
  crashPoint('ingest.transfers-written');
  const any = await following();
  const regained = any.lost ? await liftRegained(tx, network.id) : [];
  if (any.outgoing) await applyOutgoing(tx, deps, { networkId: network.id, networkName: network.name });
  await noteRegained(tx, deps, network, regained);
  crashPoint('ingest.tip-written');
  return { outcome: 'applied', ...orphaned, toCredit: any.mayCredit ? { tip: heights, open: any.open } : undefined };
}

/** Whether anything follows from blocks. */
interface Following {
  outgoing: boolean;
  mayCredit: boolean;
  lost: boolean;
  /** The payments to be credited; absent where they were not asked for. */
  open?: readonly OpenPayment[] | undefined;
}

/** Asks for payments where a chain is given. */
async function readFollowing(tx: Tx, chain: Chain | undefined, networkId: string, heights: ChainHeights): Promise<Following> {
  const asked = tx<[Omit<Following, 'open'>]>`
    select ${isAnyOutgoing(tx, { networkId, finalHeight: heights.finalHeight })} as outgoing,
      (${isAnyToCredit(tx, [networkId])} or ${isAnyMaturing(tx)}) as "mayCredit", ${isAnyLost(tx)} as lost`;
  const [[any], open] = await Promise.all([asked, chain && listFinalDeposits(tx, chain, heights)]);
  return { ...any, open };
}

interface Storing {
  /** Gets whose payments the deposits are for. */
  paid: Set<string>;
  stored: StoredBefore | undefined;
  /** What is sent beside the last statements, where there is anything to store. */
  behind?: () => Promise<unknown>;
}

/** Writes sightings, the deposits among them, and acknowledgements; what is stored already stays as it is. */
async function storeContent(tx: Tx, deps: Deps, network: ConsumedNetwork, message: BlockMessage, { paid, ...by }: Storing): Promise<void> {
  await acknowledgeWatches(tx, network.id, message.epoch, message.acks);
  if (message.internalUnseen) await insertBlindBlocks(tx, { networkId: network.id, from: message.from, to: message.to });
  if (message.sightings.length === 0) return;
  const { from, to, sightings } = message;
  for (const paymentId of await recordDeposits(tx, deps, { network, from, to, sightings, mark: message, claimedBy: null }, by)) paid.add(paymentId);
}

interface Orphaned {
  orphanedBlocks: number;
  droppedDeposits: number;
  /** Deposits that had been booked already: a reorganisation deeper than the finality they were credited at. */
  lostDeposits: string[];
}

/**
 * Takes the blocks above one height up to another off the canonical chain. Open deposits are dropped; for one that was booked the status
 * stands, the loss is booked and its asset is frozen (decisions 5) until it is mined again and final, or an operator lifts it.
 */
async function orphan(tx: Tx, deps: Deps, network: ConsumedNetwork, { mark, ...blocks }: Blocks & { mark: Mark }): Promise<Orphaned> {
  const orphanedBlocks = await orphanBlocks(tx, network.id, blocks);
  // Each part of a sum may come back in another block, beside others, or never.
  await takeApart(tx, deps, { networkId: network.id, ...blocks });
  await orphanSightings(tx, network.id, blocks);
  await unmine(tx, network.id, blocks);
  const droppedDeposits = await dropDeposits(tx, network.id, blocks);
  const lost = await loseBookedDeposits(tx, network.id, blocks);
  await postEach(
    tx,
    lost.map((deposit) => ({
      sourceKey: `deposit:${deposit.id}:loss:${mark.epoch}.${mark.seq}`,
      kind: 'loss',
      postings: lose(deposit.assetId, deposit.amount),
    })),
  );
  const ofAsset = new Map<string, typeof lost>();
  for (const deposit of lost) {
    const same = ofAsset.get(deposit.assetId);
    if (same === undefined) ofAsset.set(deposit.assetId, [deposit]);
    else same.push(deposit);
  }
  for (const [assetId, deposits] of ofAsset) {
    const [first] = deposits;
    if (first === undefined) continue;
    const others = deposits.length > 1 ? `, and ${deposits.length - 1} more of it` : '';
    await insertLossFreeze(tx, {
      assetId,
      depositIds: deposits.map(({ id }) => id),
      reason: `a reorganisation above block ${blocks.above} took back deposit ${first.id} of ${formatAmount(first.amount)} after it was booked${others}`,
    });
  }
  for (const deposit of lost) deps.log.error({ network: network.name, deposit: deposit.id, ancestor: blocks.above }, 'a booked deposit was reorganised away');
  return { orphanedBlocks, droppedDeposits, lostDeposits: lost.map((deposit) => deposit.id) };
}

/** Writes down which freezes ended because everything that a reorganisation took back is final again as it was (decision 0031). */
async function noteRegained(tx: Tx, deps: Deps, network: ConsumedNetwork, regained: Awaited<ReturnType<typeof liftRegained>>): Promise<void> {
  for (const { scope, reason, frozenAt, deposits } of regained) {
    const details = { lifted: { reason, frozenAt: frozenAt.toISOString() }, forced: false, accepted: [], deposits };
    await insertOperatorAction(tx, undefined, {
      action: 'dispatch.unfreeze',
      target: scope,
      reason: 'every deposit that the reorganisation took back is final again',
      details,
    });
    deps.log.warn({ network: network.name, scope, deposits }, 'what a reorganisation took back is final again: its freeze is lifted');
  }
}
