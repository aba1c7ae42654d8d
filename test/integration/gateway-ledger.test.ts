import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  findCreditPlace,
  findEntryPlace,
  findLastLookedCredit,
  findLastLookedEntry,
  listGatewayCredits,
  listGatewayEntries,
  type LookedCredits,
  type LookedEntries,
} from '#api/store/gateway-ledger.ts';
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
  await database.sql`analyze`;
  const gateways = await database.sql<{ id: string }[]>`select gateway_id as id from gateway_entries group by 1 order by count(*) desc`;
  [busy, small] = [gateways[0]?.id as string, gateways.at(-1)?.id as string];
}, 60_000);
afterAll(() => database?.drop());

const plansOf = (ask: (sql: Reads) => Promise<unknown>) => plansOfHttp(database, ask);

const entriesOf = (gatewayId: string, page: Partial<LookedEntries> = {}): LookedEntries => ({
  gatewayId,
  asset: null,
  network: null,
  kind: null,
  from: null,
  to: null,
  after: null,
  window: 5_000,
  ...page,
});
const creditsOf = (gatewayId: string, page: Partial<LookedCredits> = {}): LookedCredits => ({
  gatewayId,
  paymentId: null,
  asset: null,
  network: null,
  state: null,
  from: null,
  to: null,
  after: null,
  window: 5_000,
  ...page,
});
const ENTRIES = ['ledger_entries', 'ledger_transactions', 'ledger_accounts', 'deposits'];

it('a page of postings and of credits reads its own rows by an index, whoever else has how many', async () => {
  const [middle] = (await listGatewayEntries(database.sql, { ...entriesOf(busy), limit: 200 })).slice(-1);
  const place = middle === undefined ? null : ((await findEntryPlace(database.sql, busy, middle)) ?? null);
  expect(place).not.toBeNull();
  for (const gatewayId of [busy, small])
    for (const after of [null, place]) {
      const nodes = await plansOf((sql) => listGatewayEntries(sql, { ...entriesOf(gatewayId, { after }), limit: 10 }));
      const own = nodes.filter((node) => node['Relation Name'] === 'gateway_entries');
      expect(own.map((node) => node['Index Name'])).toEqual(['gateway_entries_by_time']);
      expect(rowsRead(own)).toBeLessThanOrEqual(11);
      for (const node of nodes.filter(({ 'Relation Name': relation }) => ENTRIES.includes(String(relation))))
        expect([node['Relation Name'], node['Node Type'] === 'Seq Scan', rowsRead([node]) <= 22]).toEqual([node['Relation Name'], false, true]);
    }
  const credits = await plansOf(async (sql) => {
    const [first] = await listGatewayCredits(sql, { ...creditsOf(busy), limit: 10 });
    const after = first === undefined ? null : ((await findCreditPlace(sql, busy, first.id)) ?? null);
    expect(await listGatewayCredits(sql, { ...creditsOf(busy, { after }), limit: 10 })).toHaveLength(11);
  });
  const own = credits.filter((node) => node['Relation Name'] === 'credits');
  expect(new Set(own.map((node) => node['Index Name']))).toEqual(new Set(['credits_gateway', 'credits_pkey']));
  for (const node of own) expect(rowsRead([node])).toBeLessThanOrEqual(11);
});

it('a filter that matches nothing looks through so many of its own rows, and the next page goes on behind them', async () => {
  const nothing = { network: 'nowhere', window: 25 };
  const entries = await plansOf(async (sql) => {
    for (const page of [nothing, { kind: 'none', window: 25 }]) {
      expect(await listGatewayEntries(sql, { ...entriesOf(busy, page), limit: 10 })).toEqual([]);
      const last = await findLastLookedEntry(sql, entriesOf(busy, page));
      const after = last === undefined ? null : ((await findEntryPlace(sql, busy, last)) ?? null);
      const whole = await listGatewayEntries(sql, { ...entriesOf(busy), limit: 100 });
      expect(await listGatewayEntries(sql, { ...entriesOf(busy, { after }), limit: 1 })).toEqual(whole.slice(25, 27));
    }
  });
  for (const node of entries.filter(({ 'Relation Name': relation }) => relation === 'gateway_entries' || ENTRIES.includes(String(relation))))
    expect([node['Relation Name'], node['Node Type'] === 'Seq Scan', rowsRead([node]) <= 101]).toEqual([node['Relation Name'], false, true]);
  const credits = await plansOf(async (sql) => {
    for (const page of [nothing, { state: 'refunded' as const, window: 25 }]) {
      expect(await listGatewayCredits(sql, { ...creditsOf(busy, page), limit: 10 })).toEqual([]);
      expect(await findLastLookedCredit(sql, creditsOf(busy, page))).toEqual({ id: expect.any(String) });
    }
  });
  const own = credits.filter((node) => node['Relation Name'] === 'credits');
  expect(new Set(own.map((node) => node['Index Name']))).toEqual(new Set(['credits_gateway']));
  for (const node of own) expect(rowsRead([node])).toBeLessThanOrEqual(25);
});

