import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import { settingsScreen } from '#api/console/settings-screen.ts';
import type { Gateway } from '#api/deps.ts';
import { findGateway } from '#api/store/gateways.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { aMemberWithCodes, type Member } from '#test/harness/console-stage.ts';

const ADDRESS = '198.51.100.7';
type Pairs = Record<string, readonly [string, string]>;

let service: Service;
let desk: PeopleDesk;
let shop: Shop;
let owner: Member;

beforeAll(async () => {
  service = await aService((deps) => ({ ...deps, config: { ...deps.config, SLUICE_CONSOLE_URL: 'http://localhost:3002' } }));
  desk = openPeopleDesk(service.deps);
});
afterAll(() => service?.stop());
beforeEach(async () => {
  shop = await service.aShop();
  owner = await member('owner');
});

const sql = () => service.world.database.sql;
const member = (role: string): Promise<Member> =>
  aMemberWithCodes({ deps: service.deps, desk, database: service.world.database }, { role, gatewayId: shop.id });
const change = ({ cookie, code }: Member, pairs: Pairs, step = 0) =>
  desk.doGatewayAct({ cookie, address: ADDRESS, gateway: shop.id, act: 'settings-change', fields: { change: JSON.stringify(pairs) }, proof: code(step) });
const gateway = async () => (await findGateway(service.deps.db.sql, shop.id)) as Gateway;
const create = (body: object) =>
  shop.call('POST', '/payments', { body: { currencyCode: 'USD', amount: '100', ...body } }).then(({ status, data, error }) => ({ status, data, error }));
const stored = async (id: unknown) => (await sql()`select * from payments where id = ${String(id)}`)[0];
const UNDER: Pairs = { underAcceptableDiff: ['0', '1'], acceptableDiffKind: ['ABSOLUTE', 'PERCENTAGE'] };

