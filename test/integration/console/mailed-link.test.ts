import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hashToken } from '#api/people/one-time-token.ts';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import { insertAuthenticator, seedPlace } from '#api/store/authenticators.ts';
import { newTotpSecret } from '#api/gateways/totp.ts';
import { resealEverything } from '#api/operator/reseal.ts';
import { POLICY } from '#shared/core/policy.ts';
import { keyId, masterKeys } from '#shared/platform/key-ring.ts';
import { openWithAny, seal, wrappingKey } from '#shared/platform/sealed-secrets.ts';
import { aConsoleStage, aMember, type ConsoleStage } from '#test/harness/console-stage.ts';
import { totpCode } from '#test/harness/totp-code.ts';

const VISITOR = { address: '198.51.100.7', browser: 'a browser' };
const REFUSED = { code: 'forbidden' };

let stage: ConsoleStage;
let desk: PeopleDesk;
beforeAll(async () => {
  stage = await aConsoleStage();
  desk = openPeopleDesk(stage.deps);
});
afterAll(() => stage?.stop());
beforeEach(() => stage.mails.splice(0));

/** Somebody with an authenticator; whose codes of the past count too, so that a test need not wait for the next one. */
async function somebody(email: string): Promise<{ personId: string; cookie: string; codes: string[]; code(step?: number): string }> {
  const cookie = await aMember(stage.database, { email, gatewayId: stage.gatewayId, role: 'owner' });
  const [{ id: personId }] = (await stage.database.sql`select id from people where email = ${email}`) as unknown as [{ id: string }];
  const secret = newTotpSecret(stage.deps.randomBytes);
  const id = personId;
  const { current } = masterKeys(stage.deps.config);
  const sealed = seal(wrappingKey(current), seedPlace(id), secret, stage.deps.randomBytes);
  await stage.database.transaction((tx) => insertAuthenticator(tx, { id, personId, sealed, sealedUnder: keyId(current) }));
  const code = (step = 0): string => totpCode(secret, Math.floor(Date.now() / 1_000) + step * POLICY.totpStepSeconds);
  // Again where half a minute ends just then.
  const start = () => desk.startAuthenticator({ cookie, address: VISITOR.address, code: code(-1) });
  const { codes } = await start().catch(start);
  return { personId, cookie, codes, code };
}
/** The token of the link that was mailed last, once it was. */
async function mailed(email: string): Promise<string> {
  await desk.mailLink({ email, visitor: VISITOR });
  const mail = await expect
    .poll(() => stage.mails.find(({ to }) => to === email.toLowerCase()))
    .toBeDefined()
    .then(() => stage.mails.pop());
  return /\/sign-in\/link\/([\w-]{43})\n/.exec(mail?.text ?? '')?.[1] as string;
}
const signIn = (token: string, code: string) => desk.signInByLink({ token, code, visitor: VISITOR, cookie: null });

