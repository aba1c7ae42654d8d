import { type Coins, parseTrusted } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { OwnOutput } from '#shared/chains/chain.ts';

/** A coin or token on one network; contract null is the native coin. */
export interface HeldAsset {
  networkId: string;
  contract: string | null;
}

/** What the books say of one asset of a network, and up to which blocks of it. */
export interface BookedAsset {
  assetId: string;
  symbol: string;
  contract: string | null;
  decimals: number;
  /** The last block that was applied, and the last of them that is final. */
  height: number;
  finalHeight: number;
  /** Whether what every wallet held before it was watched is in the books. */
  opened: boolean;
  /** What the deployment holds by the ledger: minus the balance of the `chain` account. */
  booked: Coins;
}

/** How Postgres tells one of them. */
export type BookedRow = Omit<BookedAsset, 'booked'> & { booked: string };

/** What is asked of asset `a` where `t` is the tip of its network. */
export function bookedAsset(reads: Reads) {
  return reads`
    a.id as "assetId", a.symbol, a.contract, a.decimals, t.height, t.final_height as "finalHeight",
    not exists (
      select 1 from wallets w where w.network_id = a.network_id and w.role <> 'deposit'
        and not exists (select 1 from ledger_transactions l where l.source_key = 'opening:' || w.id || ':' || a.id)) as opened,
    coalesce((
      select -l.balance from ledger_accounts l where l.kind = 'chain' and l.asset_id = a.id and l.gateway_id is null and l.settlement_id is null), 0) as booked`;
}

/** The same as the books are worked with. */
export function fromBooked<Row extends BookedRow>(row: Row): Omit<Row, 'booked'> & { booked: Coins } {
  return { ...row, booked: parseTrusted(row.booked) };
}

/** The same, with what has not reached the books yet, and the wallets of the network. */
export interface BookedBalance extends BookedAsset {
  /**
   * Chain units that canonical sightings moved to (positive) or away from our addresses without having reached the books
   * yet; for the native coin less the fees of our own transactions among them. Between our own addresses nothing counts.
   */
  unbooked: bigint;
  /** The role of each wallet by its address, but for those of deposits, of which there are as many as were swept. */
  roles: ReadonlyMap<string, string>;
}

/** How Postgres tells one of them. */
export type BalanceRow = BookedRow & { unbooked: string; roles: Record<string, string> };

/** The books of every asset of a network where coins are balances, by symbol; none before its first block. Locks nothing. */
export async function listBookedBalances(reads: Reads, networkId: string): Promise<BookedBalance[]> {
  return (await bookedBalances(reads, networkId)).map(fromBalance);
}

/** The rows of it, as a statement or a part of one. */
export function bookedBalances(reads: Reads, networkId: string) {
  return reads<BalanceRow[]>`
    with unbooked as materialized (
      select case when s.kind = 'sent' then null else s.contract end as contract,
        sum(case when s.kind = 'sent' then -s.raw_fee::numeric
          else (case when ${isOurAddress(reads, reads`s.recipient`)} then s.raw_amount::numeric else 0 end)
            - (case when ${isOurAddress(reads, reads`s.sender`)} then s.raw_amount::numeric else 0 end) end) as sum
      from sightings s where s.network_id = ${networkId} and s.canonical and s.booked_at is null group by 1)
    select ${bookedAsset(reads)}, coalesce((select u.sum from unbooked u where u.contract is not distinct from a.contract), 0)::text as unbooked,
      (select coalesce(json_object_agg(w.address, w.role), '{}') from wallets w where w.network_id = ${networkId} and w.role <> 'deposit') as roles
    from assets a join chain_tips t on t.network_id = a.network_id where a.network_id = ${networkId} order by a.symbol, a.id`;
}

/** The same as the books are worked with. */
export function fromBalance(row: BalanceRow): BookedBalance {
  return { ...fromBooked(row), unbooked: BigInt(row.unbooked), roles: new Map(Object.entries(row.roles)) };
}

/** Whether an address of sighting `s` is a wallet of its network, or one that payments are made to. */
function isOurAddress(reads: Reads, address: ReturnType<Reads>) {
  return reads`(exists (select 1 from wallets w where w.network_id = s.network_id and w.address = ${address})
    or exists (select 1 from deposit_addresses d where d.address = ${address}))`;
}

/** Addresses of ours that may hold some of an asset: every wallet of the network, and every deposit address it was ever sent to or that got gas. */
export async function listHoldingAddresses(reads: Reads, asset: HeldAsset): Promise<string[]> {
  const rows = await reads<{ address: string }[]>`${holdingAddresses(reads, asset)} order by 1`;
  return rows.map((row) => row.address);
}

/** The same as a part of a statement. */
export function holdingAddresses(reads: Reads, { networkId, contract }: HeldAsset) {
  return reads`
    select address from wallets where network_id = ${networkId}
    union
    select distinct s.recipient as address from sightings s
    where s.network_id = ${networkId} and s.canonical and s.kind <> 'sent' and s.contract is not distinct from ${contract}
      and exists (select 1 from deposit_addresses d where d.address = s.recipient)`;
}

