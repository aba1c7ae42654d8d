import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { type HeldAsset, holdingAddresses } from './holdings.ts';

/** An asset of a network where coins are balances, and how much of what was seen of it is final. */
export interface LookedAt extends HeldAsset {
  assetId: string;
  finalHeight: number;
}

/** How many addresses a look asks about at most, beside wallets and where credited coins may lie. */
export interface AskedAtMost {
  /** Of those with the largest deposits that nobody owns. */
  unallocated: number;
  /** Of those where something moved: where that is final, which is asked once, before where it is not; longest ago first. */
  touched: number;
  /** Of those where nothing did, longest not asked about first. */
  resting: number;
}

/** An address that a look asks about. */
export interface AskedAddress {
  address: string;
  /** Whether all that was seen of it is final. */
  settled: boolean;
  /** What of what it holds came or left by sightings that are not; chain units. */
  passing: bigint;
  /** Which of what touched it a reading answers for good. */
  answered: readonly string[];
  /** Whether it is asked about because its turn came. */
  inTurn: boolean;
}

/** What is to be asked about an asset, and what is known of the rest. */
export interface Look {
  /** Which state of the readings it goes with; null before the first. */
  version: number | null;
  /** Whether every address is asked about. */
  whole: boolean;
  /** What lies at all addresses that are not asked about: as it was read last, with what was seen since; chain units. */
  elsewhere: bigint;
  addresses: readonly AskedAddress[];
}

interface Row {
  address: string;
  kept: string;
  change: string;
  settled: boolean;
  passing: string;
  answered: string[];
}

/** What readings add up to, with what was seen since; undefined before the first. */
async function readSum(reads: Reads, assetId: string): Promise<{ version: number; standing: bigint } | undefined> {
  const [row] = await reads<{ version: number; standing: string }[]>`
    select s.version, (s.raw_amount + (select coalesce(sum(t.raw_change), 0) from touched_holdings t where t.asset_id = s.asset_id))::text as standing
    from kept_sums s where s.asset_id = ${assetId}`;
  return row === undefined ? undefined : { version: row.version, standing: BigInt(row.standing) };
}

/** A look at every address that may hold some of the asset; what was kept counts for nothing in it. Must be one snapshot with what it is compared with. Locks nothing. */
export async function readWholeLook(tx: Tx, at: LookedAt): Promise<Look> {
  const rows = await tx<Omit<Row, 'kept'>[]>`
    select ${standing(tx)} from (${holdingAddresses(tx, at)} union select address from touched_holdings where asset_id = ${at.assetId}) p
    left join lateral (${touchesOf(tx, at)}) t on true order by p.address`;
  const sum = await readSum(tx, at.assetId);
  return { version: sum?.version ?? null, whole: true, elsewhere: 0n, addresses: rows.map((row) => fromRow(row, true)) };
}

/**
 * A look at every wallet, every address where credited coins may lie or something moved, and some of the others in turn; undefined before the first whole one.
 * Of what moved and of the others no more than `most`. Must be one snapshot with what it is compared with. Locks nothing.
 */
export async function readLook(tx: Tx, at: Omit<LookedAt, 'contract'>, most: AskedAtMost): Promise<Look | undefined> {
  const { networkId, assetId } = at;
  const sum = await readSum(tx, assetId);
  if (sum === undefined) return undefined;
  const asked = await tx<Row[]>`
    with always as materialized (
      select address from wallets where network_id = ${networkId} and role <> 'deposit'
      union
      select address from lying_deposits where network_id = ${networkId} and asset_id = ${assetId}
      union
      select a.address from (
          select address_id from deposits where asset_id = ${assetId} and state = 'unallocated' order by raw_amount desc limit ${most.unallocated}) d
        join deposit_addresses a on a.id = d.address_id),
    places as (
      select address from always
      union all
      (select t.address from touched_holdings t where t.asset_id = ${assetId} and not exists (select 1 from always a where a.address = t.address)
        group by t.address order by bool_and(t.height <= ${at.finalHeight}) desc, min(t.id) limit ${most.touched}))
    select ${kept(tx)}, ${standing(tx)} from places p ${readings(tx, assetId)} left join lateral (${touchesOf(tx, at)}) t on true order by p.address`;
  const known = new Set(asked.map((row) => row.address));
  // As many more as are asked about anyway may be among them.
  const oldest = await tx<Row[]>`
    select ${kept(tx)}, ${standing(tx)} from (
        select r.address from kept_readings r where r.asset_id = ${assetId} order by r.read_at, r.address limit ${most.resting + known.size}) p
      ${readings(tx, assetId)} left join lateral (${touchesOf(tx, at)}) t on true`;
  const resting = oldest.filter((row) => !known.has(row.address)).slice(0, most.resting);
  const elsewhere = [...asked, ...resting].reduce((rest, row) => rest - BigInt(row.kept) - BigInt(row.change), sum.standing);
  return {
    version: sum.version,
    whole: false,
    elsewhere,
    addresses: [...asked.map((row) => fromRow(row, false)), ...resting.map((row) => fromRow(row, true))],
  };
}

