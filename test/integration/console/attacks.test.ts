import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_ACT_NAMES, OPERATOR_ACT_NAMES } from '#api/people/act-names.ts';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import { invitePerson } from '#api/people/invitations.ts';
import { EXAMPLES, GATEWAYS } from '#test/contract/examples.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { serveConsole } from '#test/harness/console-stage.ts';
import { type SoftPasskey, softPasskey } from '#test/harness/soft-passkey.ts';

/** What a browser sends whose page is the console's own. */
const OWN = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };
const CASHES_OUT = { cashout: { ...(GATEWAYS.approveSettlement?.cashout as object), approvalCapUsd: '0' } };
type Fields = Readonly<Record<string, string>>;

interface Thief {
  email: string;
  cookie: string;
  passkey: SoftPasskey;
}

let service: Service;
let shop: Shop;
let stranger: Shop;
let served: Awaited<ReturnType<typeof serveConsole>>;
let desk: PeopleDesk;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop(CASHES_OUT);
  stranger = await service.aShop(CASHES_OUT);
  await shop.fund('USDT', '500');
  served = await serveConsole(service.deps, service.world.database);
  const config = { ...service.deps.config, SLUICE_CONSOLE_URL: served.origin };
  desk = openPeopleDesk({ ...service.deps, config, db: service.world.database.as('http') });
});
afterAll(async () => {
  await served?.stop();
  await service?.stop();
});

const sql = () => service.world.database.sql;

/** Somebody who came by an invitation, with a passkey of their own. */
async function member(role: string, gatewayId: string | null = shop.id): Promise<Thief> {
  const email = `${role}-${randomUUID()}@example.com`;
  const { token } = await invitePerson(service.deps, { email, gatewayId, role, by: { kind: 'command', name: 'root@host' } });
  const passkey = softPasskey(served.origin);
  const credential = passkey.create(await desk.invitationOptions({ token, address: '127.0.0.1' }));
  const { cookie } = await desk.acceptInvitation({ token, credential, visitor: { address: '127.0.0.1', browser: 'x' }, cookie: null });
  return { email, cookie: cookie ?? '', passkey };
}

/** The same person at another gateway. */
async function alsoAt({ email, cookie }: Thief, gatewayId: string, role: string): Promise<void> {
  const { token } = await invitePerson(service.deps, { email, gatewayId, role, by: { kind: 'command', name: 'root@host' } });
  await desk.acceptInvitation({ token, credential: '', visitor: { address: '127.0.0.1', browser: 'x' }, cookie });
}

