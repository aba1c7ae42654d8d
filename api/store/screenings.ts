import { POLICY } from '#shared/core/policy.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** What is screened for a gateway: where money is to go, or a deposit. Addresses are canonical. */
export interface ScreeningSubject {
  gatewayId: string;
  networkId: string;
  /** The destination, or the address the deposit arrived at. */
  address: string;
  /** Null for a destination. */
  depositId: string | null;
}

export interface StoredVerdict {
  id: string;
  score: number;
  sanctioned: boolean;
}

/** A question without a verdict yet. */
export interface UnfinishedScreening {
  id: string;
  /** Only one that failed holds no credit. */
  state: 'asking' | 'pending' | 'failed';
  attempt: number;
  /** The provider's own id of the check, once it works on it. */
  providerRef: string | null;
  /** Whether another process is believed to be asking at this moment. */
  leased: boolean;
  /** Whether it is older than a check may take. */
  overdue: boolean;
}

/** What a process that asks must name to write what came of it. */
export interface HeldScreening {
  id: string;
  attempt: number;
}

const matches = (sql: Reads, subject: ScreeningSubject) =>
  subject.depositId === null
    ? sql`kind = 'destination' and gateway_id = ${subject.gatewayId} and address = ${subject.address}`
    : sql`kind = 'deposit' and deposit_id = ${subject.depositId}`;

const unfinished = (sql: Reads) => sql`
  id, state, attempt, provider_ref, coalesce(leased_until > clock_timestamp(), false) as leased,
  asked_at < sluice_now() - make_interval(secs => ${POLICY.screeningPendingSeconds}) as overdue`;

/** The verdict that counts: for a destination one of the last day, a listed address before all others. Locks nothing. */
export async function findVerdict(sql: Reads, subject: ScreeningSubject): Promise<StoredVerdict | undefined> {
  const [row] = await sql<StoredVerdict[]>`
    select id, score, sanctioned from screenings
    where ${matches(sql, subject)} and state = 'verdict'
      and (kind = 'deposit' or decided_at > sluice_now() - make_interval(secs => ${POLICY.destinationVerdictSeconds}))
    order by sanctioned desc, decided_at limit 1`;
  return row;
}

/** The question about a subject that has no verdict, if it was ever asked; locks nothing. */
export async function findUnfinishedScreening(sql: Reads, subject: ScreeningSubject): Promise<UnfinishedScreening | undefined> {
  const [row] = await sql<UnfinishedScreening[]>`select ${unfinished(sql)} from screenings where ${matches(sql, subject)} and state <> 'verdict'`;
  return row;
}

/** The same, locked until commit: no verdict can be stored on it meanwhile. The caller holds the gateway's credits. */
export async function lockUnfinishedScreening(tx: Tx, subject: ScreeningSubject): Promise<UnfinishedScreening | undefined> {
  const [row] = await tx<UnfinishedScreening[]>`select ${unfinished(tx)} from screenings where ${matches(tx, subject)} and state <> 'verdict' for update`;
  return row;
}

/** Adds a question that holds a credit and is being asked; the caller holds the gateway's credits. */
export async function insertScreening(tx: Tx, screening: ScreeningSubject & { id: string; source: string }): Promise<HeldScreening> {
  const { id, gatewayId, networkId, address, depositId, source } = screening;
  await tx`
    insert into screenings (id, gateway_id, network_id, kind, address, deposit_id, state, credit, source, leased_until)
    values (${id}, ${gatewayId}, ${networkId}, ${depositId === null ? 'destination' : 'deposit'}, ${address}, ${depositId}, 'asking', true, ${source},
      ${leaseEnd(tx)})`;
  return { id, attempt: 1 };
}

/**
 * Takes an unfinished question for this process, whose former holders can no longer give its credit back. One that failed,
 * or is overdue, is asked from the start. Locks its row; the caller holds the gateway's credits.
 */
export async function takeScreening(tx: Tx, question: { id: string; source: string; fresh: boolean }): Promise<HeldScreening> {
  const [row] = await tx<HeldScreening[]>`
    update screenings set attempt = attempt + 1, credit = true, source = ${question.source}, leased_until = ${leaseEnd(tx)},
      state = case when ${question.fresh} then 'asking' else state end,
      provider_ref = case when ${question.fresh} then null else provider_ref end,
      asked_at = case when ${question.fresh} then sluice_now() else asked_at end
    where id = ${question.id} returning id, attempt`;
  return row as HeldScreening;
}

