import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredAsset } from '#api/store/assets.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import type { Answer } from './client.ts';
import { aService, payTo, selectAddress, type Service, type Shop } from './service.ts';

interface Row {
  id: string;
  [field: string]: unknown;
}
interface Page {
  items: Row[];
  pagination: { total: number | null; limit: number; page: number; hasMore: boolean; nextCursor: string | null };
}

const TOKEN = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
const DESTINATION = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const NOBODY = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const NO_HASH = `0x${'7'.repeat(64)}`;

let service: Service;
let shop: Shop;
let other: Shop;
let order: Row;
let paid: { id: string; address: string; txHash: string };
let cashout: Row;
beforeAll(async () => {
  service = await aService();
  [shop, other] = [await service.aShop({ name: 'Zephyr 100%_ Books' }), await service.aShop({ name: 'Quill' })];
  await shop.fund('USDT', '10');
  const { paymentUid, payment } = await shop.payment({ webhookParams: { order: 'A-1001' } });
  const address = await selectAddress(service, paymentUid, payment.offers.find(({ assetSymbol }) => assetSymbol === 'USDT')?.id ?? '');
  await service.mine([payTo(address, service.world.assets.USDT as StoredAsset, '10')]);
  await service.mine();
  const [deposit] = (await read('/deposits?limit=1')).items as unknown as { txHash: string }[];
  paid = { id: paymentUid, address, txHash: deposit?.txHash ?? '' };
  for (let made = 0; made < 4; made++) await other.payment({ webhookParams: { order: 'B' } });
  const body = { assetId: service.world.assets.USDT?.id, amount: '2', address: DESTINATION };
  const asked = await shop.signed('POST', '/merchant/settlements', { body, idempotencyKey: 'till-7/42' });
  expect(asked.status, asked.text).toBe(200);
  cashout = asked.data as unknown as Row;
  order = { id: paymentUid };
});
afterAll(() => service.stop());

const ask = (path: string): Promise<Answer> => service.ask('GET', `/operator/v1${path}`, { headers: TOKEN });
async function read(path: string): Promise<Page> {
  const answer = await ask(path);
  expect(answer.status, answer.text).toBe(200);
  return answer.data as unknown as Page;
}
const idsOf = async (path: string): Promise<string[]> => (await read(path)).items.map(({ id }) => id);

