import type { OwnOutput, UnspentOutput } from '#shared/chains/chain.ts';
import type { SentTransaction, Sighting } from '#shared/core/chain-events.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { unknownOutgoing } from './adopted.ts';

type Pool = 'green' | 'held';

/** Names an output wherever it is. */
export type Outpoint = Pick<OwnOutput, 'txid' | 'vout'>;

type Row = Omit<OwnOutput, 'rawAmount'> & { rawAmount: string };

/** Coins made in a block cannot move before it is this deep, itself included (chains 2.3). */
const COINBASE_DEPTH = 100;

/** The largest outputs are spent first, so that whoever sends thousands of tiny ones makes nobody read them. */
const MOST_LISTED = 1_000;

/** Rows per statement: four arrays of parameters, so only their size matters. */
const CHUNK = 5_000;

/**
 * Stores which outputs of ours the sent transactions among these spend; call it after `insertSightings` stored them, in the
 * same transaction. Evidence like they are: what is there stays, and a spend counts while its sighting is canonical.
 */
export async function insertSpends(tx: Tx, networkId: string, sightings: readonly Sighting[]): Promise<void> {
  const spends = sightings
    .filter((one): one is SentTransaction => one.kind === 'sent')
    .flatMap((sent) => (sent.spends ?? []).map((output) => ({ blockHash: sent.blockHash, spender: sent.txid, ...output })));
  for (let start = 0; start < spends.length; start += CHUNK) {
    const rows = spends.slice(start, start + CHUNK);
    await tx`
      insert into spent_outputs (sighting_id, txid, vout)
      select g.id, s.txid, s.vout
      from unnest(${rows.map((row) => row.blockHash)}::text[], ${rows.map((row) => row.spender)}::text[], ${rows.map((row) => row.txid)}::text[],
          ${rows.map((row) => row.vout)}::int[]) as s (block_hash, spender, txid, vout)
        join sightings g on g.network_id = ${networkId} and g.block_hash = s.block_hash and g.txid = s.spender and g.kind = 'sent'
      on conflict do nothing`;
  }
}

/** Whose outputs are asked about. */
export interface Purse {
  networkId: string;
  /** Canonical address of the wallet that gets the change. */
  address: string;
  /** The pool whose deposits it spends; null for a wallet that has none (decisions 10). */
  pool: Pool | null;
}

/**
 * The largest outputs that a wallet may spend now, in that order: its own and those of credited deposits of its pool, all in final
 * blocks, unspent, watched, of no payment that waits for a verdict, at no halted address, and taken by no other payout than
 * `payoutId`. Locks nothing; true until commit only while the wallet is locked, and the payments of the deposits among them.
 */
export async function listSpendable(sql: Reads, purse: Purse, payoutId?: string): Promise<OwnOutput[]> {
  const rows = await sql<Row[]>`
    select o.txid, o.vout, o.address, o.raw_amount::text from (${unspent(sql, purse)}) o
    where o.ready and not ${isTaken(sql, sql`o`, purse.networkId, payoutId ?? null)}
    order by o.raw_amount desc, o.txid, o.vout limit ${MOST_LISTED}`;
  return rows.map(fromRow);
}

/** The smallest outputs worth more than `least` that a wallet may spend now, in that order, at most `limit`; otherwise as `listSpendable`. */
export async function listSmallest(sql: Reads, purse: Purse, { least, limit }: { least: bigint; limit: number }): Promise<OwnOutput[]> {
  const rows = await sql<Row[]>`
    select o.txid, o.vout, o.address, o.raw_amount::text from (${unspent(sql, purse)}) o
    where o.ready and o.raw_amount > ${least.toString()}::text::numeric and not ${isTaken(sql, sql`o`, purse.networkId, null)}
    order by o.raw_amount, o.txid, o.vout limit ${limit}`;
  return rows.map(fromRow);
}

/** How many outputs worth more than `least` a wallet may spend now, and the chain units in them; in the sense of `listSpendable`, however many there are. */
export async function sumSpendable(sql: Reads, purse: Purse, least = 0n): Promise<{ count: number; rawAmount: bigint }> {
  const [row] = await sql<{ count: number; rawAmount: string }[]>`
    select count(*)::int as count, coalesce(sum(o.raw_amount), 0)::text as "rawAmount" from (${unspent(sql, purse)}) o
    where o.ready and o.raw_amount > ${least.toString()}::text::numeric and not ${isTaken(sql, sql`o`, purse.networkId, null)}`;
  return { count: row?.count ?? 0, rawAmount: BigInt(row?.rawAmount ?? 0) };
}

