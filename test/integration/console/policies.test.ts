import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cashoutProblem } from '#api/intents/cashout.ts';
import type { Gateway } from '#api/deps.ts';
import { createKey } from '#api/gateways/manage-keys.ts';
import { invitePerson } from '#api/people/invitations.ts';
import { revokePerson } from '#api/people/revoke-person.ts';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import type { GatewayActName } from '#api/people/act-names.ts';
import { findGateway } from '#api/store/gateways.ts';
import { findSettlement } from '#api/store/settlements.ts';
import type { PolicyBook, WrittenPolicy } from '#shared/core/written-policies.ts';
import { EXAMPLES, GATEWAYS } from '#test/contract/examples.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { aMemberWithCodes, type Member } from '#test/harness/console-stage.ts';

const ADDRESS = '198.51.100.7';
const OTHER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const KNOWN = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const CASHES_OUT = { cashout: { ...(GATEWAYS.approveSettlement?.cashout as object), approvalCapUsd: null } };
const TWO: WrittenPolicy['outcome'] = { kind: 'approve', people: 2 };

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
  shop = await service.aShop(CASHES_OUT);
  await shop.fund('USDT', '500');
  owner = await member('owner');
});

const sql = () => service.world.database.sql;
const member = (role: string): Promise<Member> =>
  aMemberWithCodes({ deps: service.deps, desk, database: service.world.database }, { role, gatewayId: shop.id });
const personOf = async ({ email }: Member) => String((await sql()`select id from people where email = ${email}`)[0]?.id);
const run = ({ cookie }: Member, act: GatewayActName, fields: Record<string, string>, proof = '') =>
  desk.doGatewayAct({ cookie, address: ADDRESS, gateway: shop.id, act, fields, proof });
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code ?? String(error),
  );
const book = (...policies: WrittenPolicy[]): PolicyBook => ({ policies, capUsd: null });
const propose = (who: Member, of: PolicyBook, step = 0, capNow?: string) =>
  run(who, 'policies-propose', { book: JSON.stringify(of), ...(capNow !== undefined && { capNow }) }, who.code(step));
/** Takes from every key of the shop that it may approve. */
const withoutApprovingKeys = () => sql()`update api_keys set permissions = array_remove(permissions, 'settlement:approve') where gateway_id = ${shop.id}`;
const create = (amount: string, address = KNOWN) =>
  shop.signed('POST', '/merchant/settlements', { body: { assetId: service.world.assets.USDT?.id, amount, address } });
const versions = () => sql()`select version, state from policy_versions where gateway_id = ${shop.id} order by version`;
const statusOf = async (id: string) => (await shop.signed('GET', `/merchant/settlements/${id}`)).data.status;

