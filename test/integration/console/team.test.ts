import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { GatewayActName } from '#api/people/act-names.ts';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import { mailNotice, tellOwners } from '#api/people/notices.ts';
import { listMemberProposals } from '#api/store/member-proposals.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Mail } from '#api/deps.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { aMember, aMemberWithCodes, type Member } from '#test/harness/console-stage.ts';

const ADDRESS = '198.51.100.7';

let service: Service;
let desk: PeopleDesk;
let shop: Shop;
let owner: Member;
let second: Member;

beforeAll(async () => {
  service = await aService((deps) => ({ ...deps, config: { ...deps.config, SLUICE_CONSOLE_URL: 'http://localhost:3002' } }));
  desk = openPeopleDesk(service.deps);
});
afterAll(() => service?.stop());
beforeEach(async () => {
  shop = await service.aShop({});
  owner = await member('owner');
  second = await member('owner');
});

const sql = () => service.world.database.sql;
const member = (role: string): Promise<Member> =>
  aMemberWithCodes({ deps: service.deps, desk, database: service.world.database }, { role, gatewayId: shop.id });
const run = ({ cookie }: Member, act: GatewayActName, fields: Record<string, string>, proof = '') =>
  desk.doGatewayAct({ cookie, address: ADDRESS, gateway: shop.id, act, fields, proof });
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code ?? String(error),
  );
const someone = () => `new-${randomUUID()}@example.com`;
const waiting = async () =>
  (await sql()`select id, email, role from member_proposals where gateway_id = ${shop.id} and state = 'waiting'`) as unknown as Waiting[];
interface Waiting {
  id: string;
  email: string;
  role: string | null;
}
const links = (email: string) => sql()`select role from invitations where gateway_id = ${shop.id} and email = ${email} and ended_at is null`;
const roleOf = async ({ email }: Member) =>
  (await sql()`select m.role from memberships m join people p on p.id = m.person_id where p.email = ${email} and m.ended_at is null`)[0]?.role;