/** A wallet and an asset whose balance before the watch is not in the books yet. */
export interface UnopenedHolding {
  networkId: string;
  walletId: string;
  address: string;
  assetId: string;
  symbol: string;
  contract: string | null;
  decimals: number;
  /** The first block its indexer watches the wallet in. */
  watchedFrom: number;
  /** The last final block that was applied. */
  finalHeight: number;
  /** What of the balance at that block is in the books as movements, or will be; chain units. */
  booked: bigint;
}

/**
 * The watched wallets and assets of these networks without an opening entry, with what the books took of them or will, as far as it
 * is final: all that was seen, even before an indexer gave its word that it watches the wallet, and that may be blocks later.
 * Movements that were booked before the token was configured passed the books by. Takes no lock.
 */
export async function listUnopenedHoldings(reads: Reads, networkIds: readonly string[]): Promise<UnopenedHolding[]> {
  return (await unopenedHoldings(reads, networkIds)).map((row) => ({ ...row, booked: BigInt(row.booked) }));
}

/** Whether there are any; a condition. */
export function isAnyUnopened(reads: Reads, networkIds: readonly string[]): ReturnType<Reads> {
  return reads`exists (${unopenedHoldings(reads, networkIds)})`;
}

function unopenedHoldings(reads: Reads, networkIds: readonly string[]) {
  return reads<(Omit<UnopenedHolding, 'booked'> & { booked: string })[]>`
    select w.network_id, w.id as "walletId", w.address, a.id as "assetId", a.symbol, a.contract, a.decimals, v.watched_from, t.final_height,
      (select coalesce(sum(case
          when s.kind = 'sent' then -s.raw_fee::numeric
          else (case when s.recipient = w.address then s.raw_amount::numeric else 0 end) - (case when s.sender = w.address then s.raw_amount::numeric else 0 end)
        end), 0) from sightings s
        where s.network_id = w.network_id and s.canonical and s.height <= t.final_height and (s.sender = w.address or s.recipient = w.address)
          and (case when s.kind = 'sent' then a.contract is null else s.contract is not distinct from a.contract end)
          and (s.booked_at is null or s.booked_at >= a.created_at))::text as booked
    from wallets w join watches v on v.network_id = w.network_id and v.address = w.address join assets a on a.network_id = w.network_id
      join chain_tips t on t.network_id = w.network_id
    where w.network_id = any(${networkIds as string[]}::uuid[]) and w.role <> 'deposit' and v.watched_from is not null and t.final_height >= v.watched_from - 1
      and not exists (select 1 from ledger_transactions l where l.source_key = 'opening:' || w.id || ':' || a.id)
    order by w.network_id, w.id, a.id`;
}

/** An output of ours on the canonical chain, whether final or not, and the role of the wallet it lies at: hot, funding, held, deposit. */
export interface HeldOutput extends OwnOutput {
  role: string;
}

/** How Postgres tells one of them. */
export type OutputRow = Omit<HeldOutput, 'rawAmount'> & { rawAmount: string };

/** Every output of ours on a network that nothing on the canonical chain spends. Locks nothing. */
export async function listHeldOutputs(reads: Reads, networkId: string): Promise<HeldOutput[]> {
  return (await reads<OutputRow[]>`${heldOutputs(reads, networkId)} order by o.txid, o.vout`).map(fromOutput);
}

/** The rows of it in no order, as a part of a statement. */
export function heldOutputs(reads: Reads, networkId: string): ReturnType<Reads> {
  return reads`
    select o.txid, o.vout, o.raw_amount::text as "rawAmount", o.address, o.role from (${lyingOutputs(reads, networkId)}) o where not ${isSpent(reads, networkId, null)}`;
}

/**
 * Those among `outputs` that are there by what was applied up to a block: made in it or before, and spent by nothing up to it.
 * Locks nothing.
 */
export async function listHeldAt(
  reads: Reads,
  { networkId, height, outputs }: { networkId: string; height: number; outputs: readonly Pick<OwnOutput, 'txid' | 'vout'>[] },
): Promise<HeldOutput[]> {
  if (outputs.length === 0) return [];
  const rows = await reads<OutputRow[]>`
    select o.txid, o.vout, o.raw_amount::text, o.address, o.role
    from unnest(${outputs.map((one) => one.txid)}::text[], ${outputs.map((one) => one.vout)}::int[]) as k (txid, vout)
      join (${ownOutputs(reads, networkId)}) o on o.txid = k.txid and o.vout = k.vout
    where o.height <= ${height} and not ${isSpent(reads, networkId, height)} order by o.txid, o.vout`;
  return rows.map(fromOutput);
}

/** What the books say of a network's outputs at one moment. */
export interface BookedOutputs {
  /** What the deployment holds of the coin by the ledger. */
  booked: Coins;
  /**
   * Chain units that canonical sightings brought to our addresses or spent there without having reached the books yet, whoever
   * else pays in the same transactions.
   */
  unbooked: bigint;
  /** What the outputs are worth that nothing on the canonical chain spends, by role, chain units. */
  byRole: ReadonlyMap<string, bigint>;
}

