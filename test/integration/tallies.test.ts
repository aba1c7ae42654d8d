import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEPT_CHECKS } from '#api/audit/kept-checks.ts';
import { runCheck } from '#api/audit/run-audit.ts';
import { summariseCredits } from '#api/store/credits.ts';
import { listDepositsForOperator, listPaymentsForOperator, listSettlementsForOperator, listWebhooksForOperator } from '#api/store/operator-lists.ts';
import { countPayments } from '#api/store/payments.ts';
import { countSettlements } from '#api/store/settlements.ts';
import { foldTallies } from '#api/store/tallies.ts';
import { writeHistory } from '#ops/bench/history.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';

let database: FreshDatabase;
let gateways: string[];
const worker = () => database.as('worker').sql;
const changed = (change: (tx: Tx) => Promise<unknown>) => database.as('worker').transaction(change);

beforeAll(async () => {
  database = await freshDatabase();
  await database.transaction((tx) => writeHistory(tx, 1_500));
  gateways = (await database.sql<{ id: string }[]>`select id from gateways order by name`).map(({ id }) => id);
}, 60_000);
afterAll(() => database?.drop());

/** Every total and sum beside what counting and adding up rows gives. */
async function compare(): Promise<void> {
  const { sql } = database;
  const page = { limit: 3, offset: 0 };
  for (const gatewayId of [null, ...gateways])
    for (const status of [null, 'SUCCESS', 'PENDING', 'MISMATCH'] as const) {
      const counted = async (table: string, column: string, value: string | null): Promise<number> =>
        (
          await sql.unsafe<[{ count: number }]>(
            `select count(*)::int as count from ${table} where ($1::uuid is null or gateway_id = $1) and ($2::text is null or ${column} = $2)`,
            [gatewayId, value],
          )
        )[0].count;
      const payments = await counted('payments', 'status', status);
      const settled = status === 'SUCCESS' ? 'SETTLED' : null;
      const settlements = await counted('settlements', 'status', settled);
      const delivered = status === 'SUCCESS' ? 'delivered' : null;
      const told = await listPaymentsForOperator(sql, { gatewayId, status, ...page });
      if (payments > 0) expect(told.total).toBe(payments);
      const newest = await sql`
        select id from payments where (${gatewayId}::uuid is null or gateway_id = ${gatewayId}) and (${status}::text is null or status = ${status})
        order by created_at desc, id desc limit 3`;
      expect(told.items.map(({ id }) => id)).toEqual(newest.map(({ id }) => id as string));
      if (settlements > 0) expect((await listSettlementsForOperator(sql, { gatewayId, status: settled, ...page })).total).toBe(settlements);
      expect((await listWebhooksForOperator(sql, { gatewayId, status: delivered, paymentId: null, ...page })).total).toBe(
        await counted('webhook_events', 'state', delivered),
      );
      const [{ count: deposits }] = await sql<[{ count: number }]>`
        select count(*)::int as count from deposits d join payments p on p.id = d.payment_id
        where (${gatewayId}::uuid is null or p.gateway_id = ${gatewayId}) and (${status}::text is null or d.state = 'dust')`;
      if (deposits > 0) expect((await listDepositsForOperator(sql, { gatewayId, status: status === null ? null : 'dust', ...page })).total).toBe(deposits);
      if (gatewayId === null) continue;
      expect(await countPayments(sql, { gatewayId, status, createdFrom: null, createdTo: null })).toBe(payments);
      expect(await countSettlements(sql, gatewayId, settled)).toBe(settlements);
    }
  for (const gatewayId of gateways) {
    const rows = await sql<{ assetId: string; pool: string; matured: boolean; gross: string; open: number; next: Date | null }[]>`
      select asset_id, pool, matured_at is not null as matured, sum(gross) as gross, count(distinct payment_id) filter (where remaining > 0 and taken is null)::int as open,
        min(matures_at) filter (where matured_at is null and taken is null) as next
      from credits where gateway_id = ${gatewayId} group by 1, 2, 3`;
    const summaries = await summariseCredits(sql, gatewayId);
    for (const row of rows) {
      const kept = summaries.find((one) => one.assetId === row.assetId && one.pool === row.pool && one.matured === row.matured);
      expect(kept).toMatchObject({ open: row.open, nextMaturityAt: row.next });
      expect(Number(kept?.gross) / 1e18).toBeCloseTo(Number(row.gross), 9);
    }
  }
  expect((await runCheck(sql, KEPT_CHECKS[0] as (typeof KEPT_CHECKS)[0], { staticAllowed: true })).rows).toEqual([]);
}

it('totals and sums are those of the rows, however often rows change, are taken back and are added up meanwhile', async () => {
  await compare();
  await Promise.all(
    ['MISMATCH', 'ACCEPTABLE', 'SUCCESS', 'EXPIRED'].map(async (status, at) => {
      // Each locks many rows in no order, so that one of two may be told to begin again.
      await changed(
        (tx) => tx`
        update payments set status = ${status} where id in (select id from payments where deciding_deposit_id is not null order by id limit 80 offset ${at * 80})`,
      );
      await changed(
        (tx) => tx`update credits set matured_at = case when matured_at is null then sluice_now() end, remaining = net
        where id in (select id from credits where taken is null order by id limit 60 offset ${at * 60})`,
      );
      await changed(
        (tx) => tx`update deposits set state = case state when 'dust' then 'unallocated' else 'dust' end
        where id in (select id from deposits where state in ('dust', 'unallocated') order by id limit 30 offset ${at * 20})`,
      );
      await foldTallies(worker());
      await database
        .transaction(async (tx) => {
          await tx`update payments set status = 'MISMATCH' where deciding_deposit_id is not null`;
          await tx`update credits set pool = 'held'`;
          await tx`update deposits set state = 'dust' where state = 'unallocated'`;
          throw new Error('taken back');
        })
        .catch((error: Error) => expect(error.message).toMatch(/taken back|deadlock/));
      await foldTallies(worker());
    }),
  );
  await compare();
});

it('what was appended is added up to one row of each, and not before it is many', async () => {
  await database.sql`update payments set status = 'MISMATCH' where deciding_deposit_id is not null`;
  expect(await foldTallies(worker())).toBeGreaterThan(200);
  expect(await foldTallies(worker())).toBe(0);
  const rows = await database.sql`select list, gateway_id, status, count(*) from tallies group by 1, 2, 3 having count(*) > 1`;
  expect(rows).toEqual([]);
  await compare();
});
