import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { countNarrowed, findLastLooked, findSought, listNarrowed, listReceived, type Narrowing } from '#api/store/payment-search.ts';
import { listPaymentRows } from '#api/store/payments.ts';
import { countNarrowedSettlements, findLastLookedSettlement, listSettlementRows } from '#api/store/settlements.ts';
import { writeHistory } from '#ops/bench/history.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';
import { plansOfHttp, rowsRead } from '#test/harness/explained.ts';

const NOTHING: Narrowing = { asset: null, network: null, sandbox: null, verified: null, path: null, amlState: null, amountUsdFrom: null, amountUsdTo: null };
const PAGE = { status: null, createdFrom: null, createdTo: null, ids: null, after: null, limit: 20, offset: 0 };
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

let database: FreshDatabase;
let busy: string;
let small: string;

beforeAll(async () => {
  database = await freshDatabase();
  await database.transaction((tx) => writeHistory(tx, 1_500));
  const gateways = await database.sql<{ id: string }[]>`select gateway_id as id from payments group by 1 order by count(*) desc`;
  [busy, small] = [gateways[0]?.id as string, gateways.at(-1)?.id as string];
  // Both gateways store the same value with every payment.
  await database.sql`
    insert into payment_references select p.gateway_id, d, p.created_at, p.id from payments p, reference_digests('{"shop":"main"}') d`;
  await database.sql`
    insert into sandbox_deposits (id, payment_id, asset_id, scenario, txid, amount, state, first_seen_at, final_at)
    select id, payment_id, asset_id, 'success', 'sandbox-' || txid, amount, 'dust', first_seen_at, first_seen_at from deposits`;
  await database.sql`
    insert into settlements select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).*
    from settlements s, generate_series(1, 1000) where s.id = (select id from settlements where gateway_id = ${busy} limit 1)`;
  await database.sql`analyze`;
}, 60_000);
afterAll(() => database?.drop());

const plansOf = (ask: (sql: Reads) => Promise<unknown>) => plansOfHttp(database, ask);

it('every question of the list is answered by an index', async () => {
  const [one] = await database.sql<{ paymentId: string; txid: string; address: string }[]>`
    select d.payment_id, d.txid, a.address from deposits d join deposit_addresses a on a.id = d.address_id join payments p on p.id = d.payment_id
    where p.gateway_id = ${small} limit 1`;
  const { paymentId, txid, address } = one as { paymentId: string; txid: string; address: string };
  const [place] = await database.sql<{ id: string; createdAt: string }[]>`
    select id, created_at::text from payments where gateway_id = ${small} order by created_at desc offset 20 limit 1`;
  for (const after of [null, place as { id: string; createdAt: string }])
    for (const status of [null, 'SUCCESS'] as const) {
      const page = {
        ...PAGE,
        gatewayId: small,
        status,
        after,
        narrowing: { ...NOTHING, asset: 'BTC', verified: true, amlState: 'WITHHELD' as const },
        window: 1_000,
      };
      const nodes = await plansOf(async (sql) => {
        const ids = await findSought(sql, {
          gatewayId: small,
          id: paymentId,
          digest: digestOf('main'),
          txids: [txid],
          addresses: [address],
          amounts: ['10.00'],
          after,
          window: 1_000,
        });
        await listNarrowed(sql, page);
        await listNarrowed(sql, { ...page, ids });
        await countNarrowed(sql, page);
        await countNarrowed(sql, { ...page, ids });
        await findLastLooked(sql, page);
        await listReceived(sql, ids);
        await listPaymentRows(sql, page);
      });
      expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
      const indexes = new Set(nodes.map((node) => node['Index Name']));
      for (const index of [
        'payment_references_pkey',
        'deposits_network_id_txid_kind_ordinal_key',
        'sandbox_deposits_txid_key',
        'deposit_addresses_address',
        'payments_pkey',
      ])
        expect(indexes).toContain(index);
      expect(indexes).toContain(status === null ? 'payments_gateway' : 'payments_gateway_status');
    }
});

it('finds the same by a transaction, an address and a value as a look at every row', async () => {
  const rows = await database.sql<{ paymentId: string; gatewayId: string; txid: string; address: string }[]>`
    select d.payment_id, p.gateway_id, d.txid, a.address from deposits d join deposit_addresses a on a.id = d.address_id join payments p on p.id = d.payment_id limit 20`;
  const none = { id: null, digest: digestOf('nowhere'), txids: [], addresses: [], amounts: [], after: null, window: 10 };
  for (const { paymentId, gatewayId, txid, address } of rows) {
    const { sql } = database.as('http');
    expect(await findSought(sql, { ...none, gatewayId, txids: [txid] })).toEqual([paymentId]);
    expect(await findSought(sql, { ...none, gatewayId, addresses: [address] })).toEqual([paymentId]);
    expect(await findSought(sql, { ...none, gatewayId, id: paymentId })).toEqual([paymentId]);
    expect(await findSought(sql, { ...none, gatewayId: gatewayId === small ? busy : small, id: paymentId, txids: [txid], addresses: [address] })).toEqual([]);
  }
  const [{ count }] = await database.sql<[{ count: number }]>`select count(*)::int from payments where gateway_id = ${small}`;
  expect(await findSought(database.sql, { ...none, gatewayId: small, digest: digestOf('main'), window: 1_000 })).toHaveLength(count);
});

