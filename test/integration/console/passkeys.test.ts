import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mailPersonJob } from '#api/jobs/outbox-jobs.ts';
import { runJob } from '#api/jobs/run-job.ts';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import { invitePerson, recoverPerson } from '#api/people/invitations.ts';
import { POLICY } from '#shared/core/policy.ts';
import { aConsoleStage, type ConsoleStage } from '#test/harness/console-stage.ts';
import { type SoftPasskey, softPasskey } from '#test/harness/soft-passkey.ts';
import { totpCode } from '#test/harness/totp-code.ts';

const BY = { kind: 'command', name: 'root@host' } as const;
const ADDRESS = '198.51.100.7';
const VISITOR = { address: ADDRESS, browser: 'a browser' };
const REFUSED = { code: 'forbidden' };

let stage: ConsoleStage;
let desk: PeopleDesk;
beforeAll(async () => {
  stage = await aConsoleStage();
  desk = openPeopleDesk(stage.deps);
});
afterAll(() => stage?.stop());
beforeEach(() => stage.mails.splice(0));

const passkey = () => softPasskey(stage.origin);
/** Opens a link with a new passkey. */
async function open(token: string): Promise<{ key: SoftPasskey; cookie: string }> {
  const key = passkey();
  const credential = key.create(await desk.invitationOptions({ token, address: ADDRESS }));
  const { cookie } = await desk.acceptInvitation({ token, credential, visitor: VISITOR, cookie: null });
  return { key, cookie: cookie as string };
}
/** Somebody with a passkey, signed in. */
async function somebody(email: string) {
  const { token } = await invitePerson(stage.deps, { email, gatewayId: stage.gatewayId, role: 'owner', by: BY });
  const { key, cookie } = await open(token);
  return { key, held: { cookie, address: ADDRESS } };
}
type Somebody = Awaited<ReturnType<typeof somebody>>;
/** Signs in once more, elsewhere. */
async function again({ key }: Somebody) {
  const { cookie } = await desk.signIn({ credential: key.sign(await desk.signInOptions({ address: ADDRESS })), visitor: VISITOR, cookie: null });
  return { cookie, address: ADDRESS };
}
async function addPasskey({ key, held }: Somebody): Promise<SoftPasskey> {
  const added = passkey();
  const credential = added.create(await desk.newPasskeyOptions(held));
  await desk.addPasskey({ ...held, credential, proof: key.sign(await desk.passkeyProofOptions({ ...held, credential })) });
  return added;
}
/** Sets up an authenticator; answers what tells its codes, which no test has to wait for. */
async function addAuthenticator({ key, held }: Somebody) {
  const { secret } = await desk.makeAuthenticator({ ...held, proof: key.sign(await desk.authenticatorProofOptions(held)) });
  const code = (step: number) => totpCode(secret, Math.floor(Date.now() / 1_000) + step * POLICY.totpStepSeconds);
  // Again where half a minute ends just then.
  const start = () => desk.startAuthenticator({ ...held, code: code(-1) });
  const { codes } = await start().catch(start);
  return { code, codes };
}
async function keysOf(email: string): Promise<string[]> {
  const rows = await stage.database.sql<{ id: string }[]>`
    select k.id from passkeys k join people p on p.id = k.person_id where p.email = ${email} and k.removed_at is null order by k.created_at, k.id`;
  return rows.map(({ id }) => id);
}

describe('taking a way to sign in away', () => {
  it('takes a signature over that very passkey, once, from that very session: a session alone removes none', async () => {
    const anna = await somebody('anna@example.com');
    const { key, held } = anna;
    const [second, third] = [await addPasskey(anna), await addPasskey(anna)];
    const ben = await somebody('ben@example.com');
    const elsewhere = await again(anna);
    const remove = (id: string, proof: string, by = held) => desk.removePasskey({ ...by, id, proof });
    const proof = async (id: string, by = held) => key.sign(await desk.passkeyRemovalOptions({ ...by, id }));
    for (const nothing of ['', '000000', '{}', key.sign({ challenge: 'A'.repeat(86) })])
      await expect(remove(second.id, nothing), nothing).rejects.toMatchObject(REFUSED);
    await expect(remove(third.id, await proof(second.id)), 'for another passkey').rejects.toMatchObject(REFUSED);
    await expect(remove(second.id, await proof(second.id, elsewhere)), 'of another session').rejects.toMatchObject(REFUSED);
    await expect(remove(second.id, ben.key.sign(await desk.passkeyRemovalOptions({ ...held, id: second.id }))), 'by another person').rejects.toMatchObject(
      REFUSED,
    );
    await expect(remove(second.id, key.sign(await desk.authenticatorRemovalOptions(held))), 'for another act').rejects.toMatchObject(REFUSED);
    expect(await keysOf('anna@example.com')).toHaveLength(3);
    const used = await proof(second.id);
    await remove(second.id, used);
    await expect(remove(second.id, used), 'again').rejects.toMatchObject(REFUSED);
    await expect(remove(ben.key.id, await proof(ben.key.id)), 'somebody else’s').rejects.toMatchObject({ code: 'not_found' });
    expect(await keysOf('anna@example.com')).toEqual(expect.arrayContaining([key.id, third.id]));
    expect(await keysOf('ben@example.com')).toEqual([ben.key.id]);
    await remove(third.id, await proof(third.id));
    await expect(remove(key.id, await proof(key.id)), 'the last one').rejects.toMatchObject({ code: 'conflict' });
  });

  it('takes the same for an authenticator, or one of its codes', async () => {
    const cleo = await somebody('cleo@example.com');
    const { key, held } = cleo;
    const { code } = await addAuthenticator(cleo);
    const elsewhere = await again(cleo);
    const proof = async (by = held) => key.sign(await desk.authenticatorRemovalOptions(by));
    for (const nothing of ['', '{}', '000000', key.sign(await desk.authenticatorProofOptions(held)), await proof(elsewhere)])
      await expect(desk.removeAuthenticator({ ...held, proof: nothing }), nothing).rejects.toMatchObject(REFUSED);
    const used = await proof();
    await desk.removeAuthenticator({ ...held, proof: used });
    await expect(desk.removeAuthenticator({ ...held, proof: used })).rejects.toMatchObject(REFUSED);
    await expect(desk.removeAuthenticator({ ...held, proof: await proof() })).rejects.toMatchObject({ code: 'not_found' });
    expect(code(0)).toMatch(/^\d{6}$/);
    const dora = await somebody('dora@example.com');
    const theirs = await addAuthenticator(dora);
    await desk.removeAuthenticator({ ...dora.held, proof: theirs.code(0) });
  });
});