/** Those among `outputs` that a wallet may spend now, in the same sense, whatever else there is. */
export async function findSpendable(sql: Reads, purse: Purse, outputs: readonly Outpoint[], payoutId?: string): Promise<OwnOutput[]> {
  const rows = await sql<Row[]>`
    select o.txid, o.vout, o.address, o.raw_amount::text from (${unspent(sql, purse, outputs)}) o
    where o.ready and not ${isTaken(sql, sql`o`, purse.networkId, payoutId ?? null)}`;
  return rows.map(fromRow);
}

/**
 * Chain units of a wallet's outputs that nobody took and that cannot be spent yet: not final, or waiting for a verdict. Only of those
 * above `least` each: what costs more than it brings will never help, and anybody can send more of it. Locks nothing.
 */
export async function sumUnready(sql: Reads, purse: Purse, least = 0n): Promise<bigint> {
  const [row] = await sql<{ rawAmount: string }[]>`
    select coalesce(sum(o.raw_amount), 0)::text as "rawAmount" from (${unspent(sql, purse)}) o
    where not o.ready and o.raw_amount > ${least.toString()}::text::numeric and not ${isTaken(sql, sql`o`, purse.networkId, null)}`;
  return BigInt(row?.rawAmount ?? 0);
}

/** Keeps the verdicts about deposits among these outputs from changing until commit; after wallets and payouts. */
export async function lockPaymentsOf(tx: Tx, networkId: string, outputs: readonly Outpoint[]): Promise<void> {
  await tx`
    select 1 from payments p where p.id in (
      select d.payment_id from deposits d join (${named(tx, outputs)}) o on o.txid = d.txid and o.vout = d.ordinal where d.network_id = ${networkId} and d.kind = 'native')
    order by p.id for share`;
}

/** Takes outputs for a payout; the caller holds its wallet's lock, and rolls back on false: then another payout has one of them. */
export async function lockOutputs(tx: Tx, networkId: string, payoutId: string, outputs: readonly Outpoint[]): Promise<boolean> {
  const [row] = await tx<{ held: boolean }[]>`
    with wanted as (${named(tx, outputs)}),
    taken as (
      insert into output_locks (network_id, txid, vout, payout_id) select ${networkId}, txid, vout, ${payoutId} from wanted order by txid, vout
      on conflict (network_id, txid, vout) where released_at is null do nothing returning 1),
    had as (
      select 1 from output_locks l join wanted w on w.txid = l.txid and w.vout = l.vout
      where l.network_id = ${networkId} and l.payout_id = ${payoutId} and l.released_at is null)
    select (select count(*) from taken) + (select count(*) from had) = ${outputs.length} as held`;
  return row?.held === true;
}

/** Gives back what a payout took, but for `kept`; the caller holds the payout's lock. */
export async function releaseOutputs(tx: Tx, payoutId: string, kept: readonly Outpoint[] = []): Promise<void> {
  await tx`
    update output_locks l set released_at = sluice_now()
    where l.payout_id = ${payoutId} and l.released_at is null and not exists (select 1 from (${named(tx, kept)}) k where k.txid = l.txid and k.vout = l.vout)`;
}

/** What a payout has taken and not given back; locks nothing. */
export async function listLocked(sql: Reads, payoutId: string): Promise<Outpoint[]> {
  return sql<Outpoint[]>`select txid, vout from output_locks where payout_id = ${payoutId} and released_at is null order by id`;
}

/** Those of these outputs that final canonical blocks hold and no canonical block spends, whoever they belong to. Locks nothing. */
export async function findUnspent(sql: Reads, networkId: string, outputs: readonly Outpoint[]): Promise<OwnOutput[]> {
  if (outputs.length === 0) return [];
  const rows = await sql<Row[]>`
    select distinct on (o.txid, o.vout) o.txid, o.vout, coalesce(g.recipient, p.address) as address, coalesce(g.raw_amount, p.raw_amount)::text as "rawAmount"
    from (${named(sql, outputs)}) o
      left join chain_tips t on t.network_id = ${networkId}
      left join sightings g on g.network_id = ${networkId} and g.txid = o.txid and g.kind = 'native' and g.ordinal = o.vout and g.canonical
        and g.height <= t.final_height
      left join opening_outputs p on p.network_id = ${networkId} and p.txid = o.txid and p.vout = o.vout
    where (g.id is not null or p.txid is not null) and not ${isSpent(sql, sql`o`, networkId)}`;
  return rows.map(fromRow);
}

/** Whether a transaction in a final canonical block spends this output; locks nothing. */
export async function isFinallySpentBy(sql: Reads, networkId: string, output: Outpoint, spender: string): Promise<boolean> {
  const rows = await sql`
    select 1 from spent_outputs x join sightings g on g.id = x.sighting_id and g.canonical join chain_tips t on t.network_id = g.network_id
    where x.txid = ${output.txid} and x.vout = ${output.vout} and g.network_id = ${networkId} and g.txid = ${spender} and g.height <= t.final_height limit 1`;
  return rows.length === 1;
}

