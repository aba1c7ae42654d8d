import { type Coins, formatAmount } from '#shared/core/money.ts';
import type { MempoolMessage, SeenTransaction, WaitingTransfer } from '#shared/core/mempool-message.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Followed, KnownTransaction } from '#shared/core/replacements.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Blocks } from './chain-blocks.ts';

/** A waiting transfer that would be a deposit. */
export interface ExpectedDeposit extends Pick<WaitingTransfer, 'txid' | 'kind' | 'ordinal' | 'rawAmount'> {
  paymentId: string;
  addressId: string;
  assetId: string;
  decimals: number;
}

/**
 * Takes note of a snapshot; false when a newer one, or one of a newer epoch, was applied before. Locks the network's row, so
 * that one snapshot is applied at a time.
 */
export async function takeSnapshot(tx: Tx, networkId: string, { epoch, seq, takenAt }: Pick<MempoolMessage, 'epoch' | 'seq' | 'takenAt'>): Promise<boolean> {
  const rows = await tx`
    insert into mempool_snapshots as s (network_id, epoch, seq, taken_at) values (${networkId}, ${epoch}, ${seq}, ${new Date(takenAt)})
    on conflict (network_id) do update set epoch = excluded.epoch, seq = excluded.seq, taken_at = excluded.taken_at, applied_at = excluded.applied_at
      where (s.epoch, s.seq) < (excluded.epoch, excluded.seq)
    returning 1`;
  return rows.length === 1;
}

/**
 * Takes note of a snapshot that tells of nothing while nothing was known to wait and nothing is to be forgotten, which is all there is to do about it; false, changing nothing, when there is
 * more. What an older snapshot adds in the same moment waits until the next one. Locks the network's row.
 */
export async function takeEmptySnapshot(
  sql: Reads,
  networkId: string,
  { epoch, seq, takenAt }: Pick<MempoolMessage, 'epoch' | 'seq' | 'takenAt'>,
): Promise<boolean> {
  const rows = await sql`
    insert into mempool_snapshots as s (network_id, epoch, seq, taken_at)
    select ${networkId}, ${epoch}::bigint, ${seq}::bigint, ${new Date(takenAt)}::timestamptz
    where not exists (select 1 from indexer_leases where network_id = ${networkId} and epoch > ${epoch}::bigint)
      and not exists (
        select 1 from mempool_transactions
        where network_id = ${networkId} and (state = 'waiting' or ended_at < sluice_now() - make_interval(secs => ${POLICY.mempoolKeptSeconds})))
    on conflict (network_id) do update set epoch = excluded.epoch, seq = excluded.seq, taken_at = excluded.taken_at, applied_at = excluded.applied_at
      where (s.epoch, s.seq) < (excluded.epoch, excluded.seq)
    returning 1`;
  return rows.length === 1;
}

/** The waiting transfers that would be deposits, by the rules of `listDepositCandidates`; those a block holds by now are none. Takes no lock. */
export async function listExpectedDeposits(reads: Reads, networkId: string, transactions: readonly SeenTransaction[]): Promise<ExpectedDeposit[]> {
  const transfers = transactions.flatMap((one) => one.transfers).map(({ coSenders = [], ...rest }) => ({ ...rest, senders: [rest.sender, ...coSenders] }));
  return reads<ExpectedDeposit[]>`
    select s.txid, s.kind, s.ordinal, s."rawAmount", d.id as "addressId", d.payment_id, a.id as "assetId", a.decimals
    from jsonb_to_recordset(${reads.json(transfers)}) as s (txid text, kind text, ordinal int, recipient text, contract text, "rawAmount" text, senders text[])
    join lateral (select * from deposit_addresses d where d.address = s.recipient order by (d.network_id = ${networkId}) desc, d.id limit 1) d on true
    join assets a on a.network_id = ${networkId} and a.contract is not distinct from s.contract
    where s."rawAmount" <> '0'
      and not exists (select 1 from wallets w where w.address = any(s.senders))
      and not exists (select 1 from deposit_addresses o where o.address = any(s.senders))
      and not exists (select 1 from payout_attempts p where p.txid = s.txid)
      and not exists (select 1 from sightings g where g.network_id = ${networkId} and g.txid = s.txid and g.canonical)`;
}

/** What waited, and whatever shares an output or its id with these transactions; takes no lock. */
export async function listKnownTransactions(
  reads: Reads,
  networkId: string,
  told: readonly Pick<SeenTransaction, 'txid' | 'spends'>[],
): Promise<KnownTransaction[]> {
  const [txids, outputs] = [told.map((one) => one.txid), told.flatMap((one) => one.spends)];
  const rows = await reads<
    (Omit<KnownTransaction, 'firstSeenAt' | 'coins'> & { firstSeenAt: Date; coins: { key: string; to: string; rawAmount: string; firstSeenAt: string }[] })[]
  >`
    select t.txid, t.spends, t.state, t.first_seen_at,
      (select jsonb_agg(jsonb_build_object('key', d.kind || ' ' || d.ordinal, 'to', d.address_id || ' ' || d.asset_id, 'rawAmount', d.raw_amount::text,
          'firstSeenAt', d.first_seen_at))
        from mempool_deposits d where d.network_id = t.network_id and d.txid = t.txid) as coins
    from mempool_transactions t
    where t.network_id = ${networkId} and (t.state = 'waiting' or t.txid = any(${txids}::text[]) or t.spends && ${outputs}::text[])
    order by t.first_seen_at, t.txid`;
  return rows.map((row) => ({
    ...row,
    firstSeenAt: row.firstSeenAt.getTime(),
    coins: (row.coins ?? []).map((coin) => ({ ...coin, rawAmount: BigInt(coin.rawAmount), firstSeenAt: Date.parse(coin.firstSeenAt) })),
  }));
}

