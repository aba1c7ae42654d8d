import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { screenCredit } from '#api/aml/screen-credit.ts';
import { OPERATOR_PAGES } from '#api/console/operator-screens.ts';
import type { ScreeningScreen } from '#api/console/page/operator-model.ts';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import { OPERATOR_ACT_NAMES, type OperatorActName } from '#api/people/act-names.ts';
import { writtenTerms } from '#api/gateways/operator-terms.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { findGateway } from '#api/store/gateways.ts';
import { upsertScreeningScore } from '#api/store/screenings.ts';
import { EXAMPLES, GATEWAYS } from '#test/contract/examples.ts';
import { aService, payTo, selectAddress, type Service, type Shop } from '#test/contract/service.ts';
import { failTransfer, forgetMadeUp, makeStuck } from '#test/fixtures/stuck-coins.ts';
import { aMember, aMemberWithCodes, type Member } from '#test/harness/console-stage.ts';
import { POLICY } from '#shared/core/policy.ts';
import { createLimiter } from '#shared/platform/limiter.ts';
import { TEST_PEOPLE } from '#test/harness/world.ts';

const ADDRESS = '198.51.100.7';
const SENDER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

let service: Service;
let desk: PeopleDesk;
beforeAll(async () => {
  service = await aService((deps) => ({ ...deps, config: { ...deps.config, SLUICE_CONSOLE_URL: 'http://localhost:3002' } }));
  desk = openPeopleDesk(service.deps);
});
afterAll(() => service?.stop());

const sql = () => service.world.database.sql;
const member = (role: string): Promise<Member> => aMemberWithCodes({ deps: service.deps, desk, database: service.world.database }, { role, gatewayId: null });
const run = ({ cookie }: Pick<Member, 'cookie'>, act: OperatorActName, fields: Record<string, string>, proof = '') =>
  desk.doOperatorAct({ cookie, address: ADDRESS, act, fields, proof });
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code ?? String(error),
  );
const reason = 'because';

async function aHeldPayment(): Promise<string> {
  const shop = await service.aShop({ screening: { enabled: true, credits: 5 } });
  const { paymentUid, payment } = await shop.payment({ checkAmountDeviation: false });
  const address = await selectAddress(service, paymentUid, payment.offers.find((offer) => offer.assetSymbol === 'USDT')?.id ?? '');
  await upsertScreeningScore(sql(), { address: address.toLowerCase(), score: 90 });
  await service.mine([payTo(address, service.world.assets.USDT as StoredAsset, '20')]);
  await service.mine();
  for (const { id } of await sql()<{ id: string }[]>`select id from credits where payment_id = ${paymentUid}`) await screenCredit(service.worker, id);
  await service.mine();
  return paymentUid;
}
const amlState = async (id: string) => (await sql()`select aml_state from payments where id = ${id}`)[0]?.amlState;
const refundsOf = async (id: string) => (await sql()`select 1 from aml_refunds where payment_id = ${id}`).length;
const openProposals = async () =>
  (await sql()<{ id: string }[]>`select id from operator_proposals where status = 'open' order by created_at desc`).map(({ id }) => id);

