import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAudit } from '#api/audit/run-audit.ts';
import { APPEND_ONLY, type DatabaseRole, UNREADABLE, WORKING_RIGHTS } from '#shared/platform/database-rights.ts';
import { applyRoles, inspectRights, isSound, parseWrites, readCatalogue, roleName } from '#shared/platform/database-roles.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import type { Result } from '#ops/cli/command.ts';
import { COMMANDS } from '#ops/cli/commands.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { untilReady } from '#test/harness/deployables.ts';
import { aWorld, type World } from '#test/harness/world.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';
import { urlFor } from '#test/harness/logins.ts';

const DENIED = '42501';
/** What `refuse_change` raises. */
const APPEND_ONLY_ERROR = '23001';
const WORKING = ['http', 'worker', 'signer', 'indexer', 'console'] as const;
const EVERYBODY: readonly DatabaseRole[] = [...WORKING, 'readonly'];

let database: FreshDatabase;
const opened = new Map<DatabaseRole, Database>();

/** A connection of a login that is a member of that role and of no other. */
function as(role: DatabaseRole): Database {
  const known = opened.get(role) ?? connect(urlFor(database.url, [role]), { name: 'sluice-test', max: 1 });
  opened.set(role, known);
  return known;
}

beforeAll(async () => {
  database = await freshDatabase();
  await applyRoles(database, []);
});
afterAll(async () => {
  await Promise.all([...opened.values()].map((one) => one.end()));
  await database.drop();
});

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'allowed',
    (error: { code?: unknown }) => error.code,
  );

describe('sluice db roles apply', () => {
  it('succeeds beside tables of a later release, which it names, and which the comparison still reports', async () => {
    const copy = await freshDatabase();
    const run = async (name: string): Promise<Result> => {
      const command = COMMANDS.find((one) => one.name === name);
      return (await command?.run(() => Promise.reject(new Error('not needed')), [], { database: copy.url })) as Result;
    };
    try {
      await copy.sql`create table of_tomorrow (x int)`;
      expect(await run('db roles apply')).toMatchObject({ good: true, text: expect.stringContaining('of_tomorrow') });
      expect(await run('db roles')).toMatchObject({ good: false, text: expect.stringContaining('of_tomorrow') });
    } finally {
      await copy.drop();
    }
  });

  it('lets nobody in any more with a password that was there, once an empty one is given in its place', async () => {
    const copy = await freshDatabase();
    const login = `sluice_test_left_${randomUUID().slice(0, 8)}`;
    const [apply, variable] = [COMMANDS.find(({ name }) => name === 'db roles apply'), `SLUICE_PASSWORD_${login.toUpperCase()}`];
    const applied = async (password: string | undefined): Promise<unknown> => {
      if (password === undefined) delete process.env[variable];
      else process.env[variable] = password;
      await apply?.run(() => Promise.reject(new Error('not needed')), [`${login}=readonly`], { database: copy.url });
      const own = connect(Object.assign(new URL(copy.url), { username: login, password: 'of-somebody-who-left' }).href, { name: 'sluice-test', max: 1 });
      return codeOf(own.sql`select 1`).finally(() => own.end());
    };
    try {
      expect(await applied('of-somebody-who-left')).toBe('allowed');
      expect(await applied(undefined)).toBe('allowed');
      expect(await applied('')).toBe('28P01');
    } finally {
      delete process.env[variable];
      await copy.sql.unsafe(`drop owned by ${login}; drop role ${login}`);
      await copy.drop();
    }
  });
});