/** Every page of a list one after the other. */
async function whole(path: string, limit: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page: Page = await read(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${after === undefined ? '' : `&after=${after}`}`);
    rows.push(...page.items);
    after = page.pagination.nextCursor;
    expect(page.pagination.hasMore).toBe(after !== null);
  }
  return rows;
}

describe('a list of the operator API', () => {
  it.each([
    ['/payments', () => paid.id],
    ['/payments', () => 'A-1001'],
    ['/payments', () => paid.txHash],
    ['/payments', () => paid.address],
    ['/payments', () => paid.address.toLowerCase()],
  ])('finds a payment by its id, its order, its transaction or its address: %s', async (path, q) => {
    expect(await idsOf(`${path}?q=${encodeURIComponent(q())}`)).toEqual([order.id]);
  });

  it('finds a cashout by its id, its destination however it is written, its transaction and the key it was asked for with', async () => {
    for (const q of [cashout.id, DESTINATION, DESTINATION.toLowerCase(), 'till-7/42'])
      expect(await idsOf(`/settlements?q=${encodeURIComponent(q)}`), q).toContain(cashout.id);
    expect(await idsOf(`/settlements?address=${DESTINATION}`)).toEqual([cashout.id]);
    expect(await idsOf(`/settlements?address=${NOBODY}`)).toEqual([]);
  });

  it('finds deposits and webhooks by what their payment is known by', async () => {
    const [deposit] = await idsOf(`/deposits?q=${paid.id}`);
    expect(deposit).toEqual(expect.any(String));
    for (const query of [`q=${deposit}`, `q=${paid.txHash}`, 'q=A-1001', `txHash=${paid.txHash}`, `address=${paid.address}`])
      expect(await idsOf(`/deposits?${query}`), query).toEqual([deposit]);
    const [webhook] = await idsOf(`/webhooks?paymentId=${paid.id}`);
    for (const query of [`q=${webhook}`, `q=${paid.id}`, 'q=A-1001', `txHash=${paid.txHash}`, `address=${paid.address}`, `q=${paid.id}&state=pending`])
      expect(await idsOf(`/webhooks?${query}`), query).toEqual([webhook]);
    expect(await idsOf(`/webhooks?q=${paid.id}&state=delivered`)).toEqual([]);
    expect(await idsOf(`/jobs?q=${paid.id}`)).toEqual(await idsOf(`/jobs?q=${webhook}`));
    expect(await idsOf(`/jobs?q=${webhook}`)).toHaveLength(1);
  });

  it('finds deposits by who sent them', async () => {
    const [{ sender }] = await service.world.database.sql<[{ sender: string }]>`select sender from deposits where payment_id = ${paid.id}`;
    expect(await idsOf(`/deposits?address=${sender}`)).toContain((await idsOf(`/deposits?q=${paid.id}`))[0]);
  });

  it('finds a gateway by its id, by how its name begins in whatever case, and by the public half of a key, and takes no character for a pattern', async () => {
    for (const q of [shop.id, 'zephyr', 'ZEPHYR 100%_ B', shop.apiKey.split('_')[1] ?? ''])
      expect(await idsOf(`/gateways?q=${encodeURIComponent(q)}`), q).toEqual([shop.id]);
    for (const q of ['%', '_uill', 'Z%', '\\', 'books']) expect(await idsOf(`/gateways?q=${encodeURIComponent(q)}`), q).toEqual([]);
  });

  it('finds what was done by the action, the target and the request', async () => {
    const answer = await service.ask('PATCH', `/operator/v1/gateways/${other.id}`, { headers: TOKEN, body: { contactEmail: 'ops@example.com' } });
    const request = answer.headers.get('x-request-id') ?? '';
    const [line] = (await read(`/audit-log?q=${request}`)).items;
    expect(line).toMatchObject({ action: 'gateway.change', target: other.id });
    for (const q of ['gateway.change', other.id, 'operator']) expect(await idsOf(`/audit-log?q=${q}`), q).toContain(line?.id);
    expect(await idsOf(`/audit-log?q=${other.id}&action=gateway.change`)).toEqual([line?.id]);
  });

  it.each(['/payments', '/settlements', '/deposits', '/webhooks', '/gateways', '/audit-log', '/jobs'])(
    '%s is gone through by its cursor in both directions without leaving out or repeating one',
    async (path) => {
      const counted = await read(`${path}?limit=100`);
      expect(counted.pagination.total).toBe(counted.items.length);
      const newest = (await whole(`${path}?sort=newest`, 1)).map(({ id }) => id);
      const oldest = (await whole(`${path}?sort=oldest`, 2)).map(({ id }) => id);
      expect(newest.toSorted()).toEqual(counted.items.map(({ id }) => id).toSorted());
      expect(oldest).toEqual(newest.toReversed());
      expect(new Set(newest).size).toBe(newest.length);
    },
  );

  it('goes on by the cursor of a counted page', async () => {
    const first = await read('/payments?limit=2');
    expect(first.pagination.total).toBeGreaterThan(2);
    const rest = await read(`/payments?limit=100&after=${first.pagination.nextCursor}`);
    const all = await read('/payments?limit=100');
    expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual(all.items.map(({ id }) => id));
    expect(rest.pagination).toEqual({ total: null, page: 1, limit: 100, hasMore: false, nextCursor: null });
    expect(all.pagination.nextCursor).toBeNull();
  });

  it('is narrowed to a stretch of time, the first moment included and the last one not', async () => {
    const [{ created }] = await service.world.database.sql<[{ created: Date }]>`
      update payments set created_at = date_trunc('milliseconds', created_at) where id = ${paid.id} returning created_at as created`;
    const at = created.toISOString();
    const later = new Date(created.getTime() + 1).toISOString();
    expect(await idsOf(`/payments?from=${at}&to=${later}`)).toEqual([paid.id]);
    expect(await idsOf(`/payments?from=${later}&q=${paid.id}`)).toEqual([]);
    expect(await idsOf(`/payments?to=${at}&q=${paid.id}`)).toEqual([]);
    for (const path of ['/settlements', '/deposits', '/webhooks', '/gateways', '/audit-log', '/jobs', '/proposals'])
      expect(await idsOf(`${path}?from=2090-01-01T00:00:00Z`), path).toEqual([]);
  });

  it('is narrowed by gateway and status beside what is looked for', async () => {
    expect(await idsOf(`/payments?q=A-1001&gatewayId=${other.id}`)).toEqual([]);
    expect(await idsOf(`/payments?q=B&gatewayId=${other.id}&sort=oldest`)).toHaveLength(4);
    expect(await idsOf(`/payments?q=B&status=SUCCESS`)).toEqual([]);
    expect(await idsOf(`/deposits?gatewayId=${other.id}&sort=newest`)).toEqual([]);
    expect(await idsOf(`/deposits?state=credited&sort=newest&gatewayId=${shop.id}`)).toHaveLength(2);
    expect(await idsOf(`/deposits?state=unallocated&sort=newest`)).toEqual([]);
    expect(await idsOf(`/deposits?state=unexplained&q=${paid.address}`)).toEqual([]);
    expect(await idsOf('/jobs?state=dead')).toEqual([]);
    expect((await read('/jobs?topic=webhook.deliver')).items.every(({ topic }) => topic === 'webhook.deliver')).toBe(true);
  });

  it('tells what screening flagged, by what became of it, whose and what it is known by', async () => {
    const { sql } = service.world.database;
    await sql`alter table payments disable trigger user`;
    await sql`update payments set aml_state = 'HELD' where id = ${paid.id}`;
    expect((await read('/payments?amlState=HELD')).items).toEqual([expect.objectContaining({ id: paid.id, amlState: 'HELD' })]);
    expect(await idsOf(`/payments?amlState=HELD&gatewayId=${shop.id}&q=${paid.id}`)).toEqual([paid.id]);
    expect((await ask('/payments?amlState=FROZEN')).error?.message).toMatch(/^amlState: /);
    for (const query of ['amlState=WITHHELD', `amlState=HELD&gatewayId=${other.id}`, 'amlState=HELD&status=PENDING', `amlState=HELD&q=${NO_HASH}`])
      expect(await idsOf(`/payments?${query}`), query).toEqual([]);
    await sql`update payments set aml_state = null where id = ${paid.id}`;
    await sql`alter table payments enable trigger user`;
    expect((await read(`/payments?q=${paid.id}`)).items).toEqual([expect.objectContaining({ amlState: null })]);
  });

  it('answers nothing where nothing is known by what is looked for', async () => {
    for (const path of ['/payments', '/settlements', '/deposits', '/webhooks', '/gateways', '/audit-log', '/jobs', '/proposals', '/deposits?state=unexplained'])
      for (const q of ['nothing', '00000000-0000-4000-8000-000000000000', NO_HASH, NOBODY])
        expect(await idsOf(`${path}${path.includes('?') ? '&' : '?'}q=${q}`), path).toEqual([]);
  });

  it.each([
    ['q=', 'q'],
    [`q=${'x'.repeat(256)}`, 'q'],
    ['q=%00', 'q'],
    ['q=a%0Ab', 'q'],
    ['q=a&q=b', 'q'],
    ['sort=up', 'sort'],
    ['from=yesterday', 'from'],
    ['to=12', 'to'],
    ['after=AAAA', 'after'],
    ['after=%20', 'after'],
    [`after=${Buffer.from('2026-02-30T00:00:00.000000Z|00000000-0000-4000-8000-000000000000').toString('base64url')}`, 'after'],
    [`after=${Buffer.from('2026-02-20T00:00:00.000000Z|1').toString('base64url')}`, 'after'],
    [`after=${Buffer.from('2026-02-20T00:00:00.000000Z').toString('base64url')}`, 'after'],
    ['sort=newest&page=2', 'page'],
    ['sort=newest&limit=0', 'limit'],
  ])('names what it cannot read: %s', async (query, field) => {
    for (const path of ['/payments', '/settlements', '/deposits', '/webhooks', '/gateways', '/jobs', '/proposals']) {
      const { status, error } = await ask(`${path}?${query}`);
      expect([path, status, error?.code]).toEqual([path, 422, 'validation_error']);
      expect(error?.message).toMatch(new RegExp(`^${field}: `));
    }
  });

  it.each([
    ['txHash=0x12', 'txHash'],
    ['address=somewhere', 'address'],
    [`q=a&txHash=${NO_HASH}`, 'txHash'],
    [`address=${NOBODY}&txHash=${NO_HASH}`, 'address'],
  ])('names a transaction or an address that is none: %s', async (query, field) => {
    for (const path of ['/payments', '/settlements', '/deposits', '/webhooks']) {
      const { status, error } = await ask(`${path}?${query}`);
      expect([path, status]).toEqual([path, 422]);
      expect(error?.message).toMatch(new RegExp(`^${field}: `));
    }
  });
});
