import type { Family } from '#shared/core/assets.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { isMoved, noteHistory } from './database-epoch.ts';
import { type Coins, parseTrusted } from '#shared/core/money.ts';
import type { WaitingState } from '#shared/core/replacements.ts';
import type { WatchAck } from '#shared/core/chain-events.ts';
import { isOneOf } from './is-one-of.ts';

export interface DepositAddress {
  id: string;
  paymentId: string;
  networkId: string;
  family: Family;
  derivationIndex: number;
  /** Canonical form. */
  address: string;
  createdAt: Date;
  /** Whether the network's indexer has said that it watches it; only then may a payer see it (decisions 9). */
  watched: boolean;
}

/**
 * Takes the next derivation index of a family; every call takes one for good, so gaps are normal and reuse impossible. In a database that
 * was restored the indexes have jumped past what it lost before the first is given (architecture 3.2). Locks the history then.
 */
export async function nextDerivationIndex(tx: Tx, family: Family): Promise<number> {
  if (await isMoved(tx)) await noteHistory(tx);
  const [row] = await tx<[{ index: number }]>`select nextval(${`derivation_index_${family}`}::regclass) as index`;
  return row.index;
}

/** Gives a payment its address on a network. @throws a unique violation when it has one, or when the address is taken */
export async function insertDepositAddress(
  tx: Tx,
  row: { id: string; paymentId: string; networkId: string; family: Family; derivationIndex: number; address: string },
): Promise<void> {
  await tx`
    insert into deposit_addresses (id, payment_id, network_id, family, derivation_index, address, created_at)
    values (${row.id}, ${row.paymentId}, ${row.networkId}, ${row.family}, ${row.derivationIndex}, ${row.address}, sluice_now())`;
}

/** A payment's addresses, oldest first; locks nothing. */
export function listDepositAddresses(sql: Reads, paymentId: string): Promise<DepositAddress[]> {
  return listDepositAddressesOf(sql, [paymentId]);
}

/** The addresses of several payments, those of each oldest first; locks nothing. */
export async function listDepositAddressesOf(sql: Reads, paymentIds: readonly string[]): Promise<DepositAddress[]> {
  return sql<DepositAddress[]>`
    select d.id, d.payment_id, d.network_id, d.family, d.derivation_index, d.address,
      d.created_at, w.acked_epoch is not null as watched
    from deposit_addresses d left join watches w on w.network_id = d.network_id and w.address = d.address
    where d.payment_id ${isOneOf(sql, paymentIds)} order by d.created_at, d.id`;
}

/** What one unmined transaction would bring to a payment, of one asset. */
export interface ExpectedArrival {
  txid: string;
  state: WaitingState;
  /** The transaction that took its place. */
  replacedBy: string | null;
  /** Since when it waits no more; null while it waits. */
  endedAt: Date | null;
  assetId: string;
  symbol: string;
  networkName: string;
  amount: Coins;
  /** Anything smaller will decide nothing. */
  dustFloor: Coins;
  /** When its coins were first seen on their way. */
  firstSeenAt: Date;
}

/** What was ever seen on its way to a payment before a block held it, the first seen first; locks nothing. */
export async function listExpectedArrivals(sql: Reads, paymentId: string): Promise<ExpectedArrival[]> {
  const rows = await sql<(Omit<ExpectedArrival, 'amount' | 'dustFloor'> & { amount: string; dustFloor: string })[]>`
    select t.txid, t.state, t.replaced_by, t.ended_at, a.id as "assetId", a.symbol, n.name as "networkName", a.dust_floor, sum(m.amount) as amount,
      min(m.first_seen_at) as "firstSeenAt"
    from mempool_deposits m join mempool_transactions t on t.network_id = m.network_id and t.txid = m.txid
      join assets a on a.id = m.asset_id join networks n on n.id = m.network_id
    where m.payment_id = ${paymentId}
    group by t.network_id, t.txid, n.name, a.id order by min(m.first_seen_at), t.txid`;
  return rows.map((row) => ({ ...row, amount: parseTrusted(row.amount), dustFloor: parseTrusted(row.dustFloor) }));
}