describe('an authenticator that was made and not started', () => {
  it('waits a quarter of an hour for its first code, and shares the count of wrong ones with the one that counts', async () => {
    const eli = await somebody('eli@example.com');
    const { key, held } = eli;
    const { code } = await addAuthenticator(eli);
    const make = async () => (await desk.makeAuthenticator({ ...held, proof: key.sign(await desk.authenticatorProofOptions(held)) })).secret;
    const first = (secret: string) => totpCode(secret, Math.floor(Date.now() / 1_000));
    const late = await make();
    await stage.database.sql`update authenticators set created_at = created_at - interval '16 minutes' where confirmed_at is null`;
    await expect(desk.startAuthenticator({ ...held, code: first(late) })).rejects.toMatchObject(REFUSED);
    const inTime = await make();
    for (let wrong = 0; wrong < 3; wrong++) await expect(desk.startAuthenticator({ ...held, code: '000000' })).rejects.toMatchObject(REFUSED);
    for (let wrong = 0; wrong < 2; wrong++) await expect(desk.removeAuthenticator({ ...held, proof: '000000' })).rejects.toMatchObject(REFUSED);
    for (const work of [desk.startAuthenticator({ ...held, code: first(inTime) }), desk.removeAuthenticator({ ...held, proof: code(0) })])
      await expect(work).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    await stage.database.sql`update code_guards set locked_until = now()`;
    await desk.startAuthenticator({ ...held, code: first(inTime) });
  });
});

describe('recovering', () => {
  it.each(['the passkey', 'the link'] as const)(
    'leaves its own passkey and session alone: of a passkey that is added and a link that is opened at the same moment, %s comes first',
    async (first) => {
      const email = `${first.replace('the ', '')}@race.example`;
      const fay = await somebody(email);
      const { held } = fay;
      const both = [fay.key, await addPasskey(fay)];
      const [blocked] = await stage.database.sql<[{ id: string }]>`select id from passkeys where id = any(${both.map(({ id }) => id)}) order by id`;
      const key = both.find(({ id }) => id !== blocked.id) as SoftPasskey;
      const credential = passkey().create(await desk.newPasskeyOptions(held));
      const proof = key.sign(await desk.passkeyProofOptions({ ...held, credential }));
      const { token } = await recoverPerson(stage.deps, { email, by: BY });
      const waits = async (many: number) =>
        expect
          .poll(async () => (await stage.database.sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).length)
          .toBe(many);
      const outcome = await stage.database.transaction(async (tx) => {
        // Both come to the first of the two rows, in this order; what the other one signed is believed by then.
        await tx`select 1 from passkeys where id = ${blocked.id} for update`;
        const add = () =>
          desk.addPasskey({ ...held, credential, proof }).then(
            () => 'added',
            ({ code }) => code as string,
          );
        const recover = () => open(token);
        if (first === 'the passkey') {
          const added = add();
          await waits(1);
          const recovered = recover();
          await waits(2);
          return { added, recovered };
        }
        const recovered = recover();
        await waits(1);
        const added = add();
        await waits(2);
        return { added, recovered };
      });
      const { key: own } = await outcome.recovered;
      expect(await outcome.added).toBe(first === 'the passkey' ? 'added' : 'forbidden');
      expect(await keysOf(email)).toEqual([own.id]);
      expect(
        await stage.database.sql`select 1 from sessions s join people p on p.id = s.person_id where p.email = ${email} and s.ended_at is null`,
      ).toHaveLength(1);
    },
  );
});

