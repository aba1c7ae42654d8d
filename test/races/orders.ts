import type { Arena, Contested } from './arena.ts';
import type { Operation } from './operations.ts';

/** What can be seen of a cashout afterwards, and what each caller was told. */
export type Outcome = string;

/** Does both at once. */
export async function race(arena: Arena, contested: Contested, [first, second]: readonly [Operation, Operation]): Promise<Outcome> {
  const [left, right] = await Promise.all([inTurn(arena, contested, first), inTurn(arena, contested, second)]);
  const outcome = await outcomeOf(arena, contested, [first, second], [left, right]);
  await arena.putAway(contested);
  return outcome;
}

async function inTurn(arena: Arena, contested: Contested, operation: Operation): Promise<string[]> {
  const answers: string[] = [];
  for (const step of operation.steps) answers.push(await step(arena, contested));
  return answers;
}

/** Every outcome there is when the decisions come one after the other, in each order that keeps each operation's own. */
export async function legalOutcomes(arena: Arena, next: () => Promise<Contested>, pair: readonly [Operation, Operation]): Promise<Set<Outcome>> {
  const outcomes = new Set<Outcome>();
  for (const order of merges(pair[0].steps.length, pair[1].steps.length)) {
    const contested = await next();
    const answers: [string[], string[]] = [[], []];
    for (const side of order) {
      const step = pair[side].steps[answers[side].length];
      if (step !== undefined) answers[side].push(await step(arena, contested));
    }
    outcomes.add(await outcomeOf(arena, contested, pair, answers));
    await arena.putAway(contested);
  }
  return outcomes;
}

/** True when nothing happened in any of these: neither operation has anything to do where the cashout starts. */
export function areIdle(outcomes: ReadonlySet<Outcome>): boolean {
  return [...outcomes].every((outcome) => {
    const { events, payouts } = JSON.parse(outcome) as { events: unknown[]; payouts: unknown[] };
    return events.length === 1 && payouts.length === 0;
  });
}

/** All ways to merge so many steps of two sides. */
export function merges(left: number, right: number): (0 | 1)[][] {
  if (left === 0) return [Array.from({ length: right }, () => 1)];
  if (right === 0) return [Array.from({ length: left }, () => 0)];
  return [...merges(left - 1, right).map((rest): (0 | 1)[] => [0, ...rest]), ...merges(left, right - 1).map((rest): (0 | 1)[] => [1, ...rest])];
}

/** The row, the ledger, the draws, the payouts, the queue and the history of one cashout, without what differs from one to the next. */
export async function outcomeOf({ deps }: Arena, { id }: Contested, operations: readonly Operation[], answers: readonly string[][]): Promise<Outcome> {
  const { sql } = deps.db;
  const told = answers.map((said, at) => `${operations[at]?.name}: ${said.join(', ')}`).sort();
  const [row] = await sql`
    select status, fee_locked is null as "noFee", net_amount is null as "noNet", dispatch_at is null as "notDue", intent_mac is null as "noMac", hold_reason as "heldFor"
    from settlements where id = ${id}`;
  const ledger = await sql`
    select t.kind, a.kind as account, trim_scale(e.amount)::text as amount
    from ledger_transactions t join ledger_entries e on e.transaction_id = t.id join ledger_accounts a on a.id = e.account_id
    where t.source_key like ${`settlement:${id}:%`} order by t.kind, a.kind, e.amount`;
  const draws = await sql`select state, trim_scale(sum(amount))::text as amount from credit_draws where settlement_id = ${id} group by state order by state`;
  const payouts =
    await sql`select p.status, count(t.id)::int as attempts from payouts p left join payout_attempts t on t.payout_id = p.id where p.settlement_id = ${id} group by p.id, p.status order by p.status`;
  const queued = await sql`select topic, count(*)::int as count from outbox where ref_id = ${id} group by topic order by topic`;
  const events = await sql`select event, from_status as "from", to_status as "to" from settlement_events where settlement_id = ${id} order by id`;
  return JSON.stringify({ told, row, ledger, draws, payouts, queued, events: events.map((one) => `${one.event} ${one.from}→${one.to}`) });
}
