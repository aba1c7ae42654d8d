import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import type { GatewayActName } from '#api/people/act-names.ts';
import { playScenario } from '#api/payments/simulate.ts';
import { POLICY } from '#shared/core/policy.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { aMemberWithCodes, type Member } from '#test/harness/console-stage.ts';

const ADDRESS = '198.51.100.7';
const HOOK = 'https://shop.example/hook';

let service: Service;
let shop: Shop;
let stranger: Shop;
let desk: PeopleDesk;
beforeAll(async () => {
  service = await aService((deps) => ({ ...deps, config: { ...deps.config, SLUICE_CONSOLE_URL: 'http://localhost:3002' } }));
  [shop, stranger] = [await service.aShop(), await service.aShop()];
  desk = openPeopleDesk(service.deps);
});
afterAll(() => service?.stop());

const sql = () => service.world.database.sql;
const member = (role: string, of = shop): Promise<Member> =>
  aMemberWithCodes({ deps: service.deps, desk, database: service.world.database }, { role, gatewayId: of.id });
const run = <Shown>({ cookie }: Pick<Member, 'cookie'>, act: GatewayActName, fields: Record<string, string>, { proof = '', of = shop } = {}) =>
  desk.doGatewayAct({ cookie, address: ADDRESS, gateway: of.id, act, fields, proof }) as Promise<Shown>;
const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    ({ code, field }: { code: string; field?: string }) => (field === undefined ? code : `${code} ${field}`),
  );
const acts = (target: string) => sql()`select actor, act, before, after from console_actions where target = ${target} order by seq`;

async function aKey(...permissions: string[]): Promise<{ apiKey: string; id: string }> {
  const owner = await member('owner');
  const boxes = Object.fromEntries(permissions.map((one) => [`may:${one}`, 'on']));
  const { apiKey, key } = await run<{ apiKey: string; key: { keyId: string } }>(owner, 'key-create', { name: 'Web', ...boxes }, { proof: owner.code() });
  return { apiKey, id: key.keyId };
}

/** What a form shows of a key before anybody changed it. */
const SEEN = JSON.stringify({ name: 'Web', expiresAt: null, allowlist: null });

describe('a key that works', () => {
  it('is narrowed by somebody who could have made it, and answers by its new limits', async () => {
    const [dev, { apiKey, id }] = [await member('developer'), await aKey('payment:read')];
    const ask = async () => (await service.ask('GET', '/api/v1/payments', { headers: { 'x-api-key': apiKey } })).status;
    expect(await ask()).toBe(200);
    await run(dev, 'key-change', { id, name: 'Till', allowlist: '203.0.113.9', seen: SEEN }, { proof: dev.code() });
    await expect.poll(ask).toBe(403);
    const narrowed = { name: 'Till', expiresAt: null, allowlist: '203.0.113.9' };
    expect(await acts(id)).toEqual([{ actor: dev.email, act: 'key.change', before: { name: 'Web', expiresAt: null, allowlist: null }, after: narrowed }]);
    const again = await member('developer');
    // A form from before does not open it again.
    expect(await refusal(run(again, 'key-change', { id, name: 'Shop', seen: SEEN }, { proof: again.code() }))).toBe('conflict');
    const seen = JSON.stringify({ ...narrowed, allowlist: ['203.0.113.9'] });
    await run(again, 'key-change', { id, name: 'Till', ends: '2099-12-31', seen }, { proof: again.code(1) });
    await expect.poll(ask).toBe(200);
    expect(await sql()`select name, allowlist, expires_at::text from api_keys where id = ${id}`).toMatchObject([{ name: 'Till', allowlist: null }]);
  });

  it('ends at its hour when only its name is changed', async () => {
    const [dev, { id }] = [await member('developer'), await aKey('payment:read')];
    await sql()`update api_keys set expires_at = '2099-12-31T08:00:00Z' where id = ${id}`;
    const seen = JSON.stringify({ name: 'Web', expiresAt: '2099-12-31T08:00:00.000Z', allowlist: null });
    await run(dev, 'key-change', { id, name: 'Till', ends: '2099-12-31', seen }, { proof: dev.code() });
    expect(await sql()`select name, expires_at from api_keys where id = ${id}`).toEqual([{ name: 'Till', expiresAt: new Date('2099-12-31T08:00:00Z') }]);
  });

  it('is not reached further by somebody whose role lacks what it may do', async () => {
    const [dev, { id }] = [await member('developer'), await aKey('settlement:read', 'settlement:create')];
    expect(await refusal(run(dev, 'key-change', { id, name: 'Mine', seen: SEEN }, { proof: dev.code() }))).toBe('forbidden');
    expect(await sql()`select name from api_keys where id = ${id}`).toEqual([{ name: 'Web' }]);
  });

  it('never comes back: neither one that was revoked nor one that has ended, and none of another gateway', async () => {
    const [owner, { id: revoked }, { id: ended }] = [await member('owner'), await aKey('payment:read'), await aKey('payment:read')];
    await sql()`update api_keys set revoked_at = now() where id = ${revoked}`;
    await sql()`update api_keys set expires_at = now() - interval '1 minute' where id = ${ended}`;
    const [foreign] = await sql()<{ id: string }[]>`select id from api_keys where gateway_id = ${stranger.id} limit 1`;
    const change = async (id: string, step: number) => refusal(run(owner, 'key-change', { id, name: 'Again', seen: SEEN }, { proof: owner.code(step) }));
    expect([await change(revoked, 0), await change(ended, 1)]).toEqual(['conflict', 'conflict']);
    const other = await member('owner');
    expect(await refusal(run(other, 'key-change', { id: foreign?.id ?? '', name: 'Again', seen: SEEN }, { proof: other.code() }))).toBe('not_found');
    expect(await sql()`select 1 from api_keys where name = 'Again'`).toHaveLength(0);
  });

  it.each([
    [{ name: 'a\nb' }, 'validation_error name'],
    [{ name: 'x', ends: '2020-01-01' }, 'validation_error expiresAt'],
    [{ name: 'x', allowlist: 'here' }, 'validation_error allowlist[0]'],
  ])('is not changed to %j, naming the field', async (fields, answer) => {
    const [owner, { id }] = [await member('owner'), await aKey('payment:read')];
    expect(await refusal(run(owner, 'key-change', { id, ...fields, seen: SEEN } as Record<string, string>, { proof: owner.code() }))).toBe(answer);
  });
});