describe('the table of rights', () => {
  it('is what the database grants: nothing is missing, nothing is too much, in a copy of the template and after it was put right', async () => {
    const copy = await freshDatabase();
    try {
      const report = await inspectRights(copy.sql);
      expect(isSound(report), JSON.stringify(report)).toBe(true);
    } finally {
      await copy.drop();
    }
    const report = await inspectRights(database.sql);
    expect(isSound(report), JSON.stringify(report)).toBe(true);
  });

  it('knows every table of the schema, and speaks of no table and no column that is not there', async () => {
    const { tables } = await readCatalogue(database.sql);
    const unlisted = [...tables.keys()].filter((name) => !WORKING.some((role) => WORKING_RIGHTS[role].reads.includes(name)));
    // Only sluice db roles apply writes it, and a function that runs as its owner reads it.
    expect(unlisted).toEqual(['indexer_logins']);
    for (const role of WORKING) {
      const { reads, writes } = WORKING_RIGHTS[role];
      expect([...reads, ...Object.keys(writes)].filter((name) => !tables.has(name))).toEqual([]);
      for (const [table, words] of Object.entries(writes))
        expect(parseWrites(words).update.filter((column) => !tables.get(table)?.includes(column))).toEqual([]);
    }
    for (const [table, columns] of Object.entries(UNREADABLE)) expect(columns.filter((column) => !tables.get(table)?.includes(column))).toEqual([]);
  });

  it('hides every column of bytes from people and their tools, but the proofs that anybody may check, pictures that payers see, and files of what they may read anyway', async () => {
    const shown = await database.sql<{ name: string }[]>`
      select c.relname || '.' || a.attname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.atttypid = 'bytea'::regtype
        and (has_column_privilege(${roleName('readonly')}, c.oid, a.attnum, 'SELECT') or has_column_privilege(${roleName('console')}, c.oid, a.attnum, 'SELECT'))`;
    expect(shown.map(({ name }) => name).toSorted()).toEqual(['export_parts.body', 'gateway_logos.body', 'statements.signature']);
  });

  it('is put right again: what somebody granted goes, what somebody took comes back, and a second time nothing is left to do', async () => {
    await database.sql.unsafe(
      `grant delete on freezes to ${roleName('signer')}; revoke insert on outbox from ${roleName('worker')}; grant update on prices to public`,
    );
    const report = await inspectRights(database.sql);
    expect(report.missing.map(({ role, name, privilege }) => [role, name, privilege])).toEqual([['sluice_worker', 'outbox', 'INSERT']]);
    expect(report.surplus.map(({ role, name, privilege }) => [role, name, privilege]).sort()).toEqual([
      ['public', 'prices', 'UPDATE'],
      ['sluice_signer', 'freezes', 'DELETE'],
    ]);
    expect(await applyRoles(database, [])).toEqual({ changed: 3 });
    expect(await applyRoles(database, [])).toEqual({ changed: 0 });
    expect(isSound(await inspectRights(database.sql))).toBe(true);
  });

  it('tells of a login of ours that owns a table or was granted something besides', async () => {
    const login = new URL(urlFor(database.url, ['signer'])).username;
    await database.sql.unsafe(`grant delete on freezes to ${login}`);
    expect((await inspectRights(database.sql)).tooStrong).toEqual([{ login, why: 'was granted DELETE on freezes' }]);
    await database.sql.unsafe(`revoke delete on freezes from ${login}`);
    expect((await inspectRights(database.sql)).tooStrong).toEqual([]);
  });

  it('makes no login of the name of whoever owns the tables, nor of a role', async () => {
    const owner = new URL(database.url).username;
    for (const name of [owner, roleName('http')]) await expect(applyRoles(database, [{ name, roles: ['http'], networks: [] }])).rejects.toThrow(name);
  });
});

// Its checks are text, so nothing that reads the product's statements sees which tables they ask.
it.each(['http', 'worker'] as const)('the audit can be run by the %s role, every check of it', async (role) => {
  expect((await runAudit(as(role).sql)).filter(({ rows }) => rows.length > 0)).toEqual([]);
});

describe('what is append-only', () => {
  it('is every table that refuses to be changed, and each of them refuses to be emptied too', async () => {
    const guarded = await database.sql<{ name: string; events: string[] }[]>`
      select c.relname as name, array_agg(distinct e.event order by e.event) as events
      from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid and p.proname = 'refuse_change'
      cross join lateral (values (8, 'delete'), (16, 'update'), (32, 'truncate')) e (bit, event)
      where c.relnamespace = current_schema()::regnamespace and t.tgenabled <> 'D' and t.tgtype & e.bit > 0 group by c.relname order by c.relname`;
    expect(guarded.map(({ name }) => name)).toEqual([...APPEND_ONLY].sort());
    for (const one of guarded) expect([one.name, one.events]).toEqual([one.name, ['delete', 'truncate', 'update']]);
  });

  it('refuses TRUNCATE to the owner of the tables as well', async () => {
    for (const table of APPEND_ONLY) expect([table, await codeOf(database.sql.unsafe(`truncate ${table} cascade`))]).toEqual([table, APPEND_ONLY_ERROR]);
  });

  it('is changed, deleted and emptied by no role', async () => {
    for (const role of EVERYBODY)
      for (const table of APPEND_ONLY)
        for (const statement of [`delete from ${table}`, `truncate ${table}`])
          expect([role, statement, await codeOf(as(role).sql.unsafe(statement))]).toEqual([role, statement, DENIED]);
    const changeable = await database.sql<{ name: string }[]>`
      select r.rolname || ' ' || t.name || '.' || a.attname as name from unnest(${[...APPEND_ONLY]}::text[]) t (name)
      join pg_attribute a on a.attrelid = t.name::regclass and a.attnum > 0 and not a.attisdropped
      join pg_roles r on r.rolname = any(${EVERYBODY.map(roleName)}) where has_column_privilege(r.oid, a.attrelid, a.attnum, 'UPDATE')`;
    expect(changeable.map(({ name }) => name)).toEqual([]);
  });
});