describe('policies of a gateway', () => {
  it('leave it as the contract has it until somebody makes one', async () => {
    expect((await create('100')).data).toMatchObject({ status: 'REQUESTED' });
  });

  it('hold, refuse and let through what they say, in their order, and name the one that refuses', async () => {
    await propose(
      owner,
      book(
        { when: { aboveUsd: '100' }, outcome: { kind: 'refuse' } },
        { when: { destination: 'unknown' }, outcome: { kind: 'approve', people: 1 } },
        { when: {}, outcome: { kind: 'allow' } },
      ),
    );
    const refused = await create('100.01');
    expect([refused.status, refused.error.code, refused.error.message]).toEqual([403, 'forbidden', 'Policy 1 of this gateway refuses such a cashout.']);
    const held = await create('50');
    expect(held.data).toMatchObject({ status: 'PENDING_APPROVAL', holdReason: 'policy' });
    expect(await sql()`select policy, people from settlement_policies where settlement_id = ${held.data.id as string}`).toEqual([{ policy: 2, people: 1 }]);
    // That somebody asked for it makes an address no more known than before.
    expect((await create('50')).data).toMatchObject({ status: 'PENDING_APPROVAL' });
    // Nor does what a key enters: whoever stole it could.
    const entered = { network: 'ethereum', address: OTHER, label: 'Payroll' };
    expect((await shop.signed('POST', '/address-book', { body: entered })).status).toBe(201);
    expect((await create('50', OTHER)).data).toMatchObject({ status: 'PENDING_APPROVAL' });
    await run(owner, 'address-add', entered, owner.code(1));
    expect((await create('50', OTHER)).data).toMatchObject({ status: 'REQUESTED' });
  });

  it('know an address no more that somebody took out of the book, whoever enters it again with a key and whatever was paid there before', async () => {
    const approver = await member('approver');
    await propose(owner, book({ when: { destination: 'unknown' }, outcome: { kind: 'refuse' } }));
    expect((await create('1')).status).toBe(403);
    await run(approver, 'address-add', { network: 'ethereum', address: KNOWN, label: 'Bank' }, approver.code());
    expect((await create('1')).status).toBe(200);
    const [{ id }] = (await sql()`select id from address_book where gateway_id = ${shop.id}`) as unknown as [{ id: string }];
    await sql()`insert into address_uses (address_id, asset_id, cashouts, sent, first_at, last_at)
      values (${id}, ${service.world.assets.USDT?.id as string}, 1, 1, sluice_now() - interval '9 days', sluice_now() - interval '1 second')`;
    await run(approver, 'address-hide', { id });
    expect((await create('1')).status).toBe(403);
    expect((await shop.signed('POST', '/address-book', { body: { network: 'ethereum', address: KNOWN, label: 'Bank' } })).status).toBe(201);
    expect((await create('1')).status).toBe(403);
    // Nothing was paid there: the use was made up.
    await sql()`delete from address_uses where address_id = ${id}`;
  });

  it('add up a day, of which cashouts made at once each see the others', async () => {
    await propose(owner, book({ when: { dayAboveUsd: '100' }, outcome: { kind: 'refuse' } }));
    // On a starved machine somebody waits too long for their turn, and asks again as they are told to.
    const patiently = async (): Promise<Awaited<ReturnType<typeof create>>> => {
      const answer = await create('20');
      return answer.status === 503 ? patiently() : answer;
    };
    const answers = await Promise.all(Array.from({ length: 12 }, patiently));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(200), ...Array(7).fill(403)]);
  });

  it('set the cap of the gateway, which is one and the same', async () => {
    await propose(owner, { policies: [], capUsd: '70' });
    expect((await create('71')).data).toMatchObject({ status: 'PENDING_APPROVAL', holdReason: 'approval_cap' });
    expect((await create('70')).data).toMatchObject({ status: 'REQUESTED' });
    expect(await sql()`select settings -> 'cashout' ->> 'approvalCapUsd' as cap from gateways where id = ${shop.id}`).toEqual([{ cap: '70' }]);
  });

  it.each([
    ['no JSON', 'policies', 'book'],
    ['an outcome that is none', JSON.stringify({ policies: [{ when: {}, outcome: { kind: 'burn' } }], capUsd: null }), 'policies.0.outcome.kind'],
    ['a negative amount', JSON.stringify(book({ when: { aboveUsd: '-1' }, outcome: TWO })), 'policies.0.when.aboveUsd'],
    ['a condition that is none', JSON.stringify({ policies: [{ when: { sql: '1' }, outcome: { kind: 'allow' } }], capUsd: null }), 'policies.0.when'],
    ['too many', JSON.stringify(book(...Array(21).fill({ when: {}, outcome: { kind: 'allow' } }))), 'policies'],
    ['a cap that is no amount', JSON.stringify({ policies: [], capUsd: 'all' }), 'capUsd'],
  ])('are not %s', async (_what, text, field) => {
    await expect(run(owner, 'policies-propose', { book: text }, owner.code())).rejects.toMatchObject({ code: 'validation_error', field });
    expect(await versions()).toEqual([]);
  });
});