/** Stores a verdict, unless another process did first or the question was given up; false then. Locks its row. */
export async function recordVerdict(
  sql: Reads,
  verdict: { id: string; score: number; sanctioned: boolean; categories: readonly string[]; providerRef: string | null },
): Promise<boolean> {
  const rows = await sql`
    update screenings set state = 'verdict', score = ${verdict.score}, sanctioned = ${verdict.sanctioned}, categories = ${[...verdict.categories]}::text[],
      provider_ref = coalesce(${verdict.providerRef}, provider_ref), problem = null, leased_until = null, decided_at = sluice_now()
    where id = ${verdict.id} and state in ('asking', 'pending') returning id`;
  return rows.length === 1;
}

/** Notes that the provider works on it, and by which id it is asked again. Does nothing when it is no longer ours. Locks its row. */
export async function recordPending(sql: Reads, held: HeldScreening, providerRef: string): Promise<void> {
  await sql`
    update screenings set state = 'pending', provider_ref = ${providerRef}
    where id = ${held.id} and attempt = ${held.attempt} and state in ('asking', 'pending')`;
}

/** Leaves a pending question for whoever asks next; it keeps its credit. Locks its row. */
export async function releaseScreening(sql: Reads, held: HeldScreening, problem: string | null): Promise<void> {
  await sql`
    update screenings set leased_until = clock_timestamp(), problem = ${problem}
    where id = ${held.id} and attempt = ${held.attempt} and state = 'pending'`;
}

/** Gives a question up; true when it was still ours, and its credit must be given back. Locks its row; the caller holds the gateway's credits. */
export async function failScreening(tx: Tx, held: HeldScreening, problem: string): Promise<boolean> {
  const rows = await tx`
    update screenings set state = 'failed', credit = false, provider_ref = null, leased_until = null, problem = ${problem}
    where id = ${held.id} and attempt = ${held.attempt} and state in ('asking', 'pending') returning id`;
  return rows.length === 1;
}

/** Adds the verdict of the sanctions list, which costs nothing; the caller holds the gateway's credits. */
export async function insertSanctioned(tx: Tx, subject: ScreeningSubject & { id: string; source: string }): Promise<void> {
  const { id, gatewayId, networkId, address, depositId, source } = subject;
  await tx`
    insert into screenings (id, gateway_id, network_id, kind, address, deposit_id, state, credit, source, score, sanctioned, categories, decided_at)
    values (${id}, ${gatewayId}, ${networkId}, ${depositId === null ? 'destination' : 'deposit'}, ${address}, ${depositId}, 'verdict', false, ${source},
      100, true, '{sanctions}', sluice_now())`;
}

/** Ends a question with the verdict of the sanctions list, for nothing; the caller has locked it. */
export async function recordSanctioned(tx: Tx, question: { id: string; source: string }): Promise<void> {
  await tx`
    update screenings set state = 'verdict', credit = false, source = ${question.source}, score = 100, sanctioned = true, categories = '{sanctions}',
      provider_ref = null, problem = null, leased_until = null, decided_at = sluice_now(), attempt = attempt + 1
    where id = ${question.id}`;
}

/** A question whose asker went away. */
export interface LeftScreening extends HeldScreening {
  gatewayId: string;
  state: 'asking' | 'pending';
  providerRef: string | null;
  overdue: boolean;
}

/** Lists questions that nobody has asked for a minute, those that wait longest for it first, so that each has its turn; locks nothing. */
export async function listLeftScreenings(sql: Reads, limit: number): Promise<LeftScreening[]> {
  return sql<LeftScreening[]>`
    select gateway_id, ${unfinished(sql)} from screenings
    where state in ('asking', 'pending') and coalesce(leased_until, '-infinity') < clock_timestamp() - interval '1 minute'
    order by leased_until nulls first, asked_at limit ${limit}`;
}

/** Takes a question that nobody asks any more; undefined when somebody does again. Locks its row. */
export async function takeLeftScreening(sql: Reads, left: HeldScreening): Promise<HeldScreening | undefined> {
  const [row] = await sql<HeldScreening[]>`
    update screenings set attempt = attempt + 1, leased_until = ${leaseEnd(sql)}
    where id = ${left.id} and attempt = ${left.attempt} and state in ('asking', 'pending') and coalesce(leased_until, '-infinity') < clock_timestamp()
    returning id, attempt`;
  return row;
}

/** A lease outlives the deadline of asking by enough for the statements after it. */
function leaseEnd(sql: Reads) {
  return sql`clock_timestamp() + make_interval(secs => ${(2 * POLICY.screeningDeadlineMs) / 1_000})`;
}

/** Credits left by gateway; one that never had any is missing. Locks nothing. */
export async function listScreeningCredits(sql: Reads, gatewayIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql<{ gatewayId: string; credits: number }[]>`
    select gateway_id, credits from screening_credits where gateway_id = any (${[...gatewayIds]}::uuid[])`;
  return new Map(rows.map((row) => [row.gatewayId, row.credits]));
}