describe('a mailed link', () => {
  it('signs in once, together with a code, and neither does without the other', async () => {
    const { code, personId } = await somebody('anna@example.com');
    const token = await mailed('Anna@example.com');
    expect(await stage.database.sql`select 1 from sign_in_links where token_hash = ${hashToken(token)} and person_id = ${personId}`).toHaveLength(1);
    await expect(signIn(token, '')).rejects.toMatchObject(REFUSED);
    await expect(signIn('x'.repeat(43), code())).rejects.toMatchObject({ code: 'not_found' });
    const { cookie } = await signIn(token, code());
    expect(await stage.database.sql`select 1 from sessions where token_hash = ${hashToken(cookie)} and person_id = ${personId}`).toHaveLength(1);
    await expect(signIn(token, code(1))).rejects.toMatchObject({ code: 'not_found' });
  });

  it('says nothing of whether there is such a person, and is mailed to nobody else', async () => {
    await aMember(stage.database, { email: 'nolink@example.com', gatewayId: stage.gatewayId, role: 'owner' });
    const known = await somebody('ben@example.com');
    const answers = [];
    for (const email of ['ben@example.com', 'nolink@example.com', 'nobody@example.com', 'no address', "'; drop table people; --", ''])
      answers.push(await desk.mailLink({ email, visitor: VISITOR }));
    expect(answers).toEqual(answers.map(() => ({})));
    await expect.poll(() => stage.mails.length).toBe(1);
    expect(stage.mails[0]).toMatchObject({ to: 'ben@example.com' });
    expect(known.personId).toBeTruthy();
  });

  it('is mailed three times in a quarter of an hour at most, whoever asks how often', async () => {
    await somebody('cleo@example.com');
    await Promise.all(Array.from({ length: 12 }, () => desk.mailLink({ email: 'cleo@example.com', visitor: VISITOR })));
    await expect.poll(() => stage.mails.length).toBe(3);
    // Another person's mail comes behind theirs.
    await somebody('dora@example.com');
    await mailed('dora@example.com');
    expect(stage.mails.filter(({ to }) => to === 'cleo@example.com')).toHaveLength(3);
  });

  it('does not work after a quarter of an hour', async () => {
    const { code } = await somebody('eli@example.com');
    const token = await mailed('eli@example.com');
    await stage.database.sql`update sign_in_links set expires_at = now() - interval '1 second'`;
    await expect(signIn(token, code())).rejects.toMatchObject({ code: 'not_found' });
  });

  it('lets one of many in who send the same link and the same code at once', async () => {
    const { code } = await somebody('finn@example.com');
    const token = await mailed('finn@example.com');
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => signIn(token, code())));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('a code', () => {
  it('counts once, also one from paper, and an older one does not count after it', async () => {
    const { code, codes, cookie } = await somebody('gus@example.com');
    const held = { cookie, address: VISITOR.address };
    const use = (proof: string) => desk.makeAuthenticator({ ...held, proof });
    const [now, before] = [code(), code(-1)];
    await use(now);
    await expect(use(now)).rejects.toMatchObject(REFUSED);
    await expect(use(before)).rejects.toMatchObject(REFUSED);
    const [paper = ''] = codes;
    await use(paper.toUpperCase().replaceAll('-', ' '));
    await expect(use(paper)).rejects.toMatchObject(REFUSED);
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => use(codes[1] as string)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is not guessed: five wrong ones lock that person out for a while, and nobody else', async () => {
    const [one, other] = [await somebody('hal@example.com'), await somebody('ida@example.com')];
    const [token, theirs] = [await mailed('hal@example.com'), await mailed('ida@example.com')];
    for (let wrong = 0; wrong < 5; wrong++) await expect(signIn(token, '000000')).rejects.toMatchObject(REFUSED);
    await expect(signIn(token, one.code())).rejects.toMatchObject({ code: 'rate_limit_exceeded', retryAfterSeconds: expect.any(Number) });
    await expect(signIn(token, one.codes[0] as string)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    await signIn(theirs, other.code());
    await stage.database.sql`update code_guards set locked_until = now() where person_id = ${one.personId}`;
    await expect(signIn(token, '000000')).rejects.toMatchObject(REFUSED);
    await signIn(token, one.code());
  });

  it('lets nobody take an authenticator of their own by a session alone', async () => {
    const cookie = await aMember(stage.database, { email: 'jan@example.com', gatewayId: stage.gatewayId, role: 'owner' });
    for (const proof of ['', '000000', '{}', '{"id":"x"}'])
      await expect(desk.makeAuthenticator({ cookie, address: 'a', proof }), proof).rejects.toMatchObject(REFUSED);
    await expect(desk.startAuthenticator({ cookie, address: 'a', code: '000000' })).rejects.toMatchObject(REFUSED);
    expect(await stage.database.sql`select 1 from authenticators a join people p on p.id = a.person_id where p.email = 'jan@example.com'`).toEqual([]);
  });

  it('keeps its seed sealed, also when the master key changes, and the console reads neither it nor the codes', async () => {
    const { code, personId } = await somebody('kim@example.com');
    const { SLUICE_MASTER_KEY: before } = stage.deps.config;
    const config = { ...stage.deps.config, SLUICE_MASTER_KEY: 'another master key of more than thirty-two', SLUICE_MASTER_KEY_PREVIOUS: before };
    const found = async () =>
      (
        await stage.database.sql<[{ sealed: Uint8Array; sealedUnder: string }]>`select sealed, sealed_under from authenticators where person_id = ${personId}`
      )[0];
    expect(openWithAny(masterKeys(config), seedPlace(personId), (await found()).sealed).key).toBe(before);
    await resealEverything({ ...stage.deps, config, db: stage.database.as('worker') });
    expect((await found()).sealedUnder).toBe(keyId(config.SLUICE_MASTER_KEY));
    const token = await mailed('kim@example.com');
    await openPeopleDesk({ ...stage.deps, config: { ...config, SLUICE_MASTER_KEY_PREVIOUS: undefined } }).signInByLink({
      token,
      code: code(),
      visitor: VISITOR,
      cookie: null,
    });
    const { sql } = stage.database.as('console');
    for (const statement of ['select sealed from authenticators', 'select code_hash from recovery_codes', 'update authenticators set ended_at = null'])
      await expect(sql.unsafe(statement), statement).rejects.toMatchObject({ code: '42501' });
  });
});