describe('the secret before the current one', () => {
  it('ends now when somebody says so, and the current one goes on', async () => {
    const dev = await member('developer');
    const current = async () =>
      (await sql()<{ id: string }[]>`select id from gateway_secrets where gateway_id = ${shop.id} and kind = 'webhook' and expires_at is null`)[0]?.id ?? '';
    const drawn = { kind: 'webhook', overlap: '86400', current: await current() };
    const { secret } = await run<{ secret: string }>(dev, 'secret-roll', drawn, { proof: dev.code() });
    const counting = async () => sql()`
      select expires_at from gateway_secrets where gateway_id = ${shop.id} and kind = 'webhook' and (expires_at is null or expires_at > sluice_now())`;
    expect(await counting()).toHaveLength(2);
    const other = await member('developer');
    const late = run(other, 'secret-roll', { ...drawn, overlap: '0' }, { proof: other.code() });
    expect(await refusal(late), 'a form from before another roll, which would end its secret').toBe('conflict');
    const form = { kind: 'webhook', current: await current() };
    await run(dev, 'secret-end', form, { proof: dev.code(1) });
    expect(await counting()).toEqual([{ expiresAt: null }]);
    expect(secret).toMatch(/^whsec_/);
    const again = await member('developer');
    expect(await refusal(run(again, 'secret-end', form, { proof: again.code() })), 'nothing left to end').toBe('conflict');
    const third = await member('developer');
    await run(third, 'secret-roll', { ...drawn, current: await current() }, { proof: third.code() });
    expect(await refusal(run(again, 'secret-end', form, { proof: again.code(1) })), 'a form from before that roll').toBe('conflict');
    expect(await counting()).toHaveLength(2);
    await run(third, 'secret-end', { ...form, current: await current() }, { proof: third.code(1) });
  });
});

