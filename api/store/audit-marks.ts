import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Which of the audit's questions may begin where, as stored; who reads it asks whether anybody made it up. */
export interface StoredMark {
  checkName: string;
  /** The transaction before which everything was found clean, as decimal text. */
  since: string;
  /** Wall time at which everything was last found clean. */
  wholeAt: Date;
  fingerprint: string;
  history: string;
  mac: Uint8Array;
}

/** A place in the order of transactions: everything before it has ended, and is seen by whoever looks from now on. */
export interface Horizon {
  since: string;
  /** Which history of the database it is a place in. */
  history: string;
}

/** What changed since a check was last clean, and what leans on that; ids as Postgres gave them. */
export interface Changed {
  /** The transaction before which nothing is to be looked at any more. */
  since: string;
  payments: readonly string[];
  settlements: readonly string[];
  payouts: readonly string[];
  wallets: readonly string[];
  accruals: readonly string[];
  invoices: readonly string[];
  /** What idempotency keys answered with. */
  replies: readonly string[];
  sightings: readonly string[];
  ledger: readonly string[];
  accounts: readonly string[];
}

/**
 * The place from which on a later look has to begin that is to miss nothing a look from now on does not see: not the newest transaction, because an older
 * one may still be at work. Locks nothing.
 */
export async function readHorizon(sql: Reads): Promise<Horizon> {
  const [row] = await sql<[Horizon]>`select pg_snapshot_xmin(pg_current_snapshot())::text as since, database_history() as history`;
  return row;
}

/** The same with every mark there is, all of one moment. Locks nothing. */
export async function readHorizonAndMarks(sql: Reads): Promise<{ now: Horizon; marks: StoredMark[] }> {
  type Row = { nowSince: string; nowHistory: string } & { [Key in keyof StoredMark]: StoredMark[Key] | null };
  const rows = await sql<[Row, ...Row[]]>`
    select h.since as "nowSince", h.history as "nowHistory", m.check_name, m.since::text as since, m.whole_at, m.fingerprint, m.history, m.mac
    from (select pg_snapshot_xmin(pg_current_snapshot())::text as since, database_history() as history offset 0) h left join audit_marks m on true`;
  const [{ nowSince, nowHistory }] = rows;
  const marks = rows.flatMap(({ nowSince: _since, nowHistory: _history, ...mark }) => (mark.checkName === null ? [] : (mark as StoredMark)));
  return { now: { since: nowSince, history: nowHistory }, marks };
}

/** Reads the marks that these checks have, by name, and keeps others from moving them until commit. */
export async function lockMarks(tx: Tx, checkNames: readonly string[]): Promise<ReadonlyMap<string, StoredMark>> {
  const rows = await tx<StoredMark[]>`
    select check_name, since::text as since, whole_at, fingerprint, history, mac from audit_marks
    where check_name = any(${checkNames as string[]}::text[]) order by check_name for update`;
  return new Map(rows.map((row) => [row.checkName, row]));
}

/** Writes marks, each of another check, in the place of whatever marks these had. */
export async function upsertMarks(tx: Tx, marks: readonly StoredMark[]): Promise<void> {
  if (marks.length === 0) return;
  const rows = marks.map(({ checkName, since, wholeAt, fingerprint, history, mac }) => ({
    check_name: checkName,
    since,
    whole_at: wholeAt,
    fingerprint,
    history,
    mac: Buffer.from(mac),
  }));
  await tx`
    insert into audit_marks ${tx(rows)}
    on conflict (check_name) do update set since = excluded.since, whole_at = excluded.whole_at, fingerprint = excluded.fingerprint, history = excluded.history, mac = excluded.mac`;
}

/**
 * Writes marks in the place of those that were read, each of another check: all of them, or none, and false, where any was moved or taken away since. Locks their rows, in the order
 * of their checks' names.
 */
export async function replaceMarks(sql: Reads, moves: readonly { was: StoredMark; mark: StoredMark }[]): Promise<boolean> {
  const hex = (mac: Uint8Array): string => Buffer.from(mac).toString('hex');
  const [row] = await sql<[{ same: boolean }]>`
    with given as (
      select * from unnest(
        ${moves.map(({ mark }) => mark.checkName)}::text[], ${moves.map(({ was }) => was.since)}::text[]::xid8[], ${moves.map(({ was }) => hex(was.mac))}::text[],
        ${moves.map(({ mark }) => mark.since)}::text[]::xid8[], ${moves.map(({ mark }) => mark.wholeAt.toISOString())}::text[]::timestamptz[],
        ${moves.map(({ mark }) => mark.fingerprint)}::text[], ${moves.map(({ mark }) => mark.history)}::text[], ${moves.map(({ mark }) => hex(mark.mac))}::text[])
        as g (check_name, was_since, was_mac, since, whole_at, fingerprint, history, mac)),
    stored as materialized (
      select m.check_name from audit_marks m join given g on g.check_name = m.check_name
      where m.since = g.was_since and encode(m.mac, 'hex') = g.was_mac order by m.check_name for update of m),
    still as materialized (select (select count(*) from stored) = count(*) as same from given),
    moved as (
      update audit_marks m set since = g.since, whole_at = g.whole_at, fingerprint = g.fingerprint, history = g.history, mac = decode(g.mac, 'hex')
      from given g, still where m.check_name = g.check_name and still.same)
    select same from still`;
  return row.same;
}

/** Takes a check's mark away: it looks at everything from now on. */
export async function deleteMark(sql: Reads, checkName: string): Promise<void> {
  await sql`delete from audit_marks where check_name = ${checkName}`;
}