/** Transactions that spend this output on the canonical chain, with the block each is in; locks nothing. */
export async function listSpenders(sql: Reads, networkId: string, output: Outpoint): Promise<{ txid: string; inBlock: string }[]> {
  return sql<{ txid: string; inBlock: string }[]>`
    select distinct g.txid, g.block_hash as "inBlock" from spent_outputs x join sightings g on g.id = x.sighting_id and g.canonical
    where x.txid = ${output.txid} and x.vout = ${output.vout} and g.network_id = ${networkId}`;
}

/** Chain units of the outputs of ours that a transaction of this sighting spends; locks nothing. */
export async function sumSpentBy(sql: Reads, sightingId: number): Promise<bigint> {
  const [row] = await sql<{ rawAmount: string }[]>`
    select coalesce(sum(coalesce(o.raw_amount, p.raw_amount)), 0)::text as "rawAmount"
    from spent_outputs x join sightings g on g.id = x.sighting_id
      left join sightings o on o.network_id = g.network_id and o.txid = x.txid and o.kind = 'native' and o.ordinal = x.vout and o.canonical
      left join opening_outputs p on p.network_id = g.network_id and p.txid = x.txid and p.vout = x.vout
    where x.sighting_id = ${sightingId}`;
  return BigInt(row?.rawAmount ?? 0);
}

/** An output of ours that a transaction spends which no stored bytes explain. */
export interface ForeignSpend {
  spender: string;
  address: string;
  /** The pool of the deposit it was; null where it was none, or none that is known. */
  pool: Pool | null;
}

/** Those of canonical transactions that did not reach the books yet; locks nothing. */
export function listForeignSpends(sql: Reads, networkId: string) {
  return sql<ForeignSpend[]>`
    select g.txid as spender, coalesce(o.recipient, p.address, g.sender) as address, (
      select coalesce(min(c.pool) filter (where c.id = d.credit_id), min(c.pool)) from deposits d join credits c on c.payment_id = d.payment_id
      where d.network_id = g.network_id and d.txid = x.txid and d.kind = 'native' and d.ordinal = x.vout) as pool
    from (${unknownOutgoing(sql)}) g join spent_outputs x on x.sighting_id = g.id
      left join sightings o on o.network_id = g.network_id and o.txid = x.txid and o.kind = 'native' and o.ordinal = x.vout and o.canonical
      left join opening_outputs p on p.network_id = g.network_id and p.txid = x.txid and p.vout = x.vout
    where g.network_id = ${networkId} and g.booked_at is null
    order by g.height, g.position, x.txid, x.vout`;
}

/**
 * Has every deposit address that holds coins watched for as long as it does: what spends them must never go unseen. Answers
 * how many were to be dropped before. Locks their rows.
 */
export async function keepWatchingOutputs(sql: Reads, networkId: string): Promise<number> {
  const rows = await sql`
    update watches w set watch_until = null, acked_epoch = case when w.watch_until > sluice_now() then w.acked_epoch end
    from (select distinct l.address from lying_outputs l where l.network_id = ${networkId} and l.spendable) k
    where w.network_id = ${networkId} and w.address = k.address and w.watch_until is not null and exists (
      select 1 from deposit_addresses a join deposits d on d.address_id = a.id
      where a.address = k.address and d.network_id = ${networkId} and d.state = 'credited') returning 1`;
  return rows.length;
}

/**
 * What lies at a wallet and at the deposit addresses of its pool, unspent on the canonical chain, or of that only `among`; `ready` says that nothing but
 * another payout keeps it from being spent. What was spent long ago is not even looked at (decision 0083): `offset 0` keeps the planner from
 * looking at all there ever was first.
 */