/**
 * Asks the indexers of the given networks to watch an address, that of a payment or a wallet, until `until` (for ever when null);
 * one already asked for stays as it is.
 */
export async function insertWatches(
  tx: Tx,
  networkIds: readonly string[],
  { address, until, paymentId = null }: { address: string; until: Date | null; paymentId?: string | null },
): Promise<void> {
  await tx`
    insert into watches (network_id, address, watch_until, trace_context)
    select unnest(${[...networkIds]}::uuid[]), ${address}, ${until}, (select trace_context from trace_contexts where subject_id = ${paymentId})
    on conflict (network_id, address) do nothing`;
}

/**
 * Asks a network's indexer to watch the deposit addresses of its family that other networks watch already: a network that
 * is added later must notice what payers send there all the same. Those that ran out stay as they are.
 */
export async function watchFamilyAddresses(tx: Tx, network: { id: string; family: string }): Promise<void> {
  await tx`
    insert into watches (network_id, address, watch_until)
    select ${network.id}, d.address, w.watch_until from deposit_addresses d join watches w on w.network_id = d.network_id and w.address = d.address
    where d.family = ${network.family} and d.network_id <> ${network.id} and (w.watch_until is null or w.watch_until > sluice_now())
    on conflict (network_id, address) do nothing`;
}

/** Whether a network's indexer has said that it watches an address; locks nothing. */
export async function isWatched(sql: Reads, networkId: string, address: string): Promise<boolean> {
  const rows = await sql`select 1 from watches where network_id = ${networkId} and address = ${address} and acked_epoch is not null`;
  return rows.length === 1;
}

/** Has an address watched for as long as there is one: a watch that ran out must be acknowledged anew. Locks the row. */
export async function keepWatching(tx: Tx, networkId: string, address: string): Promise<void> {
  await tx`
    update watches set watch_until = null, acked_epoch = case when watch_until > sluice_now() then acked_epoch end
    where network_id = ${networkId} and address = ${address} and watch_until is not null`;
}

/** Writes an indexer's word that it watches these addresses from these heights on; the first height given stands. Locks the rows. */
export async function acknowledgeWatches(tx: Tx, networkId: string, epoch: number, acks: readonly WatchAck[]): Promise<void> {
  if (acks.length === 0) return;
  await tx`
    update watches w set acked_epoch = ${epoch}, watched_from = coalesce(w.watched_from, a.watched_from)
    from unnest(${acks.map((ack) => ack.address)}::text[], ${acks.map((ack) => ack.watchedFrom)}::bigint[]) as a (address, watched_from)
    where w.network_id = ${networkId} and w.address = a.address`;
}

/** True when an address belongs to another payment of the same gateway; takes no lock. */
export async function belongToAnotherPayment(reads: Reads, gatewayId: string, paymentId: string, addresses: readonly string[]): Promise<boolean> {
  const rows = await reads`
    select 1 from deposit_addresses d join payments p on p.id = d.payment_id
    where d.address = any(${[...addresses]}::text[]) and p.gateway_id = ${gatewayId} and p.id <> ${paymentId} limit 1`;
  return rows.length > 0;
}

/** Which of these senders are wallets or deposit addresses of this deployment; all of them when it signed the transaction itself. Takes no lock. */
export async function listOwnSenders(reads: Reads, txid: string, senders: readonly string[]): Promise<Set<string>> {
  const rows = await reads<{ address: string }[]>`
    select s.address from unnest(${[...senders]}::text[]) as s (address)
    where exists (select 1 from wallets w where w.address = s.address) or exists (select 1 from deposit_addresses d where d.address = s.address)
      or exists (select 1 from payout_attempts p where p.txid = ${txid})`;
  return new Set(rows.map((row) => row.address));
}