/** Rows of what changed that are asked for in one go; more than that are looked at as a whole, which is no dearer. */
const MOST_CHANGED = 200_000;

/**
 * What was written since a place, with what the audit's questions lean on besides: the payment of a deposit, the payouts of a cashout, what was sent by them. Undefined
 * when that is more than is worth naming. Walks indexes alone. Locks nothing.
 */
export async function readChanged(tx: Tx, since: string): Promise<Changed | undefined> {
  // How many of each there are is not known before they are read, and a guess of many would read whole tables.
  const [{ count, moves }] = await tx<[{ count: number; moves: boolean }]>`
    select count(*)::int as count, exists (select 1 from audit_moves where xid >= ${since}::text::xid8) as moves,
      set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true)
    from (select 1 from audit_changes where xid >= ${since}::text::xid8 limit ${MOST_CHANGED + 1}) c`;
  if (count > MOST_CHANGED) return undefined;
  if (count === 0 && !moves)
    return { since, payments: [], settlements: [], payouts: [], wallets: [], accruals: [], invoices: [], replies: [], sightings: [], ledger: [], accounts: [] };
  const [row] = await tx<[Omit<Changed, 'since'>]>`
    with changed as materialized (select distinct subject, id, number from audit_changes where xid >= ${since}::text::xid8),
    moved as materialized (select distinct account_id as id from audit_moves where xid >= ${since}::text::xid8),
    named as materialized (select t.id, t.source_key from changed c join ledger_transactions t on t.id = c.number where c.subject = 'ledger'),
    seen as materialized (select s.* from changed c join sightings s on s.id = c.number where c.subject = 'sighting'),
    paid as materialized (
      select id from changed where subject = 'payment'
      union
      select c.payment_id from changed n join credits c on c.id = n.id where n.subject = 'credit'
      union
      select d.payment_id from named n join deposits d on d.id = substr(n.source_key, 9, 36)::uuid where n.source_key ~ '^deposit:[0-9a-f-]{36}(:|$)'
      union
      select d.payment_id from seen s join deposits d on d.network_id = s.network_id and d.txid = s.txid and d.kind = s.kind and d.ordinal = s.ordinal),
    sent as materialized (
      select id from changed where subject = 'payout'
      union
      select a.payout_id from seen s join payout_attempts a on a.txid = s.txid
      union
      select l.payout_id from seen s join output_locks l on l.network_id = s.network_id and l.txid = s.txid and l.vout = s.ordinal and l.released_at is null where s.kind = 'native'
      union
      select l.payout_id from paid p join deposits d on d.payment_id = p.id and d.kind = 'native'
        join output_locks l on l.network_id = d.network_id and l.txid = d.txid and l.vout = d.ordinal and l.released_at is null
      union
      select o.id from paid p join deposit_addresses x on x.payment_id = p.id join networks n on n.family = x.family
        join wallets w on w.network_id = n.id and w.address = x.address join payouts o on o.wallet_id = w.id),
    cashed as materialized (
      select id from changed where subject = 'settlement'
      union
      select substr(source_key, 12, 36)::uuid from named where source_key ~ '^settlement:[0-9a-f-]{36}:'
      union
      select a.settlement_id from moved m join ledger_accounts a on a.id = m.id where a.settlement_id is not null
      union
      select o.settlement_id from sent s join payouts o on o.id = s.id where o.settlement_id is not null),
    followed as materialized (select id from sent union select o.id from cashed s join payouts o on o.settlement_id = s.id),
    told as materialized (
      select number as id from changed where subject = 'sighting'
      union
      select g.id from followed f join payouts o on o.id = f.id join payout_attempts a on a.payout_id = o.id
        join sightings g on g.network_id = o.network_id and g.txid = a.txid and g.kind = 'sent'
      union
      select g.id from changed c join wallets w on w.id = c.id join sightings g on g.network_id = w.network_id and g.sender = w.address and g.canonical and g.kind = 'sent'
      where c.subject = 'wallet')
    select array(select id from paid where id is not null) as payments, array(select id from cashed) as settlements, array(select id from followed) as payouts,
      array(select id from changed where subject = 'wallet') as wallets, array(select id from changed where subject = 'accrual') as accruals,
      array(select id from changed where subject = 'invoice') as invoices, array(select id from changed where subject = 'reply') as replies,
      array(select id::text from told) as sightings, array(select number::text from changed where subject = 'ledger') as ledger,
      array(select id::text from moved) as accounts`;
  return { since, ...row };
}

/** Most rows that are given up at once, so that nobody waits for it. */
const FORGOTTEN_AT_ONCE = 10_000;

/** Deletes what was written before a place and longer than a day ago, some at a time; answers how many rows. */
export async function deleteChangesBefore(sql: Reads, since: string): Promise<number> {
  const old = sql`xid < ${since}::text::xid8 and at < clock_timestamp() - interval '1 day' order by xid limit ${FORGOTTEN_AT_ONCE}`;
  let total = 0;
  for (let deleted = -1; deleted !== 0; total += deleted) {
    const changes = await sql`delete from audit_changes where ctid = any(array(select ctid from audit_changes where ${old})) returning 1`;
    const moves = await sql`delete from audit_moves where ctid = any(array(select ctid from audit_moves where ${old})) returning 1`;
    deleted = changes.length + moves.length;
  }
  return total;
}

/** When each check last found everything clean, by its name, without what proves it. Locks nothing. */
export async function listLastClean(sql: Reads): Promise<{ check: string; wholeAt: Date }[]> {
  return sql<{ check: string; wholeAt: Date }[]>`select check_name as "check", whole_at from audit_marks order by check_name`;
}