/** An expected deposit with its amount and since when its coins count as seen. */
export type NewExpectedDeposit = Omit<ExpectedDeposit, 'decimals'> & { amount: Coins; firstSeenAt: Date };

/** Writes what waits now; what is there already waits again, and nothing is ever seen later than it was. */
export async function writeWaiting(tx: Tx, networkId: string, waiting: Followed['waiting'], deposits: readonly NewExpectedDeposit[]): Promise<void> {
  const transactions = waiting.map((one) => ({ txid: one.txid, seen: new Date(one.firstSeenAt), spends: one.spends }));
  await tx`
    insert into mempool_transactions as t (network_id, txid, first_seen_at, spends, state)
    select ${networkId}, w.txid, w.seen, w.spends, 'waiting' from jsonb_to_recordset(${tx.json(transactions)}) as w (txid text, seen timestamptz, spends text[])
    on conflict (network_id, txid) do update
      set first_seen_at = least(t.first_seen_at, excluded.first_seen_at), state = 'waiting', replaced_by = null, ended_at = null`;
  const rows = deposits.map(({ firstSeenAt, amount, ...rest }) => ({ ...rest, amount: formatAmount(amount), seen: firstSeenAt }));
  await tx`
    insert into mempool_deposits as d (network_id, txid, kind, ordinal, payment_id, address_id, asset_id, raw_amount, amount, first_seen_at)
    select ${networkId}, w.txid, w.kind, w.ordinal, w."paymentId", w."addressId", w."assetId", w."rawAmount"::numeric, w.amount::numeric, w.seen
    from jsonb_to_recordset(${tx.json(rows)}) as w (txid text, kind text, ordinal int, "paymentId" uuid, "addressId" uuid, "assetId" uuid, "rawAmount" text, amount text, seen timestamptz)
    on conflict (network_id, txid, kind, ordinal) do update set first_seen_at = least(d.first_seen_at, excluded.first_seen_at)`;
}

/** Notes that transactions wait no more, though no block is known to hold them. */
export async function endWaiting(tx: Tx, networkId: string, ended: Followed['ended'], at: Date): Promise<void> {
  await tx`
    update mempool_transactions t set state = case when e.replaced_by is null then 'gone' else 'replaced' end, replaced_by = e.replaced_by, ended_at = coalesce(t.ended_at, ${at})
    from unnest(${ended.map((one) => one.txid)}::text[], ${ended.map((one) => one.replacedBy)}::text[]) as e (txid, replaced_by)
    where t.network_id = ${networkId} and t.txid = e.txid and t.state in ('waiting', 'gone')`;
}

/** Notes that a canonical block holds these transactions, as far as anybody had waited for them. */
export async function markMined(tx: Tx, networkId: string, txids: readonly string[]): Promise<void> {
  await tx`
    update mempool_transactions set state = 'mined', replaced_by = null, ended_at = coalesce(ended_at, sluice_now())
    where network_id = ${networkId} and txid = any(${[...txids]}::text[]) and state <> 'mined'`;
}

/** Notes that these blocks, which held transactions, are none any more: until the node was asked again they are merely gone. */
export async function unmine(tx: Tx, networkId: string, { above, upTo }: Blocks): Promise<void> {
  await tx`
    update mempool_transactions t set state = 'gone', ended_at = sluice_now()
    where t.network_id = ${networkId} and t.state = 'mined'
      and exists (select 1 from sightings s where s.network_id = t.network_id and s.txid = t.txid and s.height > ${above} and s.height <= ${upTo})
      and not exists (select 1 from sightings s where s.network_id = t.network_id and s.txid = t.txid and s.canonical)`;
}

/** Forgets what ended longer ago than anything can still ask about it. */
export async function forgetEnded(tx: Tx, networkId: string): Promise<void> {
  await tx`delete from mempool_transactions where network_id = ${networkId} and ended_at < sluice_now() - make_interval(secs => ${POLICY.mempoolKeptSeconds})`;
}

/**
 * Whether coins that may pay payment `p` were seen on their way before its deadline and may still arrive (decisions 4): they
 * wait, or did until a moment up to which the chain was not read yet, so that a block may hold them. Neither is believed for
 * longer than decisions 4 is patient. Dust keeps nothing open, because it pays nothing.
 */
export function isExpected(sql: Reads) {
  const patience = sql`make_interval(secs => ${POLICY.expiryPatienceSeconds})`;
  return sql`exists (
    select 1 from mempool_deposits m join mempool_transactions t on t.network_id = m.network_id and t.txid = m.txid
    join assets a on a.id = m.asset_id join mempool_snapshots s on s.network_id = m.network_id
    where m.payment_id = p.id and m.first_seen_at < p.expires_at and m.amount >= a.dust_floor
      and case t.state
        when 'mined' then false
        when 'waiting' then s.applied_at > clock_timestamp() - ${patience}
        else sluice_now() < t.ended_at + ${patience} and not (s.taken_at >= t.ended_at and exists (
          select 1 from indexer_leases l join chain_tips c on c.network_id = l.network_id
          where l.network_id = m.network_id and l.caught_up_at >= t.ended_at and c.height >= l.published_height))
      end)`;
}
