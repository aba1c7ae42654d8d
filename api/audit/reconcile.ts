import type { Deps } from '#api/deps.ts';
import { areFollowed, isTrustedEpoch, noteEpoch, trustEpoch } from '#api/store/database-epoch.ts';
import { insertFreeze } from '#api/store/freezes.ts';
import { listHeldOutputs } from '#api/store/output-holdings.ts';
import {
  listUnknownTxids,
  listUnreviewedOutgoing,
  lockReconciliation,
  markOutgoingReviewed,
  sumLiabilities,
  upsertReconciliation,
} from '#api/store/reconciliations.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { formatAmount } from '#shared/core/money.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Holding, UnreadHolding } from './holding.ts';
import { compareHoldings } from './holdings.ts';
import { judgeReading, type Short, scopesOf, type Verdict } from './judge-reading.ts';

/**
 * Compares all wallets and deposit addresses with the books (A14) and what left them with what we signed (A15), and freezes
 * dispatch by itself: for an asset whose coins are still missing at a later block than they were first missed at, and for a
 * network on which an address of ours sent what nobody of us signed. Coins beyond the books freeze nothing: anybody can send
 * some. What cannot be read is neither good nor bad. Answers how many scopes it froze. Locks the readings, then the freezes.
 * A database with another history than before is trusted again once all of it was read and nothing waits for a later block (D16).
 */
export async function reconcile(deps: Deps): Promise<number> {
  let frozen = 0;
  const noticedAt = (await isTrustedEpoch(deps.db.sql)) ? null : await deps.db.transaction(noteEpoch);
  let settled = true;
  // First, and of every network: it asks no node, so no node can keep it waiting.
  for (const chain of deps.chains.values()) frozen += await freezeUnknownOutgoing(deps, { id: chain.id, name: chain.config.name });
  for (const chain of deps.chains.values()) {
    const unread: UnreadHolding[] = [];
    const holdings = await compareHoldings({ db: deps.db, chains: new Map([[chain.config.name, chain]]) }, (holding) => unread.push(holding));
    for (const { network, symbol, why } of unread)
      if (why !== 'unopened') deps.log.warn({ err: why, network, asset: symbol }, 'what our addresses hold cannot be read; it will be compared next time');
    const shorts: (Short & { holding: Holding })[] = [];
    for (const holding of holdings) {
      await report(deps, holding);
      const verdict = await judge(deps, holding);
      settled &&= verdict !== 'suspect';
      if (verdict === 'short') shorts.push({ assetId: holding.assetId, networkName: holding.network, native: holding.native, holding });
    }
    for (const { scope, assetIds } of scopesOf(shorts)) {
      const missing = shorts.filter((one) => assetIds.includes(one.assetId)).map((one) => saidOf(one.holding));
      if (await freeze(deps, scope, `A14: ${missing.join(', ')}`)) frozen += 1;
    }
    const read = unread.every(({ why }) => why === 'unopened');
    settled &&= read;
    if (read) deps.metrics?.reconciliationTimestamp.set({ chain: chain.config.name }, deps.wallClock() / 1_000);
  }
  if (noticedAt !== null && settled && frozen === 0 && !(await isLostBytesWaiting(deps))) await trustAgain(deps, noticedAt);
  return frozen;
}

/**
 * Whether a transaction that no stored bytes explain waits at a node to spend an output of ours: where no nonce excludes what is
 * signed next, bytes whose row was lost must be mined or forgotten first, or their cashout would be paid twice.
 */
async function isLostBytesWaiting(deps: Deps): Promise<boolean> {
  for (const chain of deps.chains.values()) {
    const ask = chain.reader.waitingSpenders;
    if (ask === undefined) continue;
    try {
      const spenders = (await ask(await listHeldOutputs(deps.db.sql, chain.id))).filter((txid) => txid !== null);
      const unknown = await listUnknownTxids(deps.db.sql, spenders);
      if (unknown.length === 0) continue;
      deps.log.error(
        { network: chain.config.name, transactions: unknown.slice(0, 10) },
        'transactions that the database has lost wait to be mined; dispatch stays shut',
      );
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      deps.log.warn({ err: error, network: chain.config.name }, 'what waits at the node cannot be read; dispatch stays shut');
    }
    return true;
  }
  return false;
}

