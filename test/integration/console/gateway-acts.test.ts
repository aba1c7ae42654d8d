import { randomUUID } from 'node:crypto';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PaymentScreen, Surroundings } from '#api/console/page/model.ts';
import { Payment } from '#api/console/page/payment.tsx';
import { Texts } from '#api/console/page/texts.ts';
import type { Gateway } from '#api/deps.ts';
import { listLedger } from '#api/gateways/list-ledger.ts';
import { readPayment } from '#api/payments/read-payment.ts';
import { findGateway } from '#api/store/gateways.ts';
import { inEnglish } from '#test/fixtures/console-texts.ts';
import { readColumnChoices } from '#api/exports/chosen-columns.ts';
import { isApproved } from '#api/intents/approval.ts';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import type { GatewayActName } from '#api/people/act-names.ts';
import { revokePerson } from '#api/people/revoke-person.ts';
import { findSettlement } from '#api/store/settlements.ts';
import { EXAMPLES, GATEWAYS } from '#test/contract/examples.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { aMemberWithCodes, type Member } from '#test/harness/console-stage.ts';

const ADDRESS = '198.51.100.7';

let service: Service;
let shop: Shop;
let stranger: Shop;
let desk: PeopleDesk;

beforeAll(async () => {
  service = await aService((deps) => ({ ...deps, config: { ...deps.config, SLUICE_CONSOLE_URL: 'http://localhost:3002' } }));
  shop = await service.aShop(GATEWAYS.approveSettlement);
  stranger = await service.aShop(GATEWAYS.approveSettlement);
  desk = openPeopleDesk(service.deps);
});
afterAll(() => service?.stop());

const member = (role: string, gatewayId = shop.id): Promise<Member> =>
  aMemberWithCodes({ deps: service.deps, desk, database: service.world.database }, { role, gatewayId });
async function waiting(of = shop): Promise<string> {
  return (await EXAMPLES.getSettlement(service, of)).params?.settlementId ?? '';
}
const run = ({ cookie }: Pick<Member, 'cookie'>, act: GatewayActName, fields: Record<string, string>, { proof = '', gateway = shop.id } = {}) =>
  desk.doGatewayAct({ cookie, address: ADDRESS, gateway, act, fields, proof });
const statusOf = async (id: string) => (await shop.signed('GET', `/merchant/settlements/${id}`)).data.status;
const acts = (target: string) =>
  service.world.database.sql`select actor_kind, actor, gateway_id, act, after, address from console_actions where target = ${target}`;