describe('who approves cashouts or owns a gateway', () => {
  it.each(['owner', 'approver'])('is invited as %s by two owners where there are two: the link comes to be when the other one confirms it', async (role) => {
    const email = someone();
    expect(await run(owner, 'member-invite', { email, role }, owner.code())).toEqual({});
    const [{ id }] = (await waiting()) as [Waiting];
    expect([await waiting(), await links(email)]).toEqual([[{ id, email, role }], []]);
    expect(await codeOf(run(owner, 'member-confirm', { id }, owner.code(1)))).toBe('forbidden');
    expect(await run(second, 'member-confirm', { id }, second.code())).toEqual({
      email,
      link: expect.stringMatching(/^http:\/\/localhost:3002\/invitations\/[\w-]{43}$/),
    });
    expect([await waiting(), await links(email)]).toEqual([[], [{ role }]]);
    const [noted] = await sql()`select actor, after from console_actions where gateway_id = ${shop.id} and act = 'member.confirm'`;
    expect(noted).toEqual({ actor: second.email, after: { email, role, proposedBy: owner.email } });
  });

  it('is invited at once by one owner alone, and so is whoever does neither', async () => {
    await run(owner, 'member-remove', { email: owner.email }, owner.code());
    expect(await run(second, 'member-invite', { email: someone(), role: 'owner' }, second.code())).toMatchObject({ link: expect.any(String) });
    const [anna, email] = [await member('owner'), someone()];
    expect(await run(anna, 'member-invite', { email, role: 'finance' }, anna.code())).toMatchObject({ link: expect.any(String) });
  });

  it('is removed, or made less, by two owners; whoever leaves by themselves needs nobody', async () => {
    const [approver, third] = [await member('approver'), await member('owner')];
    await run(owner, 'member-remove', { email: approver.email }, owner.code());
    expect([await roleOf(approver), (await waiting()).map(({ role }) => role)]).toEqual(['approver', [null]]);
    // The other way round: a lower role is a removal too, and takes the place of what waits for the address.
    expect(await run(owner, 'member-invite', { email: approver.email, role: 'support' }, owner.code(1))).toEqual({});
    const [{ id, role }] = (await waiting()) as [Waiting];
    expect(role).toBe('support');
    await run(second, 'member-withdraw', { id });
    expect(await codeOf(run(second, 'member-confirm', { id }, second.code()))).toBe('not_found');
    await run(second, 'member-remove', { email: approver.email }, second.code(1));
    await run(third, 'member-confirm', { id: (await waiting())[0]?.id ?? '' }, third.code());
    expect(await roleOf(approver)).toBeUndefined();
    await run(third, 'member-remove', { email: third.email }, third.code(1));
    expect(await roleOf(third)).toBeUndefined();
  });

  it('is confirmed by nobody who became an owner since, nor for whoever is none any more', async () => {
    await run(owner, 'member-invite', { email: someone(), role: 'owner' }, owner.code());
    const [{ id }] = (await waiting()) as [Waiting];
    const late = await member('owner');
    expect(await codeOf(run(late, 'member-confirm', { id }, late.code()))).toBe('forbidden');
    await run(owner, 'member-remove', { email: owner.email }, owner.code(1));
    expect(await codeOf(run(second, 'member-confirm', { id }, second.code()))).toBe('conflict');
    expect(await waiting()).toHaveLength(1);
  });

  it('is confirmed once, however many owners do at once', async () => {
    const others = [second, await member('owner'), await member('owner')];
    const email = someone();
    await run(owner, 'member-invite', { email, role: 'approver' }, owner.code());
    const [{ id }] = (await waiting()) as [Waiting];
    const outcomes = await Promise.all(others.map((one) => codeOf(run(one, 'member-confirm', { id }, one.code()))));
    expect(outcomes.toSorted()).toEqual(['done', 'not_found', 'not_found']);
    expect(await links(email)).toHaveLength(1);
  });

  it('is nothing of another gateway', async () => {
    await run(owner, 'member-invite', { email: someone(), role: 'owner' }, owner.code());
    const [{ id }] = (await waiting()) as [Waiting];
    const [here, thief] = [shop, second];
    shop = await service.aShop({});
    const stranger = await member('owner');
    expect(await codeOf(run(stranger, 'member-confirm', { id }, stranger.code()))).toBe('not_found');
    expect(await codeOf(run(stranger, 'member-withdraw', { id }))).toBe('not_found');
    shop = here;
    expect([await waiting(), thief.email]).toMatchObject([[{ id }], second.email]);
  });

  it('leaves a gateway an owner: the only one accepts no lesser role there, and does once there is another', async () => {
    await run(second, 'member-remove', { email: second.email }, second.code());
    const { link } = (await run(owner, 'member-invite', { email: owner.email, role: 'support' }, owner.code())) as { link: string };
    await sql()`insert into identities (issuer, subject, person_id) select 'https://id.example', email, id from people where email = ${owner.email}`;
    const accept = () =>
      codeOf(desk.acceptInvitation({ token: link.split('/').at(-1) ?? '', credential: '', visitor: { address: ADDRESS, browser: 'x' }, cookie: owner.cookie }));
    expect([await accept(), await roleOf(owner)]).toEqual(['conflict', 'owner']);
    await member('owner');
    expect([await accept(), await roleOf(owner)]).toEqual(['done', 'support']);
  });

  it('neither withdraws nor replaces what two others want to be done about them, and can still leave', async () => {
    const third = await member('owner');
    await run(owner, 'member-remove', { email: third.email }, owner.code());
    const [{ id }] = (await waiting()) as [Waiting];
    expect(await codeOf(run(third, 'member-withdraw', { id }))).toBe('forbidden');
    expect(await codeOf(run(third, 'member-invite', { email: third.email, role: 'owner' }, third.code()))).toBe('forbidden');
    expect(await waiting()).toEqual([{ id, email: third.email, role: null }]);
    expect([await codeOf(run(second, 'member-confirm', { id }, second.code())), await roleOf(third)]).toEqual(['done', undefined]);
    // One's own proposal about oneself is withdrawn, and who leaves needs nobody.
    const fourth = await member('owner');
    await run(fourth, 'member-invite', { email: fourth.email, role: 'support' }, fourth.code());
    const [own] = (await waiting()) as [Waiting];
    expect(await codeOf(run(fourth, 'member-withdraw', { id: own.id }))).toBe('done');
    await run(owner, 'member-remove', { email: fourth.email }, owner.code(1));
    expect([await codeOf(run(fourth, 'member-remove', { email: fourth.email }, fourth.code(1))), await waiting()]).toEqual(['done', []]);
  });

  it('keeps no other owner from proposing anything, nor from being read, however much one of them proposes', async () => {
    const third = await member('owner');
    await sql()`
      insert into member_proposals (id, gateway_id, email, role, proposed_by, proposed_at)
      select gen_random_uuid(), ${shop.id}, 'x' || i || '@example.com', 'owner', p.id, sluice_now() + interval '1 hour'
      from generate_series(1, ${POLICY.openInvitations}) i, people p where p.email = ${third.email}`;
    expect(await codeOf(run(third, 'member-invite', { email: someone(), role: 'owner' }, third.code()))).toBe('conflict');
    expect(await codeOf(run(owner, 'member-remove', { email: third.email }, owner.code()))).toBe('done');
    expect((await listMemberProposals(service.deps.db.sql, shop.id)).map(({ email }) => email)).toContain(third.email);
  });

  it('is mailed to every owner: what waits, what was sent, and who came', async () => {
    const email = someone();
    await sql()`update gateways set name = ${'Acme\r\nBcc: \u202eevil'} where id = ${shop.id}`;
    await run(owner, 'member-invite', { email, role: 'approver' }, owner.code());
    const [{ id }] = (await waiting()) as [Waiting];
    const { link } = (await run(second, 'member-confirm', { id }, second.code())) as { link: string };
    // Somebody who has a way in already, as they do at a provider.
    const cookie = await aMember(service.world.database, { email, gatewayId: null, role: 'auditor' });
    await sql()`insert into identities (issuer, subject, person_id) select 'https://id.example', email, id from people where email = ${email}`;
    await desk.acceptInvitation({ token: link.split('/').at(-1) ?? '', credential: '', visitor: { address: ADDRESS, browser: 'x' }, cookie });
    const mails: Mail[] = [];
    const notices = await sql()`
      select n.id from person_notices n join people p on p.id = n.person_id join outbox o on o.ref_id = n.id and o.topic = 'person.mail'
      where p.email in (${owner.email}, ${second.email}) and n.what like 'member.%'`;
    for (const one of notices) await mailNotice({ ...service.deps, mail: { send: async (mail) => void mails.push(mail) } }, String(one.id));
    const told = (whom: Member) => mails.filter(({ to }) => to === whom.email).map(({ subject }) => subject);
    const all = ['A change of your team waits for an owner', 'Somebody joined your team', 'Somebody was invited to your team'];
    expect([told(owner).toSorted(), told(second).toSorted()]).toEqual([all, all]);
    expect(
      mails.every(({ text }) => text.includes(`Who: ${email}\n`) && text.includes('Gateway: Acme  Bcc:  evil\n') && text.includes('Role: approver\n')),
    ).toBe(true);
  });

  it('fills no mailbox, and no queue: of the same at one gateway each owner is told ten times an hour', async () => {
    const told = async (about: string) =>
      (
        await sql()`select 1 from outbox o join person_notices n on n.id = o.ref_id where n.person_id = ${own?.id ?? ''} and n.about like ${`Gateway: ${about}%`}`
      ).length;
    const [own] = await sql()<{ id: string }[]>`select id from people where email = ${second.email}`;
    const tell = (gatewayId: string) =>
      service.deps.db.transaction((tx) => tellOwners(service.deps, tx, { gatewayId, what: 'member.proposed', email: someone(), role: 'owner' }));
    await sql()`update gateways set name = 'Hostile Ltd' where id = ${shop.id}`;
    for (let times = 0; times < POLICY.noticesPerHour + 2; times++) await tell(shop.id);
    expect(await told('Hostile Ltd')).toBe(POLICY.noticesPerHour);
    const theirs = await service.aShop({});
    await sql()`update gateways set name = 'Honest Ltd' where id = ${theirs.id}`;
    await sql()`insert into memberships (id, person_id, gateway_id, role) values (gen_random_uuid(), ${own?.id ?? ''}, ${theirs.id}, 'owner')`;
    await tell(theirs.id);
    expect(await told('Honest Ltd'), 'of another gateway').toBe(1);
  });
});