describe('an operator in the console', () => {
  it('does what the operator API does, in their own name: in its log, and in the chain of what people did', async () => {
    const [anna, id] = [await member('operator'), await aHeldPayment()];
    await run(anna, 'payment-release', { id, reason }, anna.code());
    expect(await amlState(id)).toBe('RELEASED');
    expect(await sql()`select actor, act, after from console_actions where target = ${id}`).toEqual([
      { actor: anna.email, act: 'payment.release', after: expect.objectContaining({ paymentId: id, action: 'RELEASE', reason }) },
    ]);
  });

  it.each(OPERATOR_ACT_NAMES)('needs a role that allows it: an auditor, and whoever is a member of a gateway alone, is refused %s', async (act) => {
    const auditor = await member('auditor');
    expect(await codeOf(run(auditor, act, {}, auditor.code()))).toBe('forbidden');
    const shop = await service.aShop();
    const cookie = await aMember(service.world.database, { email: `o-${randomUUID()}@example.com`, gatewayId: shop.id, role: 'owner' });
    expect(await codeOf(run({ cookie }, act, {}))).toBe('not_found');
  });

  it('proves what takes a proof, for that act alone and once', async () => {
    const [anna, id] = [await member('operator'), await aHeldPayment()];
    for (const proof of ['', '000000', '{}']) expect(await codeOf(run(anna, 'payment-release', { id, reason }, proof)), proof).toBe('forbidden');
    const proof = anna.code();
    await run(anna, 'network-pause', { network: 'ethereum', reason }, proof);
    expect(await codeOf(run(anna, 'network-resume', { network: 'ethereum', reason }, proof))).toBe('forbidden');
    await run(anna, 'network-resume', { network: 'ethereum', reason }, anna.code(1));
    expect(await amlState(id)).toBe('HELD');
  });

  it('does twenty acts a minute that take no proof, whoever else does what, and stops cashouts all the same', async () => {
    const [anna, ben] = [await member('operator'), await member('operator')];
    const { deps } = service;
    let at = 0;
    const limited = openPeopleDesk({ ...deps, config: { ...deps.config, SLUICE_RATE_LIMIT_SCALE: 1 }, limiter: createLimiter({ now: () => at }) });
    const tryAgain = ({ cookie }: Member) =>
      codeOf(limited.doOperatorAct({ cookie, address: ADDRESS, act: 'job-retry', fields: { id: randomUUID() }, proof: '' }));
    for (let act = 0; act < 20; act++) expect(await tryAgain(anna)).toBe('not_found');
    expect([await tryAgain(anna), await tryAgain(ben)]).toEqual(['rate_limit_exceeded', 'not_found']);
    await limited.doOperatorAct({ cookie: anna.cookie, address: ADDRESS, act: 'dispatch-freeze', fields: { reason }, proof: '' });
    at += 3_000;
    expect([await tryAgain(anna), await tryAgain(anna)]).toEqual(['not_found', 'rate_limit_exceeded']);
    await run(anna, 'dispatch-unfreeze', { scope: 'all', reason }, anna.code());
  });

  it('is refused whose role was taken away meanwhile, whatever they had proved', async () => {
    const [anna, id] = [await member('operator'), await aHeldPayment()];
    const { deps } = service;
    const late = openPeopleDesk({
      ...deps,
      db: {
        ...deps.db,
        transaction: (async (work: Parameters<typeof deps.db.transaction>[0]) => {
          await sql()`update memberships set ended_at = sluice_now() where ended_at is null and person_id = (select id from people where email = ${anna.email})`;
          return deps.db.transaction(work);
        }) as typeof deps.db.transaction,
      },
    });
    expect(
      await codeOf(late.doOperatorAct({ cookie: anna.cookie, address: ADDRESS, act: 'payment-release', fields: { id, reason }, proof: anna.code() })),
    ).toBe('forbidden');
    expect(await amlState(id)).toBe('HELD');
  });
});

describe('the log of what people did', () => {
  it('has an act whose transaction lost a deadlock and was run again, once', async () => {
    const [anna, shop] = [await member('operator'), await service.aShop()];
    const { deps } = service;
    let lost = false;
    const unlucky = openPeopleDesk({
      ...deps,
      db: {
        ...deps.db,
        transaction: ((work: Parameters<typeof deps.db.transaction>[0]) =>
          deps.db.transaction(async (tx) => {
            const done = await work(tx);
            const acted = (await tx`select 1 from operator_actions where target = ${shop.id} and action = 'gateway.change'`).length > 0;
            if (acted && !lost) {
              lost = true;
              await tx`do $$ begin raise exception using errcode = '40P01'; end $$`;
            }
            return done;
          })) as typeof deps.db.transaction,
      },
    });
    const asked = { act: 'gateway-status', fields: { id: shop.id, status: 'SUSPENDED', reason } } as const;
    await unlucky.doOperatorAct({ cookie: anna.cookie, address: ADDRESS, ...asked, proof: anna.code() });
    expect(lost).toBe(true);
    expect(await sql()`select act from console_actions where target = ${shop.id}`).toEqual([{ act: 'gateway.status' }]);
  });
});

