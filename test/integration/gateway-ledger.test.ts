import { afterAll, beforeAll, expect, it } from 'vitest';
import { findEntryPlace, listGatewayCredits, listGatewayEntries } from '#api/store/gateway-ledger.ts';
import { findLastLookedWebhook, findWebhookPlace, listGatewayWebhooks } from '#api/store/gateway-webhooks.ts';
import { writeHistory } from '#ops/bench/history.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';
import { plansOfHttp, rowsRead } from '#test/harness/explained.ts';

let database: FreshDatabase;
let busy: string;
let small: string;

beforeAll(async () => {
  database = await freshDatabase();
  await database.transaction((tx) => writeHistory(tx, 1_500));
  // The history is written past all triggers.
  await database.sql`
    insert into gateway_entries select a.gateway_id, e.transaction_id, e.account_id from ledger_entries e join ledger_accounts a on a.id = e.account_id where a.gateway_id is not null`;
  await database.sql`analyze`;
  const gateways = await database.sql<{ id: string }[]>`select gateway_id as id from gateway_entries group by 1 order by count(*) desc`;
  [busy, small] = [gateways[0]?.id as string, gateways.at(-1)?.id as string];
}, 60_000);
afterAll(() => database?.drop());

const plansOf = (ask: (sql: Reads) => Promise<unknown>) => plansOfHttp(database, ask);

it('a page of postings and of credits reads its own rows by an index, whoever else has how many', async () => {
  const [middle] = (await listGatewayEntries(database.sql, { gatewayId: busy, limit: 200, after: null })).slice(-1);
  for (const gatewayId of [busy, small])
    for (const after of [null, middle ?? null]) {
      const nodes = await plansOf((sql) => listGatewayEntries(sql, { gatewayId, limit: 10, after }));
      const own = nodes.filter((node) => node['Relation Name'] === 'gateway_entries');
      expect(own.map((node) => node['Index Name'])).toEqual(['gateway_entries_pkey']);
      expect(rowsRead(own)).toBeLessThanOrEqual(11);
      for (const node of nodes.filter(
        ({ 'Relation Name': relation }) => relation === 'ledger_entries' || relation === 'ledger_transactions' || relation === 'deposits',
      ))
        expect([node['Relation Name'], node['Node Type'] === 'Seq Scan', rowsRead([node]) <= 22]).toEqual([node['Relation Name'], false, true]);
    }
  const credits = await plansOf(async (sql) => {
    const [first] = (await listGatewayCredits(sql, { gatewayId: busy, limit: 10, after: null })) ?? [];
    expect(await listGatewayCredits(sql, { gatewayId: busy, limit: 10, after: first?.id ?? null })).toHaveLength(11);
  });
  const own = credits.filter((node) => node['Relation Name'] === 'credits');
  expect(new Set(own.map((node) => node['Index Name']))).toEqual(new Set(['credits_gateway', 'credits_pkey']));
  for (const node of own) expect(rowsRead([node])).toBeLessThanOrEqual(11);
});

it('every entry on an account of a gateway is noted when it is posted, and none of the deployment is', async () => {
  const [{ id: account }] = await database.sql<[{ id: number }]>`select id from ledger_accounts where gateway_id = ${small} and kind = 'available' limit 1`;
  const [{ id: chain }] = await database.sql<[{ id: number }]>`
    select c.id from ledger_accounts c join ledger_accounts a on a.id = ${account} and a.asset_id = c.asset_id where c.kind = 'chain'`;
  const [{ id }] = await database.as('worker').transaction(async (tx) => {
    const [posted] = await tx<[{ id: number }]>`insert into ledger_transactions (source_key, kind) values ('payment:none:test', 'move') returning id`;
    await tx`insert into ledger_entries (transaction_id, account_id, asset_id, amount)
      select ${posted.id}, a.id, a.asset_id, case a.id when ${account} then 1 else -1 end from ledger_accounts a where a.id in (${account}, ${chain})`;
    return [posted];
  });
  expect(await database.sql`select account_id from gateway_entries where transaction_id = ${id}`).toEqual([{ accountId: account }]);
  const [entry] = await listGatewayEntries(database.sql, { gatewayId: small, limit: 1, after: null });
  expect(entry).toMatchObject({ sourceKey: 'payment:none:test', amount: '1', paymentId: null, settlementId: null });
  const name = { sourceKey: 'payment:none:test', account: 'available', assetId: String(entry?.assetId) };
  expect(await findEntryPlace(database.sql, small, name)).toEqual({ transactionId: String(id), accountId: String(account) });
  expect(await findEntryPlace(database.sql, busy, name)).toBeUndefined();
});

it('no process may write what is noted', async () => {
  for (const role of ['http', 'worker'] as const)
    await expect(database.as(role).sql`insert into gateway_entries values (${busy}, 1, 1)`).rejects.toMatchObject({ code: '42501' });
});

it('webhooks are listed by an index of the gateway, so many at a time, and those of one payment by its own', async () => {
  const [{ id: few }] = await database.sql<[{ id: string }]>`
    select gateway_id as id from webhook_events group by 1 having count(*) > 30 order by count(*) limit 1`;
  const page = {
    gatewayId: few,
    state: 'stopped',
    status: 'SUCCESS',
    paymentId: null,
    from: new Date(0),
    to: new Date('2100-01-01'),
    after: null,
    window: 20,
  };
  const nodes = await plansOf(async (sql) => {
    expect(await listGatewayWebhooks(sql, { ...page, limit: 10 })).toEqual([]);
    const last = await findLastLookedWebhook(sql, page);
    const after = await findWebhookPlace(sql, few, String(last));
    expect(await listGatewayWebhooks(sql, { ...page, state: null, after: after ?? null, limit: 5 })).toHaveLength(6);
  });
  const own = nodes.filter((node) => node['Relation Name'] === 'webhook_events');
  // One webhook is found by its own key or by the gateway's: of few rows Postgres takes either to be as good.
  const indexes = new Set(own.map((node) => node['Index Name']).filter((index) => index !== 'webhook_events_pkey'));
  expect(indexes).toEqual(new Set(['webhook_events_gateway']));
  for (const node of own) expect(rowsRead([node])).toBeLessThanOrEqual(20);
  expect(nodes.filter((node) => node['Relation Name'] === 'webhook_attempts' && node['Index Name'] !== 'webhook_attempts_event')).toEqual([]);
  const [row] = await database.sql<{ paymentId: string }[]>`select payment_id from webhook_events where gateway_id = ${few} limit 1`;
  const one = await plansOf(async (sql) =>
    expect(await listGatewayWebhooks(sql, { ...page, state: null, status: null, paymentId: String(row?.paymentId), limit: 10 })).toHaveLength(1),
  );
  expect(one.flatMap((node) => node['Index Name'] ?? [])).toContain('webhook_events_payment_id_status_key');
});
