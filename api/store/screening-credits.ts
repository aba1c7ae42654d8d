import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Credits left by gateway; one that never had any is missing. Locks nothing. */
export async function listScreeningCredits(sql: Reads, gatewayIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql<{ gatewayId: string; credits: number }[]>`
    select gateway_id as "gatewayId", credits from screening_credits where gateway_id = any (${[...gatewayIds]}::uuid[])`;
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