describe('what takes two people', () => {
  it('is proposed by one and done when another one confirms it: a refund, whatever the deployment wants elsewhere', async () => {
    const [anna, ben, id] = [await member('operator'), await member('operator'), await aHeldPayment()];
    expect(await run(anna, 'payment-refund', { id, reason, address: SENDER }, anna.code())).toEqual({ proposed: expect.any(String) });
    expect(await refundsOf(id)).toBe(0);
    const [proposal = ''] = await openProposals();
    expect(await codeOf(run(anna, 'proposal-confirm', { id: proposal }, anna.code(1)))).toBe('conflict');
    await run(ben, 'proposal-confirm', { id: proposal }, ben.code());
    expect(await refundsOf(id)).toBe(1);
  });

  it('is confirmed once when several do at once, and not after it was withdrawn', async () => {
    const people = (await Promise.all([member('operator'), member('operator'), member('operator')])) as [Member, Member, Member];
    const [anna, ...others] = people;
    const id = await aHeldPayment();
    await run(anna, 'payment-refund', { id, reason, address: SENDER }, anna.code());
    const [proposal = ''] = await openProposals();
    const outcomes = await Promise.all(others.map((one) => codeOf(run(one, 'proposal-confirm', { id: proposal }, one.code()))));
    expect(outcomes.sort()).toEqual(['conflict', 'done']);
    const next = await aHeldPayment();
    await run(anna, 'payment-refund', { id: next, reason, address: SENDER }, anna.code(1));
    const [open = ''] = await openProposals();
    await run(anna, 'proposal-withdraw', { id: open });
    expect(await codeOf(run(others[0] as Member, 'proposal-confirm', { id: open }, (others[0] as Member).code(1)))).toBe('conflict');
  });

  it('is never one operator and whom they let in for it: every operator is mailed, and it takes a day', async () => {
    const [anna, ben, eve, id] = [await member('operator'), await member('operator'), await member('auditor'), await aHeldPayment()];
    await sql()`insert into identities (issuer, subject, person_id) select 'https://id.example', email, id from people where email = ${eve.email}`;
    const { link } = (await run(anna, 'operator-invite', { email: eve.email, role: 'operator' }, anna.code())) as { link: string };
    await desk.acceptInvitation({ token: link.split('/').at(-1) ?? '', credential: '', visitor: { address: ADDRESS, browser: 'x' }, cookie: eve.cookie });
    expect(
      await sql()`select p.email, n.about from person_notices n join people p on p.id = n.person_id where n.what = 'operator.joined' and p.email in (${ben.email}, ${eve.email})`,
    ).toEqual([{ email: ben.email, about: `Who: ${eve.email}\nRole: operator` }]);
    for (const [proposes, confirms] of [
      [anna, eve],
      [eve, ben],
    ] as const) {
      await run(proposes, 'payment-refund', { id, reason, address: SENDER }, proposes.code(1));
      const [proposal = ''] = await openProposals();
      expect(await codeOf(run(confirms, 'proposal-confirm', { id: proposal }, confirms.code()))).toBe('conflict');
      await run(proposes, 'proposal-withdraw', { id: proposal });
    }
    expect(await refundsOf(id)).toBe(0);
    const wait = await member('operator');
    await sql()`update invitations set ended_at = ended_at - interval '1 day' where email = ${eve.email}`;
    await run(wait, 'payment-refund', { id, reason, address: SENDER }, wait.code());
    const [proposal = ''] = await openProposals();
    await sql()`update authenticators set last_step = 0 where person_id = (select id from people where email = ${eve.email})`;
    await run(eve, 'proposal-confirm', { id: proposal }, eve.code());
    expect(await refundsOf(id)).toBe(1);
  });

  it('is never one person with a token and a session, nor somebody who is no operator any more', async () => {
    const [anna, ben, id] = [await member('operator'), await member('operator'), await aHeldPayment()];
    await run(anna, 'payment-refund', { id, reason, address: SENDER }, anna.code());
    const [proposal = ''] = await openProposals();
    const byToken = await service.ask('POST', `/operator/v1/proposals/${proposal}/confirm`, {
      headers: { authorization: `Bearer ${TEST_PEOPLE.ben}` },
      body: {},
    });
    expect([byToken.status, byToken.error.message]).toEqual([409, expect.stringContaining('in the console')]);
    await sql()`update memberships set ended_at = sluice_now() where person_id = (select id from people where email = ${anna.email})`;
    expect(await codeOf(run(ben, 'proposal-confirm', { id: proposal }, ben.code()))).toBe('conflict');
    expect(await refundsOf(id)).toBe(0);
  });

  it('ends a cashout whose claim goes back', async () => {
    const shop: Shop = await service.aShop(GATEWAYS.approveSettlement);
    const id = (await EXAMPLES.getSettlement(service, shop)).params?.settlementId ?? '';
    const [anna, ben] = [await member('operator'), await member('operator')];
    await run(anna, 'settlement-reject', { id, reason }, anna.code());
    const [proposal = ''] = await openProposals();
    await run(ben, 'proposal-confirm', { id: proposal }, ben.code());
    expect((await shop.signed('GET', `/merchant/settlements/${id}`)).data.status).toBe('REJECTED');
  });
});