/** What addresses held, as the chain told a look. */
export interface Reading {
  assetId: string;
  /** Of the look. */
  version: number | null;
  whole: boolean;
  /** The applied block that was asked about. */
  height: number;
  addresses: readonly (AskedAddress & { rawAmount: bigint })[];
}

/** Rows that are written in one go. */
const AT_ONCE = 10_000;

/**
 * Keeps what was read, with its sum, and gives up what it answers. Of an address of which not all is final it keeps nothing, unless the reading is whole, which takes the
 * place of all there were: what a fork may take back stays what was seen. Keeps nothing at all, and says so, where another reading was kept since the look: that one may
 * have been later. Locks the sum.
 */
export async function keepReading(tx: Tx, { assetId, version, whole, height, addresses: read }: Reading): Promise<boolean> {
  const addresses = whole ? read : read.filter((one) => one.settled);
  if (version === null) await tx`insert into kept_sums (asset_id, raw_amount, version) values (${assetId}, 0, 0) on conflict (asset_id) do nothing`;
  const [sum] = await tx<{ version: number }[]>`select version from kept_sums where asset_id = ${assetId} for update`;
  if (sum?.version !== (version ?? 0)) return false;
  let change = 0n;
  if (whole) {
    const [gone] = await tx<[{ sum: string }]>`
      with gone as (
        delete from kept_readings r where r.asset_id = ${assetId}
          and not exists (select 1 from unnest(${addresses.map((one) => one.address)}::text[]) as a (address) where a.address = r.address) returning r.raw_amount)
      select coalesce(sum(raw_amount), 0)::text as sum from gone`;
    change -= BigInt(gone.sum);
  }
  for (let from = 0; from < addresses.length; from += AT_ONCE) {
    const some = addresses.slice(from, from + AT_ONCE);
    const [written] = await tx<[{ change: string }]>`
      with given as (
        select * from unnest(${some.map((one) => one.address)}::text[], ${some.map((one) => (one.rawAmount - one.passing).toString())}::text[]::numeric[],
          ${some.map((one) => String(one.inTurn))}::text[]::boolean[]) as g (address, raw_amount, in_turn)),
      fresh as (
        select g.*, r.raw_amount as was from given g left join kept_readings r on r.asset_id = ${assetId} and r.address = g.address),
      written as (
        insert into kept_readings (asset_id, address, raw_amount, height)
        select ${assetId}, f.address, f.raw_amount, ${height} from fresh f where f.in_turn or f.was is distinct from f.raw_amount
        on conflict (asset_id, address) do update set raw_amount = excluded.raw_amount, height = excluded.height, read_at = excluded.read_at)
      select coalesce(sum(raw_amount - coalesce(was, 0)), 0)::text as change from fresh`;
    change += BigInt(written.change);
  }
  // Their turn is over all the same: whoever keeps sending to them must not keep others waiting.
  if (!whole) {
    const passed = read.filter((one) => one.inTurn && !one.settled).map((one) => one.address);
    await tx`update kept_readings set read_at = clock_timestamp() where asset_id = ${assetId} and address = any(${passed}::text[])`;
  }
  await tx`update kept_sums set raw_amount = raw_amount + ${change.toString()}::text::numeric, version = version + 1 where asset_id = ${assetId}`;
  const answered = addresses.flatMap((one) => one.answered);
  if (answered.length > 0) await tx`delete from touched_holdings where id = any(${answered}::text[]::bigint[])`;
  return true;
}

function standing(reads: Reads) {
  return reads`p.address, coalesce(t.change, 0)::text as change, coalesce(t.settled, true) as settled, coalesce(t.passing, 0)::text as passing, coalesce(t.answered, '{}') as answered`;
}

function kept(reads: Reads) {
  return reads`coalesce(k.raw_amount, 0)::text as kept`;
}

function readings(reads: Reads, assetId: string) {
  return reads`left join kept_readings k on k.asset_id = ${assetId} and k.address = p.address`;
}

/** What moved at place `p` since its last reading. */
function touchesOf(reads: Reads, { assetId, finalHeight }: Pick<LookedAt, 'assetId' | 'finalHeight'>) {
  return reads`
    select sum(x.raw_change) as change, bool_and(x.height <= ${finalHeight}) as settled, sum(x.raw_change) filter (where x.height > ${finalHeight}) as passing,
      array_agg(x.id::text) filter (where x.height <= ${finalHeight}) as answered
    from touched_holdings x where x.asset_id = ${assetId} and x.address = p.address`;
}

function fromRow({ address, settled, passing, answered }: Omit<Row, 'kept'>, inTurn: boolean): AskedAddress {
  return { address, settled, passing: BigInt(passing), answered, inTurn };
}
