import type { Chain, Deps } from '#api/deps.ts';
import { type History, isFollowed, listUntrusted, lockEpochs, trustEpoch, trustNetwork } from '#api/store/database-epoch.ts';
import { insertFreeze, listFreezes } from '#api/store/freezes.ts';
import { changesNothing, keepReadings } from '#api/store/kept-readings.ts';
import {
  type Liabilities,
  listReconciliations,
  listUnreviewedOutgoing,
  lockReconciliations,
  markOutgoingReviewed,
  readOutset,
  type Reconciliation,
  replaceReconciliations,
  type UnknownOutgoing,
  upsertReconciliations,
} from '#api/store/reconciliations.ts';
import { formatAmount } from '#shared/core/money.ts';
import { withEachAtOnce } from '#shared/core/with-each.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Holding, UnreadHolding } from './holding.ts';
import { type ComparedHolding, compareInTurn } from './holdings.ts';
import { keepHistory } from './keep-history.ts';
import { mayLostBytesBeMined } from './lost-bytes.ts';
import { judgeReading, type Short, scopesOf, type Verdict } from './judge-reading.ts';

/**
 * Compares all wallets and deposit addresses with the books (A14) and what left them with what we signed (A15), and freezes
 * dispatch by itself: for an asset whose coins are still missing at a later block than they were first missed at, and for a
 * network on which an address of ours sent what nobody of us signed. Coins beyond the books freeze nothing: anybody can send
 * some. What cannot be read is neither good nor bad. Answers how many scopes it froze. Locks the readings, then the freezes.
 * A database with another history than before is trusted again, network by network, once all of one was read since and nothing
 * of it waits for a later block (D16).
 */
export async function reconcile(deps: Deps): Promise<number> {
  const networks = [...deps.chains.values()].map(({ id, config }) => ({ id, name: config.name }));
  // First, and of every network: it asks no node, so no node can keep it waiting.
  let outset = await readOutset(deps.db.sql, networks);
  const history = outset.history ?? (await keepHistory(deps));
  // What is trusted may be less once a history was noted.
  if (outset.history === undefined) outset = await readOutset(deps.db.sql, networks);
  const { unknown, owed } = outset;
  const untrusted = new Set(outset.untrusted);
  const used = new Set<string>();
  for (const { id, config } of deps.chains.values()) {
    const sent = unknown.filter(({ networkId }) => networkId === id);
    if ((await freezeUnknownOutgoing(deps, { id, name: config.name }, sent)) > 0) used.add(config.name);
  }
  // Side by side, so that none waits for the nodes of another one.
  const frozen = await withEachAtOnce(
    deps.chains,
    async ([name, chain]) => {
      const ready = untrusted.has(name) && !used.has(name) && (await isReady(deps, chain, history.notedAt));
      const compared = await compare(deps, chain, { whole: ready, owed });
      if (ready && compared.matches) await trustAgain(deps, chain, history);
      return compared.frozen;
    },
    (err, [network]) => deps.log.error({ err, network }, 'a network cannot be compared with its chain'),
  );
  return frozen + used.size;
}

/** Compares one network; `matches` when every reading could be had, and none of them has to be had again at a later block. */
async function compare(
  deps: Deps,
  chain: Chain,
  { whole, owed }: { whole: boolean; owed: ReadonlyMap<string, Liabilities> },
): Promise<{ frozen: number; matches: boolean }> {
  let frozen = 0;
  let settled = true;
  const unread: UnreadHolding[] = [];
  const compared = await askAgain(deps, chain, await compareInTurn(deps, chain, { whole }, (holding) => unread.push(holding)));
  const holdings = compared.map(({ holding }) => holding);
  for (const { network, symbol, why } of unread)
    if (why !== 'unopened') deps.log.warn({ err: why, network, asset: symbol }, 'what our addresses hold cannot be read; it will be compared next time');
  const shorts: (Short & { holding: Holding })[] = [];
  report(deps, holdings, owed);
  const verdicts = await judge(deps, compared);
  for (const holding of holdings) {
    const verdict = verdicts.get(holding.assetId);
    settled &&= verdict === 'matches' || verdict === 'short';
    if (verdict === 'short') shorts.push({ ...shortOf(holding), holding });
  }
  for (const { scope, assetIds } of scopesOf(shorts)) {
    const missing = shorts.filter((one) => assetIds.includes(one.assetId)).map((one) => saidOf(one.holding));
    if (await freeze(deps, scope, `A14: ${missing.join(', ')}`)) frozen += 1;
  }
  const read = unread.every(({ why }) => why === 'unopened');
  if (read) deps.metrics?.reconciliationTimestamp.set({ chain: chain.config.name }, deps.wallClock() / 1_000);
  return { frozen, matches: settled && read && frozen === 0 };
}