describe('each role', () => {
  it.each<[DatabaseRole, string, string]>([
    ['indexer', 'moves the chain tip', 'update chain_tips set height = 1'],
    ['indexer', 'reports a deposit', 'insert into deposits default values'],
    ['indexer', 'writes a sighting', 'insert into sightings default values'],
    ['indexer', 'reads what gateways own', 'select * from ledger_accounts'],
    ['indexer', 'reads settlements', 'select * from settlements'],
    ['indexer', 'reads secrets', 'select * from gateway_secrets'],
    ['indexer', 'acknowledges an address by itself', 'update watches set acked_epoch = 1'],
    ['indexer', 'asks itself for a rewind', 'insert into rewind_requests default values'],
    ['indexer', 'gives a lease away for good', 'delete from indexer_leases'],
    ['indexer', 'gives itself another network', "insert into indexer_logins values ('sluice_test_indexer', 'tron')"],
    ['signer', 'lifts a freeze', 'delete from freezes'],
    ['signer', 'sets a price', 'update prices set usd = 1'],
    ['signer', 'adds a price', "insert into prices values ('X', 1, 'x', now())"],
    ['signer', 'changes what a cashout sends', 'update settlements set net_amount = 1'],
    ['signer', 'changes where a cashout goes', "update settlements set address = 'x'"],
    ['signer', 'makes a cashout of its own', 'insert into settlements default values'],
    ['signer', 'makes a payout of its own', 'insert into payouts default values'],
    ['signer', 'changes what a payout sends', 'update payouts set raw_amount = 1'],
    ['signer', 'changes where a payout goes', "update payouts set recipient = 'x'"],
    ['signer', 'writes the ledger', 'insert into ledger_entries default values'],
    ['signer', 'changes a balance', 'update ledger_accounts set balance = 0'],
    ['signer', 'changes an asset', 'update assets set decimals = 0'],
    ['signer', 'changes a gateway', "update gateways set name = 'x'"],
    ['signer', 'reads the secrets of gateways', 'select * from gateway_secrets'],
    ['signer', 'reads API keys', 'select * from api_keys'],
    ['signer', 'changes a wallet', "update wallets set address = 'x'"],
    ['signer', 'clears a halted wallet', 'update wallets set halted_reason = null'],
    ['signer', 'says that a merchant said something', 'insert into statements default values'],
    ['signer', 'trusts the books again', 'update networks set trusted_generation = 9'],
    ['worker', 'makes a cashout of its own', 'insert into settlements default values'],
    ['worker', 'changes where a cashout goes', "update settlements set address = 'x'"],
    ['worker', 'changes the amount of a cashout', 'update settlements set amount = 1'],
    ['worker', 'says that a merchant said something', 'insert into statements default values'],
    ['worker', 'changes a gateway', "update gateways set settings = '{}'"],
    ['worker', 'reads API keys', 'select * from api_keys'],
    ['worker', 'makes an API key', 'insert into api_keys default values'],
    ['worker', 'makes a secret', 'insert into gateway_secrets default values'],
    ['worker', 'changes what operators did', "update operator_actions set action = 'x'"],
    ['worker', 'confirms what one person proposed', "update operator_proposals set status = 'confirmed'"],
    ['worker', 'orders coins that are withheld', 'insert into withheld_transfers default values'],
    ['worker', 'changes where a withheld transfer goes', "update withheld_transfers set recipient = 'x'"],
    ['worker', 'orders a refund', 'insert into aml_refunds default values'],
    ['worker', 'changes the address of a wallet', "update wallets set address = 'x'"],
    ['worker', 'changes the path of a wallet', "update wallets set derivation_path = 'x'"],
    ['worker', 'changes the role of a wallet', "update wallets set role = 'hot'"],
    ['worker', 'adds an asset', 'insert into assets default values'],
    ['worker', 'keeps signed bytes', 'insert into payout_attempts default values'],
    ['worker', 'moves the service clock', 'update clock_offset set seconds = 1'],
    ['http', 'keeps signed bytes', 'insert into payout_attempts default values'],
    ['http', 'moves the chain tip', 'update chain_tips set height = 1'],
    ['http', 'adds a block', 'insert into chain_blocks default values'],
    ['http', 'changes what a payout sends', 'update payouts set raw_amount = 1'],
    ['http', 'changes where a payout goes', "update payouts set recipient = 'x'"],
    ['http', 'changes where a cashout goes', "update settlements set address = 'x'"],
    ['http', 'changes the amount of a cashout', 'update settlements set amount = 1'],
    ['http', 'changes where a withheld transfer goes', "update withheld_transfers set recipient = 'x'"],
    ['http', 'changes the address of a wallet', "update wallets set address = 'x'"],
    ['http', 'trusts the books again', 'update networks set trusted_generation = 9'],
    ['http', 'changes the decimals of an asset', 'update assets set decimals = 0'],
    ['http', 'changes a proposal that another person is to confirm', "update operator_proposals set content = '{}'"],
    ['http', 'issues an invoice', 'insert into invoices default values'],
    ['readonly', 'reads sealed secrets', 'select sealed from gateway_secrets'],
    ['readonly', 'reads hashes of API keys', 'select secret_hash from api_keys'],
    ['readonly', 'reads the proof of an order', 'select intent_mac from settlements'],
    ['readonly', 'reads bytes that are ready to be sent', 'select signed_bytes from payout_attempts'],
    ['readonly', 'writes anything', 'delete from freezes'],
    ['console', 'reads sealed secrets', 'select sealed from gateway_secrets'],
    ['console', 'writes anything', "insert into freezes values ('all', 'x')"],
    ['console', 'makes an API key', 'insert into api_keys default values'],
    ['console', 'changes a gateway', "update gateways set settings = '{}'"],
    ['console', 'orders a cashout', 'insert into settlements default values'],
    ['console', 'approves a cashout', "update settlements set status = 'APPROVED'"],
    ['console', 'changes what a role may do', "update roles set permissions = '{}'"],
  ])('%s is refused when it %s', async (role, _what, statement) => {
    expect(await codeOf(as(role).sql.unsafe(statement))).toBe(DENIED);
  });

  it.each(EVERYBODY)('%s changes no table, no trigger and no right, and makes nothing of its own', async (role) => {
    const { sql } = as(role);
    for (const statement of [
      'alter table settlements disable trigger all',
      'alter table ledger_entries disable trigger ledger_entries_append_only',
      'drop trigger ledger_entries_zero_sum on ledger_entries',
      'alter table freezes add column x int',
      'drop table freezes',
      'truncate freezes',
      'create table mine (x int)',
      'create temporary table ledger_entries (x int)',
      'create or replace function refuse_change() returns trigger language plpgsql as $$ begin return null; end $$',
      'drop policy leases_of_own_networks on indexer_leases',
      'set session_replication_role = replica',
      'create role mine',
      `set role ${new URL(database.url).username}`,
    ])
      expect([statement, await codeOf(sql.unsafe(statement))]).toEqual([statement, DENIED]);
    // Postgres says it in a warning, or grants nothing.
    await codeOf(sql.unsafe(`grant delete on freezes to ${roleName(role)}`));
    expect(isSound(await inspectRights(database.sql))).toBe(true);
  });

  it('locks rows that it may not change, by a column that takes no value', async () => {
    for (const [role, table] of [
      ['signer', 'wallets'],
      ['worker', 'gateways'],
      ['http', 'chain_tips'],
    ] as const) {
      expect(await codeOf(as(role).sql.unsafe(`select 1 from ${table} for update`))).toBe('allowed');
      expect(await codeOf(as(role).sql.unsafe(`update ${table} set lockable = false`))).toBe('428C9');
    }
  });
});