/** Locks a gateway's credits until commit and reads them; its purchases queue here. Adds the row where there is none. */
export async function lockScreeningCredits(tx: Tx, gatewayId: string): Promise<number> {
  const read = () => tx<{ credits: number }[]>`select credits from screening_credits where gateway_id = ${gatewayId} for update`;
  const [row] = await read();
  if (row !== undefined) return row.credits;
  await tx`insert into screening_credits (gateway_id) values (${gatewayId}) on conflict do nothing`;
  const [added] = await read();
  return added?.credits ?? 0;
}

/** Takes one credit, or gives one back; the caller holds the lock of `lockScreeningCredits` and knows that one is left. */
export async function moveScreeningCredit(tx: Tx, gatewayId: string, by: 1 | -1): Promise<void> {
  await tx`update screening_credits set credits = credits + ${by} where gateway_id = ${gatewayId}`;
}

/** Gives a gateway more credits and returns how many it has now. Locks its credits. */
export async function grantScreeningCredits(tx: Tx, gatewayId: string, add: number): Promise<number> {
  const [row] = await tx<{ credits: number }[]>`
    insert into screening_credits as c (gateway_id, credits, granted) values (${gatewayId}, ${add}, ${add})
    on conflict (gateway_id) do update set credits = c.credits + excluded.credits, granted = c.granted + excluded.granted
    returning credits`;
  return row?.credits ?? 0;
}

/** Sets how many credits a gateway has left; those that purchases hold now are not touched. Locks its credits. */
export async function setScreeningCredits(tx: Tx, gatewayId: string, credits: number): Promise<void> {
  await tx`
    insert into screening_credits as c (gateway_id, credits, granted) values (${gatewayId}, ${credits}, ${credits})
    on conflict (gateway_id) do update set credits = excluded.credits, granted = c.granted + excluded.credits - c.credits`;
}

/** Counts the gateways that screen, and those of them that have no credit left; locks nothing. */
export async function countGatewaysThatScreen(sql: Reads): Promise<{ screening: number; withoutCredit: number }> {
  const [row] = await sql<{ screening: number; withoutCredit: number }[]>`
    select count(*) as screening, count(*) filter (where coalesce(c.credits, 0) = 0) as "withoutCredit"
    from gateways g left join screening_credits c on c.gateway_id = g.id
    where (g.settings #>> '{screening,enabled}')::boolean`;
  return row ?? { screening: 0, withoutCredit: 0 };
}

/** What the development source was told to say about an address; a null score means that it cannot be reached. */
export interface ScreeningScore {
  address: string;
  score: number | null;
}

/** What was set for any of these canonical addresses; locks nothing. */
export async function listScreeningScores(sql: Reads, addresses: readonly string[]): Promise<ScreeningScore[]> {
  return sql<ScreeningScore[]>`select address, score from screening_scores where address = any (${[...addresses]}::text[])`;
}

/** Sets what the development source says about a canonical address; locks its row. */
export async function upsertScreeningScore(sql: Reads, { address, score }: ScreeningScore): Promise<void> {
  await sql`
    insert into screening_scores (address, score) values (${address}, ${score})
    on conflict (address) do update set score = excluded.score, set_at = sluice_now()`;
}

/** A gateway's credits, and how many were spent on each of its last days, newest first, this day included. */
export interface ScreeningBurn {
  credits: number;
  days: { day: string; checks: number }[];
}

/** Reads what a gateway has and spends: of `days` days, or as many as it is old. Reads a row for each day; locks nothing. */
export async function readScreeningBurn(sql: Reads, { gatewayId, days }: { gatewayId: string; days: number }): Promise<ScreeningBurn> {
  const rows = await sql<{ day: string; checks: number; credits: number }[]>`
    select to_char(s.day, 'YYYY-MM-DD') as day, greatest(coalesce(d.checks, 0), 0)::int as checks, coalesce(c.credits, 0)::int as credits
    from gateways g left join screening_credits c on c.gateway_id = g.id
      cross join lateral (
        select ((sluice_now() at time zone 'UTC')::date - i) as day from generate_series(0, ${days}::int - 1) i
        where i = 0 or (sluice_now() at time zone 'UTC')::date - i >= (g.created_at at time zone 'UTC')::date) s
      left join screening_days d on d.gateway_id = g.id and d.day = s.day
    where g.id = ${gatewayId} order by s.day desc`;
  return { credits: rows[0]?.credits ?? 0, days: rows.map(({ day, checks }) => ({ day, checks })) };
}

/** Forgets the days that are older than so many; answers how many rows it was. */
export async function deleteOldScreeningDays(sql: Reads, days: number): Promise<number> {
  const rows = await sql`delete from screening_days where day < (sluice_now() at time zone 'UTC')::date - ${days}::int returning 1`;
  return rows.length;
}
