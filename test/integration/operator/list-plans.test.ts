import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seekJobs, walkDeposits, walkFlagged, walkJobs, walkPayments, walkSettlements, walkUnexplained, walkWebhooks } from '#api/store/operator-lists.ts';
import { walkGateways } from '#api/store/gateways.ts';
import { seekDeposits, seekGateways, seekPayments, seekSettlements, seekWebhooks, type Sought } from '#api/store/operator-seeks.ts';
import type { Walk } from '#api/store/operator-walks.ts';
import { seekAmount, searchAddresses, searchPayouts } from '#api/store/operator-search.ts';
import { walkOperatorActions, walkProposals } from '#api/store/proposals.ts';
import { writeHistory } from '#ops/bench/history.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';
import { plansOfHttp, rowsRead } from '#test/harness/explained.ts';

const NOBODY = '00000000-0000-4000-8000-000000000000';
const WALK: Walk = { gatewayId: null, status: null, from: null, to: null, oldest: false, after: null, limit: 20, ids: null };
const NOTHING: Sought = {
  id: NOBODY,
  digest: createHash('sha256').update('nothing').digest('hex').slice(0, 32),
  text: 'nothing',
  txids: [`0x${'7'.repeat(64)}`],
  addresses: [`0x${'7'.repeat(40)}`],
  shownAddresses: [`0x${'7'.repeat(40)}`],
};
const AFTER = { at: '2026-01-01T00:00:00.000000Z', id: NOBODY };
const LONG_AGO = new Date('2001-01-01T00:00:00Z');

let database: FreshDatabase;
let gatewayId: string;
let gateways: number;
beforeAll(async () => {
  database = await freshDatabase();
  await database.transaction((tx) => writeHistory(tx, 1_500));
  const { sql } = database;
  [{ id: gatewayId }] = await sql<[{ id: string }]>`select gateway_id as id from payments group by 1 order by count(*) desc`;
  [{ count: gateways }] = await sql<[{ count: number }]>`select count(*)::int from gateways`;
  await sql`insert into operator_actions (action, target, person) select 'gateway.change', gen_random_uuid()::text, 'anna' from generate_series(1, 2000)`;
  await sql`
    insert into outbox (id, topic, ref_id, state, due_at, last_error)
    select gen_random_uuid(), 'webhook.deliver', gen_random_uuid(), case when n % 50 = 0 then 'dead' when n % 3 = 0 then 'due' else 'done' end,
      now() + make_interval(secs => n - 1000), case when n % 10 = 0 then 'it failed' end
    from generate_series(1, 3000) n`;
  await sql`
    insert into operator_proposals (id, act, target, content, reason, proposed_by, mac, expires_at)
    select gen_random_uuid(), 'withheld.pay', gen_random_uuid()::text, '{}', 'a test', 'anna', '\\x00', sluice_now() + interval '1 day' from generate_series(1, 500)`;
  await sql`
    insert into settlements select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).*
    from settlements s, generate_series(1, 1000) where s.id = (select id from settlements where gateway_id = ${gatewayId} limit 1)`;
  await sql`
    update payments set aml_state = case when right(id::text, 1) = '0' then 'HELD' else 'RELEASED' end where right(id::text, 1) in ('0', '1') and status <> 'PENDING'`;
  await sql`analyze`;
}, 60_000);
afterAll(() => database?.drop());

const SMALL = new Set([
  'gateways',
  'networks',
  'assets',
  'sandbox_deposits',
  'unexplained_balances',
  'tallies',
  'clock_offset',
  'api_keys',
  'idempotency_keys',
]);

async function plansOf(ask: (sql: Reads) => Promise<unknown>) {
  const nodes = await plansOfHttp(database, ask);
  expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan' && !SMALL.has(node['Relation Name'] ?? '')).map((node) => node['Relation Name'])).toEqual([]);
  return nodes;
}

const indexesOf = (nodes: Awaited<ReturnType<typeof plansOf>>) => new Set(nodes.flatMap((node) => node['Index Name'] ?? []));

