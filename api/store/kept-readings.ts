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
  /** What came or left since its last reading by those that are. */
  lasting: bigint;
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

/** What readings of asset `s` add up to, with what was seen since. */
function standingSum(reads: Reads) {
  return reads`(s.raw_amount + (select coalesce(sum(t.raw_change), 0) from touched_holdings t where t.asset_id = s.asset_id))::text`;
}

/** A look at every address that may hold some of the asset; what was kept counts for nothing in it. Must be one snapshot with what it is compared with. Locks nothing. */
export async function readWholeLook(tx: Tx, at: LookedAt): Promise<Look> {
  const rows = await tx<Omit<Row, 'kept'>[]>`
    select ${standing(tx)} from (${holdingAddresses(tx, at)} union select address from touched_holdings where asset_id = ${at.assetId}) p
    left join lateral (${touchesOf(tx, tx`${at.assetId}::uuid`, tx`${at.finalHeight}`)}) t on true order by p.address`;
  const [sum] = await tx<{ version: number }[]>`select version from kept_sums where asset_id = ${at.assetId}`;
  return { version: sum?.version ?? null, whole: true, elsewhere: 0n, addresses: rows.map((row) => fromRow(row, true)) };
}

/**
 * A look at every wallet, every address where credited coins may lie or something moved, and some of the others in turn, for each of these assets of one network that was
 * looked at as a whole before. Of what moved and of the others no more than `most` of each asset. Must be one snapshot with what it is compared with. Locks nothing.
 */
export async function readLooks(tx: Reads, all: readonly Omit<LookedAt, 'contract'>[], most: AskedAtMost): Promise<ReadonlyMap<string, Look>> {
  const [first] = all;
  if (first === undefined) return new Map();
  const of: ReturnType<Reads> = tx`
    select a.id, a.final_height
    from unnest(${all.map(({ assetId }) => assetId)}::uuid[], ${all.map(({ finalHeight }) => finalHeight)}::bigint[]) as a (id, final_height)`;
  const rows = await tx<(LookRow & { assetId: string })[]>`${looks(tx, { networkId: first.networkId, of, most })}`;
  return new Map(rows.map((row) => [row.assetId, fromLook(row, most)]));
}

/** How Postgres tells what to ask about one asset. */
export interface LookRow {
  version: number;
  /** What all readings add up to, with what was seen since. */
  standing: string;
  /** What is asked about whosever turn it is, and the readings that are oldest, among which may be some of the same. */
  asked: Row[];
  oldest: Row[];
}

/**
 * The rows of it, as a statement or a part of one; `of` are the assets that are asked about, as `id`, with how much of the network is final, as `final_height`.
 */
export function looks(reads: Reads, { networkId, of, most }: { networkId: string; of: ReturnType<Reads>; most: AskedAtMost }): ReturnType<Reads> {
  // As many more of the oldest as are asked about anyway may be among them.
  return reads`
    with of as materialized (${of}),
    sums as materialized (
      select s.asset_id, s.version, f.final_height, ${standingSum(reads)} as standing, (
        with always as materialized (
          select address from wallets where network_id = ${networkId} and role <> 'deposit'
          union
          select address from lying_deposits where network_id = ${networkId} and asset_id = s.asset_id
          union
          select a.address from (
              select address_id from deposits where asset_id = s.asset_id and state = 'unallocated' order by raw_amount desc limit ${most.unallocated}) d
            join deposit_addresses a on a.id = d.address_id),
        places as (
          select address from always
          union all
          (select t.address from touched_holdings t where t.asset_id = s.asset_id and not exists (select 1 from always a where a.address = t.address)
            group by t.address order by bool_and(t.height <= f.final_height) desc, min(t.id) limit ${most.touched}))
        select coalesce(json_agg(r order by r.address), '[]') from (
          select ${kept(reads)}, ${standing(reads)} from places p ${readings(reads)}
            left join lateral (${touchesOf(reads, reads`s.asset_id`, reads`f.final_height`)}) t on true) r) as asked
      from of f join kept_sums s on s.asset_id = f.id)
    select s.asset_id, s.version, s.standing, s.asked, (
      select coalesce(json_agg(o order by o.read_at, o.address), '[]') from (
        select p.raw_amount::text as kept, p.read_at, ${standing(reads)} from (
            select r.address, r.read_at, r.raw_amount from kept_readings r where r.asset_id = s.asset_id
            order by r.read_at, r.address limit ${most.resting}::bigint + json_array_length(s.asked)) p
          left join lateral (${touchesOf(reads, reads`s.asset_id`, reads`s.final_height`)}) t on true) o) as oldest
    from sums s`;
}