describe('withheld coins', () => {
  it('leave for an address when a second operator confirms what was shown, and can be taken back until they are sent', async () => {
    const [anna, ben, id] = [await member('operator'), await member('operator'), await aHeldPayment()];
    await run(anna, 'payment-withhold', { id, reason }, anna.code());
    const [{ gatewayId } = { gatewayId: '' }] = await sql()<{ gatewayId: string }[]>`select gateway_id from payments where id = ${id}`;
    const fields = { id: gatewayId, assetId: service.world.assets.USDT?.id ?? '', amount: '0.5', address: SENDER, reason };
    expect(await codeOf(run(anna, 'withheld-pay', fields)), 'without a proof').toBe('forbidden');
    for (const wrong of [{ amount: '0' }, { amount: '1e3' }, { address: 'there' }, { assetId: randomUUID() }])
      expect(await codeOf(run(anna, 'withheld-pay', { ...fields, ...wrong }, anna.code(1))), JSON.stringify(wrong)).toBe('validation_error');
    await sql()`update authenticators set last_step = 0 where person_id = (select id from people where email = ${anna.email})`;
    const { proposed } = (await run(anna, 'withheld-pay', fields, anna.code(1))) as { proposed: string };
    await sql()`update authenticators set last_step = 0 where person_id = (select id from people where email = ${anna.email})`;
    expect(await codeOf(run(anna, 'proposal-confirm', { id: proposed }, anna.code()))).toBe('conflict');
    const sent = () => sql()`select id, status, amount::float8 as amount, recipient from withheld_transfers where gateway_id = ${gatewayId}`;
    expect(await sent()).toEqual([]);
    await run(ben, 'proposal-confirm', { id: proposed }, ben.code());
    expect(await sent()).toEqual([{ id: proposed, status: 'ordered', amount: 0.5, recipient: SENDER.toLowerCase() }]);
    expect(await sql()`select act, actor from console_actions where target in (${gatewayId}, ${proposed}) order by seq`).toEqual([
      { act: 'withheld.pay', actor: anna.email },
      { act: 'proposal.confirm', actor: ben.email },
    ]);
    const foreign = { id: proposed, gateway: (await service.aShop()).id, reason };
    expect(await codeOf(run(ben, 'withheld-cancel', foreign, ben.code(1))), 'of another gateway').toBe('not_found');
    await run(ben, 'withheld-cancel', { ...foreign, gateway: gatewayId }, ben.code(1));
    expect(await sent()).toMatchObject([{ status: 'failed' }]);
  });
});