it('what nothing is known by is asked of an index for each thing it may be, and reads no rows', async () => {
  for (const range of [WALK, { ...WALK, gatewayId, oldest: true, after: AFTER, from: LONG_AGO }]) {
    const nodes = await plansOf(async (sql) => {
      expect(await seekPayments(sql, NOTHING, range)).toEqual([]);
      expect(await seekSettlements(sql, NOTHING, range)).toEqual([]);
      expect(await seekDeposits(sql, NOTHING, [NOBODY], range)).toEqual([]);
      expect(await seekWebhooks(sql, NOTHING, [NOBODY], range)).toEqual([]);
      expect(await seekGateways(sql, NOTHING, range)).toEqual([]);
      expect(await seekJobs(sql, NOBODY)).toEqual([]);
      expect((await walkProposals(sql, WALK, { id: NOBODY, text: 'nothing' })).rows).toEqual([]);
      expect((await walkOperatorActions(sql, { ...range, after: null, action: null, target: null }, 'nothing')).rows).toEqual([]);
    });
    const asked = nodes.filter((node) => !['gateways', 'networks', undefined].includes(node['Relation Name']));
    expect(rowsRead(asked)).toBe(0);
    for (const index of [
      'payment_references_pkey',
      'payments_pkey',
      'deposits_network_id_txid_kind_ordinal_key',
      'deposit_addresses_address',
      'settlements_pkey',
      'settlements_txid',
      'settlements_address',
      'payout_attempts_txid_key',
      'deposits_pkey',
      'deposits_sender',
      'webhook_events_pkey',
      'gateways_name',
      'outbox_ref',
      'operator_proposals_target',
      'operator_actions_target_at',
      'operator_actions_action_at',
      'operator_actions_person_at',
    ])
      expect(indexesOf(nodes), index).toContain(index);
  }
});

it.each([
  ['payments', (sql: Reads, walk: Walk) => walkPayments(sql, walk), 'payments_gateway', 'MISMATCH'],
  ['settlements', (sql: Reads, walk: Walk) => walkSettlements(sql, walk), 'settlements_gateway', 'PENDING_APPROVAL'],
] as const)('%s of every gateway and of one are read in order, a page of each at most', async (table, walk, index, status) => {
  for (const oldest of [false, true])
    for (const after of [null, AFTER])
      for (const one of [null, gatewayId]) {
        const nodes = await plansOf((sql) => walk(sql, { ...WALK, oldest, after, gatewayId: one }));
        expect(indexesOf(nodes)).toContain(index);
        expect(rowsRead(nodes.filter((node) => node['Relation Name'] === table))).toBeLessThanOrEqual(21 * (one === null ? gateways : 1));
        const rare = await plansOf((sql) => walk(sql, { ...WALK, oldest, after, gatewayId: one, status }));
        expect(rowsRead(rare.filter((node) => node['Relation Name'] === table))).toBeLessThanOrEqual(21 * gateways);
        const none = await plansOf((sql) => walk(sql, { ...WALK, oldest, after, gatewayId: one, status, to: LONG_AGO }));
        expect(rowsRead(none.filter((node) => node['Relation Name'] === table))).toBe(0);
      }
});

it('deposits, webhooks, jobs, gateways, proposals and the audit log are read in order of time by an index, in both directions', async () => {
  for (const oldest of [false, true])
    for (const after of [null, AFTER]) {
      const walk = { ...WALK, oldest, after };
      const nodes = await plansOf(async (sql) => {
        await walkDeposits(sql, walk);
        await walkDeposits(sql, { ...walk, gatewayId: NOBODY });
        await walkUnexplained(sql, walk, null);
        await walkWebhooks(sql, { ...walk, paymentId: null });
        await walkWebhooks(sql, { ...walk, paymentId: NOBODY });
        for (const status of [null, 'dead', 'retrying', 'due', 'scheduled'] as const) await walkJobs(sql, { ...walk, status, topic: null });
        await walkJobs(sql, { ...walk, status: 'due', topic: 'settlement.dispatch' });
        await walkGateways(sql, walk);
        await walkProposals(sql, { ...walk, status: 'expired' }, null);
        const actions = { ...walk, after: after === null ? null : { ...after, id: '1' } };
        await walkOperatorActions(sql, { ...actions, action: null, target: null }, null);
        await walkOperatorActions(sql, { ...actions, action: 'freeze', target: null }, null);
        await walkOperatorActions(sql, { ...actions, action: 'freeze', target: 'all' }, null);
      });
      const nobodys = await plansOf((sql) => walkWebhooks(sql, { ...walk, paymentId: null, gatewayId: NOBODY, status: 'exhausted' }));
      expect(rowsRead(nobodys.filter((node) => node['Relation Name'] === 'webhook_events'))).toBe(0);
      const aside = await plansOf((sql) => walkDeposits(sql, { ...walk, status: 'unallocated' }));
      const [{ few }] = await database.sql<[{ few: number }]>`select count(*)::int as few from deposits where state = 'unallocated'`;
      expect(rowsRead(aside.filter((node) => node['Relation Name'] === 'deposits'))).toBeLessThanOrEqual(2 * few);
      if (after === null) expect(indexesOf(aside)).toContain('deposits_set_aside');
      for (const index of [
        'deposits_newest',
        'webhook_events_created',
        'outbox_dead',
        'outbox_retrying',
        'outbox_due',
        'gateways_newest',
        'operator_proposals_newest',
        'operator_actions_at',
        'operator_actions_action_at',
      ])
        expect(indexesOf(nodes), index).toContain(index);
    }
});