/**
 * Where coins are missing, asks about every address before that counts, each time until dispatch is frozen for it: what was kept of those that were not asked about
 * neither raises a suspicion nor confirms one. Where that cannot be had, what is there counts.
 */
async function askAgain(deps: Deps, chain: Chain, compared: readonly ComparedHolding[]): Promise<readonly ComparedHolding[]> {
  // Where nothing is missing there is nothing to doubt, whatever may be missing.
  const kept = compared.filter(({ reading, holding }) => reading?.whole === false && holding.difference < 0n).map(({ holding }) => holding);
  if (kept.length === 0) return compared;
  const earlier = await listReconciliations(
    deps.db.sql,
    kept.map(({ assetId }) => assetId),
  );
  const missing = kept.filter((holding) => judgeReading(earlier.get(holding.assetId), holding).verdict !== 'matches');
  if (missing.length === 0) return compared;
  const freezes = await listFreezes(deps.db.sql);
  const told = new Set(freezes.filter(({ reason }) => reason.startsWith('A14: ')).map(({ scope }) => scope));
  // What was frozen for something else nothing is frozen for again, until somebody lifts that: then it is doubted.
  const isFrozen = (some: readonly Holding[]): boolean => scopesOf(some.map(shortOf)).every(({ scope }) => freezes.some((one) => one.scope === scope));
  const allFrozen = isFrozen(missing);
  const doubted = missing.filter(
    (holding) => !told.has(`network:${holding.network}`) && !told.has(`asset:${holding.assetId}`) && !(allFrozen && isFrozen([holding])),
  );
  if (doubted.length === 0) return compared;
  const again = await compareInTurn(deps, chain, { whole: true, assetIds: new Set(doubted.map(({ assetId }) => assetId)) }, ({ network, symbol, why }) => {
    if (why !== 'unopened') deps.log.warn({ err: why, network, asset: symbol }, 'coins seem to be missing, and not every address can be asked about');
  });
  return compared.map((one) => again.find(({ holding }) => holding.assetId === one.holding.assetId) ?? one);
}

/**
 * Whether what the books and the chain show from now on tells all: the chain was followed to its head since, and nothing that was lost
 * waits to be mined. Asked before the comparison, so that what is mined or applied in between is in it.
 */
async function isReady(deps: Deps, chain: Chain, since: Date): Promise<boolean> {
  return !(await mayLostBytesBeMined(deps, chain, since)) && (await isFollowed(deps.db.sql, chain.id, since));
}

/** Opens dispatch on a network again after a restore or a failover: the books match its chain, and nothing unknown was sent that nobody was told of. */
async function trustAgain(deps: Deps, chain: Chain, history: History): Promise<void> {
  const trusted = await deps.db.transaction(async (tx) => {
    // Of two networks that are trusted at the same moment one has to see that it is the last.
    await lockEpochs(tx);
    if ((await listUnreviewedOutgoing(tx, [chain.id])).length > 0) return false;
    if (!(await trustNetwork(tx, chain.id, history.generation))) return false;
    if ((await listUntrusted(tx, [...deps.chains.keys()])).length === 0) await trustEpoch(tx);
    return true;
  });
  if (!trusted) return;
  crashPoint('recon.cleared');
  deps.log.warn(
    { network: chain.config.name, since: history.notedAt },
    'the database has another history than before, and matches the chain; dispatch goes on',
  );
  deps.wake();
}

/** A comparison, what was found before it, and what the two say. */
type Judged = ReturnType<typeof judgeReading> & { holding: Holding; was: Reconciliation | undefined };

function judgedBeside(holding: Holding, was: Reconciliation | undefined): Judged {
  return { holding, was, ...judgeReading(was, holding) };
}

/**
 * Judges each reading beside the one before it, and keeps them, with what each address held; answers the verdicts by asset. What was read beside an earlier state of the
 * kept readings, or where coins are outputs beside an earlier comparison, decides nothing: another worker judged since, and must not be overruled by what was told before.
 */