describe('coins whose transfers failed', () => {
  it('are transferred once more for each failure that somebody saw, and not for one that came after', async () => {
    const [anna, ben, id] = [await member('operator'), await member('operator'), await aHeldPayment()];
    await run(anna, 'payment-release', { id, reason }, anna.code());
    await makeStuck(sql(), id);
    const failed = async () =>
      (await sql()<{ id: string }[]>`select id from payouts where payment_id = ${id} order by created_at desc, family desc limit 1`)[0]?.id ?? '';
    const fields = { id, assetId: service.world.assets.USDT?.id ?? '', failedPayoutId: await failed(), reason };
    expect(await codeOf(run(anna, 'payment-transfer', fields)), 'without a proof').toBe('forbidden');
    expect(await codeOf(run(anna, 'payment-transfer', { ...fields, id: await aHeldPayment() }, anna.code(1))), 'of another payment').toBe('not_found');
    await failTransfer(sql(), id, 3);
    expect(await codeOf(run(ben, 'payment-transfer', fields, ben.code())), 'a stale form').toBe('conflict');
    await run(ben, 'payment-transfer', { ...fields, failedPayoutId: await failed() }, ben.code(1));
    const eve = await member('operator');
    expect(await codeOf(run(eve, 'payment-transfer', { ...fields, failedPayoutId: await failed() }, eve.code())), 'sent twice').toBe('conflict');
    expect(await sql()`select person from further_transfers where payout_id = ${await failed()}`).toEqual([{ person: ben.email }]);
    expect(
      await sql()`select act, after->>'amount' as amount, after->>'to' as "to" from console_actions where target = ${id} and act = 'payment.transfer'`,
    ).toEqual([{ act: 'payment.transfer', amount: '20', to: 'green' }]);
    await forgetMadeUp(sql());
  });
});