it('what screening flagged is read by its state, and reads nothing else', async () => {
  for (const oldest of [false, true])
    for (const amlState of ['HELD', 'RELEASED']) {
      const nodes = await plansOf((sql) => walkFlagged(sql, { ...WALK, oldest, gatewayId, amlState }));
      const [{ few }] = await database.sql<[{ few: number }]>`select count(*)::int as few from payments where aml_state = ${amlState}`;
      expect(indexesOf(nodes)).toContain('payments_flagged');
      expect(rowsRead(nodes.filter((node) => node['Relation Name'] === 'payments'))).toBeLessThanOrEqual(2 * few);
    }
});

it('a stretch of time that holds nothing reads nothing', async () => {
  const walk = { ...WALK, to: LONG_AGO };
  const nodes = await plansOf(async (sql) => {
    await walkDeposits(sql, walk);
    await walkWebhooks(sql, { ...walk, paymentId: null });
    await walkJobs(sql, { ...walk, status: null, topic: null });
    await walkProposals(sql, walk, null);
    await walkOperatorActions(sql, { ...walk, action: null, target: null }, null);
  });
  expect(rowsRead(nodes.filter((node) => !['networks', 'assets', 'clock_offset', undefined].includes(node['Relation Name'])))).toBe(0);
});

it('one page of what no index has looks through so many rows and says where it goes on', async () => {
  const page = await database.as('http').transaction((tx) => walkDeposits(tx, { ...WALK, gatewayId: NOBODY, limit: 5 }));
  expect(page).toEqual({ rows: [], lastLooked: null });
  await database.sql`
    insert into outbox (id, topic, ref_id, due_at, last_error) select gen_random_uuid(), 'webhook.deliver', gen_random_uuid(), sluice_now() - interval '1 day', 'x' from generate_series(1, 1500)`;
  const due = await database.as('http').transaction((tx) => walkJobs(tx, { ...WALK, oldest: true, status: 'due', topic: 'webhook.deliver' }));
  expect(due.rows).toEqual([]);
  expect(due.lastLooked).toEqual({ at: expect.any(String), id: expect.any(String) });
});

it('a search asks each kind of its index, and reads few of what many are', async () => {
  const [{ amount }] = await database.sql<[{ amount: string }]>`select amount from payments group by 1 order by count(*) desc limit 1`;
  const nodes = await plansOf(async (sql) => {
    expect(await searchPayouts(sql, NOTHING)).toEqual([]);
    expect(await searchAddresses(sql, NOTHING.addresses)).toEqual([]);
    expect(await seekAmount(sql, '0.000000000000000001', ['0.000000000000000001'])).toEqual({ payments: [], deposits: [], settlements: [] });
  });
  for (const index of ['deposit_addresses_address', 'payments_amount', 'deposits_amount', 'settlements_amount'])
    expect(indexesOf(nodes), index).toContain(index);
  const many = await plansOf((sql) => seekAmount(sql, amount, [amount]));
  for (const table of ['payments', 'deposits', 'settlements'])
    expect(rowsRead(many.filter((node) => node['Relation Name'] === table)), table).toBeLessThanOrEqual(60);
});
