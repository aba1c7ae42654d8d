import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Check } from '#api/audit/check.ts';
import { CONSOLE_CHECKS } from '#api/audit/console-checks.ts';
import { runCheck } from '#api/audit/run-audit.ts';
import { invitePerson, recoverPerson } from '#api/people/invitations.ts';
import { hashToken } from '#api/people/one-time-token.ts';
import { revokePerson } from '#api/people/revoke-person.ts';
import type { Doer } from '#api/store/console-actions.ts';
import type { Changed } from '#api/store/audit-marks.ts';
import { listPeople } from '#api/store/people.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';

const BY: Doer = { kind: 'command', name: 'root@host' };
const GATEWAY = '6f1b2a3c-0000-4000-8000-000000000001';
const PRICES = { staticAllowed: true };

let database: FreshDatabase;
beforeAll(async () => {
  database = await freshDatabase();
  await database.sql`insert into gateways (id, name, status, billing, settings) values (${GATEWAY}, 'Acme', 'VERIFIED', 'STANDARD', '{}')`;
});
afterAll(() => database?.drop());

const deps = () => ({ db: database.as('http'), randomBytes });
const invite = (email: string, role = 'owner', gatewayId: string | null = GATEWAY) => invitePerson(deps(), { email, gatewayId, role, by: BY });
const audit = async (only: 'all' | 'newest' = 'all', sql: Reads = database.as('worker').sql) => {
  const [check] = CONSOLE_CHECKS as [Check];
  const { rows } = await runCheck(sql, check, PRICES, only === 'all' ? undefined : ({} as Changed));
  return rows;
};