describe('a change of policies', () => {
  it('needs another owner where there are two, who sees the very same, and never its proposer', async () => {
    const second = await member('owner');
    await propose(owner, book({ when: {}, outcome: { kind: 'refuse' } }));
    expect(await versions()).toEqual([{ version: 1, state: 'proposed' }]);
    expect((await create('1')).status).toBe(200);
    expect(await codeOf(run(owner, 'policies-agree', { version: '1' }, owner.code(1)))).toBe('forbidden');
    await run(second, 'policies-agree', { version: '1' }, second.code());
    expect((await create('1')).status).toBe(403);
    const [{ after }] = (await sql()`select after from console_actions where act = 'policies.agree' and gateway_id = ${shop.id}`) as unknown as [
      { after: object },
    ];
    expect(after).toEqual({ 'policy 1': JSON.stringify({ when: {}, outcome: { kind: 'refuse' } }), capBefore: null, capUsd: null });
  });

  it('takes the place of one that waits, which nobody can agree to any more, and can be declined', async () => {
    const second = await member('owner');
    await propose(owner, book({ when: {}, outcome: { kind: 'refuse' } }));
    await propose(owner, book({ when: {}, outcome: { kind: 'allow' } }), 1);
    expect(await codeOf(run(second, 'policies-agree', { version: '1' }, second.code()))).toBe('not_found');
    await run(second, 'policies-decline', { version: '2' });
    expect(await versions()).toEqual([
      { version: 1, state: 'replaced' },
      { version: 2, state: 'declined' },
    ]);
  });

  it('does not take back unseen a cap that an operator set since, whether it is proposed or agreed to', async () => {
    const second = await member('owner');
    const cap = () => sql()`select settings -> 'cashout' ->> 'approvalCapUsd' as cap from gateways where id = ${shop.id}`;
    const setCap = (usd: string) =>
      sql()`update gateways set settings = jsonb_set(settings, '{cashout,approvalCapUsd}', to_jsonb(${usd}::text)) where id = ${shop.id}`;
    await propose(owner, { policies: [], capUsd: '70' });
    await setCap('10');
    await expect(run(second, 'policies-agree', { version: '1' }, second.code())).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/to 10 USD/),
    });
    expect([await cap(), await versions()]).toEqual([[{ cap: '10' }], [{ version: 1, state: 'proposed' }]]);
    expect(await codeOf(propose(owner, { policies: [], capUsd: '50' }, 1))).toBe('conflict');
    await run(second, 'policies-agree', { version: '1', capNow: '10.0' }, second.code(1));
    expect(await cap()).toEqual([{ cap: '70' }]);
  });

  it('is nobody’s half of anything once its proposer is no owner any more', async () => {
    const [second, third] = [await member('owner'), await member('owner')];
    await propose(owner, book({ when: {}, outcome: { kind: 'allow' } }));
    await run(owner, 'member-remove', { email: owner.email }, owner.code(1));
    expect(await codeOf(run(second, 'policies-agree', { version: '1' }, second.code()))).toBe('conflict');
    await propose(third, book({ when: {}, outcome: { kind: 'refuse' } }));
    expect(await codeOf(run(second, 'policies-agree', { version: '2' }, second.code(1)))).toBe('done');
  });

  it('comes into force once when two owners agree at once', async () => {
    const others = await Promise.all([member('owner'), member('owner')]);
    await propose(owner, book({ when: {}, outcome: { kind: 'refuse' } }));
    const outcomes = await Promise.all(others.map((one) => codeOf(run(one, 'policies-agree', { version: '1' }, one.code()))));
    expect(outcomes.sort()).toEqual(['done', 'not_found']);
  });

  it('is for owners: nobody else may', async () => {
    for (const role of ['finance', 'approver', 'developer', 'support']) {
      const other = await member(role);
      expect(await codeOf(propose(other, book())), role).toBe('forbidden');
    }
  });

  it('races cashouts: each is decided by the one before or the one after, and what comes after it by that alone', async () => {
    const changing = propose(owner, book({ when: {}, outcome: { kind: 'refuse' } }));
    const racing = await Promise.all(Array.from({ length: 8 }, () => create('1')));
    await changing;
    expect(racing.every(({ status }) => [200, 403].includes(status))).toBe(true);
    expect((await create('1')).status).toBe(403);
  });
});