describe('webhooks that nobody tries any more', () => {
  /** Payments whose webhook is in this state. */
  async function announced(of: Shop, count: number, state: string): Promise<string[]> {
    const one = async (): Promise<string> => {
      const { paymentUid } = await of.payment({ isSandbox: true, webhookUrl: HOOK });
      await playScenario(service.deps, { id: paymentUid, sandbox: true }, { scenario: 'success' });
      return paymentUid;
    };
    const made = await Promise.all(Array.from({ length: count }, one));
    await sql()`update webhook_events set state = ${state} where payment_id = any(${made}::uuid[])`;
    return made;
  }
  const asked = async (payments: readonly string[]) =>
    (await sql()`select 1 from webhook_events where payment_id = any(${[...payments]}::uuid[]) and resend_requested_at is not null`).length;

  it('are sent again all at once, those alone, and once however often it is asked for', async () => {
    const [given, taken, foreign] = [await announced(shop, 3, 'exhausted'), await announced(shop, 1, 'delivered'), await announced(stranger, 1, 'exhausted')];
    const support = await member('owner');
    const answers = await Promise.all([1, 2, 3].map(() => run<{ resent: number }>(support, 'webhooks-resend', { state: 'exhausted' })));
    expect(answers.reduce((sum, { resent }) => sum + resent, 0)).toBe(3);
    expect([await asked(given), await asked(taken), await asked(foreign)]).toEqual([3, 0, 0]);
    expect(
      await sql()`select 1 from outbox where topic = 'webhook.resend' and ref_id in (select id from webhook_events where payment_id = any(${given}::uuid[]))`,
    ).toHaveLength(3);
  });

  it('are no more at once than a hundred payments', async () => {
    const place = await service.aShop();
    const count = POLICY.webhooksResentAtOnce + 2;
    await announced(place, count, 'stopped');
    const owner = await member('owner', place);
    expect(await run(owner, 'webhooks-resend', { state: 'stopped' }, { of: place })).toEqual({ resent: POLICY.webhooksResentAtOnce });
    expect(await run(owner, 'webhooks-resend', { state: 'stopped' }, { of: place })).toEqual({ resent: 2 });
  });

  it.each(['pending', 'delivered', 'x'])('are not those that are %s', async (state) => {
    expect(await refusal(run(await member('owner'), 'webhooks-resend', { state }))).toBe('validation_error state');
  });
});

describe('the sandbox', () => {
  it('makes a payment that no coin pays, and plays what happens to it', async () => {
    const dev = await member('developer');
    const { id } = await run<{ id: string }>(dev, 'sandbox-create', { amount: '25', currencyCode: 'USD' });
    const { data } = await shop.call('GET', `/payments/${id}`);
    expect(data).toMatchObject({ isSandbox: true, outcome: { status: 'PENDING', amount: '25' } });
    await run(dev, 'sandbox-play', { payment: id, scenario: 'underpaid' });
    expect((await shop.call('GET', `/payments/${id}`)).data).toMatchObject({ outcome: { status: 'MISMATCH' }, credits: [] });
    expect(await acts(id)).toMatchObject([
      { actor: dev.email, act: 'sandbox.create' },
      { actor: dev.email, act: 'sandbox.play' },
    ]);
    expect(await refusal(run(dev, 'sandbox-play', { payment: id, scenario: 'success' })), 'it came to rest').toBe('conflict');
  });

  it('plays nothing of another gateway, and on no payment that coins pay', async () => {
    const [dev, theirs, real] = [await member('developer'), await stranger.payment({ isSandbox: true }), await shop.payment()];
    expect(await refusal(run(dev, 'sandbox-play', { payment: theirs.paymentUid, scenario: 'success' }))).toBe('not_found');
    expect(await refusal(run(dev, 'sandbox-play', { payment: real.paymentUid, scenario: 'success' }))).toBe('conflict');
    expect(await refusal(run(dev, 'sandbox-create', { amount: '-1', currencyCode: 'USD' }))).toMatch(/^validation_error/);
    expect(await refusal(run(dev, 'sandbox-create', { amount: '1', currencyCode: '<b>' }))).toMatch(/^validation_error/);
    expect(await refusal(run(await member('approver'), 'sandbox-create', { amount: '1', currencyCode: 'USD' }))).toBe('forbidden');
  });
});

describe('a transaction that a payer names', () => {
  it('is looked up as the operation does, each wrong hash counted, and never for a payment of another gateway', async () => {
    const [support, own, theirs] = [await member('owner'), await shop.payment(), await stranger.payment()];
    const txHash = `0x${'ab'.repeat(32)}`;
    expect(await run(support, 'payment-inquire', { payment: own.paymentUid, txHash })).toMatchObject({
      paymentUid: own.paymentUid,
      result: { resultCode: 'payment_not_eligible', txHash },
    });
    expect(await refusal(run(support, 'payment-inquire', { payment: theirs.paymentUid, txHash }))).toBe('not_found');
    expect(await refusal(run(support, 'payment-inquire', { payment: own.paymentUid, txHash: 'x' }))).toBe('validation_error txHash');
    expect(await refusal(run(await member('approver'), 'payment-inquire', { payment: own.paymentUid, txHash }))).toBe('forbidden');
  });
});