async function post({ cookie }: Pick<Thief, 'cookie'>, path: string, body: string | Fields, headers: Record<string, string> = OWN) {
  const answer = await fetch(`${served.origin}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: `__Host-sluice=${cookie}`, ...headers },
    body: typeof body === 'string' ? body : new URLSearchParams(body).toString(),
  });
  return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() };
}

const actPath = (act: string, gateway = shop.id) => `/g/${gateway}/acts/${act}`;
/** What a thief's browser signs so that this is done. */
async function prove(thief: Thief, path: string, fields: Fields): Promise<string> {
  const { status, text } = await post(thief, `${path}/proof`, fields);
  expect(status, text).toBe(200);
  return thief.passkey.sign(JSON.parse(text) as object);
}

const aCashout = (over: Fields = {}): Fields => ({
  assetId: service.world.assets.USDT?.id ?? '',
  amount: '1.5',
  address: `0x${randomUUID().replaceAll('-', '')}${'0'.repeat(8)}`,
  ...over,
});
const cashouts = async (of = shop.id) => (await sql()`select 1 from settlements where gateway_id = ${of}`).length;

describe('a signature for one act', () => {
  it('does it, and it alone, once: not sent again, not in a second tab, not after the back button', async () => {
    const [thief, fields, before] = [await member('owner'), aCashout(), await cashouts()];
    const proof = await prove(thief, actPath('settlement-create'), fields);
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(thief, actPath('settlement-create'), { ...fields, proof })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 403, 403, 403, 403]);
    expect((await post(thief, actPath('settlement-create'), { ...fields, proof })).status).toBe(403);
    expect(await cashouts()).toBe(before + 1);
  });

  it.each<[string, (fields: Fields) => Fields]>([
    ['another amount', (fields) => ({ ...fields, amount: '15' })],
    ['the same amount in other digits', (fields) => ({ ...fields, amount: '1.50' })],
    ['another address', (fields) => ({ ...fields, address: `0x${'9'.repeat(40)}` })],
    ['another route', (fields) => ({ ...fields, route: 'SMART' })],
    ['a label that nobody agreed to', (fields) => ({ ...fields, label: 'Payroll' })],
  ])('does not do it with %s', async (_what, altered) => {
    const [thief, fields, before] = [await member('owner'), aCashout(), await cashouts()];
    const proof = await prove(thief, actPath('settlement-create'), fields);
    expect((await post(thief, actPath('settlement-create'), { ...altered(fields), proof })).status).toBe(403);
    expect(await cashouts()).toBe(before);
  });

  it('does nothing at another gateway of the same person, nor another act, nor in another of their browsers, nor for somebody else', async () => {
    const [thief, other, fields] = [await member('owner'), await member('owner'), aCashout()];
    await alsoAt(thief, stranger.id, 'owner');
    const before = [await cashouts(), await cashouts(stranger.id)];
    const signed = () => prove(thief, actPath('settlement-create'), fields);
    expect((await post(thief, actPath('settlement-create', stranger.id), { ...fields, proof: await signed() })).status).toBe(403);
    expect((await post(other, actPath('settlement-create'), { ...fields, proof: await signed() })).status).toBe(403);
    const credential = thief.passkey.sign(await desk.signInOptions({ address: '127.0.0.1' }));
    const elsewhere = await desk.signIn({ credential, visitor: { address: '127.0.0.1', browser: 'y' }, cookie: null });
    expect((await post({ cookie: elsewhere.cookie }, actPath('settlement-create'), { ...fields, proof: await signed() })).status).toBe(403);
    expect((await post(thief, actPath('key-create'), { name: 'x', 'may:payment:read': 'on', proof: await signed() })).status).toBe(403);
    expect([await cashouts(), await cashouts(stranger.id)]).toEqual(before);
  });

  it('does nothing once the role, or the session, is gone that it was made with', async () => {
    const thief = await member('approver');
    const id = (await EXAMPLES.getSettlement(service, shop)).params?.settlementId ?? '';
    const proof = await prove(thief, actPath('settlement-approve'), { id });
    await sql()`update memberships set role = 'support' where person_id = (select id from people where email = ${thief.email}) and ended_at is null`;
    expect((await post(thief, actPath('settlement-approve'), { id, proof })).status).toBe(403);
    const [operator, freeze] = [await member('operator', null), { network: 'ethereum', reason: 'x' }];
    const stolen = await prove(operator, '/ops/acts/network-pause', freeze);
    await sql()`update memberships set ended_at = sluice_now() where person_id = (select id from people where email = ${operator.email})`;
    expect((await post(operator, '/ops/acts/network-pause', { ...freeze, proof: stolen })).status).toBe(404);
    expect((await post(operator, '/ops/acts/dispatch-freeze', { reason: 'x' })).status, 'what a session alone does').toBe(404);
    expect(await sql()`select 1 from networks where paused_at is not null`).toEqual([]);
    expect((await shop.signed('GET', `/merchant/settlements/${id}`)).data.status).toBe('PENDING_APPROVAL');
  });
});

describe('a request that no page of the console sent', () => {
  it.each<[string, Record<string, string>]>([
    ['another site', { origin: 'https://evil.example' }],
    ['another site, in so many words', { 'sec-fetch-site': 'cross-site', origin: 'http://localhost' }],
    ['a neighbour', { 'sec-fetch-site': 'same-site' }],
    ['nobody who says', {}],
    ['no page at all', { 'sec-fetch-site': 'none' }],
    ['a sandboxed frame', { origin: 'null' }],
  ])('by %s does nothing, whatever type it calls itself', async (_what, headers) => {
    const [thief, support] = [await member('finance'), await member('support')];
    const payment = (await EXAMPLES.resendPaymentWebhook(service, shop)).params?.paymentId ?? '';
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x', 'application/json']) {
      const sent = { ...headers, 'content-type': type };
      expect((await post(support, actPath('webhook-resend'), { payment }, sent)).status, type).toBe(403);
      expect((await post(thief, actPath('export-create'), { kind: 'ledger', format: 'csv' }, sent)).status, type).toBe(403);
    }
    expect(await sql()`select 1 from console_actions where target in (${payment}, 'ledger') and gateway_id = ${shop.id}`).toEqual([]);
  });

  it('does nothing by an address alone, nor by a cookie of another name or place', async () => {
    const support = await member('support');
    const payment = (await EXAMPLES.resendPaymentWebhook(service, shop)).params?.paymentId ?? '';
    const path = actPath('webhook-resend');
    const get = await fetch(`${served.origin}${path}?payment=${payment}`, { headers: { cookie: `__Host-sluice=${support.cookie}` } });
    expect(get.status).toBe(404);
    for (const cookie of ['', `sluice=${support.cookie}`, `x__Host-sluice=${support.cookie}`]) {
      const { status, location } = await post({ cookie: '' }, path, { payment }, { ...OWN, cookie });
      expect([status, location]).toEqual([303, '/sign-in']);
    }
    expect(await sql()`select 1 from console_actions where target = ${payment}`).toEqual([]);
  });

  it('is refused when it is too large, cut into too many pieces, or names what is no act', async () => {
    const thief = await member('owner');
    expect((await post(thief, actPath('export-create'), `kind=${'x'.repeat(70_000)}`)).status).toBe(413);
    for (const act of ['constructor', '__proto__', 'toString', 'settlement-burn', 'settlement.approve'])
      expect((await post(thief, actPath(act), { id: randomUUID() })).status, act).toBe(404);
    for (const body of [
      '__proto__=x&kind=ledger&format=csv',
      'kind=ledger&kind=burn&format=csv',
      'kind[]=ledger&format=csv',
      `${'a=1&'.repeat(9_000)}kind=ledger`,
      '%ff%fe=%00',
    ])
      expect((await post(thief, actPath('export-create'), body)).status, body.slice(0, 40)).toBe(422);
    expect((await post(thief, actPath('webhook-resend'), { payment: '\0' })).status).toBe(422);
    expect(await sql()`select 1 from exports where gateway_id = ${shop.id}`).toEqual([]);
  });
});

describe('whoever holds one role', () => {
  it('does nothing that it does not allow, whatever they prove', async () => {
    const { GATEWAY_ACTS } = await import('#api/people/gateway-acts/gateway-acts.ts');
    const roles = await sql()<{ name: string; permissions: string[] }[]>`select name, permissions from roles where not operates and name <> 'owner'`;
    for (const { name, permissions } of roles) {
      const thief = await member(name);
      for (const act of GATEWAY_ACT_NAMES.filter((one) => !permissions.includes(GATEWAY_ACTS[one].permission))) {
        for (const path of [actPath(act), `${actPath(act)}/proof`]) expect((await post(thief, path, {})).status, `${name} ${path}`).toBe(403);
      }
      for (const act of OPERATOR_ACT_NAMES) expect((await post(thief, `/ops/acts/${act}`, {})).status, `${name} ${act}`).toBe(404);
    }
  });

  it('reaches nothing of another gateway by its ids', async () => {
    const thief = await member('owner');
    const victim = await member('owner', stranger.id);
    const second = await member('owner', stranger.id);
    const parked = (await EXAMPLES.getSettlement(service, stranger)).params?.settlementId ?? '';
    const payment = (await EXAMPLES.resendPaymentWebhook(service, stranger)).params?.paymentId ?? '';
    const key = stranger.apiKey.split('_')[1] ?? '';
    const invited = { email: `new-${randomUUID()}@example.com`, role: 'owner' };
    const proof = await prove(victim, actPath('member-invite', stranger.id), invited);
    expect((await post(victim, actPath('member-invite', stranger.id), { ...invited, proof })).status).toBe(303);
    const [{ id: change }] = (await sql()`select id from member_proposals where gateway_id = ${stranger.id} and state = 'waiting'`) as unknown as [
      { id: string },
    ];
    const [{ id: address }] = (await sql()`select id from address_book where gateway_id = ${stranger.id} limit 1`) as unknown as [{ id: string }];
    const foreign: [string, Fields][] = [
      ['settlement-approve', { id: parked }],
      ['settlement-cancel', { id: parked }],
      ['settlement-retry', { id: parked }],
      ['webhook-resend', { payment }],
      ['key-revoke', { id: key }],
      ['address-rename', { id: address, label: 'Mine' }],
      ['address-hide', { id: address }],
      ['member-confirm', { id: change }],
      ['member-withdraw', { id: change }],
      ['member-remove', { email: second.email }],
      ['policies-agree', { version: '1' }],
      ['policies-decline', { version: '1' }],
    ];
    for (const [act, fields] of foreign) {
      const asked = await post(thief, `${actPath(act)}/proof`, fields);
      const signed = asked.status === 200 ? thief.passkey.sign(JSON.parse(asked.text) as object) : '';
      expect((await post(thief, actPath(act), { ...fields, ...(signed !== '' && { proof: signed }) })).status, act).toBe(404);
      expect((await post(thief, actPath(act, stranger.id), fields)).status, act).toBe(404);
    }
    expect(await sql()`select state from member_proposals where id = ${change}`).toEqual([{ state: 'waiting' }]);
    expect(await sql()`select revoked_at from api_keys where id = ${key}`).toEqual([{ revokedAt: null }]);
    expect((await stranger.signed('GET', `/merchant/settlements/${parked}`)).data.status).toBe('PENDING_APPROVAL');
  });
});

describe('what an approver reads', () => {
  it.each([
    ['turns text around', '\u202emoc.elpmaxe@ofc\u202c', 'u{202e}'],
    ['hides in it', 'cf\u200bo@example.com', 'u{200b}'],
    ['is a tag of it', 'cfo\u{e0041}@example.com', 'u{e0041}'],
    ['is a page of its own', '</dd><script>alert(1)</script><img src=x>', '&lt;script>'],
  ])('shows for what it is whatever a key wrote there that %s', async (_what, hostile, shows) => {
    const approver = await member('approver');
    const made = await shop.signed('POST', '/merchant/settlements', {
      body: { ...aCashout({ amount: '2' }), metadata: { requester: hostile, about: hostile, [`k ${hostile}`]: 1 } },
    });
    expect(made.data).toMatchObject({ status: 'PENDING_APPROVAL' });
    const answer = await fetch(`${served.origin}/g/${shop.id}/cashouts/${String(made.data.id)}`, { headers: { cookie: `__Host-sluice=${approver.cookie}` } });
    const html = await answer.text();
    expect(answer.status).toBe(200);
    expect(html.split(shows).length - 1, 'wherever it stands').toBeGreaterThanOrEqual(4);
    expect(html).not.toContain(hostile);
    expect(html).not.toMatch(/<script>alert|<img src=x|[\u200b\u202a-\u202e\u{e0041}]/u);
  });
});