/** Reads them of a network's own coin. Locks nothing. */
export async function readBookedOutputs(reads: Reads, networkId: string): Promise<BookedOutputs> {
  const [row] = await reads<[{ booked: string; unbooked: string; byRole: Record<string, string> }]>`
    select
      coalesce((
        select -l.balance from ledger_accounts l join assets a on a.id = l.asset_id
        where a.network_id = ${networkId} and a.contract is null and l.kind = 'chain' and l.gateway_id is null and l.settlement_id is null), 0) as booked,
      (select coalesce(sum(case when g.kind = 'sent' then -s.spent when ${isOurs(reads)} then g.raw_amount else 0 end), 0)::text
        from sightings g
          left join lateral (
            select sum(coalesce(o.raw_amount, p.raw_amount)) as spent from spent_outputs x
              left join sightings o on o.network_id = g.network_id and o.txid = x.txid and o.kind = 'native' and o.ordinal = x.vout and o.canonical
              left join opening_outputs p on p.network_id = g.network_id and p.txid = x.txid and p.vout = x.vout
            where x.sighting_id = g.id and g.kind = 'sent') s on true
        where g.network_id = ${networkId} and g.canonical and g.booked_at is null and g.kind in ('sent', 'native')) as unbooked,
      (select coalesce(json_object_agg(r.role, r.sum), '{}') from (
        select o.role, sum(o.raw_amount)::text as sum from (${lyingOutputs(reads, networkId)}) o where not ${isSpent(reads, networkId, null)} group by o.role) r) as "byRole"`;
  const byRole = new Map(Object.entries(row.byRole).map(([role, sum]) => [role, BigInt(sum)]));
  return { booked: parseTrusted(row.booked), unbooked: BigInt(row.unbooked), byRole };
}

/** True when a block is on the branch that was applied. Locks nothing. */
export async function isApplied(reads: Reads, networkId: string, hash: string): Promise<boolean> {
  return (await reads`select 1 from chain_blocks where network_id = ${networkId} and hash = ${hash} and canonical`).length === 1;
}

/** Outputs that were sighted at addresses of ours, and those a wallet held before it was watched; spent ones are among them. */
function ownOutputs(reads: Reads, networkId: string) {
  return reads`
    select g.txid, g.ordinal as vout, g.raw_amount, g.recipient as address, g.height, coalesce(w.role, 'deposit') as role
    from sightings g left join wallets w on w.network_id = g.network_id and w.address = g.recipient
    where g.network_id = ${networkId} and g.kind = 'native' and g.canonical and g.raw_amount > 0
      and ${isOurs(reads)}
    union all
    ${openingOutputs(reads, networkId)}`;
}

/** The same of those that may be unspent (decision 0083); `offset 0` keeps the planner from looking at all there ever were first. */
function lyingOutputs(reads: Reads, networkId: string) {
  return reads`
    select g.txid, g.ordinal as vout, g.raw_amount, g.recipient as address, g.height, coalesce(w.role, 'deposit') as role
    from (select l.txid, l.vout from lying_outputs l where l.network_id = ${networkId} group by 1, 2) k
      cross join lateral (
        select x.* from sightings x where x.network_id = ${networkId} and x.txid = k.txid and x.kind = 'native' and x.ordinal = k.vout and x.canonical offset 0) g
      left join wallets w on w.network_id = g.network_id and w.address = g.recipient
    where g.raw_amount > 0 and ${isOurs(reads)}
    union all
    ${openingOutputs(reads, networkId)}`;
}

function openingOutputs(reads: Reads, networkId: string) {
  return reads`
    select p.txid, p.vout, p.raw_amount, p.address, p.height, w.role from opening_outputs p join wallets w on w.id = p.wallet_id
    where p.network_id = ${networkId} and p.raw_amount > 0 and not exists (
      select 1 from sightings g where g.network_id = p.network_id and g.txid = p.txid and g.kind = 'native' and g.ordinal = p.vout and g.canonical)`;
}

/** Whether something on the canonical chain spends output `o`, up to a block where one is given. */
function isSpent(reads: Reads, networkId: string, height: number | null) {
  return reads`exists (
    select 1 from spent_outputs s join sightings x on x.id = s.sighting_id
    where s.txid = o.txid and s.vout = o.vout and x.network_id = ${networkId} and x.canonical and (${height}::bigint is null or x.height <= ${height}::bigint))`;
}

/** Whether sighting `g` brings something to an address of ours. */
function isOurs(reads: Reads) {
  return reads`(exists (select 1 from wallets a where a.network_id = g.network_id and a.address = g.recipient)
    or exists (select 1 from deposit_addresses d where d.address = g.recipient))`;
}

/** The same as outputs are worked with. */
export function fromOutput(row: OutputRow): HeldOutput {
  return { ...row, rawAmount: BigInt(row.rawAmount) };
}