describe('a person who approves a cashout', () => {
  it('does so by a proof of their own, of which the log and the signer hear, and which counts once', async () => {
    const [anna, id, next] = [await member('approver'), await waiting(), await waiting()];
    const proof = anna.code();
    await run(anna, 'settlement-approve', { id }, { proof });
    const cashout = await findSettlement(service.deps.db.sql, id);
    expect(cashout).toMatchObject({ status: 'REQUESTED', dispatchAt: expect.any(Date) });
    expect(await isApproved(service.deps.db.sql, service.deps, cashout as NonNullable<typeof cashout>)).toBe(true);
    const { data } = await shop.signed('GET', `/merchant/settlements/${id}`);
    expect(await acts(id)).toEqual([
      {
        actorKind: 'person',
        actor: anna.email,
        gatewayId: shop.id,
        act: 'settlement.approve',
        after: { asset: data.assetName, network: data.network, amount: data.amount, address: data.address, route: data.route },
        address: ADDRESS,
      },
    ]);
    await expect(run(anna, 'settlement-approve', { id: next }, { proof }), 'the same code').rejects.toMatchObject({ code: 'forbidden' });
    expect(await statusOf(next)).toBe('PENDING_APPROVAL');
  });

  it.each(['', '000000', 'x', '{}', '{"id":"x"}'])('is refused with %j for a proof, and approves nothing', async (proof) => {
    const [anna, id] = [await member('approver'), await waiting()];
    await expect(run(anna, 'settlement-approve', { id }, { proof })).rejects.toMatchObject({ code: 'forbidden' });
    expect([await statusOf(id), await acts(id)]).toEqual(['PENDING_APPROVAL', []]);
  });

  it('is one of several at once: the others learn that it no longer waits', async () => {
    const people = await Promise.all([member('approver'), member('owner'), member('approver')]);
    const id = await waiting();
    const outcomes = await Promise.allSettled(people.map((one) => run(one, 'settlement-approve', { id }, { proof: one.code() })));
    expect(outcomes.map((one) => (one.status === 'fulfilled' ? 'done' : one.reason.code)).sort()).toEqual(['conflict', 'conflict', 'done']);
    expect(await acts(id)).toHaveLength(1);
  });

  it('is refused whose role was taken away between the form and the approval', async () => {
    const [anna, id] = [await member('approver'), await waiting()];
    const { database } = service.world;
    let commit = (): void => undefined;
    const held = new Promise<void>((resolve) => (commit = resolve));
    let taken = (): void => undefined;
    const started = new Promise<void>((resolve) => (taken = resolve));
    const revoking = database.transaction(async (tx) => {
      await tx`update memberships set ended_at = sluice_now() where person_id = (select id from people where email = ${anna.email})`;
      taken();
      await held;
    });
    await started;
    const approving = run(anna, 'settlement-approve', { id }, { proof: anna.code() }).then(
      () => 'done',
      ({ code }: { code: string }) => code,
    );
    await expect
      .poll(
        async () =>
          (await database.sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%for share of m%'`)
            .length,
      )
      .toBe(1);
    commit();
    await revoking;
    expect([await approving, await statusOf(id)]).toEqual(['forbidden', 'PENDING_APPROVAL']);
  });
});

describe('an act at a gateway', () => {
  it.each([
    ['finance', 'settlement-approve'],
    ['approver', 'settlement-cancel'],
    ['approver', 'settlement-retry'],
    ['finance', 'webhook-resend'],
    ['finance', 'webhook-test'],
    ['cashier', 'settlement-approve'],
  ] as const)('is refused to %s where the role does not allow %s', async (role, act) => {
    const one = await member(role);
    const fields: Record<string, string> = act === 'webhook-test' ? {} : act === 'webhook-resend' ? { payment: randomUUID() } : { id: await waiting() };
    await expect(run(one, act, fields, { proof: one.code() })).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('knows nothing of another gateway: neither its cashouts nor itself', async () => {
    const [anna, foreign] = [await member('owner'), await waiting(stranger)];
    for (const act of ['settlement-approve', 'settlement-cancel', 'settlement-retry'] as const)
      for (const id of [foreign, randomUUID()]) await expect(run(anna, act, { id }, { proof: anna.code() })).rejects.toMatchObject({ code: 'not_found' });
    await expect(run(anna, 'settlement-approve', { id: foreign }, { proof: anna.code(), gateway: stranger.id })).rejects.toMatchObject({ code: 'not_found' });
    expect((await stranger.signed('GET', `/merchant/settlements/${foreign}`)).data.status).toBe('PENDING_APPROVAL');
  });

  it('is refused for fields that are none of it, naming the field', async () => {
    const anna = await member('owner');
    await expect(run(anna, 'settlement-cancel', { id: 'x' })).rejects.toMatchObject({ code: 'validation_error', field: 'id' });
    await expect(run(anna, 'settlement-cancel', {})).rejects.toMatchObject({ code: 'validation_error', field: 'id' });
    await expect(run(anna, 'webhook-test', { url: 'nowhere' })).rejects.toMatchObject({ code: 'validation_error', field: 'url' });
    await expect(run(anna, 'settlement-cancel', { id: randomUUID(), more: '1' })).rejects.toMatchObject({ code: 'validation_error' });
  });

  it('is refused to a session that has ended', async () => {
    const [anna, id] = [await member('owner'), await waiting()];
    await desk.signOut({ cookie: anna.cookie, address: ADDRESS });
    await expect(run(anna, 'settlement-approve', { id }, { proof: anna.code() })).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('is refused to somebody who was revoked everywhere', async () => {
    const [anna, id] = [await member('owner'), await waiting()];
    await revokePerson({ db: service.deps.db }, { email: anna.email, where: 'everywhere', by: { kind: 'command', name: 'root@host' } });
    await expect(run(anna, 'settlement-approve', { id }, { proof: anna.code() })).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('is refused at a gateway that is suspended, as its keys are', async () => {
    const place = await service.aShop(GATEWAYS.approveSettlement);
    const [owner, id] = [await member('owner', place.id), await waiting(place)];
    await service.world.database.sql`update gateways set status = 'SUSPENDED' where id = ${place.id}`;
    await expect(run(owner, 'settlement-approve', { id }, { proof: owner.code(), gateway: place.id })).rejects.toMatchObject({ code: 'forbidden' });
    const cashout = await findSettlement(service.deps.db.sql, id);
    expect(cashout?.status).toBe('PENDING_APPROVAL');
  });

  it('is refused to somebody who has another role by the time it is done, also where that role allows it', async () => {
    const owner = await member('owner');
    const { database } = service.world;
    // Between the look at what they may do and the transaction that does it.
    const meanwhile = {
      ...service.deps,
      db: {
        ...service.deps.db,
        transaction: async (work: never) => {
          await database.sql`update memberships set role = 'developer' where ended_at is null and person_id = (select id from people where email = ${owner.email})`;
          return service.deps.db.transaction(work);
        },
      },
    } as typeof service.deps;
    const asked = {
      cookie: owner.cookie,
      address: ADDRESS,
      gateway: shop.id,
      act: 'key-create',
      fields: { name: 'More', 'may:settlement:approve': 'on' },
    } as const;
    await expect(openPeopleDesk(meanwhile).doGatewayAct({ ...asked, proof: owner.code() })).rejects.toMatchObject({ code: 'forbidden' });
    expect(await database.sql`select 1 from api_keys where gateway_id = ${shop.id} and name = 'More'`).toHaveLength(0);
  });

  it('asks for a signature only where it takes one', async () => {
    const anna = await member('owner');
    const asked = { cookie: anna.cookie, address: ADDRESS, gateway: shop.id };
    expect(await desk.gatewayActOptions({ ...asked, act: 'settlement-approve', fields: { id: await waiting() } })).toMatchObject({
      challenge: expect.any(String),
    });
    await expect(desk.gatewayActOptions({ ...asked, act: 'webhook-test', fields: {} })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a person who asks for a cashout', () => {
  const fields = () => ({ assetId: service.world.assets.USDT?.id ?? '', amount: '2.5', address: `0x${randomUUID().replaceAll('-', '')}${'0'.repeat(8)}` });

  it('claims it as the operation does, is named as its requester, and may not approve it', async () => {
    const [anna, ben] = [await member('owner'), await member('approver')];
    await shop.fund('USDT', '10');
    const made = (await run(anna, 'settlement-create', fields(), { proof: anna.code() })) as { id: string };
    const { data } = await shop.signed('GET', `/merchant/settlements/${made.id}`);
    expect(data).toMatchObject({ status: 'PENDING_APPROVAL', amount: '2.5', metadata: { requester: anna.email } });
    expect(await acts(made.id)).toMatchObject([{ act: 'settlement.create', actor: anna.email, after: { asset: 'USDT', amount: '2.5' } }]);
    await expect(run(anna, 'settlement-approve', { id: made.id }, { proof: anna.code(1) })).rejects.toMatchObject({ code: 'forbidden' });
    expect(await statusOf(made.id)).toBe('PENDING_APPROVAL');
    await run(ben, 'settlement-approve', { id: made.id }, { proof: ben.code() });
    expect(await statusOf(made.id)).toBe('REQUESTED');
  });

  it('gets one for each proof, however often the form is sent', async () => {
    const anna = await member('owner');
    await shop.fund('USDT', '10');
    const [form, proof] = [fields(), anna.code()];
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => run(anna, 'settlement-create', form, { proof })));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(
      await service.world.database
        .sql`select 1 from settlements where address = any(array(select address from settlements where lower(address) = ${form.address}))`,
    ).toHaveLength(1);
  });

  it('is told what it would be, and nothing comes of looking', async () => {
    const anna = await member('finance');
    const review = { cookie: anna.cookie, address: ADDRESS, gateway: shop.id };
    const count = async () =>
      (await service.world.database.sql`select (select count(*) from settlements)::int as s, (select count(*) from address_book)::int as a`)[0];
    const before = await count();
    expect(await desk.reviewCashout({ ...review, fields: fields() })).toMatchObject({
      amount: '2.5',
      people: 1,
      refusedBy: null,
      known: null,
      like: null,
      sufficient: true,
    });
    expect(await count()).toEqual(before);
    await expect(desk.reviewCashout({ ...review, fields: { ...fields(), amount: '-1' } })).rejects.toMatchObject({ code: 'validation_error', field: 'amount' });
    const approver = await member('approver');
    await expect(desk.reviewCashout({ ...review, cookie: approver.cookie, fields: fields() })).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('is refused where the gateway may not cash out', async () => {
    const closed = await service.aShop({ cashout: { enabled: false } });
    const anna = await member('owner', closed.id);
    await expect(run(anna, 'settlement-create', fields(), { proof: anna.code(), gateway: closed.id })).rejects.toMatchObject({ code: 'cashout_not_enabled' });
  });
});

describe('a person who manages keys and secrets', () => {
  const may = (...permissions: string[]) => Object.fromEntries(permissions.map((one) => [`may:${one}`, 'on']));

  it('makes a key that does what was agreed to until it is revoked, and none that does more than their role', async () => {
    const dev = await member('developer');
    const made = (await run(dev, 'key-create', { name: 'Web shop', ...may('payment:read') }, { proof: dev.code() })) as {
      apiKey: string;
      key: { keyId: string };
    };
    const ask = async (path: string) => (await service.ask('GET', `/api/v1${path}`, { headers: { 'x-api-key': made.apiKey } })).status;
    expect([await ask('/payments'), await ask('/keys')]).toEqual([200, 403]);
    expect(await acts('Web shop')).toMatchObject([{ act: 'key.create', actor: dev.email, after: { name: 'Web shop', permissions: 'payment:read' } }]);
    await expect(run(dev, 'key-create', { name: 'More', ...may('settlement:approve') }, { proof: dev.code(1) })).rejects.toMatchObject({ code: 'forbidden' });
    const other = await member('developer');
    await run(other, 'key-revoke', { id: made.key.keyId }, { proof: other.code() });
    expect(await ask('/payments')).toBe(401);
  });

  it.each([
    ['no permission', { name: 'x' }, 'permissions'],
    ['a name of two lines', { name: 'a\nb', ...may('payment:read') }, 'name'],
    ['an end that has passed', { name: 'x', ends: '2020-01-01', ...may('payment:read') }, 'expiresAt'],
    ['no day', { name: 'x', ends: '2026-02-30', ...may('payment:read') }, 'ends'],
    ['what is no address', { name: 'x', allowlist: 'here', ...may('payment:read') }, 'allowlist[0]'],
    ['a permission that is none', { name: 'x', ...may('root') }, 'body'],
  ])('is refused %s, naming the field', async (_what, fields, field) => {
    const dev = await member('developer');
    await expect(run(dev, 'key-create', fields as unknown as Record<string, string>, { proof: dev.code() })).rejects.toMatchObject({
      code: 'validation_error',
      field,
    });
  });

  it('rolls a secret: the new one counts at once, and the one before as long as was agreed to', async () => {
    const dev = await member('developer');
    const current = async (kind: string) =>
      (
        await service.world.database.sql<{ id: string }[]>`
          select id from gateway_secrets where gateway_id = ${shop.id} and kind = ${kind} and expires_at is null`
      )[0]?.id ?? '';
    const roll = async (kind: string, overlap: string, step: number) =>
      (await run(dev, 'secret-roll', { kind, overlap, current: await current(kind) }, { proof: dev.code(step) })) as { secret: string };
    const counting = async () =>
      service.world.database
        .sql`select 1 from gateway_secrets where gateway_id = ${shop.id} and kind = 'cashout' and (expires_at is null or expires_at > sluice_now())`;
    const { secret } = await roll('cashout', '3600', 0);
    expect(secret).toMatch(/^cashout_[0-9a-f]{64}$/);
    expect(await counting()).toHaveLength(2);
    await roll('cashout', '0', 1);
    expect(await counting()).toHaveLength(1);
  });
});

describe('an owner who looks after the people of a gateway', () => {
  it('invites to what they may do themselves, by a link shown once, and takes it back', async () => {
    const owner = await member('owner');
    const email = `new-${randomUUID()}@example.com`;
    const { link } = (await run(owner, 'member-invite', { email, role: 'finance' }, { proof: owner.code() })) as { link: string };
    expect(link).toMatch(/^http:\/\/localhost:3002\/invitations\/[\w-]{43}$/);
    expect(await acts(email)).toMatchObject([{ act: 'member.invite', actor: owner.email, after: { email, role: 'finance' } }]);
    const open = () => service.world.database.sql`select 1 from invitations where email = ${email} and ended_at is null`;
    expect(await open()).toHaveLength(1);
    const again = await member('owner');
    await run(again, 'member-remove', { email }, { proof: again.code() });
    expect(await open()).toHaveLength(0);
    await expect(run(again, 'member-remove', { email }, { proof: again.code(1) })).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each([
    ['a role of the deployment', { email: 'a@example.com', role: 'operator' }, 'role'],
    ['a role that is none', { email: 'a@example.com', role: 'root' }, 'role'],
    ['what is no address', { email: 'a', role: 'finance' }, 'email'],
  ])('is refused %s, naming the field', async (_what, fields, field) => {
    const owner = await member('owner');
    await expect(run(owner, 'member-invite', fields, { proof: owner.code() })).rejects.toMatchObject({ code: 'validation_error', field });
  });

  it('cannot leave a gateway without an owner, however many try at once', async () => {
    const place = await service.aShop({});
    const [anna, ben] = [await member('owner', place.id), await member('owner', place.id)];
    const leave = (one: Member) => run(one, 'member-remove', { email: one.email }, { proof: one.code(), gateway: place.id });
    const outcomes = await Promise.allSettled([leave(anna), leave(ben)]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const left = await service.world.database.sql`select 1 from memberships where gateway_id = ${place.id} and role = 'owner' and ended_at is null`;
    expect(left).toHaveLength(1);
    const [last] = await service.world.database.sql<{ email: string }[]>`
      select p.email from memberships m join people p on p.id = m.person_id where m.gateway_id = ${place.id} and m.ended_at is null`;
    const stays = [anna, ben].find(({ email }) => email === last?.email) as Member;
    await expect(run(stays, 'member-remove', { email: stays.email }, { proof: stays.code(1), gateway: place.id })).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('what a session alone does', () => {
  it('takes a parked cashout back, once', async () => {
    const parking = await service.aShop(GATEWAYS.cancelSettlement);
    const finance = await member('finance', parking.id);
    const id = (await EXAMPLES.cancelSettlement(service, parking)).params?.settlementId ?? '';
    await run(finance, 'settlement-cancel', { id }, { gateway: parking.id });
    expect((await parking.signed('GET', `/merchant/settlements/${id}`)).data.status).toBe('REJECTED');
    await expect(run(finance, 'settlement-cancel', { id }, { gateway: parking.id })).rejects.toMatchObject({ code: 'conflict' });
    expect(await acts(id)).toMatchObject([{ act: 'settlement.cancel', actor: finance.email, after: null }]);
  });

  it('tries a parked cashout again, whose balance came', async () => {
    const parking = await service.aShop(GATEWAYS.retrySettlement);
    const finance = await member('finance', parking.id);
    const id = (await EXAMPLES.retrySettlement(service, parking)).params?.settlementId ?? '';
    await run(finance, 'settlement-retry', { id }, { gateway: parking.id });
    expect((await parking.signed('GET', `/merchant/settlements/${id}`)).data.status).toBe('REQUESTED');
    expect(await acts(id)).toMatchObject([{ act: 'settlement.retry' }]);
  });

  it('asks for a file of what a list shows, in days, and the record says so', async () => {
    const finance = await member('finance');
    await run(finance, 'export-create', { kind: 'ledger', format: 'csv', from: '2026-01-01', to: '2026-01-31' });
    const [made] = await service.world.database
      .sql`select kind, format, from_at, until, person_id is not null as by from exports where gateway_id = ${shop.id}`;
    expect(made).toEqual({ kind: 'ledger', format: 'csv', fromAt: new Date('2026-01-01T00:00:00Z'), until: new Date('2026-02-01T00:00:00Z'), by: true });
    expect(await acts('ledger')).toMatchObject([{ act: 'export.create', actor: finance.email }]);
    await expect(run(finance, 'export-create', { kind: 'ledger', format: 'csv', from: '2026-02-30' })).rejects.toMatchObject({ field: 'from' });
    await expect(run(await member('approver'), 'export-create', { kind: 'ledger', format: 'csv' })).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('exports the columns that a person chose, and offers them again to that person for that kind at that gateway alone', async () => {
    const at = await service.aShop();
    const [finance, other] = [await member('finance', at.id), await member('finance', at.id)];
    const ask = (fields: Record<string, string>) =>
      run(finance, 'export-create', { kind: 'ledger', format: 'csv', columns: 'chosen', ...fields }, { gateway: at.id });
    const boxes = async (who: Member, kind: string): Promise<(string | undefined)[]> => {
      const [{ id }] = await service.world.database.sql<[{ id: string }]>`select id from people where email = ${who.email}`;
      const choices = await readColumnChoices(service.deps, { personId: id, gatewayId: at.id, permissions: ['report:export'] });
      return (
        choices
          .find((one) => one.kind === kind)
          ?.columns.filter(({ on }) => on)
          .map(({ name }) => name) ?? []
      );
    };
    const every = await boxes(finance, 'ledger');
    await ask({ 'column:ledger:amount': 'on', 'column:ledger:asset': 'on', 'column:credits:net': 'on' });
    const [made] = await service.world.database.sql`select columns from exports where gateway_id = ${at.id}`;
    expect(made).toEqual({ columns: ['asset', 'amount'] });
    expect(await boxes(finance, 'ledger')).toEqual(['asset', 'amount']);
    expect(await boxes(finance, 'credits')).toContain('remaining');
    expect(await boxes(other, 'ledger')).toEqual(every);
    // What is refused changes nothing.
    await expect(ask({ 'column:credits:net': 'on' })).rejects.toMatchObject({ code: 'validation_error', field: 'columns' });
    await expect(ask({ 'column:ledger:none': 'on' })).rejects.toMatchObject({ code: 'validation_error' });
    expect(await boxes(finance, 'ledger')).toEqual(['asset', 'amount']);
    // All of them is no choice: those that come to be later are in too.
    await ask(Object.fromEntries(every.map((name) => [`column:ledger:${name}`, 'on'])));
    expect(await service.world.database.sql`select 1 from export_columns where gateway_id = ${at.id}`).toEqual([]);
  });

  it('sends a webhook again, and says what became of a test', async () => {
    const support = await member('support');
    const payment = (await EXAMPLES.resendPaymentWebhook(service, shop)).params?.paymentId ?? '';
    await run(support, 'webhook-resend', { payment });
    expect(await acts(payment)).toMatchObject([{ act: 'webhook.resend', actor: support.email }]);
    const url = 'http://127.0.0.1:8099/hook';
    expect(await run(support, 'webhook-test', { url })).toMatchObject({ url, result: 'refused', httpStatus: null });
  });
});

describe('a payment on its page', () => {
  it('leads from its credit to what was posted for it, and to nothing else', async () => {
    const at = await service.aShop();
    await at.fund('USDT', '10');
    await at.fund('USDT', '20');
    const { sql } = service.world.database;
    const [{ paymentId }] = await sql<[{ paymentId: string }]>`select payment_id from credits where gateway_id = ${at.id} and gross = 10`;
    const gateway = (await findGateway(service.deps.db.sql, at.id)) as Gateway;
    const record = await readPayment(service.deps, { gateway, paymentId });
    const screen = { kind: 'payment', record, explanation: { steps: [] }, echoed: [], scenarios: [] } as unknown as PaymentScreen;
    const place = { href: '/g/x', permissions: ['settlement:read'], networks: {} } as unknown as Surroundings;
    const page = renderToString(h(Texts.Provider, { value: inEnglish }, h(Payment, { screen, place })));
    const [href] = page.match(/\/g\/x\/ledger\?[^"]+/) ?? [];
    const query = Object.fromEntries(new URL((href ?? '').replaceAll('&amp;', '&'), 'http://console').searchParams);
    const { items } = await listLedger(service.deps, { gateway, ...query });
    expect(items.map(({ kind, paymentUid }) => [kind, paymentUid])).toEqual([['credit', paymentId]]);
  });
});
