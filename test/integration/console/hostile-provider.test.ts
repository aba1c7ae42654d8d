import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import { POLICY } from '#shared/core/policy.ts';
import { aLyingProvider, type LyingProvider } from '#test/fixtures/lying-provider.ts';
import { aConsoleStage, aMember, type ConsoleStage, withAuthenticator } from '#test/harness/console-stage.ts';

const ADDRESS = '198.51.100.7';
const VISITOR = { address: ADDRESS, browser: 'a browser' };
const BOSS = 'boss@example.com';

let stage: ConsoleStage;
let provider: LyingProvider;
let openDesk: () => PeopleDesk;
let desk: PeopleDesk;
beforeAll(async () => {
  [stage, provider] = await Promise.all([aConsoleStage(), aLyingProvider()]);
  const config = {
    ...stage.deps.config,
    SLUICE_OIDC_ISSUER: provider.issuer,
    SLUICE_OIDC_CLIENT_ID: provider.clientId,
    SLUICE_OIDC_CLIENT_SECRET: provider.clientSecret,
    SLUICE_OIDC_RULES: [
      { claim: 'groups', value: 'support', gateway: stage.gatewayId, role: 'support' },
      { claim: 'groups', value: 'owners', gateway: stage.gatewayId, role: 'owner' },
      { claim: 'email', value: BOSS, gateway: null, role: 'operator' },
      { claim: 'phone_number', value: '+15550100', gateway: null, role: 'operator' },
    ],
  };
  openDesk = () => openPeopleDesk({ ...stage.deps, config });
  desk = openDesk();
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
  return { sub: name, email: `${name}@example.com`, email_verified: true, groups: ['support'], ...over };
};
async function signIn(claims: Record<string, unknown>): Promise<string | null> {
  const { url, browser } = await desk.beginProviderSignIn({ address: ADDRESS });
  return (await desk.finishProviderSignIn({ query: provider.visit(url, claims), browser, visitor: VISITOR, cookie: null })).cookie;
}
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code ?? 'none',
  );
const rolesOf = async (email: string): Promise<string[]> =>
  (
    await stage.database.sql<{ role: string }[]>`
      select m.role from memberships m join people p on p.id = m.person_id where p.email = ${email} and m.ended_at is null order by m.role`
  ).map(({ role }) => role);
/** Somebody whom a rule made an owner, who has an authenticator besides; answers what makes codes, each call of which is a step later. */
async function ownerByRule(): Promise<{ claims: ReturnType<typeof person>; cookie: string; code: (later?: number) => string }> {
  const claims = person({ groups: ['owners'] });
  const cookie = (await signIn(claims)) as string;
  const [row] = await stage.database.sql<[{ id: string }]>`select id from people where email = ${claims.email}`;
  expect(row.id).toBeTruthy();
  const code = await withAuthenticator({ deps: stage.deps, desk, database: stage.database }, { email: claims.email, cookie });
  return { claims, cookie, code };
}

/** Signs somebody in by a mailed link and a code. */
async function byLink(email: string, code: string): Promise<void> {
  const before = stage.mails.length;
  await desk.mailLink({ email, visitor: VISITOR });
  await expect.poll(() => stage.mails.length).toBe(before + 1);
  const token = /sign-in\/link\/([\w-]+)/.exec(stage.mails.at(-1)?.text ?? '')?.[1] ?? '';
  await desk.signInByLink({ token, code, visitor: VISITOR, cookie: null });
}

describe('a provider that lets people write their own claims', () => {
  it('gives no role by an address or a number that it does not say it verified, also to somebody it signs in already', async () => {
    const mallory = person();
    await signIn(mallory);
    expect(await rolesOf(mallory.email)).toEqual(['support']);
    for (const over of [
      { email: BOSS, email_verified: false },
      { email: BOSS, email_verified: undefined },
      { email: BOSS, email_verified: 'true' },
      { phone_number: '+15550100' },
      { phone_number: '+15550100', phone_number_verified: false },
    ]) {
      await signIn({ ...mallory, ...over });
      expect(await rolesOf(mallory.email), JSON.stringify(over)).toEqual(['support']);
    }
    await signIn({ ...mallory, email: BOSS });
    expect(await rolesOf(mallory.email), 'verified').toEqual(['operator', 'support']);
  });

  it('makes nobody of an address that only looks like another one: K of kelvin is not the letter k', async () => {
    const kate = `kate-${randomUUID()}@example.com`;
    await aMember(stage.database, { email: kate, gatewayId: stage.gatewayId, role: 'owner' });
    await stage.database.sql`delete from passkeys where person_id = (select id from people where email = ${kate})`;
    const lookalike = person({ email: kate.replace('k', '\u212a'), groups: [] });
    expect(await codeOf(signIn(lookalike))).toBe('validation_error');
    expect(await stage.database.sql`select 1 from identities where subject = ${lookalike.sub}`).toHaveLength(0);
  });

  it.each([
    ['longer than any may be', 'x'.repeat(256)],
    ['with a byte that no text of the database holds', 'a\u0000b'],
    ['of nothing', ''],
  ])('is refused, and breaks nothing, with a subject %s', async (_what, sub) => {
    expect(await codeOf(signIn(person({ sub })))).toBe('forbidden');
  });
});