describe('the deployment', () => {
  it('gets a gateway, whose key works and whose owner is invited, all of it shown once', async () => {
    const anna = await member('operator');
    const fields = {
      name: 'Shop <b>',
      billing: 'STANDARD',
      owner: 'owner@shop.example',
      cashouts: 'on',
      allowlist: '203.0.113.5 10.0.0.0/8',
      capUsd: '500',
      commissionBps: '50',
    };
    const made = (await run(anna, 'gateway-create', fields, anna.code())) as Record<string, string>;
    expect(made).toMatchObject({ name: 'Shop <b>', owner: 'owner@shop.example', link: expect.stringMatching(/^http:\/\/localhost:3002\/invitations\//) });
    expect((await service.ask('GET', '/api/v1/payments', { headers: { 'x-api-key': made.apiKey as string } })).status).toBe(200);
    const [{ cashout }] = (await sql()`select settings -> 'cashout' as cashout from gateways where id = ${made.id as string}`) as unknown as [
      { cashout: object },
    ];
    expect(cashout).toMatchObject({ enabled: true, allowlist: ['203.0.113.5', '10.0.0.0/8'], approvalCapUsd: '500' });
    const log = await sql()`select after::text as after from console_actions where act = 'gateway.create'`;
    expect(JSON.stringify(log)).not.toContain(made.apiKey as string);
    const count = async () => (await sql()`select 1 from gateways`).length;
    const before = await count();
    expect(await codeOf(run(anna, 'gateway-create', { ...fields, owner: 'nobody' }, anna.code(1)))).toBe('validation_error');
    expect(await codeOf(run(anna, 'gateway-create', { ...fields, allowlist: 'everywhere' }, anna.code(1)))).toBe('validation_error');
    expect(await count()).toBe(before);
  });

  it('suspends a gateway and lets it work again, gives it credits, and stops and starts cashouts', async () => {
    const [anna, ben, shop] = [await member('operator'), await member('operator'), await service.aShop()];
    await run(anna, 'gateway-status', { id: shop.id, status: 'SUSPENDED', reason }, anna.code());
    expect((await shop.call('GET', '/payments')).status).toBe(401);
    await run(anna, 'gateway-status', { id: shop.id, status: 'VERIFIED', reason }, anna.code(1));
    expect((await shop.call('GET', '/payments')).status).toBe(200);
    await run(ben, 'credits-add', { id: shop.id, add: '7', reason }, ben.code());
    expect(await sql()`select credits from screening_credits where gateway_id = ${shop.id}`).toEqual([{ credits: 7 }]);
    await run(anna, 'dispatch-freeze', { reason });
    expect(await sql()`select scope, reason from freezes`).toEqual([{ scope: 'all', reason }]);
    await run(ben, 'dispatch-unfreeze', { scope: 'all', reason }, ben.code(1));
    expect(await sql()`select 1 from freezes`).toEqual([]);
  });

  it("changes a gateway's terms as its form shows them, and refuses a form that the API, or a default, has outrun", async () => {
    const [anna, ben, shop] = [await member('operator'), await member('operator'), await service.aShop({ cashout: { enabled: true, dailyCapUsd: '900' } })];
    const stored = async () => (await findGateway(sql(), shop.id)) as NonNullable<Awaited<ReturnType<typeof findGateway>>>;
    const before = await stored();
    const terms = writtenTerms({ billing: before.billing, ...before.settings });
    const form = Object.fromEntries(
      Object.entries(terms).flatMap(([name, text]) => (text === 'true' ? [[name, 'on']] : text === 'false' ? [] : [[name, text]])),
    );
    const fields = { id: shop.id, reason, seen: JSON.stringify(terms), ...form };
    expect(await codeOf(run(anna, 'gateway-terms', fields, anna.code())), 'nothing changed').toBe('validation_error');
    const changed = { ...fields, commissionBps: '75', dailyCapUsd: '', dispatchDelay: '90', parking: 'on' };
    expect(await codeOf(run(anna, 'gateway-terms', { ...changed, commissionBps: '10001' }, anna.code(1))), 'no commission').toBe('validation_error');
    expect(await codeOf(run(ben, 'gateway-terms', changed)), 'without a proof').toBe('forbidden');
    // What was refused before its proof was looked at has used none up.
    await run(anna, 'gateway-terms', changed, anna.code(1));
    const { settings } = await stored();
    expect(settings).toEqual({
      ...before.settings,
      settings: { ...before.settings.settings, commissionBps: 75 },
      cashout: { ...before.settings.cashout, dailyCapUsd: null, dispatchDelaySeconds: 90, parkingEnabled: true },
    });
    expect(await codeOf(run(ben, 'gateway-terms', { ...changed, commissionBps: '80' }, ben.code())), 'a stale form').toBe('conflict');
    const [{ after }] = (await sql()`select after from console_actions where target = ${shop.id} and act = 'gateway.terms'`) as unknown as [{ after: object }];
    expect(after).toMatchObject({ 'commissionBps before': '0', commissionBps: '75', 'dailyCapUsd before': '900', dailyCapUsd: '', reason });
  });

  it('gets people and loses them, but nobody removes themselves', async () => {
    const [anna, ben] = [await member('operator'), await member('operator')];
    const invited = (await run(anna, 'operator-invite', { email: 'new@example.com', role: 'auditor' }, anna.code())) as { link: string };
    expect(invited.link).toContain('/invitations/');
    expect(await codeOf(run(anna, 'operator-remove', { email: anna.email }, anna.code(1)))).toBe('conflict');
    await run(ben, 'operator-remove', { email: anna.email }, ben.code());
    expect(await codeOf(run(anna, 'dispatch-freeze', { reason }))).toBe('not_found');
    expect(
      await sql()`select what from person_notices n join people p on p.id = n.person_id where p.email = ${anna.email} and what = 'membership.end'`,
    ).toHaveLength(1);
  });

  it('has work that failed tried again, and discarded by whoever types so', async () => {
    const [anna, id, shop] = [await member('operator'), randomUUID(), await service.aShop()];
    const { paymentUid } = await shop.payment();
    await sql()`
      insert into outbox (id, topic, ref_id, due_at, state, last_error, claims, failures) values (${id}, 'webhook.resend', ${paymentUid}, sluice_now(), 'dead', 'it failed', 3, 3)`;
    await run(anna, 'job-retry', { id });
    expect(await sql()`select state from outbox where id = ${id}`).toEqual([{ state: 'due' }]);
    await sql()`update outbox set state = 'dead', last_error = 'it failed' where id = ${id}`;
    expect(await codeOf(run(anna, 'job-discard', { id, reason, confirm: 'yes' }, anna.code()))).toBe('validation_error');
    expect(await codeOf(run(anna, 'job-discard', { id, reason, confirm: 'discard' }, anna.code()))).toBe('done');
  });
});

describe('work of a kind that failed', () => {
  it('is run again as a whole by whoever types which, and proves it', async () => {
    const [anna, refId] = [await member('operator'), randomUUID()];
    await sql()`
      insert into outbox (id, topic, ref_id, due_at, state, last_error, failures)
      select gen_random_uuid(), 'person.mail', ${refId}, sluice_now(), 'dead', 'it failed', 3`;
    const fields = { topic: 'person.mail', reason, confirm: 'person.mail' };
    expect(await codeOf(run(anna, 'jobs-retry', fields)), 'without a proof').toBe('forbidden');
    for (const wrong of [{ confirm: 'settlement.mail' }, { topic: 'everything', confirm: 'everything' }])
      expect(await codeOf(run(anna, 'jobs-retry', { ...fields, ...wrong }, anna.code())), JSON.stringify(wrong)).toBe('validation_error');
    await run(anna, 'jobs-retry', fields, anna.code());
    expect(await sql()`select state, failures from outbox where ref_id = ${refId}`).toEqual([{ state: 'due', failures: 0 }]);
    expect(await sql()`select actor, act, target from console_actions where act = 'jobs.retry'`).toEqual([
      { actor: anna.email, act: 'jobs.retry', target: 'person.mail' },
    ]);
    await sql()`delete from outbox where ref_id = ${refId}`;
  });
});

describe('what operators set right', () => {
  it('lets a shop name hashes again for a payment that used its attempts up', async () => {
    const [anna, shop] = [await member('operator'), await service.aShop()];
    const { paymentUid: id } = await shop.payment();
    await sql()`update payments set inquiry_attempts = 5 where id = ${id}`;
    await run(anna, 'inquiries-reset', { id, reason });
    expect(await sql()`select inquiry_attempts from payments where id = ${id}`).toEqual([{ inquiryAttempts: 0 }]);
    expect(await sql()`select details from operator_actions where target = ${id} and action = 'inquiries.reset'`).toEqual([{ details: { used: 5 } }]);
    expect(await codeOf(run(anna, 'inquiries-reset', { id: randomUUID(), reason }))).toBe('not_found');
  });

  it('sets prices where they are static, and nowhere else', async () => {
    const anna = await member('operator');
    await run(anna, 'price-set', { symbol: 'USDT', usd: '1.02' });
    expect(await sql()`select usd::text from prices where symbol = 'USDT'`).toEqual([{ usd: expect.stringMatching(/^1\.020*$/) }]);
    await run(anna, 'price-set', { symbol: 'USDT', usd: '1' });
    expect(await codeOf(run(anna, 'price-set', { symbol: 'USDT', usd: '-1' }))).toBe('validation_error');
    const { deps } = service;
    const live = openPeopleDesk({ ...deps, config: { ...deps.config, SLUICE_PRICE_SOURCE: 'http' } });
    const asked = { cookie: anna.cookie, address: ADDRESS, act: 'price-set', fields: { symbol: 'USDT', usd: '9' }, proof: '' } as const;
    expect(await codeOf(live.doOperatorAct(asked))).toBe('forbidden');
    expect(await sql()`select usd::int from prices where symbol = 'USDT'`).toEqual([{ usd: 1 }]);
  });

  it('says what a lost transaction was only by a proof, and of what it paid, which', async () => {
    const anna = await member('operator');
    const fields = { network: 'ethereum', txid: `0x${'ab'.repeat(32)}`, reason };
    expect(await codeOf(run(anna, 'outgoing-adopt', { ...fields, as: 'own' }))).toBe('forbidden');
    expect(await codeOf(run(anna, 'outgoing-adopt', { ...fields, as: 'settlementId' }, anna.code()))).toBe('validation_error');
    expect(await codeOf(run(anna, 'outgoing-adopt', { ...fields, as: 'settlementId', paid: randomUUID() }, anna.code(1)))).toBe('not_found');
    expect(await codeOf(run(anna, 'outgoing-adopt', { ...fields, as: 'x' }, anna.code(1)))).toBe('validation_error');
  });
});

describe('what is stopped in the console', () => {
  it('is what was named, and nothing else is let go than what was agreed to', async () => {
    const [anna, ben] = [await member('operator'), await member('operator')];
    const asset = `asset:${service.world.assets.USDT?.id}`;
    const frozen = async () => (await sql()<{ scope: string }[]>`select scope from freezes order by scope`).map(({ scope }) => scope);
    await run(anna, 'dispatch-freeze', { network: 'ethereum', reason });
    expect(await frozen()).toEqual(['network:ethereum']);
    await sql()`insert into freezes (scope, reason) values ('all', 'the audit found something'), (${asset}, 'coins are missing')`;
    await run(anna, 'dispatch-unfreeze', { scope: asset, reason }, anna.code());
    expect(await frozen()).toEqual(['all', 'network:ethereum']);
    await run(anna, 'dispatch-unfreeze', { scope: 'network:ethereum', reason }, anna.code(1));
    expect(await frozen()).toEqual(['all']);
    expect(await codeOf(run(ben, 'dispatch-unfreeze', { scope: 'network:nowhere', reason }, ben.code()))).toBe('validation_error');
    expect(await frozen()).toEqual(['all']);
    await sql()`delete from freezes`;
  });
});

describe('what waits for a second person', () => {
  it('is on the page of screening, however much was ever proposed', async () => {
    await sql()`
      insert into operator_proposals (id, act, target, content, reason, proposed_by, mac, created_at, expires_at, status, decided_by, decided_at)
      select gen_random_uuid(), 'payment.refund', 'x', '{}', 'long ago', 'anna', ''::bytea, at, at + interval '1 day', 'withdrawn', 'anna', at
      from (select sluice_now() - interval '2 years' + n * interval '1 minute' as at from generate_series(1, ${POLICY.listLookedThrough}::int) n) old`;
    const [anna, id] = [await member('operator'), await aHeldPayment()];
    await run(anna, 'payment-refund', { id, reason, address: SENDER }, anna.code());
    const page = OPERATOR_PAGES.find(({ path }) => path === '/screening') ?? expect.fail('no such page');
    const screen = (await page.read(service.deps, { id: '', query: new URLSearchParams(), you: anna.email })) as ScreeningScreen;
    expect(screen.proposals.map(({ target }) => target)).toContain(id);
  });
});