describe('an invitation', () => {
  it('keeps only the hash of its token, makes nobody a member by itself, and works for a day', async () => {
    const { token, expiresAt } = await invite(' Anna@Example.com ');
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const [row] =
      await database.sql`select token_hash, email, role, expires_at - created_at = interval '1 day' as day, to_jsonb(i)::text as all from invitations i`;
    expect(row).toMatchObject({ tokenHash: hashToken(token), email: 'anna@example.com', role: 'owner', day: true });
    expect(row?.all).not.toContain(token);
    expect(expiresAt.getTime()).toBeGreaterThan(Date.now());
    expect(await database.sql`select 1 from people`).toHaveLength(0);
    expect(await listPeople(database.as('console').sql, { gatewayId: GATEWAY, after: null, limit: 10 })).toMatchObject([
      { email: 'anna@example.com', state: 'invited' },
    ]);
  });

  it('takes the place of the one before it, so that an address has one link for a place', async () => {
    const first = await invite('ben@example.com', 'support');
    const [second] = await Promise.all([invite('ben@example.com', 'finance'), invite('ben@example.com', 'operator', null)]);
    const rows = await database.sql<
      { tokenHash: string; outcome: string | null }[]
    >`select token_hash, outcome from invitations where email = 'ben@example.com' order by role`;
    expect(rows).toMatchObject([
      { tokenHash: hashToken(second.token), outcome: null },
      { outcome: null },
      { tokenHash: hashToken(first.token), outcome: 'replaced' },
    ]);
  });

  it.each([
    ['an operator’s role at a gateway', () => invite('eve@example.com', 'operator'), 'role'],
    ['a gateway’s role for the deployment', () => invite('eve@example.com', 'owner', null), 'role'],
    ['a role that is none', () => invite('eve@example.com', 'root'), 'role'],
    ['a gateway that is none', () => invite('eve@example.com', 'owner', '6f1b2a3c-0000-4000-8000-00000000ffff'), 'gateway'],
    ['what is no id', () => invite('eve@example.com', 'owner', 'acme'), 'gateway'],
    ['a line break in the address', () => invite('eve@example.com\r\nBcc: x@example.com'), 'email'],
    ['letters that only look the same', () => invite('еve@example.com'), 'email'],
  ])('is refused for %s, and leaves nothing behind', async (_what, work, field) => {
    await expect(work()).rejects.toMatchObject({ code: 'validation_error', field });
    expect(await database.sql`select 1 from invitations where email like '%eve%'`).toHaveLength(0);
    expect(await database.sql`select 1 from console_actions where target like '%eve%'`).toHaveLength(0);
  });

  it('is taken back with what its holder may do, and there is nothing to take twice', async () => {
    await invite('cleo@example.com');
    expect(await revokePerson(deps(), { email: 'cleo@example.com', where: { gatewayId: GATEWAY }, reason: 'left', by: BY })).toEqual({
      memberships: [],
      invitations: 1,
    });
    await expect(revokePerson(deps(), { email: 'cleo@example.com', where: 'everywhere', by: BY })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('recovers only somebody who is a person already', async () => {
    await expect(recoverPerson(deps(), { email: 'nobody@example.com', by: BY })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the list of people', () => {
  it('is read page by page without losing or repeating a row', async () => {
    for (const name of ['p1', 'p2', 'p3']) await invite(`${name}@pages.example`);
    const { sql } = database.as('console');
    const whole = await listPeople(sql, { gatewayId: null, after: null, limit: 100 });
    const paged: typeof whole = [];
    for (let page = whole.slice(0, 0); paged.length === 0 || page.length > 0; paged.push(...page))
      page = await listPeople(sql, { gatewayId: null, after: paged.at(-1) ?? null, limit: 2 });
    expect(paged).toEqual(whole);
    expect(whole.length).toBeGreaterThan(4);
  });
});

describe('the record of acts', () => {
  it('is a chain whoever writes it, also many at once, and names who did what', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, at) => invite(`many${at}@example.com`)));
    const rows = await database.sql<
      { seq: number; previous: string; hash: string; actor: string; actorKind: string }[]
    >`select * from console_actions order by seq`;
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, at) => at + 1));
    expect(rows.slice(1).map(({ previous }) => previous)).toEqual(rows.slice(0, -1).map(({ hash }) => hash));
    expect(rows[0]).toMatchObject({ actorKind: 'command', actor: 'root@host', previous: '0'.repeat(64) });
    expect([await audit(), await audit('newest')]).toEqual([[], []]);
  });

  it('lets nobody who writes choose the place, the time or the hash of a row', async () => {
    await database.sql`
      insert into console_actions (seq, at, actor_kind, actor, act, target, previous, hash) values (999999, '2001-01-01', 'service', 'x', 'a.b', 'c', 'p', 'h')`;
    const [last] = await database.sql<
      [{ seq: number; recent: boolean }]
    >`select seq, at > now() - interval '1 hour' as recent from console_actions order by seq desc limit 1`;
    expect(last.seq).toBeLessThan(1000);
    expect(last.recent).toBe(true);
    expect(await audit()).toEqual([]);
  });

  it('has the same hashes whatever the time zone and style of dates of whoever audits', async () => {
    const rows = await database.transaction(async (tx) => {
      await tx`set local timezone = 'Asia/Kathmandu'`;
      await tx`set local datestyle = 'German'`;
      return tx`select 1 from console_actions a where a.hash <> console_action_hash(a)`;
    });
    expect(rows).toHaveLength(0);
  });

  it.each([
    ['changed', `update console_actions set actor = 'somebody else' where seq = 2`, '2', 'it does not say what it said'],
    ['taken out', 'delete from console_actions where seq = 3', '4', 'the row before it is gone'],
    [
      'changed with its own hash made right',
      `update console_actions set reason = 'other' where seq = 2; update console_actions a set hash = console_action_hash(a) where seq = 2`,
      '3',
      'it does not follow the row before it',
    ],
  ])('is found by the audit to be broken where a row was %s', async (_what, statement, id, problem) => {
    const put = new Error('put back');
    const found: Record<string, unknown>[][] = [];
    await expect(
      database.transaction(async (tx) => {
        // What no login of a process can: writing past the triggers.
        await tx`set local session_replication_role = replica`;
        await tx.unsafe(statement);
        found.push(await audit('all', tx), await audit('newest', tx));
        throw put;
      }),
    ).rejects.toBe(put);
    for (const rows of found) expect(rows.map((row) => [String(row.id), row.problem])).toEqual([[id, problem]]);
    expect(await audit()).toEqual([]);
  });

  it('is changed by no login', async () => {
    for (const { sql } of [database.as('http'), database.as('console')]) {
      await expect(sql`update console_actions set actor = 'x'`).rejects.toMatchObject({ code: '42501' });
      await expect(sql`delete from console_actions`).rejects.toMatchObject({ code: '42501' });
    }
    await expect(database.sql`update console_actions set actor = 'x'`).rejects.toMatchObject({ code: '23001' });
  });
});