describe('a person', () => {
  it('is told by mail of every change of how they sign in, by a job that a stop does not lose', async () => {
    const gus = await somebody('gus@example.com');
    const added = await addPasskey(gus);
    await desk.removePasskey({ ...gus.held, id: added.id, proof: gus.key.sign(await desk.passkeyRemovalOptions({ ...gus.held, id: added.id })) });
    const { codes } = await addAuthenticator(gus);
    await desk.removeAuthenticator({ ...gus.held, proof: codes[0] as string });
    const { token } = await recoverPerson(stage.deps, { email: 'gus@example.com', by: BY });
    await open(token);
    expect(stage.mails).toEqual([]);
    const jobs = await stage.database.sql<{ id: string }[]>`
      select o.id from outbox o join person_notices n on n.id = o.ref_id join people p on p.id = n.person_id
      where o.topic = 'person.mail' and o.state = 'due' and p.email = 'gus@example.com' order by n.at`;
    const worker = { ...stage.deps, db: stage.database.as('worker') };
    for (const { id } of jobs) expect(await runJob(worker, mailPersonJob, id)).toBe('done');
    expect(stage.mails.map(({ subject }) => subject)).toEqual([
      'A passkey was added',
      'A passkey was removed',
      'An authenticator was added',
      'A code on paper was used',
      'Your authenticator was removed',
      'Your way in was made anew',
    ]);
    expect(new Set(stage.mails.map(({ to }) => to))).toEqual(new Set(['gus@example.com']));
    expect(stage.mails[0]?.text).toContain(`From: ${ADDRESS}`);
  });

  it('has twenty sessions and twenty passkeys at most: the oldest session ends, and one passkey more is refused', async () => {
    const hal = await somebody('hal@example.com');
    const others = [];
    for (let more = 0; more < POLICY.sessionsPerPerson; more++) others.push(await again(hal));
    await expect(desk.newPasskeyOptions(hal.held)).rejects.toMatchObject(REFUSED);
    const [now] = others.slice(-1) as [(typeof others)[0]];
    const later = { key: hal.key, held: now };
    for (let more = 1; more < POLICY.passkeysPerPerson; more++) await addPasskey(later);
    await expect(addPasskey(later)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('leaves nothing behind that ended long ago, and keeps what counts', async () => {
    const { sql } = stage.database;
    const ida = await somebody('ida@example.com');
    const { codes } = await addAuthenticator(ida);
    await desk.makeAuthenticator({ ...ida.held, proof: codes[0] as string });
    const jan = await somebody('jan@example.com');
    await addAuthenticator(jan);
    await desk.removeAuthenticator({ ...jan.held, proof: jan.key.sign(await desk.authenticatorRemovalOptions(jan.held)) });
    const people = sql`(select id from people where email in ('ida@example.com', 'jan@example.com'))`;
    const counts = async () =>
      (
        await sql`
          select (select count(*)::int from sessions where person_id in ${people}) as sessions,
            (select count(*)::int from invitations where email in ('ida@example.com', 'jan@example.com')) as invitations,
            (select count(*)::int from authenticators where person_id in ${people}) as authenticators,
            (select count(*)::int from recovery_codes c join authenticators a on a.id = c.authenticator_id where a.person_id in ${people}) as codes,
            (select count(*)::int from person_notices where person_id in ${people} and what <> 'member.joined') as notices`
      )[0];
    const forget = () => periodicWork['forget-sign-ins'].run({ ...stage.deps, db: stage.database.as('worker') });
    await forget();
    expect(await counts()).toEqual({ sessions: 2, invitations: 2, authenticators: 3, codes: 20, notices: 4 });
    await sql`update sessions set created_at = created_at - interval '98 days', seen_at = now() where person_id in ${people}`;
    await sql`update invitations set created_at = created_at - interval '92 days', expires_at = expires_at - interval '92 days', ended_at = ended_at - interval '92 days'`;
    await sql`update authenticators set created_at = created_at - interval '92 days', ended_at = ended_at - interval '91 days', confirmed_at = confirmed_at - interval '91 days'`;
    await sql`update recovery_codes set used_at = used_at - interval '91 days'`;
    await sql`update person_notices set at = at - interval '91 days'`;
    expect(await forget()).toBeGreaterThan(0);
    expect(await counts()).toEqual({ sessions: 0, invitations: 0, authenticators: 1, codes: 9, notices: 0 });
    expect(await forget()).toBe(0);
  });

  it('forgets what a provider was asked for and never answered in time, and nothing that it may still answer', async () => {
    const { sql } = stage.database;
    await sql`
      insert into provider_sign_ins (state_hash, browser_hash, expires_at)
      select encode(sha256(n::text::bytea), 'hex'), encode(sha256('browser'), 'hex'), sluice_now() + n * interval '1 second' from (values (-60), (-1), (600)) as a (n)`;
    expect(await periodicWork['forget-sign-ins'].run({ ...stage.deps, db: stage.database.as('worker') })).toBe(2);
    expect(await sql`select expires_at > sluice_now() as good from provider_sign_ins`).toEqual([{ good: true }]);
  });
});