/** The same as a look is worked with. */
export function fromLook({ version, standing: sum, asked, oldest }: LookRow, most: AskedAtMost): Look {
  const known = new Set(asked.map((row) => row.address));
  const resting = oldest.filter((row) => !known.has(row.address)).slice(0, most.resting);
  return {
    version,
    whole: false,
    elsewhere: [...asked, ...resting].reduce((rest, row) => rest - BigInt(row.kept) - BigInt(row.change), BigInt(sum)),
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
  addresses: readonly ReadAddress[];
}

type ReadAddress = AskedAddress & { rawAmount: bigint };

/** Whether a reading in turn answers nothing that is kept: then there is nothing to keep of it but that it was. */
export function changesNothing({ version, whole, addresses }: Reading): boolean {
  return version !== null && !whole && addresses.every(({ settled, answered, inTurn }) => !settled && answered.length === 0 && !inTurn);
}

/** Rows that are written in one go. */
const AT_ONCE = 10_000;

/**
 * Keeps what was read of some assets, with its sums, and gives up what it answers; answers the assets whose readings it kept. Of an address of which not all is final it keeps
 * no more than what was seen and is final, unless the reading is whole, which takes the place of all there were: what a fork may take back stays what was seen. Keeps nothing at
 * all of an asset of which another reading was kept since the look: that one may have been later. Locks the sums.
 */
export async function keepReadings(tx: Tx, readings: readonly Reading[]): Promise<ReadonlySet<string>> {
  const fresh = readings.filter(({ version }) => version === null).map(({ assetId }) => assetId);
  if (fresh.length > 0)
    await tx`insert into kept_sums (asset_id, raw_amount, version) select id, 0, 0 from unnest(${fresh}::uuid[]) as a (id) order by id on conflict (asset_id) do nothing`;
  const current = await tx<{ assetId: string }[]>`
    with given as (
      select * from unnest(${readings.map(({ assetId }) => assetId)}::uuid[], ${readings.map(({ version }) => version ?? 0)}::bigint[]) as g (asset_id, version)),
    locked as (select s.asset_id from kept_sums s join given g on g.asset_id = s.asset_id order by s.asset_id for update of s)
    update kept_sums s set version = s.version + 1 from given g join locked l on l.asset_id = g.asset_id where s.asset_id = g.asset_id and s.version = g.version
    returning s.asset_id`;
  const kept = new Set(current.map(({ assetId }) => assetId));
  const changes = new Map<string, bigint>();
  const change = (rows: readonly { assetId: string; change: string }[]): void => {
    for (const row of rows) changes.set(row.assetId, (changes.get(row.assetId) ?? 0n) + BigInt(row.change));
  };
  for (const reading of readings) if (kept.has(reading.assetId) && reading.whole) change(await forgetOthers(tx, reading));
  const read = readings.filter(({ assetId }) => kept.has(assetId)).flatMap(({ addresses, ...one }) => addresses.map((address) => ({ ...one, ...address })));
  const told = read.filter(({ whole, settled }) => whole || settled);
  for (let from = 0; from < told.length; from += AT_ONCE) change(await writeReadings(tx, told.slice(from, from + AT_ONCE)));
  // Whoever keeps sending to an address must not make the list longer each time.
  const restless = read.filter(({ whole, settled, answered }) => !whole && !settled && answered.length > 0);
  for (let from = 0; from < restless.length; from += AT_ONCE) change(await addToReadings(tx, restless.slice(from, from + AT_ONCE)));
  // Their turn is over all the same: whoever keeps sending to them must not keep others waiting.
  const passed = read.filter(({ whole, settled, inTurn }) => !whole && !settled && inTurn);
  if (passed.length > 0)
    await tx`
      update kept_readings r set read_at = clock_timestamp()
      from unnest(${passed.map(({ assetId }) => assetId)}::uuid[], ${passed.map(({ address }) => address)}::text[]) as p (asset_id, address)
      where r.asset_id = p.asset_id and r.address = p.address`;
  const changed = [...changes].filter(([, by]) => by !== 0n);
  if (changed.length > 0)
    await tx`
      update kept_sums s set raw_amount = s.raw_amount + c.change
      from unnest(${changed.map(([assetId]) => assetId)}::uuid[], ${changed.map(([, by]) => by.toString())}::text[]::numeric[]) as c (asset_id, change)
      where s.asset_id = c.asset_id`;
  const answered = [...told, ...restless].flatMap((one) => one.answered);
  if (answered.length > 0) await tx`delete from touched_holdings where id = any(${answered}::text[]::bigint[])`;
  return kept;
}

/** Gives up the readings of an asset's other addresses; answers what they added up to, below zero. */
async function forgetOthers(tx: Tx, { assetId, addresses }: Reading): Promise<{ assetId: string; change: string }[]> {
  return tx<{ assetId: string; change: string }[]>`
    with gone as (
      delete from kept_readings r where r.asset_id = ${assetId}
        and not exists (select 1 from unnest(${addresses.map((one) => one.address)}::text[]) as a (address) where a.address = r.address) returning r.raw_amount)
    select ${assetId}::uuid as asset_id, (-coalesce(sum(raw_amount), 0))::text as change from gone`;
}

/** Writes readings; answers what that changes of what they add up to. */
async function writeReadings(tx: Tx, told: readonly (ReadAddress & { assetId: string; height: number })[]): Promise<{ assetId: string; change: string }[]> {
  return tx<{ assetId: string; change: string }[]>`
    with given as (
      select * from unnest(${told.map((one) => one.assetId)}::uuid[], ${told.map((one) => one.address)}::text[],
        ${told.map((one) => (one.rawAmount - one.passing).toString())}::text[]::numeric[], ${told.map((one) => one.height)}::bigint[],
        ${told.map((one) => String(one.inTurn))}::text[]::boolean[]) as g (asset_id, address, raw_amount, height, in_turn)),
    fresh as (
      select g.*, r.raw_amount as was from given g left join kept_readings r on r.asset_id = g.asset_id and r.address = g.address),
    written as (
      insert into kept_readings (asset_id, address, raw_amount, height)
      select f.asset_id, f.address, f.raw_amount, f.height from fresh f where f.in_turn or f.was is distinct from f.raw_amount
      on conflict (asset_id, address) do update set raw_amount = excluded.raw_amount, height = excluded.height, read_at = excluded.read_at)
    select asset_id, sum(raw_amount - coalesce(was, 0))::text as change from fresh group by asset_id`;
}

/** Adds what is final to the readings there are, without one; answers what that changes of what they add up to. */
async function addToReadings(tx: Tx, some: readonly (ReadAddress & { assetId: string; height: number })[]): Promise<{ assetId: string; change: string }[]> {
  return tx<{ assetId: string; change: string }[]>`
    with given as (
      select * from unnest(${some.map((one) => one.assetId)}::uuid[], ${some.map((one) => one.address)}::text[],
        ${some.map((one) => one.lasting.toString())}::text[]::numeric[], ${some.map((one) => one.height)}::bigint[]) as g (asset_id, address, raw_amount, height)),
    written as (
      insert into kept_readings as old (asset_id, address, raw_amount, height) select g.asset_id, g.address, g.raw_amount, g.height from given g
      on conflict (asset_id, address) do update set raw_amount = old.raw_amount + excluded.raw_amount)
    select asset_id, sum(raw_amount)::text as change from given group by asset_id`;
}

function standing(reads: Reads) {
  return reads`p.address, coalesce(t.change, 0)::text as change, coalesce(t.settled, true) as settled, coalesce(t.passing, 0)::text as passing, coalesce(t.answered, '{}') as answered`;
}

function kept(reads: Reads) {
  return reads`coalesce(k.raw_amount, 0)::text as kept`;
}

/** The reading of place `p`, of asset `s`; `offset 0` keeps the planner from reading all there are of the asset to find a few. */
function readings(reads: Reads) {
  return reads`left join lateral (select r.raw_amount from kept_readings r where r.asset_id = s.asset_id and r.address = p.address offset 0) k on true`;
}

/** What moved at place `p` since its last reading. */
function touchesOf(reads: Reads, assetId: ReturnType<Reads>, finalHeight: ReturnType<Reads>) {
  return reads`
    select sum(x.raw_change) as change, bool_and(x.height <= ${finalHeight}) as settled, sum(x.raw_change) filter (where x.height > ${finalHeight}) as passing,
      array_agg(x.id::text) filter (where x.height <= ${finalHeight}) as answered
    from touched_holdings x where x.asset_id = ${assetId} and x.address = p.address`;
}

function fromRow({ address, change, settled, passing, answered }: Omit<Row, 'kept'>, inTurn: boolean): AskedAddress {
  return { address, settled, passing: BigInt(passing), lasting: BigInt(change) - BigInt(passing), answered, inTurn };
}