describe('an indexer with a login for its network', () => {
  const PASSWORD = 'of-one-indexer';
  const login = `sluice_test_eth_${randomUUID().slice(0, 8)}`;
  let own: Database;
  const [ethereum, tron] = [randomUUID(), randomUUID()];

  beforeAll(async () => {
    for (const [id, name, family] of [
      [ethereum, 'ethereum', 'evm'],
      [tron, 'tron', 'tron'],
    ] as const)
      await database.sql`insert into networks (id, name, family, chain_id, native_symbol) values (${id}, ${name}, ${family}, '1', 'X')`;
    await applyRoles(database, [{ name: login, roles: ['indexer'], networks: ['ethereum'], password: PASSWORD }]);
    const url = new URL(database.url);
    url.username = login;
    url.password = PASSWORD;
    own = connect(url.href, { name: 'sluice-test', max: 1 });
  });
  afterAll(async () => {
    await own.end();
    await database.sql.unsafe(`drop owned by ${login}; drop role ${login}`);
  });

  const take = (sql: Database['sql'], network: string): Promise<unknown> =>
    codeOf(sql`insert into indexer_leases (network_id, holder, epoch, expires_at) values (${network}, 'x', 1, now())
      on conflict (network_id) do update set holder = excluded.holder, epoch = indexer_leases.epoch + 1`);

  it('takes the lease of that network, and neither takes nor moves nor sees another one', async () => {
    expect(await take(own.sql, ethereum)).toBe('allowed');
    expect(await take(own.sql, tron)).toBe(DENIED);
    await database.sql`insert into indexer_leases (network_id, holder, epoch, expires_at) values (${tron}, 'y', 7, now())`;
    expect(await take(own.sql, tron)).toBe(DENIED);
    expect((await own.sql`update indexer_leases set epoch = epoch + 1000000`).count).toBe(1);
    expect(await own.sql`select network_id from indexer_leases`).toEqual([{ networkId: ethereum }]);
    expect(await database.sql`select holder, epoch from indexer_leases where network_id = ${tron}`).toEqual([{ holder: 'y', epoch: 7 }]);
  });

  it('cannot change who it is, nor what the policy asks', async () => {
    for (const statement of [`set session authorization ${new URL(database.url).username}`, 'alter table indexer_leases disable row level security'])
      expect(await codeOf(own.sql.unsafe(statement))).toBe(DENIED);
    await own.sql.unsafe(`set role ${roleName('indexer')}`);
    expect(await take(own.sql, tron)).toBe(DENIED);
    await own.sql.unsafe('set row_security = off');
    expect(await codeOf(own.sql`select 1 from indexer_leases`)).toBe(DENIED);
    await own.sql.unsafe('reset role; reset row_security');
  });

  it('leaves those without a network of their own every lease, and workers too', async () => {
    expect(await take(as('indexer').sql, tron)).toBe('allowed');
    expect(await as('worker').sql`select 1 from indexer_leases for share`).toHaveLength(2);
  });
});