describe('more than one person', () => {
  it('cannot be asked for while a key may approve, nor can a key be made that may while it is, whichever comes first', async () => {
    const [other] = [await member('owner'), await member('approver')];
    expect(await codeOf(propose(other, book({ when: {}, outcome: TWO })))).toBe('conflict');
    await sql()`update memberships set role = 'approver' where person_id = (select id from people where email = ${other.email})`;
    await withoutApprovingKeys();
    const gateway = (await findGateway(service.deps.db.sql, shop.id)) as Gateway;
    const key = {
      gateway,
      by: { personId: await personOf(owner), role: 'owner', permissions: ['settlement:approve'] },
      body: { name: 'approves', permissions: ['settlement:approve' as const] },
    };
    const making = createKey(service.deps, { ...key, commit: (work) => service.deps.db.transaction(work) });
    const outcomes = await Promise.all([codeOf(propose(owner, book({ when: {}, outcome: TWO }))), codeOf(making)]);
    expect(outcomes.toSorted()).toEqual(['conflict', 'done']);
  });

  it('cannot be asked for where fewer may approve', async () => {
    await withoutApprovingKeys();
    expect(await codeOf(propose(owner, book({ when: {}, outcome: { kind: 'approve', people: 3 } })))).toBe('validation_error');
  });

  it('cannot be asked for where only as many may approve of whom one may create: who creates does not approve', async () => {
    await withoutApprovingKeys();
    await member('approver');
    expect(await codeOf(propose(owner, book({ when: {}, outcome: TWO })))).toBe('validation_error');
    await member('approver');
    expect(await codeOf(propose(owner, book({ when: {}, outcome: TWO }), 1))).toBe('done');
  });

  it('cannot be left with too few: nobody whom a policy in force needs is removed or made less, unless an operator does', async () => {
    await withoutApprovingKeys();
    const [anna, ben] = [await member('approver'), await member('approver')];
    await propose(owner, book({ when: { route: 'SMART' }, outcome: { kind: 'refuse' } }, { when: {}, outcome: TWO }));
    await expect(run(owner, 'member-remove', { email: anna.email }, owner.code(1))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^Policy 2 /),
    });
    const { db } = service.deps;
    const by = { kind: 'command', name: 'root@host' } as const;
    // Somebody who has a way in accepts without a new one.
    await sql()`insert into identities (issuer, subject, person_id) values ('https://id.example', ${ben.email}, ${await personOf(ben)})`;
    const { token } = await invitePerson(service.deps, { email: ben.email, gatewayId: shop.id, role: 'support', by });
    const visitor = { address: ADDRESS, browser: 'x' };
    await expect(desk.acceptInvitation({ token, credential: '', visitor, cookie: ben.cookie })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^Policy 2 /),
    });
    expect(await sql()`select role from memberships where gateway_id = ${shop.id} and ended_at is null order by role`).toEqual([
      { role: 'approver' },
      { role: 'approver' },
      { role: 'owner' },
    ]);
    await revokePerson({ db }, { email: anna.email, where: { gatewayId: shop.id }, by });
    // Too few as it is: what takes nobody away who approves is no worse.
    const support = await member('support');
    const another = await member('owner');
    expect(await codeOf(run(another, 'member-remove', { email: support.email }, another.code()))).toBe('done');
  });

  it('approves: two different ones who may, never the creator, and each once; the signer wants both', async () => {
    await withoutApprovingKeys();
    const people = await Promise.all([member('approver'), member('approver'), member('finance')]);
    const [anna, ben, cleo] = people as [Member, Member, Member];
    await propose(owner, book({ when: {}, outcome: TWO }));
    const { id } = (await run(cleo, 'settlement-create', { assetId: service.world.assets.USDT?.id ?? '', amount: '50', address: KNOWN }, cleo.code())) as {
      id: string;
    };
    expect(await codeOf(run(anna, 'settlement-approve', { id }, anna.code()))).toBe('done');
    expect(await statusOf(id)).toBe('PENDING_APPROVAL');
    expect(await codeOf(run(anna, 'settlement-approve', { id }, anna.code(1)))).toBe('conflict');
    const asked = async () =>
      cashoutProblem(
        service.deps.db.sql,
        service.deps,
        (await findSettlement(service.deps.db.sql, id)) as NonNullable<Awaited<ReturnType<typeof findSettlement>>>,
      );
    expect(await asked()).toEqual({ refuse: 'fewer than 2 people approved the cashout' });
    // Whoever could write into the database could say that one is enough; the signer heard two.
    await sql()`delete from settlement_policies where settlement_id = ${id}`;
    expect(await asked()).toEqual({ refuse: 'fewer than 2 people approved the cashout' });
    expect(await codeOf(run(ben, 'settlement-approve', { id }, ben.code()))).toBe('done');
    expect([await statusOf(id), await asked()]).toEqual(['REQUESTED', null]);
  });

  it('is not whoever was removed since, nor a code of the gateway’s authenticator', async () => {
    const example = await EXAMPLES.approveSettlement(service, shop);
    await withoutApprovingKeys();
    const [anna, ben, cleo] = (await Promise.all([member('approver'), member('approver'), member('approver')])) as [Member, Member, Member];
    await propose(owner, book({ when: {}, outcome: TWO }));
    const id = String((await create('50')).data.id);
    await run(anna, 'settlement-approve', { id }, anna.code());
    await run(owner, 'member-remove', { email: anna.email }, owner.code(1));
    await run(ben, 'settlement-approve', { id }, ben.code());
    expect(await statusOf(id)).toBe('PENDING_APPROVAL');
    await sql()`update api_keys set permissions = permissions || '{settlement:approve}' where gateway_id = ${shop.id}`;
    const answer = await shop.signed('POST', `/merchant/settlements/${id}/approve`, { body: example.body as object });
    expect([answer.status, answer.error.code]).toEqual([403, 'forbidden']);
    await run(cleo, 'settlement-approve', { id }, cleo.code());
    expect(await statusOf(id)).toBe('REQUESTED');
  });

  it('is not whoever approved, was removed, and came back since: what a thief approved in their name counts no more', async () => {
    await withoutApprovingKeys();
    const [anna, ben, cleo] = (await Promise.all([member('approver'), member('approver'), member('approver')])) as [Member, Member, Member];
    await propose(owner, book({ when: {}, outcome: TWO }));
    const id = String((await create('50')).data.id);
    await run(anna, 'settlement-approve', { id }, anna.code());
    await run(owner, 'member-remove', { email: anna.email }, owner.code(1));
    await sql()`insert into memberships (id, person_id, gateway_id, role) values (${randomUUID()}, ${await personOf(anna)}, ${shop.id}, 'approver')`;
    await run(ben, 'settlement-approve', { id }, ben.code());
    expect(await statusOf(id)).toBe('PENDING_APPROVAL');
    await run(cleo, 'settlement-approve', { id }, cleo.code());
    expect(await statusOf(id)).toBe('REQUESTED');
  });

  it('is nobody who came after the cashout, or the change, that takes two: one of them could invite the other for it', async () => {
    await withoutApprovingKeys();
    const [anna] = [await member('approver'), await member('approver')];
    await propose(owner, book({ when: {}, outcome: TWO }));
    const id = String((await create('50')).data.id);
    await run(anna, 'settlement-approve', { id }, anna.code());
    const puppet = await member('approver');
    expect(await codeOf(run(puppet, 'settlement-approve', { id }, puppet.code()))).toBe('forbidden');
    expect(await statusOf(id)).toBe('PENDING_APPROVAL');
    await member('owner');
    await propose(owner, book(), 1);
    const late = await member('owner');
    expect(await codeOf(run(late, 'policies-agree', { version: '2' }, late.code()))).toBe('forbidden');
  });

  it('are counted once each when all of them approve at once', async () => {
    await withoutApprovingKeys();
    const people = await Promise.all(Array.from({ length: 4 }, () => member('approver')));
    await propose(owner, book({ when: {}, outcome: { kind: 'approve', people: 3 } }));
    const id = String((await create('50')).data.id);
    const outcomes = await Promise.all(people.map((one) => codeOf(run(one, 'settlement-approve', { id }, one.code()))));
    expect(outcomes.toSorted()).toEqual(['conflict', 'done', 'done', 'done']);
    expect(await sql()`select 1 from settlement_events where settlement_id = ${id} and event = 'APPROVED'`).toHaveLength(1);
    expect(await sql()`select 1 from outbox where ref_id = ${id} and topic = 'settlement.dispatch'`).toHaveLength(1);
  });
});

