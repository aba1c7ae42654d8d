import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import { aLyingProvider, type LyingProvider } from '#test/fixtures/lying-provider.ts';
import { aConsoleStage, aMember, type ConsoleStage, withAuthenticator } from '#test/harness/console-stage.ts';

const ADDRESS = '198.51.100.7';
const VISITOR = { address: ADDRESS, browser: 'a browser' };

let stage: ConsoleStage;
let provider: LyingProvider;
let desk: PeopleDesk;
beforeAll(async () => {
  [stage, provider] = await Promise.all([aConsoleStage(), aLyingProvider()]);
  const rules = [
    { claim: 'groups', value: 'shop-finance', gateway: stage.gatewayId, role: 'finance' },
    { claim: 'groups', value: 'shop-owners', gateway: stage.gatewayId, role: 'owner' },
    { claim: 'groups', value: 'ops', gateway: null, role: 'operator' },
    { claim: 'groups', value: 'wrong', gateway: randomUUID(), role: 'owner' },
  ];
  const config = {
    ...stage.deps.config,
    SLUICE_OIDC_ISSUER: provider.issuer,
    SLUICE_OIDC_CLIENT_ID: provider.clientId,
    SLUICE_OIDC_CLIENT_SECRET: provider.clientSecret,
    SLUICE_OIDC_NAME: 'Acme SSO',
    SLUICE_OIDC_RULES: rules,
  };
  desk = openPeopleDesk({ ...stage.deps, config });
});
afterAll(async () => {
  await stage?.stop();
  await provider?.stop();
});
beforeEach(() => {
  provider.lie = {};
});

const person = (over: Record<string, unknown> = {}) => {
  const name = randomUUID();
  return { sub: name, email: `${name}@example.com`, email_verified: true, ...over };
};
/** Goes to the provider and comes back, in one browser. */
async function signIn(claims: Record<string, unknown>, cookie: string | null = null): Promise<string | null> {
  const { url, browser } = await desk.beginProviderSignIn({ address: ADDRESS });
  return (await desk.finishProviderSignIn({ query: provider.visit(url, claims), browser, visitor: VISITOR, cookie })).cookie;
}
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: { code: string }) => error.code,
  );
const rolesOf = async (email: string) =>
  stage.database
    .sql`select m.gateway_id, m.role from memberships m join people p on p.id = m.person_id where p.email = ${email} and m.ended_at is null order by m.role`;