it('what a busy gateway stored with its payments is not read for another', async () => {
  const none = { id: null, digest: digestOf('nowhere'), txids: [], addresses: [], amounts: [], after: null, window: 1_000 };
  const ask = (gatewayId: string) => plansOf((sql) => findSought(sql, { ...none, gatewayId, digest: digestOf('main') }));
  const [{ count }] = await database.sql<[{ count: number }]>`select count(*)::int from payments where gateway_id = ${small}`;
  expect(rowsRead(await ask(small))).toBeLessThanOrEqual(4 * count);
  const [{ id }] = await database.sql<[{ id: string }]>`select gen_random_uuid() as id`;
  expect(rowsRead(await ask(id))).toBe(0);
  const [{ amount }] = await database.sql<
    [{ amount: string }]
  >`select amount from payments where gateway_id = ${busy} group by 1 order by count(*) desc limit 1`;
  // The amount itself is a row; one that nobody asked for is not looked for among all of a gateway either.
  expect(rowsRead(await plansOf((sql) => findSought(sql, { ...none, gatewayId: busy, amounts: ['123456.78'] })))).toBe(1);
  expect(rowsRead(await plansOf((sql) => findSought(sql, { ...none, gatewayId: id, amounts: [amount] })))).toBe(1);
  const alike = await database.sql<{ id: string }[]>`select id from payments where gateway_id = ${small} and amount = ${amount}`;
  expect((await findSought(database.sql, { ...none, gatewayId: small, amounts: [amount] })).toSorted()).toEqual(alike.map((one) => one.id).toSorted());
});

it('a page reads as many rows as it may look through, however rare what is looked for is, and stops when it is full', async () => {
  const rare = { ...PAGE, gatewayId: busy, narrowing: { ...NOTHING, amlState: 'WITHHELD' as const }, window: 100 };
  const nodes = await plansOf(async (sql) => {
    expect(await listNarrowed(sql, rare)).toEqual([]);
    expect(await countNarrowed(sql, rare)).toEqual({ total: 0, atLeast: true });
    expect(await findLastLooked(sql, rare)).toEqual(expect.any(String));
  });
  for (const node of nodes) expect((node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']).toBeLessThanOrEqual(100);
  const common = { ...rare, narrowing: { ...NOTHING, sandbox: false }, window: 1_000 };
  const full = await plansOf(async (sql) => expect(await listNarrowed(sql, { ...common, limit: 5 })).toHaveLength(6));
  for (const node of full) expect(node['Actual Rows'] * node['Actual Loops']).toBeLessThanOrEqual(6);
});

it('a value is noted whoever creates the payment, and a document of huge numbers is noted without writing them out', async () => {
  const [{ count }] = await database.sql<[{ count: number }]>`
    select count(*)::int from reference_digests(${`{"a":1e131071,"b":-1e131071,"c":1e-16000,"d":12,"e":"x","f":"","g":["y"],"h":"${'z'.repeat(256)}"}`}::text::jsonb)`;
  expect(count).toBe(2);
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`k${n}`, `v${n}`]));
  const [{ most }] = await database.sql<[{ most: number }]>`select count(*)::int as most from reference_digests(${JSON.stringify(many)}::text::jsonb)`;
  expect(most).toBe(16);
});

it('cashouts are listed by an index, of a status too, and looked through so many at a time', async () => {
  const any = { createdFrom: null, createdTo: null, settledFrom: null, settledTo: null, asset: null, network: null };
  for (const status of [null, 'REJECTED'] as const) {
    const list = { gatewayId: busy, status, after: null, window: 3, narrowing: { ...any, asset: 'NONE', network: 'ethereum', settledFrom: new Date() } };
    const nodes = await plansOf(async (sql) => {
      expect(await listSettlementRows(sql, { ...list, limit: 20, offset: 0 })).toEqual([]);
      await countNarrowedSettlements(sql, list);
      await findLastLookedSettlement(sql, list);
    });
    expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] !== 'assets')).toEqual([]);
    const cashouts = nodes.filter((node) => node['Relation Name'] === 'settlements');
    const indexes = nodes.flatMap((node) => node['Index Name'] ?? []).filter((index) => index.startsWith('settlements'));
    // Each that is shown is then read by its key.
    expect(new Set(indexes)).toEqual(new Set([status === null ? 'settlements_gateway' : 'settlements_gateway_status', 'settlements_pkey']));
    for (const node of cashouts) expect(node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)).toBeLessThanOrEqual(3);
  }
});