describe('a key that somebody made', () => {
  it.each(['that key', 'a key that it makes'])('asks for nothing that they may approve themselves, by %s', async (which) => {
    shop = await service.aShop({ cashout: { ...CASHES_OUT.cashout, approvalCapUsd: '0' } });
    await shop.fund('USDT', '10');
    const [maker, approver] = [await member('owner'), await member('approver')];
    const boxes = Object.fromEntries(['settlement:create', 'settlement:read', 'key:manage'].map((one) => [`may:${one}`, 'on']));
    const made = (await run(maker, 'key-create', { name: 'Mine', ...boxes }, maker.code())) as { apiKey: string };
    const [headers, child] = [{ 'x-api-key': made.apiKey }, { name: 'Child', permissions: ['settlement:create', 'settlement:read'] }];
    if (which !== 'that key') headers['x-api-key'] = String((await shop.call('POST', '/keys', { headers, body: child })).data.apiKey);
    const asked = await shop.signed('POST', '/merchant/settlements', {
      headers,
      body: { assetId: service.world.assets.USDT?.id, amount: '5', address: KNOWN },
    });
    expect(asked.data).toMatchObject({ status: 'PENDING_APPROVAL' });
    const id = String(asked.data.id);
    await expect(run(maker, 'settlement-approve', { id }, maker.code(1))).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(/the key/),
    });
    expect(await statusOf(id)).toBe('PENDING_APPROVAL');
    await run(approver, 'settlement-approve', { id }, approver.code());
    expect(await statusOf(id)).toBe('REQUESTED');
  });
});