describe('a provider that answers slowly or without end', () => {
  it('costs a sign-in a few megabytes, however much it pours', async () => {
    provider.lie = { body: 'endless' };
    provider.poured = 0;
    expect(await codeOf(signIn(person()))).toBe('service_unavailable');
    // What the kernel takes on both sides comes on top of what was read.
    expect(provider.poured).toBeLessThan(16 * 1024 * 1024);
  });

  it('keeps nobody from signing in who does it otherwise, and is told apart from one that refuses', async () => {
    provider.lie = { body: 'silent' };
    const email = `slow-${randomUUID()}@example.com`;
    const cookie = await aMember(stage.database, { email, gatewayId: stage.gatewayId, role: 'owner' });
    const hanging = Array.from({ length: 50 }, () => codeOf(signIn(person())));
    const others = await Promise.all(Array.from({ length: 20 }, () => codeOf(desk.newPasskeyOptions({ cookie, address: ADDRESS }))));
    expect(new Set(others)).toEqual(new Set(['done']));
    expect(new Set(await Promise.all(hanging))).toEqual(new Set(['service_unavailable']));
  });
});

describe('a provider that changes its key', () => {
  const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    desk = openDesk();
  });
  afterEach(() => {
    provider.discovery.status = 200;
    vi.useRealTimers();
    // What the last one keeps is of a time to come.
    desk = openDesk();
  });

  it('signs people in with the new one after a minute, and whoever stole the old one nobody', async () => {
    expect(await codeOf(signIn(person()))).toBe('done');
    provider.rotate();
    pass(61_000);
    expect(await codeOf(signIn(person()))).toBe('done');
    provider.lie = { retiredKey: true };
    expect(await codeOf(signIn(person()))).toBe('forbidden');
  });

  it('is believed with the old one for at most five minutes when nobody came with the new one', async () => {
    expect(await codeOf(signIn(person()))).toBe('done');
    provider.rotate();
    provider.lie = { retiredKey: true };
    pass(301_000);
    expect(await codeOf(signIn(person()))).toBe('forbidden');
  });

  it('is asked every hour where its endpoints are, and stays known while it does not answer', async () => {
    await signIn(person());
    const { asked } = provider.discovery;
    pass(3_601_000);
    provider.discovery.status = 500;
    expect(await codeOf(signIn(person()))).toBe('done');
    expect(provider.discovery.asked).toBe(asked + 1);
    provider.discovery.status = 200;
    expect(await codeOf(signIn(person()))).toBe('done');
    expect(provider.discovery.asked).toBe(asked + 1);
    pass(61_000);
    expect(await codeOf(signIn(person()))).toBe('done');
    expect(provider.discovery.asked).toBe(asked + 2);
  });
});

describe('a role that a rule gave', () => {
  it('goes when its person disconnects the provider that spoke for it', async () => {
    const { claims, cookie, code } = await ownerByRule();
    await desk.removeProvider({ cookie, address: ADDRESS, proof: code() });
    expect(await rolesOf(claims.email)).toEqual([]);
  });

  it('is gone when somebody signs in otherwise who did not come by the provider for a week, and comes back with the provider', async () => {
    const { claims, code } = await ownerByRule();
    await byLink(claims.email, code());
    expect(await rolesOf(claims.email), 'came by the provider today').toEqual(['owner']);
    await stage.database.sql`update identities set used_at = used_at - make_interval(secs => ${POLICY.sessionSeconds + 60}) where subject = ${claims.sub}`;
    await byLink(claims.email, code(1));
    expect(await rolesOf(claims.email)).toEqual([]);
    expect(
      await stage.database
        .sql`select before from console_actions where act = 'membership.end' and target = (select id::text from people where email = ${claims.email})`,
    ).toEqual([{ before: { role: 'owner' } }]);
    await signIn(claims);
    expect(await rolesOf(claims.email)).toEqual(['owner']);
  });

  it('that an invitation gave stays, however long ago somebody came by the provider', async () => {
    const email = `invited-${randomUUID()}@example.com`;
    const cookie = await aMember(stage.database, { email, gatewayId: stage.gatewayId, role: 'owner' });
    const code = await withAuthenticator({ deps: stage.deps, desk, database: stage.database }, { email, cookie });
    await byLink(email, code());
    expect(await rolesOf(email)).toEqual(['owner']);
  });
});