describe('a change of settings', () => {
  it('is what new payments get, and one row of the record of acts says what was and what is', async () => {
    await change(owner, {
      ...UNDER,
      timeoutMinutes: ['', '30'],
      graceMinutes: ['1440', '60'],
      callbackUrl: ['', 'https://shop.example/thanks'],
      txFeePayer: ['MERCHANT', 'CUSTOMER'],
    });
    const { status, data } = await create({});
    expect(status).toBe(201);
    expect(await stored(data.paymentUid)).toMatchObject({
      callbackUrl: 'https://shop.example/thanks',
      timeoutSeconds: 1_800,
      graceSeconds: 3_600,
      toleranceKind: 'PERCENTAGE',
      txFeePayer: 'CUSTOMER',
    });
    const [row] = await sql()`select act, target, before, after from console_actions where gateway_id = ${shop.id} and act = 'settings.change'`;
    expect(row).toMatchObject({
      target: 'settings',
      before: { underAcceptableDiff: '0', timeoutMinutes: '' },
      after: { underAcceptableDiff: '1', timeoutMinutes: '30' },
    });
  });

  it('leaves a gateway without one as the contract has it, and every request its own word', async () => {
    const { status, error } = await create({});
    expect([status, error.code, error.message]).toEqual([422, 'validation_error', expect.stringContaining('callbackUrl')]);
    await change(owner, { timeoutMinutes: ['', '30'], callbackUrl: ['', 'https://shop.example/thanks'] });
    const own = await create({ timeoutSeconds: 90, callbackUrl: 'https://other.example/' });
    expect(await stored(own.data.paymentUid)).toMatchObject({ callbackUrl: 'https://other.example/', timeoutSeconds: 90 });
    // Zero is the contract's hour, whoever set what.
    const zero = await create({ timeoutSeconds: 0 });
    expect(await stored(zero.data.paymentUid)).toMatchObject({ timeoutSeconds: 3_600 });
  });

  it('of two people at once is one: the other hears what is there now', async () => {
    const second = await member('owner');
    const outcomes = await Promise.allSettled([change(owner, { underAcceptableDiff: ['0', '1'] }), change(second, { underAcceptableDiff: ['0', '2'] })]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const refused = outcomes.find((one) => one.status === 'rejected');
    const now = (await gateway()).settings.settings.underAcceptableDiff;
    expect(refused?.reason).toMatchObject({ code: 'conflict', message: expect.stringContaining(`it is "${now}" now, and was "0"`) });
    // Of several settings none is saved.
    await expect(change(owner, { overAcceptableDiff: ['0', '5'], underAcceptableDiff: ['0', '3'] }, 1)).rejects.toMatchObject({ code: 'conflict' });
    expect((await gateway()).settings.settings.overAcceptableDiff).toBe('0');
  });

  it('is refused like the operator API refuses it, and for what the billing arrangement overrides', async () => {
    await expect(change(owner, { underAcceptableDiff: ['0', 'much'] })).rejects.toMatchObject({
      code: 'validation_error',
      field: 'settings.underAcceptableDiff',
    });
    await expect(change(owner, { callbackUrl: ['', 'javascript:alert(1)'] }, 1)).rejects.toMatchObject({ field: 'defaults.callbackUrl' });
    await sql()`update gateways set billing = 'MONTHLY' where id = ${shop.id}`;
    const other = await member('owner');
    await expect(change(other, { txFeePayer: ['MERCHANT', 'CUSTOMER'] })).rejects.toMatchObject({ code: 'validation_error', field: 'txFeePayer' });
  });

  it('is for owners: nobody else may', async () => {
    for (const role of ['finance', 'approver', 'developer', 'support', 'cashier']) {
      const other = await member(role);
      await expect(change(other, UNDER), role).rejects.toMatchObject({ code: 'forbidden' });
    }
  });

  it('takes a proof of its own', async () => {
    const fields = { change: JSON.stringify(UNDER) };
    await expect(
      desk.doGatewayAct({ cookie: owner.cookie, address: ADDRESS, gateway: shop.id, act: 'settings-change', fields, proof: '000000' }),
    ).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect((await gateway()).settings.settings.underAcceptableDiff).toBe('0');
  });
});

describe('the page of settings', () => {
  const page = async (query: Record<string, string>) => settingsScreen(service.deps, { gateway: await gateway(), query: new URLSearchParams(query) });
  const was = (pairs: Record<string, string>) => JSON.stringify(Object.fromEntries(Object.entries(pairs).map(([name, value]) => [name, [value, value]])));

  it('shows as a change only what was filled in, never what a form merely repeats', async () => {
    const form = { was: was({ underAcceptableDiff: '0', overAcceptableDiff: '0' }), underAcceptableDiff: '1', overAcceptableDiff: '0', step: 'review' };
    await change(owner, { overAcceptableDiff: ['0', '7'] });
    const { review } = await page(form);
    expect(review?.changes).toEqual([{ name: 'underAcceptableDiff', from: '0', to: '1', seen: null }]);
  });

  it('shows what is there now beside what was seen when somebody else was faster', async () => {
    await change(owner, { underAcceptableDiff: ['0', '7'] });
    const { review } = await page({ change: JSON.stringify({ underAcceptableDiff: ['0', '1'] }) });
    expect(review).toEqual({ changes: [{ name: 'underAcceptableDiff', from: '7', to: '1', seen: '0' }], change: '{"underAcceptableDiff":["7","1"]}' });
  });

  it('judges examples as they are and as they would be, and says what cannot be read', async () => {
    const { examples, review } = await page({ was: was({ underAcceptableDiff: '0' }), underAcceptableDiff: '0.6', step: 'try', own: '99.41' });
    expect(review).toBeNull();
    expect(examples.rows.filter(({ received }) => received.startsWith('99.4'))).toEqual([
      { received: '99.4', verdict: 'ACCEPTABLE', deviationUsd: '-0.60', now: 'MISMATCH' },
      { received: '99.41', verdict: 'ACCEPTABLE', deviationUsd: '-0.59', now: 'MISMATCH' },
    ]);
    expect((await page({ was: was({ underAcceptableDiff: '0' }), underAcceptableDiff: 'x', step: 'review' })).problem).toMatchObject({
      name: 'underAcceptableDiff',
    });
  });
});