describe('a process', () => {
  let world: World;
  beforeAll(async () => {
    world = await aWorld();
  });
  afterAll(() => world.stop());

  const readiness = async (process: { opsUrl: string }): Promise<string> => (await fetch(`${process.opsUrl}/readyz`)).text();

  it('that lacks a right says which and what gives it, works once it has it, and says so again when it is taken', async () => {
    const signer = roleName('signer');
    await world.database.sql.unsafe(`revoke insert on payout_attempts from ${signer}`);
    const api = await world.startApi();
    const process = await world.startSigner({ untilReady: false });
    const complaint = 'lacks rights (insert on payout_attempts): run sluice db roles apply';
    await waitFor(async () => (await readiness(process)).includes(complaint), { what: 'the reason', timeoutMs: 45_000 });
    expect(process.lines.join('\n')).toContain(complaint);
    await applyRoles(world.database, []);
    await untilReady('signer', process);
    await world.database.sql.unsafe(`revoke insert on payout_attempts from ${signer}`);
    await waitFor(async () => (await readiness(process)).includes(complaint), { what: 'the reason', timeoutMs: 45_000 });
    await applyRoles(world.database, []);
    await untilReady('signer', process);
    expect((await fetch(`${api.opsUrl}/readyz`)).ok).toBe(true);
  });

  it('that does not own the schema waits for it, and an owner that migrates gives the roles what is new', async () => {
    const later = await freshDatabase();
    try {
      const table = 'statements';
      await later.sql.unsafe(`drop table ${table}; delete from schema_migrations where name = '0036_statements.sql' or name = '0037_rights.sql'`);
      await later.sql.unsafe('drop function serves_network cascade; drop table indexer_logins');
      for (const name of ['chain_tips', 'gateways', 'wallets']) await later.sql.unsafe(`alter table ${name} drop column lockable`);
      await later.sql.unsafe('drop policy leases_are_shared on indexer_leases');
      for (const name of APPEND_ONLY.filter((one) => one !== table && one !== 'operator_actions'))
        await later.sql.unsafe(`drop trigger ${name}_never_emptied on ${name}`);
      const env = { DATABASE_URL: later.url };
      const process = await world.startApi({ untilReady: false, env });
      await waitFor(async () => (await readiness(process)).includes('waiting for the database schema'), { what: 'the reason', timeoutMs: 45_000 });
      const owner = await world.startApi({ env: { ...env, DATABASE_OWNER_URL: later.url } });
      await untilReady('api', process);
      const { missing, surplus } = await inspectRights(later.sql);
      expect({ missing, surplus }).toEqual({ missing: [], surplus: [] });
      await Promise.all([process.stop(), owner.stop()]);
    } finally {
      await later.drop();
    }
  });
});