/** Opens dispatch again after a restore or a failover: every chain was followed to its head since, and the books match them. */
async function trustAgain(deps: Deps, since: Date): Promise<void> {
  const networkIds = [...deps.chains.values()].map((chain) => chain.id);
  if (!(await areFollowed(deps.db.sql, networkIds, since))) return;
  await deps.db.transaction(trustEpoch);
  crashPoint('recon.cleared');
  deps.log.warn({ since }, 'the database has another history than before, and matches the chains; dispatch goes on');
  deps.wake();
}

/** Judges one reading beside the one before it, and keeps it. */
async function judge(deps: Deps, holding: Holding): Promise<Verdict> {
  const { assetId, height, difference } = holding;
  const { verdict, was } = await deps.db.transaction(async (tx) => {
    const earlier = await lockReconciliation(tx, assetId);
    const judged = judgeReading(earlier, { height, difference });
    await upsertReconciliation(tx, { assetId, height, difference, shortSince: judged.shortSince });
    return { verdict: judged.verdict, was: earlier };
  });
  const told = { network: holding.network, asset: holding.symbol, height, difference: formatAmount(difference) };
  if (verdict === 'matches' && was !== undefined && was.shortSince !== null) {
    deps.log.info(told, 'what was missing at an earlier block is there');
  }
  if (verdict === 'suspect') deps.log.warn(told, 'our addresses hold less than the books say; a later block decides');
  if (difference > 0n && was?.difference !== difference) deps.log.warn(told, 'our addresses hold more than the books say');
  return verdict;
}

/** Freezes a network on which an address of ours sent something that nobody of us signed: whoever has one key may have more. */
async function freezeUnknownOutgoing(deps: Deps, network: { id: string; name: string }): Promise<number> {
  const unknown = await listUnreviewedOutgoing(deps.db.sql, network.id);
  const last = unknown.at(-1);
  if (last === undefined) return 0;
  const reason = `A15: ${last.address} sent transaction ${last.txid}, which is not one of ours`;
  const fresh = await deps.db.transaction(async (tx) => {
    const inserted = await insertFreeze(tx, { scope: `network:${network.name}`, reason });
    // Frozen for something else, nobody was told: whoever lifts that must still hear of this.
    if (inserted) await markOutgoingReviewed(tx, network.id, last.id);
    return inserted;
  });
  crashPoint('audit.freeze-set');
  deps.log[fresh ? 'fatal' : 'warn'](
    { network: network.name, transactions: unknown.slice(0, 10) },
    'addresses of ours sent what nobody of us signed; dispatch is frozen',
  );
  return fresh ? 1 : 0;
}

async function freeze(deps: Deps, scope: string, reason: string): Promise<boolean> {
  const fresh = await insertFreeze(deps.db.sql, { scope, reason });
  crashPoint('audit.freeze-set');
  if (fresh) deps.log.fatal({ scope, reason }, 'coins of ours are missing; dispatch is frozen');
  return fresh;
}

function saidOf({ symbol, network, height, expected, actual }: Holding): string {
  return `our addresses hold ${formatAmount(actual)} ${symbol} on ${network} at block ${height}, the books say ${formatAmount(expected)}`;
}

async function report(deps: Deps, { network: chain, symbol: asset, assetId, difference, byRole }: Holding): Promise<void> {
  const { metrics } = deps;
  if (metrics === undefined) return;
  for (const role of ['hot', 'funding', 'held', 'deposit'])
    metrics.treasuryOnchainBalance.set({ chain, asset, wallet: role }, Number(formatAmount(byRole.get(role) ?? 0n)));
  for (const [pool, coins] of Object.entries(await sumLiabilities(deps.db.sql, assetId))) metrics.liabilities.set({ chain, asset, pool }, Number(coins));
  metrics.reconciliationDifference.set({ chain, asset }, Number(formatAmount(difference)));
}
