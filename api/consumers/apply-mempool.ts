import type { Deps } from '#api/deps.ts';
import { readIndexerLease } from '#api/store/leases.ts';
import {
  endWaiting,
  type ExpectedDeposit,
  forgetEnded,
  listExpectedDeposits,
  listKnownTransactions,
  takeEmptySnapshot,
  takeSnapshot,
  writeWaiting,
} from '#api/store/mempool.ts';
import { fromUnits } from '#shared/core/money.ts';
import type { MempoolMessage, SeenTransaction } from '#shared/core/mempool-message.ts';
import { type Followed, followReplacements, type ToldTransaction } from '#shared/core/replacements.ts';
import type { ConsumedNetwork } from './apply-message.ts';

/** Largest raw amount that is believed: nothing that exists has more units. */
const RAW_LIMIT = 10n ** 60n;

/** What became of one snapshot. */
export type AppliedMempool = { outcome: 'applied'; waiting: number; paymentIds: string[]; ended: Followed['ended'] } | { outcome: 'dropped' };

/**
 * Applies one authentic snapshot of what waits to be mined: since when coins are on their way to which payment, what replaced
 * what, and what vanished (architecture 3.3, decisions 3 and 4). Nothing is credited by it. Any number of workers may apply the
 * same ones in any order: an older one than the last is dropped. Locks the network's snapshot.
 */
export async function applyMempool(deps: Pick<Deps, 'db'>, network: ConsumedNetwork, message: MempoolMessage): Promise<AppliedMempool> {
  const { transactions } = message;
  if (transactions.length === 0 && (await takeEmptySnapshot(deps.db.sql, network.id, message)))
    return { outcome: 'applied', waiting: 0, paymentIds: [], ended: [] };
  return deps.db.transaction(async (tx): Promise<AppliedMempool> => {
    const writer = await readIndexerLease(tx, network.id);
    if (writer !== undefined && message.epoch < writer.epoch) return { outcome: 'dropped' };
    if (!(await takeSnapshot(tx, network.id, message))) return { outcome: 'dropped' };
    const believable = message.transactions.map((one) => ({ ...one, transfers: one.transfers.filter((each) => BigInt(each.rawAmount) < RAW_LIMIT) }));
    const expected = await listExpectedDeposits(tx, network.id, believable);
    const known = await listKnownTransactions(tx, network.id, believable);
    const { waiting, ended } = followReplacements(known, told(believable, expected));
    const ours = waiting.filter((one) => one.coins.length > 0);
    await writeWaiting(tx, network.id, ours, withTimes(expected, ours));
    await endWaiting(tx, network.id, ended, new Date(message.takenAt));
    await forgetEnded(tx, network.id);
    return { outcome: 'applied', waiting: ours.length, paymentIds: [...new Set(expected.map((one) => one.paymentId))], ended };
  });
}

function told(transactions: readonly SeenTransaction[], expected: readonly ExpectedDeposit[]): ToldTransaction[] {
  const coinsOf = new Map<string, ToldTransaction['coins'][number][]>(transactions.map(({ txid }) => [txid, []]));
  for (const one of expected) coinsOf.get(one.txid)?.push({ key: keyOf(one), to: `${one.addressId} ${one.assetId}`, rawAmount: BigInt(one.rawAmount) });
  return transactions.map(({ txid, firstSeenAt, spends }) => ({ txid, firstSeenAt, spends, coins: coinsOf.get(txid) ?? [] }));
}

function withTimes(expected: readonly ExpectedDeposit[], waiting: Followed['waiting']) {
  const seen = new Map(waiting.flatMap((one) => one.coins.map((coin) => [`${one.txid} ${coin.key}`, coin.firstSeenAt] as const)));
  return expected.map(({ decimals, ...one }) => ({
    ...one,
    amount: fromUnits(BigInt(one.rawAmount), decimals),
    firstSeenAt: new Date(seen.get(`${one.txid} ${keyOf(one)}`) ?? Number.NaN),
  }));
}

function keyOf({ kind, ordinal }: Pick<ExpectedDeposit, 'kind' | 'ordinal'>): string {
  return `${kind} ${ordinal}`;
}
