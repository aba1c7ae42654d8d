import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** What names a ledger account; null where the account belongs to the deployment, or is not a reservation. */
export interface AccountKey {
  kind: string;
  gatewayId: string | null;
  settlementId: string | null;
  assetId: string;
}

export interface AccountRow extends AccountKey {
  id: number;
}

/** Inserts a transaction header; undefined when `sourceKey` was posted before. Waits for a concurrent poster of the same key. */
export async function insertLedgerTransaction(tx: Tx, sourceKey: string, kind: string): Promise<number | undefined> {
  const [row] = await tx<{ id: number }[]>`
    insert into ledger_transactions (source_key, kind) values (${sourceKey}, ${kind}) on conflict (source_key) do nothing returning id`;
  return row?.id;
}

/** Inserts several, in the order of their keys; answers the ids of those that were not posted before, by source key. Waits for concurrent posters of the same ones. */
export async function insertLedgerTransactions(tx: Tx, transactions: readonly { sourceKey: string; kind: string }[]): Promise<Map<string, number>> {
  const rows = await tx<{ id: number; sourceKey: string }[]>`
    insert into ledger_transactions (source_key, kind)
    select t.source_key, t.kind from unnest(${transactions.map((one) => one.sourceKey)}::text[], ${transactions.map((one) => one.kind)}::text[]) as t (source_key, kind)
    order by t.source_key
    on conflict (source_key) do nothing returning id, source_key`;
  return new Map(rows.map((row) => [row.sourceKey, row.id]));
}

/** Finds the accounts among `keys` that exist; takes no lock. */
export async function findAccounts(tx: Tx, keys: readonly AccountKey[]): Promise<AccountRow[]> {
  return tx<AccountRow[]>`
    with wanted as (
      select * from unnest(${keys.map((key) => key.kind)}::text[], ${keys.map((key) => key.assetId)}::uuid[],
        ${keys.map((key) => key.gatewayId)}::uuid[], ${keys.map((key) => key.settlementId)}::uuid[]) as wanted (kind, asset_id, gateway_id, settlement_id)
    ), found as (
      select a.* from wanted join ledger_accounts a on a.asset_id = wanted.asset_id and a.kind = wanted.kind and a.gateway_id is null and a.settlement_id is null
      where wanted.gateway_id is null and wanted.settlement_id is null
      union all
      select a.* from wanted join ledger_accounts a on a.asset_id = wanted.asset_id and a.kind = wanted.kind and a.gateway_id = wanted.gateway_id and a.settlement_id is null
      where wanted.settlement_id is null
      union all
      select a.* from wanted join ledger_accounts a on a.asset_id = wanted.asset_id and a.kind = wanted.kind and a.gateway_id = wanted.gateway_id and a.settlement_id = wanted.settlement_id
    )
    select id, kind, asset_id, gateway_id, settlement_id from found`;
}

/** Inserts zero rows for accounts that do not exist yet, so that there is something to lock. */
export async function insertZeroAccounts(tx: Tx, keys: readonly AccountKey[]): Promise<void> {
  await tx`
    insert into ledger_accounts (kind, asset_id, gateway_id, settlement_id)
    select * from unnest(${keys.map((key) => key.kind)}::text[], ${keys.map((key) => key.assetId)}::uuid[],
      ${keys.map((key) => key.gatewayId)}::uuid[], ${keys.map((key) => key.settlementId)}::uuid[])
    on conflict (asset_id, kind, gateway_id, settlement_id) do nothing`;
}

/** Locks account rows until commit, always in id order so that two posters can never wait for each other. */
export async function lockAccounts(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx`select id from ledger_accounts where id = any(${[...ids]}::bigint[]) order by id for update`;
}

/**
 * Adds signed amounts to locked balances, but to none that may not go negative and would; answers the ids it changed.
 * `overdrawable` names the account kinds that may be negative.
 */