async function judge(deps: Deps, compared: readonly ComparedHolding[]): Promise<ReadonlyMap<string, Verdict>> {
  if (compared.length === 0) return new Map();
  const judged = (await judgeAtOnce(deps, compared)) ?? (await judgeUnderLocks(deps, compared));
  for (const reading of judged) tell(deps, reading);
  return new Map(judged.map(({ holding, verdict }) => [holding.assetId, verdict]));
}

/**
 * Judges beside what was read with the books, and writes that in one statement. Undefined, having written nothing, where there is more to write than the verdicts, or
 * where any of it is not any more what it was judged beside.
 */
async function judgeAtOnce(deps: Deps, compared: readonly ComparedHolding[]): Promise<Judged[] | undefined> {
  const judged = compared.map(({ holding, earlier }) => judgedBeside(holding, earlier));
  const replacements = compared.flatMap(({ holding: { assetId, height, difference }, reading, earlier }, at) =>
    earlier === undefined || (reading !== null && !changesNothing(reading))
      ? []
      : { assetId, height, difference, shortSince: judged[at]?.shortSince ?? null, was: earlier, version: reading?.version ?? null },
  );
  return replacements.length === compared.length && (await replaceReconciliations(deps.db.sql, replacements)) ? judged : undefined;
}

function judgeUnderLocks(deps: Deps, compared: readonly ComparedHolding[]): Promise<Judged[]> {
  return deps.db.transaction(async (tx) => {
    const earlier = await lockReconciliations(
      tx,
      compared.map(({ holding }) => holding.assetId),
    );
    const read = compared.flatMap(({ reading }) => reading ?? []);
    const kept = read.length === 0 ? new Set() : await keepReadings(tx, read);
    const isCurrent = ({ holding: { assetId }, reading, earlier: seen }: ComparedHolding): boolean =>
      reading === null ? isSame(seen, earlier.get(assetId)) : kept.has(assetId);
    const judged = compared.filter(isCurrent).map(({ holding }) => judgedBeside(holding, earlier.get(holding.assetId)));
    await upsertReconciliations(
      tx,
      judged.map(({ holding: { assetId, height, difference }, shortSince }) => ({ assetId, height, difference, shortSince })),
    );
    return judged;
  });
}

/** Whether nobody compared since, nor accepted what was missing. */
function isSame(seen: Reconciliation | undefined, now: Reconciliation | undefined): boolean {
  if (seen === undefined || now === undefined) return seen === now;
  return seen.height === now.height && seen.difference === now.difference && seen.shortSince === now.shortSince && seen.accepted === now.accepted;
}

function tell(deps: Deps, { holding, verdict, was }: Judged): void {
  const { height, difference } = holding;
  const told = { network: holding.network, asset: holding.symbol, height, difference: formatAmount(difference) };
  if (verdict === 'matches' && was !== undefined && was.shortSince !== null) {
    deps.log.info(told, 'what was missing at an earlier block is there');
  }
  if (verdict === 'suspect') deps.log.warn(told, 'our addresses hold less than the books say; a later block decides');
  if (difference > 0n && was?.difference !== difference) deps.log.warn(told, 'our addresses hold more than the books say');
}

/** Freezes a network on which an address of ours sent something that nobody of us signed: whoever has one key may have more. */
async function freezeUnknownOutgoing(deps: Deps, network: { id: string; name: string }, unknown: readonly UnknownOutgoing[]): Promise<number> {
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

function shortOf({ assetId, network, native }: Holding): Short {
  return { assetId, networkName: network, native };
}

function saidOf({ symbol, network, height, expected, actual }: Holding): string {
  return `our addresses hold ${formatAmount(actual)} ${symbol} on ${network} at block ${height}, the books say ${formatAmount(expected)}`;
}

const NOTHING_OWED: Liabilities = { green: '0', held: '0', unallocated: '0' };

function report({ metrics }: Deps, holdings: readonly Holding[], owed: ReadonlyMap<string, Liabilities>): void {
  if (metrics === undefined) return;
  for (const { network: chain, symbol: asset, assetId, difference, byRole } of holdings) {
    for (const role of ['hot', 'funding', 'held', 'deposit'])
      metrics.treasuryOnchainBalance.set({ chain, asset, wallet: role }, Number(formatAmount(byRole.get(role) ?? 0n)));
    for (const [pool, coins] of Object.entries(owed.get(assetId) ?? NOTHING_OWED)) metrics.liabilities.set({ chain, asset, pool }, Number(coins));
    metrics.reconciliationDifference.set({ chain, asset }, Number(formatAmount(difference)));
  }
}