it('a credit is in one state: what took it, or else whether it is drawn, held, maturing or available', async () => {
  const states = {
    available: [new Date(), 'green', null, 'net'],
    maturing: [null, 'green', null, 'net'],
    drawn: [new Date(), 'green', null, '0'],
    held: [null, 'held', null, 'net'],
    withheld: [new Date(), 'held', 'withheld', 'net'],
    refunding: [null, 'held', 'refunding', 'net'],
    refunded: [new Date(), 'held', 'refunded', '0'],
  } as const;
  const ids = await database.sql<{ id: string }[]>`select id from credits where gateway_id = ${busy} order by credited_at desc, id desc limit 7`;
  for (const [index, [maturedAt, pool, taken, left]] of Object.values(states).entries())
    await database.sql`
      update credits set matured_at = ${maturedAt}, pool = ${pool}, taken = ${taken}, remaining = case ${left} when 'net' then net else 0 end where id = ${String(ids[index]?.id)}`;
  const whole = await listGatewayCredits(database.sql, { ...creditsOf(busy), limit: 7 });
  expect(whole.slice(0, 7).map(({ state }) => state)).toEqual(Object.keys(states));
  for (const state of Object.keys(states) as (keyof typeof states)[]) {
    const [first] = await listGatewayCredits(database.sql, { ...creditsOf(busy, { state }), limit: 1 });
    expect(first).toMatchObject({ id: whole.find((one) => one.state === state)?.id, state });
  }
});

it('rows of a time long ago, and credits of one payment, are read by an index without the others', async () => {
  const [{ from, to }] = await database.sql<[{ from: Date; to: Date }]>`
    select min(at) as from, min(at) + (max(at) - min(at)) / 10 as to from gateway_entries where gateway_id = ${busy}`;
  const entries = await plansOf(async (sql) => {
    const rows = await listGatewayEntries(sql, { ...entriesOf(busy, { from, to }), limit: 5 });
    expect(rows).toHaveLength(6);
    for (const { at } of rows) expect([at >= from, at < to]).toEqual([true, true]);
  });
  const own = entries.filter((node) => node['Relation Name'] === 'gateway_entries');
  expect(own.map((node) => node['Index Name'])).toEqual(['gateway_entries_by_time']);
  expect(rowsRead(own)).toBeLessThanOrEqual(6);
  const [credit] = await database.sql<
    { id: string; paymentId: string }[]
  >`select id, payment_id from credits where gateway_id = ${busy} order by credited_at limit 1`;
  const credits = await plansOf(async (sql) => {
    const rows = await listGatewayCredits(sql, { ...creditsOf(busy, { paymentId: String(credit?.paymentId) }), limit: 5 });
    expect(rows.map(({ id }) => id)).toEqual([credit?.id]);
    expect(await listGatewayCredits(sql, { ...creditsOf(small, { paymentId: String(credit?.paymentId) }), limit: 5 })).toEqual([]);
  });
  for (const node of credits.filter((one) => one['Relation Name'] === 'credits'))
    expect([node['Index Name'], rowsRead([node]) <= 1]).toEqual(['credits_payment', true]);
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
  const [entry] = await listGatewayEntries(database.sql, { ...entriesOf(small), limit: 1 });
  expect(entry).toMatchObject({ sourceKey: 'payment:none:test', amount: '1', paymentId: null, settlementId: null });
  const name = { sourceKey: 'payment:none:test', account: 'available', assetId: String(entry?.assetId) };
  expect(await findEntryPlace(database.sql, small, name)).toEqual({ transactionId: String(id), accountId: String(account), at: expect.any(String) });
  expect(await findEntryPlace(database.sql, busy, name)).toBeUndefined();
});

it('no process may write what is noted', async () => {
  for (const role of ['http', 'worker'] as const)
    await expect(database.as(role).sql`insert into gateway_entries values (${busy}, 1, 1, now())`).rejects.toMatchObject({ code: '42501' });
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
    const after = await findWebhookPlace(sql, few, String(last?.id));
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