export async function addToBalances(tx: Tx, changes: readonly { id: number; amount: bigint }[], overdrawable: readonly string[]): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update ledger_accounts a set balance = a.balance + change.amount
    from unnest(${changes.map((change) => change.id)}::bigint[], ${changes.map((change) => formatAmount(change.amount))}::numeric[]) as change (id, amount)
    where a.id = change.id and (change.amount > 0 or a.balance + change.amount >= 0 or a.kind = any(${[...overdrawable]}::text[]))
    returning a.id`;
  return rows.map((row) => row.id);
}

/** Appends the entries of one transaction; the deferred trigger checks at commit that they sum to zero. */
export async function insertEntries(tx: Tx, transactionId: number, entries: readonly { accountId: number; assetId: string; amount: bigint }[]): Promise<void> {
  await tx`
    insert into ledger_entries (transaction_id, account_id, asset_id, amount)
    select ${transactionId}, * from unnest(${entries.map((entry) => entry.accountId)}::bigint[], ${entries.map((entry) => entry.assetId)}::uuid[],
      ${entries.map((entry) => formatAmount(entry.amount))}::numeric[])`;
}

/** The same of a transaction that its source key names; it may be inserted just ahead, without its answer. */
export async function insertEntriesOf(tx: Tx, sourceKey: string, entries: readonly { accountId: number; assetId: string; amount: bigint }[]): Promise<void> {
  await tx`
    insert into ledger_entries (transaction_id, account_id, asset_id, amount)
    select (select id from ledger_transactions where source_key = ${sourceKey}), * from unnest(${entries.map((entry) => entry.accountId)}::bigint[],
      ${entries.map((entry) => entry.assetId)}::uuid[], ${entries.map((entry) => formatAmount(entry.amount))}::numeric[])`;
}

/** The same of several transactions. */
export async function insertEntriesOfMany(
  tx: Tx,
  entries: readonly { transactionId: number; accountId: number; assetId: string; amount: bigint }[],
): Promise<void> {
  await tx`
    insert into ledger_entries (transaction_id, account_id, asset_id, amount)
    select * from unnest(${entries.map((entry) => entry.transactionId)}::bigint[], ${entries.map((entry) => entry.accountId)}::bigint[],
      ${entries.map((entry) => entry.assetId)}::uuid[], ${entries.map((entry) => formatAmount(entry.amount))}::numeric[])`;
}

/** What one kind of account of a gateway holds of one asset. */
export interface BalanceRow {
  kind: string;
  assetId: string;
  balance: bigint;
}

/**
 * What each kind of account of one gateway holds, of every asset it ever held. `reserved` is what its postings add up to in the accounts of its cashouts, also of those
 * that have ended: each leaves an empty account behind, and one that is not empty by a fault still shows. Takes no lock.
 */
export async function listGatewayBalances(reads: Reads, gatewayId: string): Promise<BalanceRow[]> {
  const rows = await reads<(Omit<BalanceRow, 'balance'> & { balance: string })[]>`
    select kind, asset_id, balance from ledger_accounts where gateway_id = ${gatewayId} and kind <> 'reserved'
    union all
    select 'reserved', asset_id, sum(amount) from gateway_months where gateway_id = ${gatewayId} and account = 'reserved' group by asset_id`;
  return rows.map((row) => ({ ...row, balance: parseTrusted(row.balance) }));
}

/** One balance, zero when the account was never posted to; takes no lock. */
export async function readBalance(reads: Reads, key: AccountKey): Promise<bigint> {
  const [row] = await reads<{ balance: string }[]>`
    select balance from ledger_accounts
    where kind = ${key.kind} and asset_id = ${key.assetId}
      and ${key.gatewayId === null ? reads`gateway_id is null` : reads`gateway_id = ${key.gatewayId}`}
      and ${key.settlementId === null ? reads`settlement_id is null` : reads`settlement_id = ${key.settlementId}`}`;
  return row === undefined ? 0n : parseTrusted(row.balance);
}

/** True when a transaction with this source key is posted. */
export async function isPosted(reads: Reads, sourceKey: string): Promise<boolean> {
  const rows = await reads`select 1 from ledger_transactions where source_key = ${sourceKey}`;
  return rows.length > 0;
}

/** Sum of all entries per asset, or of those of these transactions, 0 unless the ledger is broken, as text for a gauge; takes no lock. */
export async function listImbalances(reads: Reads, transactionIds?: readonly string[]): Promise<{ symbol: string; imbalance: string }[]> {
  const of = transactionIds === undefined ? reads`` : reads`where e.transaction_id = any(${[...transactionIds]}::text[]::bigint[])`;
  return reads<{ symbol: string; imbalance: string }[]>`
    select n.name || '/' || a.symbol as symbol, coalesce(s.sum, 0) as imbalance
    from assets a join networks n on n.id = a.network_id left join (select e.asset_id, sum(e.amount) as sum from ledger_entries e ${of} group by 1) s on s.asset_id = a.id order by 1`;
}
