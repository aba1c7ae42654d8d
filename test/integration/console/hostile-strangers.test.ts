import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readInvitation } from '#api/people/sign-in.ts';
import { inviteMember } from '#api/people/members.ts';
import { invitePerson } from '#api/people/invitations.ts';
import { insertMembership } from '#api/store/people.ts';
import { acceptOnce } from '#api/store/invitations.ts';
import { aConsoleStage, aMember, type ConsoleStage } from '#test/harness/console-stage.ts';

/** Six calls a minute for an address and for a person, one inquiry, a hundred and fifty for all strangers. */
const SCALE = '0.05';

let stage: ConsoleStage;
beforeAll(async () => {
  stage = await aConsoleStage({ scale: SCALE });
});
afterAll(() => stage?.stop());

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code ?? 'none',
  );
const member = (role: string, gatewayId: string | null = stage.gatewayId): Promise<{ email: string; cookie: string }> => {
  const email = `${randomUUID()}@example.com`;
  return aMember(stage.database, { email, gatewayId, role }).then((cookie) => ({ email, cookie }));
};

describe('strangers who ask the desk for more than it gives', () => {
  it('take nothing from others by one address, and nothing by many from those who are signed in', async () => {
    const { cookie } = await member('owner');
    const ask = (address: string): Promise<string> => codeOf(stage.desk.signInOptions({ address }));
    for (let times = 0; times < 100; times++) await ask('192.0.2.1');
    expect(await ask('192.0.2.2'), 'another address').toBe('done');

    let refused = 0;
    for (let at = 0; at < 2_000 && refused < 3; at++) refused += (await ask(`198.18.${at >> 8}.${at & 255}`)) === 'rate_limit_exceeded' ? 1 : 0;
    expect(refused, 'whoever comes next').toBe(3);
    expect(await codeOf(stage.desk.newPasskeyOptions({ cookie, address: '192.0.2.3' }))).toBe('done');
    const invented = await Promise.all(
      Array.from({ length: 20 }, (_, at) => codeOf(stage.desk.newPasskeyOptions({ cookie: `made-up-${at}`, address: `192.0.2.${100 + at}` }))),
    );
    expect(invented, 'a cookie that nobody has').toContain('rate_limit_exceeded');
  });
});

describe('somebody who is signed in and has many addresses', () => {
  it('uses up what is theirs, and keeps nobody else from working', async () => {
    const [mallory, other] = [await member('support'), await member('owner')];
    const ask = ({ cookie }: { cookie: string }, at: number) => codeOf(stage.desk.newPasskeyOptions({ cookie, address: `2001:db8:0:${at}::1` }));
    const asked = [];
    for (let at = 1; at <= 70; at++) asked.push(await ask(mallory, at));
    // A token comes back now and then, which the last one may get.
    expect([asked[0], asked.includes('rate_limit_exceeded')]).toEqual(['done', true]);
    expect(await ask(other, 99)).toBe('done');
  });
});

describe('somebody who says again and again that payers paid', () => {
  it('asks chains no more often than a server may, and goes on with everything else', async () => {
    const mallory = await member('owner');
    const held = { cookie: mallory.cookie, address: '192.0.2.4' };
    const inquire = () =>
      codeOf(stage.desk.doGatewayAct({ ...held, gateway: stage.gatewayId, act: 'payment-inquire', fields: { payment: randomUUID(), txHash: 'a' }, proof: '' }));
    const asked = [await inquire(), await inquire()];
    expect(asked).toEqual(['not_found', 'rate_limit_exceeded']);
    expect(await codeOf(stage.desk.newPasskeyOptions(held))).toBe('done');
  });
});

describe('somebody who asks for pages without end', () => {
  it('keeps nobody from theirs who was signed in behind the same address', async () => {
    const { cookie } = await member('owner');
    const open = async (headers: Record<string, string>): Promise<number> => {
      const answer = await fetch(`${stage.origin}/`, { headers: { 'sec-fetch-site': 'none', ...headers }, redirect: 'manual' });
      await answer.arrayBuffer();
      return answer.status;
    };
    const mine = { cookie: `__Host-sluice=${cookie}` };
    expect(await open(mine)).toBe(200);
    const others = [];
    for (let at = 0; at < 40; at++) others.push(await open({ cookie: `__Host-sluice=made-up-${at}` }));
    // A token comes back now and then, which the last one may get.
    expect(others.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect(await open(mine)).toBe(200);
  });
});

describe('a link that somebody made', () => {
  const invited = async (by: { email: string }, role: string): Promise<{ token: string; email: string; personId: string }> => {
    const [row] = await stage.database.sql<[{ id: string; permissions: string[] }]>`
      select p.id, r.permissions from people p join memberships m on m.person_id = p.id and m.ended_at is null join roles r on r.name = m.role where p.email = ${by.email}`;
    const { id: personId, permissions } = row;
    const email = `friend-${randomUUID()}@example.com`;
    const token = await stage.deps.db.transaction((tx) =>
      inviteMember(tx, stage.deps, { gatewayId: stage.gatewayId, email, role, permissions, personId, waits: false }),
    );
    return { token: String(token), email, personId };
  };
  const opens = (token: string): Promise<string> => codeOf(readInvitation(stage.deps, token));

  it('lets nobody in once whoever made it was removed: they leave no door open behind them', async () => {
    const [mallory] = [await member('owner'), await member('owner')];
    const { token, personId } = await invited(mallory, 'developer');
    const { id } = await readInvitation(stage.deps, token);
    await stage.database.sql`update memberships set ended_at = sluice_now() where person_id = ${personId}`;
    expect(await opens(token)).toBe('not_found');
    expect(await stage.deps.db.transaction((tx) => acceptOnce(tx, id)), 'somebody who looked before').toBe(false);
  });

  it('gives no more than whoever made it may give now, and works while they may', async () => {
    const [mallory] = [await member('owner'), await member('owner')];
    const [high, other] = [await invited(mallory, 'developer'), await invited(mallory, 'support')];
    expect([await opens(high.token), await opens(other.token)]).toEqual(['done', 'done']);
    await stage.deps.db.transaction((tx) => insertMembership(tx, { id: randomUUID(), personId: high.personId, gatewayId: stage.gatewayId, role: 'support' }));
    expect([await opens(high.token), await opens(other.token)]).toEqual(['not_found', 'not_found']);
  });

  it('of an operator works while they are one, and one of the command line whoever left', async () => {
    const ada = await member('operator', null);
    const [{ id: personId }] = (await stage.database.sql`select id from people where email = ${ada.email}`) as unknown as [{ id: string }];
    const by = { kind: 'person', personId, name: ada.email, address: '192.0.2.9' } as const;
    const [operators, commands] = [
      await invitePerson(stage.deps, { email: `a-${ada.email}`, gatewayId: stage.gatewayId, role: 'owner', by }),
      await invitePerson(stage.deps, { email: `b-${ada.email}`, gatewayId: stage.gatewayId, role: 'owner', by: { kind: 'command', name: 'root@host' } }),
    ];
    expect(await opens(operators.token)).toBe('done');
    await stage.database.sql`update memberships set ended_at = sluice_now() where person_id = ${personId}`;
    expect([await opens(operators.token), await opens(commands.token)]).toEqual(['not_found', 'done']);
  });
});