describe('allowlists', () => {
  it('are changed by owners with a proof, each address with what it is for', async () => {
    const cashout = () => sql()`select settings -> 'cashout' -> 'allowlist' as list from gateways where id = ${shop.id}`;
    const [{ list: before }] = (await cashout()) as unknown as [{ list: string[] }];
    await run(owner, 'allowlist-add', { list: 'cashout', address: '203.0.113.0/24', note: 'the office <b>' }, owner.code());
    expect(await cashout()).toEqual([{ list: [...before, '203.0.113.0/24'] }]);
    expect(await sql()`select note from allowlist_entries where gateway_id = ${shop.id} and address = '203.0.113.0/24'`).toEqual([{ note: 'the office <b>' }]);
    expect(await codeOf(run(owner, 'allowlist-remove', { list: 'cashout', address: before[0] ?? '' }, owner.code(1)))).toBe('done');
    expect(await cashout()).toEqual([{ list: [...before.slice(1), '203.0.113.0/24'] }]);
  });

  it('take no address that is none, nor one twice, and one of several who add at once is as good as the others', async () => {
    const owners = await Promise.all(Array.from({ length: 4 }, () => member('owner')));
    const added = await Promise.all(owners.map((one, at) => codeOf(run(one, 'allowlist-add', { list: 'api', address: `198.51.100.${at}` }, one.code()))));
    expect(added).toEqual(owners.map(() => 'done'));
    const [{ list }] = (await sql()`select settings -> 'apiAllowlist' as list from gateways where id = ${shop.id}`) as unknown as [{ list: string[] }];
    expect(list).toEqual(expect.arrayContaining(owners.map((_one, at) => `198.51.100.${at}`)));
    for (const [address, code] of [
      ['everywhere', 'validation_error'],
      ['198.51.100.0', 'conflict'],
    ] as const) {
      const again = await member('owner');
      expect(await codeOf(run(again, 'allowlist-add', { list: 'api', address }, again.code()))).toBe(code);
    }
    const finance = await member('finance');
    expect(await codeOf(run(finance, 'allowlist-add', { list: 'api', address: '192.0.2.1' }, finance.code()))).toBe('forbidden');
  });
});

describe('a cashout that is parked', () => {
  it('needs the people that were asked for when it was accepted, also when the policies are gone by the time its balance comes', async () => {
    const parking = { ...CASHES_OUT.cashout, parkingEnabled: true };
    shop = await service.aShop({ cashout: parking });
    owner = await member('owner');
    await withoutApprovingKeys();
    const [anna, ben] = (await Promise.all([member('approver'), member('approver')])) as [Member, Member];
    await propose(owner, book({ when: {}, outcome: TWO }));
    const parked = await create('50');
    expect(parked.data).toMatchObject({ status: 'UNDERFUNDED' });
    const id = String(parked.data.id);
    await propose(owner, book(), 1);
    await shop.fund('USDT', '100');
    await run(owner, 'settlement-retry', { id });
    expect(await statusOf(id)).toBe('PENDING_APPROVAL');
    await run(anna, 'settlement-approve', { id }, anna.code());
    expect(await statusOf(id)).toBe('PENDING_APPROVAL');
    await run(ben, 'settlement-approve', { id }, ben.code());
    expect(await statusOf(id)).toBe('REQUESTED');
  });
});