function unspent(sql: Reads, { networkId, address, pool }: Purse, among?: readonly Outpoint[]) {
  const asked = (output: ReturnType<Reads>) => (among === undefined ? sql`true` : sql`(${output}.txid, ${output}.vout) in (${named(sql, among)})`);
  const lying =
    among === undefined
      ? sql`select l.txid, l.vout from lying_outputs l where l.network_id = ${networkId} and l.spendable`
      : sql`select distinct n.txid, n.vout from (${named(sql, among)}) n`;
  return sql`
    select l.* from (
      select g.txid, g.ordinal as vout, g.recipient as address, g.raw_amount,
        g.height <= t.final_height and (not g.coinbase or g.height <= t.height - ${COINBASE_DEPTH - 1}::bigint) as ready
      from (${lying} ${among === undefined ? sql`and l.address = ${address} group by 1, 2` : sql``}) k join chain_tips t on t.network_id = ${networkId}
        cross join lateral (
          select x.* from sightings x
          where x.network_id = ${networkId} and x.txid = k.txid and x.canonical and x.kind = 'native' and x.ordinal = k.vout offset 0) g
      where g.recipient = ${address} and g.raw_amount > 0
      union all
      select o.txid, o.vout, o.address, o.raw_amount, not o.coinbase or o.height <= t.height - ${COINBASE_DEPTH - 1}::bigint
      from opening_outputs o join chain_tips t on t.network_id = o.network_id
      where o.network_id = ${networkId} and o.address = ${address} and o.raw_amount > 0 and ${asked(sql`o`)} and not exists (
        select 1 from sightings g where g.network_id = o.network_id and g.txid = o.txid and g.kind = 'native' and g.ordinal = o.vout and g.canonical)
      union all
      select d.txid, d.ordinal, a.address, d.raw_amount,
        g.height <= t.final_height and p.status <> 'PENDING' and not c.waiting
          and not exists (select 1 from wallets w where w.network_id = d.network_id and w.address = a.address and w.halted_reason is not null)
          and exists (select 1 from watches w where w.network_id = d.network_id and w.address = a.address and w.acked_epoch is not null)
      from (${lying} ${among === undefined ? sql`and l.address <> ${address} group by 1, 2` : sql``}) k
        cross join lateral (
          select x.* from deposits x
          where x.network_id = ${networkId} and x.txid = k.txid and x.kind = 'native' and x.ordinal = k.vout and x.state = 'credited' offset 0) d
        join deposit_addresses a on a.id = d.address_id join payments p on p.id = d.payment_id
        join chain_tips t on t.network_id = d.network_id
        join sightings g on g.network_id = d.network_id and g.txid = d.txid and g.kind = d.kind and g.ordinal = d.ordinal and g.canonical
          and g.recipient = a.address and g.raw_amount = d.raw_amount
        join lateral (
          select bool_or(x.screening = 'waiting') as waiting, coalesce(min(x.pool) filter (where x.id = d.credit_id), min(x.pool)) as pool
          from credits x where x.payment_id = d.payment_id) c on c.pool = ${pool}::text
      where d.raw_amount > 0) l
    where not ${isSpent(sql, sql`l`, networkId)}`;
}

function isSpent(sql: Reads, output: ReturnType<Reads>, networkId: string) {
  return sql`exists (
    select 1 from spent_outputs x join sightings s on s.id = x.sighting_id and s.canonical and s.network_id = ${networkId}
    where x.txid = ${output}.txid and x.vout = ${output}.vout)`;
}

function isTaken(sql: Reads, output: ReturnType<Reads>, networkId: string, payoutId: string | null) {
  return sql`exists (
    select 1 from output_locks k where k.network_id = ${networkId} and k.txid = ${output}.txid and k.vout = ${output}.vout and k.released_at is null
      and k.payout_id is distinct from ${payoutId}::uuid)`;
}

function named(sql: Reads, outputs: readonly Outpoint[]) {
  return sql`select txid, vout from unnest(${outputs.map((one) => one.txid)}::text[], ${outputs.map((one) => one.vout)}::int[]) as o (txid, vout)`;
}

function fromRow(row: Row): OwnOutput {
  return { ...row, rawAmount: BigInt(row.rawAmount) };
}

/** Those among outputs of a network that no sighting on the canonical chain tells of. Locks nothing. */
export async function listUnseen<One extends { txid: string; vout: number }>(reads: Reads, networkId: string, outputs: readonly One[]): Promise<One[]> {
  const seen = await reads<{ txid: string; vout: number }[]>`
    select g.txid, g.ordinal as vout from sightings g
    where g.network_id = ${networkId} and g.kind = 'native' and g.canonical and g.txid = any(${outputs.map((one) => one.txid)}::text[])`;
  const keys = new Set(seen.map(({ txid, vout }) => `${txid}:${vout}`));
  return outputs.filter(({ txid, vout }) => !keys.has(`${txid}:${vout}`));
}

/** Writes what a wallet held before it was watched, in the transaction that books its opening balance. */
export async function insertOpeningOutputs(
  tx: Tx,
  { networkId, walletId, outputs }: { networkId: string; walletId: string; outputs: readonly UnspentOutput[] },
): Promise<void> {
  await tx`
    insert into opening_outputs (network_id, txid, vout, wallet_id, address, raw_amount, height, coinbase)
    select ${networkId}, o.txid, o.vout, ${walletId}, o.address, o.raw_amount, o.height, o.coinbase
    from unnest(${outputs.map((one) => one.txid)}::text[], ${outputs.map((one) => one.vout)}::int[], ${outputs.map((one) => one.address)}::text[],
      ${outputs.map((one) => one.rawAmount.toString())}::text[]::numeric[], ${outputs.map((one) => one.height)}::bigint[],
      ${outputs.map((one) => String(one.coinbase))}::text[]::boolean[]) as o (txid, vout, address, raw_amount, height, coinbase)`;
}