describe('a provider', () => {
  it('signs in whom a rule makes a member, by a verified address, and finds them by their subject from then on', async () => {
    const anna = person({ groups: ['shop-finance', 'other'] });
    expect(await signIn(anna)).toMatch(/^[\w-]{43}$/);
    expect(await rolesOf(anna.email)).toEqual([{ gatewayId: stage.gatewayId, role: 'finance' }]);
    // Whatever address it tells later, it is the same person.
    const other = `other-${anna.email}`;
    expect(await signIn({ ...anna, email: other })).not.toBeNull();
    expect(await stage.database.sql`select 1 from people where email = ${other}`).toHaveLength(0);
    expect(
      await stage.database.sql`select act from console_actions where target in (select id::text from people where email = ${anna.email}) order by seq`,
    ).toMatchObject([{ act: 'membership.give' }, { act: 'identity.add' }]);
  });

  it('takes a role away that its claim gave and gives no more, and leaves what an invitation gave', async () => {
    const ben = person({ groups: ['shop-owners', 'ops'] });
    await signIn(ben);
    expect(await rolesOf(ben.email)).toEqual([
      { gatewayId: null, role: 'operator' },
      { gatewayId: stage.gatewayId, role: 'owner' },
    ]);
    await signIn({ ...ben, groups: ['shop-finance'] });
    expect(await rolesOf(ben.email)).toEqual([{ gatewayId: stage.gatewayId, role: 'finance' }]);
    await signIn({ ...ben, groups: [] });
    expect(await rolesOf(ben.email)).toEqual([]);

    const cleo = person();
    await aMember(stage.database, { email: cleo.email, gatewayId: stage.gatewayId, role: 'support' });
    await signIn({ ...cleo, groups: ['shop-owners'] });
    expect(await rolesOf(cleo.email), 'an invitation gave it').toEqual([{ gatewayId: stage.gatewayId, role: 'support' }]);
  });

  it('is not believed about the address of somebody who signs in otherwise: neither with a passkey nor with an authenticator', async () => {
    const dan = person({ groups: ['shop-owners'] });
    const cookie = await aMember(stage.database, { email: dan.email, gatewayId: stage.gatewayId, role: 'owner' });
    await withAuthenticator({ deps: stage.deps, desk, database: stage.database }, { email: dan.email, cookie });
    expect(await codeOf(signIn(dan))).toBe('conflict');
    expect(await stage.database.sql`select 1 from identities where subject = ${dan.sub}`).toHaveLength(0);
  });

  it('connects to somebody who agreed to it with a proof of their own, in the session that agreed', async () => {
    const eve = person();
    const cookie = await aMember(stage.database, { email: `e-${eve.email}`, gatewayId: stage.gatewayId, role: 'owner' });
    const code = await withAuthenticator({ deps: stage.deps, desk, database: stage.database }, { email: `e-${eve.email}`, cookie });
    expect(await codeOf(desk.connectProvider({ cookie, address: ADDRESS, proof: '000000' }))).toBe('forbidden');
    const { url, browser } = await desk.connectProvider({ cookie, address: ADDRESS, proof: code() });
    const query = provider.visit(url, eve);
    const thief = await aMember(stage.database, { email: `t-${eve.email}`, gatewayId: stage.gatewayId, role: 'support' });
    expect(await codeOf(desk.finishProviderSignIn({ query, browser, visitor: VISITOR, cookie: thief })), 'another session').toBe('forbidden');
    const again = await desk.connectProvider({ cookie, address: ADDRESS, proof: code(1) });
    expect(await desk.finishProviderSignIn({ query: provider.visit(again.url, eve), browser: again.browser, visitor: VISITOR, cookie })).toEqual({
      cookie: null,
    });
    const session = await signIn(eve);
    const [row] = await stage.database.sql`
      select p.email from identities i join people p on p.id = i.person_id where i.subject = ${eve.sub}`;
    expect([typeof session, row?.email]).toEqual(['string', `e-${eve.email}`]);
  });

  it.each([
    ['no verified address', { email_verified: false }],
    ['an address verified by a word', { email_verified: 'true' }],
    ['no address', { email: undefined }],
    ['what is no address', { email: 'root' }],
    ['nobody whom a rule or an invitation knows', { groups: ['strangers'] }],
    ['a rule for a gateway that is none', { groups: ['wrong'] }],
  ])('signs nobody in with %s', async (_what, over) => {
    const one = person({ groups: ['shop-owners'], ...over });
    expect(['forbidden', 'validation_error']).toContain(await codeOf(signIn(one)));
    expect(await stage.database.sql`select 1 from identities where subject = ${one.sub}`).toHaveLength(0);
  });

  it.each([
    ['another issuer', { claims: { iss: 'https://evil.example' } }],
    ['another audience', { claims: { aud: 'another client' } }],
    ['another nonce', { claims: { nonce: 'x'.repeat(43) } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['an end that has passed', { claims: { exp: 1 } }],
    ['no subject', { claims: { sub: undefined } }],
    ['no signature', { header: { alg: 'none' } }],
    ['a signature by HMAC', { header: { alg: 'HS256' } }],
    ['a key that nobody published', { foreignKey: true }],
  ])('proves nothing by a token with %s', async (_what, lie) => {
    provider.lie = lie;
    expect(await codeOf(signIn(person({ groups: ['shop-owners'] })))).toBe('forbidden');
  });

  it('is answered once, and only in the browser that asked', async () => {
    const one = person({ groups: ['shop-owners'] });
    const { url, browser } = await desk.beginProviderSignIn({ address: ADDRESS });
    const query = provider.visit(url, one);
    const finish = (with_: { query?: string; browser?: string }) =>
      codeOf(desk.finishProviderSignIn({ query, browser, visitor: VISITOR, cookie: null, ...with_ }));
    const elsewhere = await desk.beginProviderSignIn({ address: ADDRESS });
    expect(await finish({ browser: elsewhere.browser })).toBe('forbidden');
    expect(await finish({ query: query.replace(/state=[^&]*/, 'state=x') })).toBe('forbidden');
    expect(await finish({ query: '' })).toBe('forbidden');
    expect(await finish({})).toBe('done');
    expect(await finish({})).toBe('forbidden');
    expect(new URL(url).searchParams.get('code_challenge_method')).toBe('S256');
  });

  it('that is broken or away is told apart from one that refuses', async () => {
    provider.lie = { status: 503 };
    expect(await codeOf(signIn(person({ groups: ['shop-owners'] })))).toBe('service_unavailable');
    const nobody = { SLUICE_OIDC_ISSUER: 'http://127.0.0.1:1', SLUICE_OIDC_CLIENT_ID: 'sluice', SLUICE_OIDC_CLIENT_SECRET: 'theirs' };
    const away = openPeopleDesk({ ...stage.deps, config: { ...stage.deps.config, ...nobody } });
    expect(await codeOf(away.beginProviderSignIn({ address: ADDRESS }))).toBe('service_unavailable');
  });

  it('is none where none is configured', async () => {
    expect(await codeOf(openPeopleDesk(stage.deps).beginProviderSignIn({ address: ADDRESS }))).toBe('not_found');
  });
});
