import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { auditAndFreeze, auditEverything, forgetAudited } from '#api/audit/audit-and-freeze.ts';
import type { Check } from '#api/audit/check.ts';
import { CHECKS } from '#api/audit/checks.ts';
import { runAudit, runCheck, runChecks } from '#api/audit/run-audit.ts';
import type { Deps } from '#api/deps.ts';
import { type Changed, readChanged, readHorizon, readHorizonAndMarks, replaceMarks } from '#api/store/audit-marks.ts';
import { writeHistory } from '#ops/bench/history.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { bareDeps } from '#test/harness/bare-deps.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';

const PRICES = { staticAllowed: true };
const CONFIG = { SLUICE_MASTER_KEY: 'audit-marks-audit-marks-audit-marks-audit' } as Deps['config'];
const DAY_MS = 86_400_000;

let database: FreshDatabase;
/** The moment the audit thinks it is. */
let now = Date.parse('2026-03-01T12:00:00Z');

const depsOf = (db: FreshDatabase): Deps => ({ ...bareDeps({ config: CONFIG, log: pino({ level: 'silent' }) }), db: db.as('worker'), wallClock: () => now });
const minute = (db = database) => auditAndFreeze(depsOf(db), new Set());
const marks = () =>
  database.sql<{ checkName: string; since: string }[]>`select check_name, since::text as since from audit_marks where check_name <> 'A33' order by 1`;
const frozen = async (db = database) => (await db.sql<{ reason: string }[]>`select reason from freezes`).map(({ reason }) => reason.split(':')[0]);
/** Does what no login of a process can: writes past the triggers. */
const tamper = (statement: string, db = database) =>
  db.transaction(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx.unsafe(statement);
  });

beforeAll(async () => {
  database = await freshDatabase();
  await database.transaction((tx) => writeHistory(tx, 2_000));
  await database.sql.unsafe('analyze');
  expect((await runAudit(database.sql)).filter(({ rows }) => rows.length > 0)).toEqual([]);
  expect(await minute()).toBe(0);
}, 120_000);
afterAll(() => database?.drop());

/** Audits until the marks have passed all that was written: what other databases of the server are at work on holds them back too. */
const untilPassed = () =>
  waitFor(
    async () => {
      expect(await minute()).toBe(0);
      const [{ ahead }] = await database.sql<[{ ahead: boolean }]>`
        select exists (select 1 from audit_changes where xid >= (select min(since) from audit_marks where check_name <> 'A33')) or exists (select 1 from audit_moves where xid >= (select min(since) from audit_marks where check_name <> 'A33')) as ahead`;
      return !ahead;
    },
    { what: 'the marks to pass what was written' },
  );

const MARKED = CHECKS.filter((check) => check.ofChanged !== undefined);

/** An old payment's deposit: credited and cashed out, or what its state says. */
const deposit = (network: string, state = 'credited') =>
  `(select d.id from deposits d join networks n on n.id = d.network_id where n.name = '${network}' and d.state = '${state}' and d.kind = '${network === 'bitcoin' ? 'native' : 'token'}'
    order by d.height limit 1 offset 7)`;
const payment = (network: string, state?: string) => `(select payment_id from deposits where id = ${deposit(network, state)})`;
const credit = (network: string) => `(select id from credits where id = ${deposit(network)})`;
const cashout = (network: string) =>
  `(select s.id from settlements s join networks n on n.id = s.network_id where n.name = '${network}' order by s.created_at, s.id limit 1)`;
const payout = (network: string, purpose = 'settlement') =>
  `(select p.id from payouts p join networks n on n.id = p.network_id where n.name = '${network}' and p.purpose = '${purpose}' order by p.created_at, p.id limit 1 offset 1)`;
const sent = (network: string) => `(select g.id from sightings g where g.kind = 'sent' and g.txid = (select txid from payouts where id = ${payout(network)}))`;
const accountOf = (kind: string, network: string) =>
  `(select l.id from ledger_accounts l join assets a on a.id = l.asset_id join networks n on n.id = a.network_id where l.kind = '${kind}' and n.name = '${network}' order by l.id limit 1)`;
const entry = (source: string, kind: string, network: string, amount: string) =>
  `insert into ledger_entries (transaction_id, account_id, asset_id, amount)
   select (select id from ledger_transactions where source_key = ${source}), id, asset_id, ${amount} from ledger_accounts where id = ${accountOf(kind, network)}`;

/** Two acts of people, in a table that lets its rows be changed. */
const ACTS = [
  `insert into console_actions (actor_kind, actor, act, target) values ('command', 'root@host', 'person.invite', 'first'), ('command', 'root@host', 'person.invite', 'second')`,
  'alter table console_actions disable trigger console_actions_append_only',
];

/** What somebody with a login may do to rows that the marks have passed, some of it past a constraint that is taken away first. */
const PLANTED: [check: string, what: string, ...statements: string[]][] = [
  ['A1', 'an entry more of an old transaction', entry(`'credit:' || ${credit('tron')} || ':mature'`, 'networkFee', 'tron', '1')],
  ['A2', 'a balance that grew by itself', `update ledger_accounts set balance = balance + 0.000000000000000001 where id = ${accountOf('available', 'tron')}`],
  ['A2', 'entries that no balance knows', entry(`'credit:' || ${credit('tron')} || ':mature'`, 'networkFee', 'tron', '1')],
  [
    'A3',
    'a balance below zero',
    'alter table ledger_accounts drop constraint ledger_accounts_balance_check',
    `update ledger_accounts set balance = -1 where id = ${accountOf('available', 'tron')}`,
  ],
  ['A4', 'a credit of more than came', `update credits set gross = gross + 1 where id = ${credit('tron')}`],
  ['A4', 'a deposit that grew', `update deposits set amount = amount + 1 where id = ${deposit('tron')}`],
  ['A4', 'a deposit that moved to another payment', `update deposits set payment_id = ${payment('bitcoin')} where id = ${deposit('tron')}`],
  ['A4', 'dust that was none', `update deposits set state = 'dust' where id = ${deposit('tron', 'unallocated')}`],
  ['A4', 'a booked deposit that is open again', `update deposits set state = 'seen' where id = ${deposit('tron')}`],
  ['A4', 'a deposit set aside that grew', `update deposits set amount = amount + 1 where id = ${deposit('tron', 'unallocated')}`],
  [
    'A4',
    'a deposit set aside in another asset',
    `update deposits set asset_id = (select id from assets where symbol = 'TRX') where id = ${deposit('tron', 'unallocated')}`,
  ],
  ['A4', 'coins posted to nobody for a deposit', entry(`'deposit:' || ${deposit('tron')}`, 'unallocated', 'tron', '1')],
  [
    'A4',
    'coins posted to nobody for a loss',
    `insert into ledger_transactions (source_key, kind) values ('deposit:' || ${deposit('tron')} || ':loss:1.1', 'lose')`,
    entry(`'deposit:' || ${deposit('tron')} || ':loss:1.1'`, 'unallocated', 'tron', '1'),
  ],
  ['A4', 'a credit of a sandbox payment', `update payments set sandbox = true where id = ${payment('tron')}`],
  ['A4', 'a drawn credit that may be drawn again', `update credits set remaining = net where id = ${credit('tron')}`],
  ['A4', 'a draw that shrank', `update credit_draws set amount = amount - 0.5 where credit_id = ${credit('tron')}`],
  [
    'A4',
    'a charge of an old credit',
    `insert into charge_draws (gateway_id, asset_id, credit_id, pool, amount) select gateway_id, asset_id, id, pool, 1 from credits where id = ${credit('tron')}`,
  ],
  ['A5', 'a transfer that left the chain', `update sightings set canonical = false where txid = (select txid from deposits where id = ${deposit('ethereum')})`],
  [
    'A5',
    'a transfer of another amount',
    `update sightings set raw_amount = raw_amount + 1 where txid = (select txid from deposits where id = ${deposit('ethereum')})`,
  ],
  ['A5', 'a sum whose parts are gone', `update deposits set parts = 2, final_at = sluice_now() where id = ${deposit('ethereum')}`],
  ['A5', 'a deposit in another block', `update deposits set block_hash = 'another' where id = ${deposit('ethereum')}`],
  ['A7', 'a cashout that took more', `update settlements set amount = amount + 1, net_amount = net_amount + 1 where id = ${cashout('tron')}`],
  ['A7', 'a draw that was let go', `update credit_draws set state = 'released' where credit_id = ${credit('tron')}`],
  ['A7', 'coins reserved for a cashout that is over', `update ledger_accounts set balance = 1 where kind = 'reserved' and settlement_id = ${cashout('tron')}`],
  ['A8', 'a cashout that paid out more', `update settlements set received_amount = received_amount + 1 where id = ${cashout('tron')}`],
  ['A8', 'a payout that never was', `update payouts set status = 'FAILED' where id = ${payout('tron')}`],
  [
    'A8',
    'a second transaction that paid',
    `insert into payout_attempts (id, payout_id, number, txid, signed_bytes, fee_limit, expires_at) values (gen_random_uuid(), ${payout('tron')}, 2, 'second', '\\x00', 1, now())`,
    `insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, recipient, contract, raw_amount)
     select network_id, kind, 'second', 0, height, block_hash, position, block_time, sender, recipient, contract, raw_amount from sightings
     where txid = (select txid from payouts where id = ${payout('tron')}) and kind = 'token'`,
  ],
  ['A9', 'a nonce that was moved on', `update payouts set nonce = nonce + 1000 where id = ${payout('ethereum')}`],
  [
    'A9',
    'a nonce that was moved to the end',
    `update payouts p set nonce = (select max(o.nonce) + 1 from payouts o where o.wallet_id = p.wallet_id) where id = ${payout('ethereum')}`,
  ],
  ['A9', 'a wallet that begins anew', `update wallets set next_nonce = 0 where address = 'ethereum-hot'`],
  ['A9', 'a transaction with another nonce', `update sightings set nonce = nonce + 1 where id = ${sent('ethereum')}`],
  ['A9', 'a payout without a nonce', `update payouts set nonce = null where id = ${payout('ethereum', 'sweep')}`],
  [
    'A9',
    'bytes signed again before the first were dead',
    `insert into payout_attempts (id, payout_id, number, txid, signed_bytes, fee_limit, expires_at) values (gen_random_uuid(), ${payout('tron')}, 2, 'second', '\\x00', 1, now())`,
  ],
  ['A10', 'a payment of another status', `update payments set status = 'MISMATCH' where id = ${payment('tron')}`],
  ['A10', 'a webhook of another status', `update webhook_events set status = 'ACCEPTABLE' where payment_id = ${payment('tron')}`],
  [
    'A10',
    'a payment with a webhook nobody wrote',
    `update payments set webhook_url = 'https://shop.example' where id = (select p.id from payments p where webhook_url is null and status <> 'PENDING' limit 1)`,
  ],
  ['A12', 'a reply about nothing', `update idempotency_keys set resource_id = gen_random_uuid() where key = 'order-20'`],
  [
    'A12',
    'a new reply about nothing',
    `insert into idempotency_keys (gateway_id, operation, key, fingerprint, resource_id) select gateway_id, operation, 'another', fingerprint, gen_random_uuid() from idempotency_keys limit 1`,
  ],
  ['A15', 'a transaction of ours that nobody signed', `update sightings set txid = 'nobody' where id = ${sent('ethereum')}`],
  [
    'A15',
    'one of a wallet that is let go on',
    `set local session_replication_role = replica`,
    `update wallets set halted_reason = 'unknown' where address = 'ethereum-hot'`,
    `update sightings set txid = 'nobody' where id = ${sent('ethereum')}`,
    `set local session_replication_role = origin`,
    `update wallets set halted_reason = null where address = 'ethereum-hot'`,
  ],
  ...['A16', 'A18'].map((check): [string, string, string] => [
    check,
    'an expense that was never posted',
    `insert into accruals (credit_id, gateway_id, payment_id, asset_id, coins, price_usd, usd) select id, gateway_id, payment_id, asset_id, 1, 1, 1 from credits where id = ${credit('tron')}`,
  ]),
  [
    'A18',
    'a posting that was never accrued',
    entry(`'deposit:' || ${deposit('tron')}`, 'platformExpense', 'tron', '-1'),
    `update ledger_accounts set balance = balance - 1 where id = ${accountOf('platformExpense', 'tron')}`,
  ],
  ['A17', 'a fee that was not locked', `update settlements set fee_locked = fee_locked + 1, net_amount = net_amount - 1 where id = ${cashout('tron')}`],
  ['A17', 'a transaction that cost more', `update payouts set raw_fee = raw_fee + 1 where id = ${payout('tron')}`],
  [
    'A17',
    'a cashout that the platform was said to pay for',
    `insert into accruals (settlement_id, gateway_id, asset_id, coins, price_usd, usd) select id, gateway_id, asset_id, 1, 1, 1 from settlements where id = ${cashout('tron')}`,
  ],
  [
    'A19',
    'an invoice of nothing',
    `insert into invoices (id, gateway_id, month, line_count, total_usd) select gen_random_uuid(), id, '2026-01-01', 1, 1 from gateways limit 1`,
  ],
  [
    'A20',
    'what was accrued in a month that nobody closed',
    `insert into accruals (reverses, gateway_id, payment_id, asset_id, coins, price_usd, usd, at)
     select id, gateway_id, payment_id, asset_id, -coins, price_usd, -usd, sluice_now() - interval '40 days' from accruals where payment_id is not null limit 1`,
  ],
  ['A22', 'a credit in the other pool', `update credits set pool = 'held', remaining = net where id = ${credit('tron')}`],
  ['A22', 'a credit that is flagged', `update credits set screening = 'flagged', screening_score = 90 where id = ${credit('tron')}`],
  ['A22', 'a payment said to be held', `update payments set aml_state = 'HELD' where id = ${payment('tron')}`],
  ['A22', 'a verdict nobody acted on', `insert into aml_events (payment_id, event, to_status, actor) values (${payment('tron')}, 'FLAGGED', 'HELD', 'nobody')`],
  ['A23', 'a credit said to be refunded', `update credits set pool = 'held', taken = 'refunding' where id = ${credit('tron')}`],
  ['A23', 'a payment said to be refunded', `update payments set aml_state = 'REFUNDED' where id = ${payment('tron')}`],
  ['A25', 'a payout of another wallet', `update payouts set wallet_id = (select id from wallets where address = 'tron-held') where id = ${payout('tron')}`],
  ['A25', 'a sweep to another wallet', `update payouts set recipient = 'tron-held' where id = ${payout('tron', 'sweep')}`],
  [
    'A25',
    'a swept payment that was moved to the other pool',
    `update credits set pool = 'held' where payment_id in (select x.payment_id from payouts p join wallets w on w.id = p.wallet_id join deposit_addresses x on x.address = w.address
      where p.id = ${payout('tron', 'sweep')})`,
  ],
  ['A27', 'an anchor that was given back', `update output_locks set released_at = now() where payout_id = ${payout('bitcoin')}`],
  ['A27', 'another anchor', `update payouts set anchor = repeat('a', 64) || ':0' where id = ${payout('bitcoin')}`],
  ['A28', 'outputs that were spent and not taken', `update output_locks set released_at = now() where payout_id = ${payout('bitcoin')}`],
  [
    'A28',
    'an output of somebody else',
    `update output_locks set txid = repeat('a', 64) where id = (select min(id) from output_locks where payout_id = ${payout('bitcoin')})`,
  ],
  [
    'A28',
    'an output of the other pool',
    `update credits set pool = 'held' where id in (select d.id from deposits d join output_locks l on l.txid = d.txid where l.payout_id = ${payout('bitcoin')})`,
  ],
  ['A28', 'an output that is told to be spent', `insert into spent_outputs (sighting_id, txid, vout) values (${sent('bitcoin')}, repeat('a', 64), 0)`],
  [
    'A29',
    'change that grew',
    `update sightings set raw_amount = raw_amount + 1 where txid = (select txid from payouts where id = ${payout('bitcoin')}) and recipient = 'bitcoin-hot'`,
  ],
  [
    'A29',
    'a spent output that grew',
    `update sightings set raw_amount = raw_amount + 1 where txid = (select min(txid) from output_locks where payout_id = ${payout('bitcoin')})`,
  ],
  [
    'A29',
    'an output that was never there at first',
    `insert into opening_outputs (network_id, txid, vout, wallet_id, address, raw_amount, height) select network_id, 'x', 0, id, address, 1, 1 from wallets where address = 'bitcoin-held'`,
  ],
  ['A29', 'another fee', `update sightings set raw_fee = raw_fee + 1 where id = ${sent('bitcoin')}`],
  ['A29', 'coins joined elsewhere', `update payouts set purpose = 'consolidation' where id = ${payout('bitcoin')}`],
  ['A34', 'an act that says another target', ...ACTS, `update console_actions set target = 'third' where target = 'first'`],
  ['A34', 'an act that was taken out', ...ACTS, `delete from console_actions where target = 'first'`],
];

describe('what is done to an old row is found by looking at changes alone', () => {
  class Undone extends Error {}

  /** As if nothing had been written since a transaction that is yet to come. */
  async function nothingChanged(tx: Tx): Promise<Changed> {
    const changed = await readChanged(tx, '9223372036854775807');
    if (changed === undefined) throw new Error('something is newer than what is to come');
    return changed;
  }

  /** Does something, asks both forms of each check, and undoes it. */
  async function askAll(
    checks: readonly Check[],
    statements: readonly string[],
  ): Promise<Record<string, { whole: number; ofChanged: number; together: number; ofNothing: number }>> {
    const found: Record<string, { whole: number; ofChanged: number; together: number; ofNothing: number }> = {};
    const { since } = await readHorizon(database.sql);
    await database
      .transaction(async (tx: Tx) => {
        for (const statement of statements) await tx.unsafe(statement);
        const changed = await readChanged(tx, since);
        const asked = changed === undefined ? [] : CHECKS.map((check) => ({ check, changed }));
        const rows = await runChecks(tx, asked, PRICES);
        const together = new Map(asked.map(({ check }, at) => [check.name, rows[at]?.length]));
        for (const check of checks)
          found[check.name] = {
            whole: (await runCheck(tx, check, PRICES)).rows.length,
            ofChanged: (await runCheck(tx, check, PRICES, changed)).rows.length,
            together: changed === undefined ? -1 : (together.get(check.name) ?? -1),
            ofNothing: check.asksMore || check.ofChanged === undefined ? 0 : (await tx.unsafe(check.ofChanged(await nothingChanged(tx)))).length,
          };
        throw new Undone();
      })
      .catch((error: unknown) => {
        if (!(error instanceof Undone)) throw error;
      });
    return found;
  }

  it.each(PLANTED)('%s: %s', async (name, _, ...statements) => {
    const found = await askAll([CHECKS.find((check) => check.name === name) as Check], statements);
    expect(found[name]?.whole, 'found by looking at everything').toBeGreaterThan(0);
    expect(found[name]?.ofChanged, 'found by looking at changes').toBeGreaterThan(0);
    expect(found[name]?.together, 'found by asking all checks together').toBe(found[name]?.ofChanged);
    // Or the minute's audit would have to ask it although nothing changed.
    expect(found[name]?.ofNothing, 'found by looking at no change').toBe(0);
  });

  it('for each check that has a mark', () => {
    expect([...new Set(PLANTED.map(([check]) => check))].sort()).toEqual(MARKED.map(({ name }) => name).sort());
  });

  it('and nothing else is: rows that were touched and are right violate nothing', async () => {
    const touched = [
      'update payments set language = language',
      'update deposits set path = path',
      'update credits set pool = pool',
      'update credit_draws set state = state',
      'update settlements set wait_reason = wait_reason',
      'update payouts set failure = failure',
      'update output_locks set payout_id = payout_id',
      'update sightings set position = position + 1, sender = sender',
      'update sightings set height = height',
      `update wallets set halted_reason = 'here' where role <> 'deposit'`,
      `update wallets set halted_reason = null where role <> 'deposit'`,
    ];
    for (const [name, found] of Object.entries(await askAll(MARKED, touched)))
      expect(found, name).toEqual({ whole: 0, ofChanged: 0, together: 0, ofNothing: 0 });
  });
});

describe('the minute audit', () => {
  beforeEach(async () => {
    await database.sql`delete from freezes`;
    await untilPassed();
  });

  it('has a mark for each such check once it was clean, and moves all of them when something changed', async () => {
    const before = await marks();
    expect(before.map(({ checkName }) => checkName)).toEqual(MARKED.map(({ name }) => name).sort());
    await database.sql`update payments set language = language where id = (select id from payments limit 1)`;
    await untilPassed();
    const after = await marks();
    expect(after.every(({ since }, at) => BigInt(since) > BigInt(before[at]?.since ?? 0))).toBe(true);
    // Nothing was written but the marks.
    expect(await minute()).toBe(0);
    expect(await marks()).toEqual(after);
  });

  it('moves all of them or none, where somebody else moved or took away one meanwhile', async () => {
    const db = database.as('worker');
    const { marks: read } = await readHorizonAndMarks(db.sql);
    const moves = read.map((was) => ({ was, mark: { ...was, since: String(BigInt(was.since) + 1n), fingerprint: 'another' } }));
    const [first, ...rest] = moves as [(typeof moves)[0], ...typeof moves];
    expect(await replaceMarks(db.sql, [{ ...first, was: { ...first.was, mac: new Uint8Array(32) } }, ...rest])).toBe(false);
    expect(await replaceMarks(db.sql, [{ ...first, was: { ...first.was, since: '1' } }, ...rest])).toBe(false);
    await database.sql`delete from audit_marks where check_name = ${first.was.checkName}`;
    expect(await replaceMarks(db.sql, moves)).toBe(false);
    expect((await readHorizonAndMarks(db.sql)).marks).toEqual(rest.map(({ was }) => was));
    expect(await replaceMarks(db.sql, rest)).toBe(true);
    expect((await readHorizonAndMarks(db.sql)).marks).toEqual(rest.map(({ mark }) => mark));
    // What nobody can prove is looked at as a whole, and has a mark again.
    expect(await minute()).toBe(0);
    expect(await marks()).toHaveLength(MARKED.length);
  });

  it('looks at what a transaction wrote that began before the mark moved and ended after it', async () => {
    let plant: (() => void) | undefined;
    const planted = new Promise<void>((resolve) => (plant = resolve));
    let end: (() => void) | undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const slow = database.transaction(async (tx) => {
      await tx.unsafe(`update credits set gross = gross + 1 where id = ${credit('tron')}`);
      plant?.();
      await ended;
    });
    await planted;
    await database.sql`update payments set language = language where id = (select id from payments limit 1)`;
    expect(await minute()).toBe(0);
    end?.();
    await slow;
    expect(await minute()).toBeGreaterThan(0);
    expect(await frozen()).toEqual(['audit A4']);
    // Every minute, for as long as it is there.
    expect(await minute()).toBeGreaterThan(0);
    await database.sql.unsafe(`update credits set gross = gross - 1 where id = ${credit('tron')}`);
    expect(await minute()).toBe(0);
  });

  it.each([
    ['moved on', `update audit_marks set since = (since::text::bigint + 1)::text::xid8`],
    ['of another question', `update audit_marks set fingerprint = 'another'`],
    ['of another history', `update audit_marks set history = 'another'`],
    ['of another check', `update audit_marks a set mac = b.mac from audit_marks b where a.check_name = 'A4' and b.check_name = 'A5'`],
    ['gone', 'delete from audit_marks'],
  ])('looks at everything when a mark is %s', async (_, statement) => {
    await tamper(`update credits set gross = gross + 1 where id = ${credit('tron')}`);
    expect(await minute(), 'with a good mark').toBe(0);
    await database.sql.unsafe(statement);
    expect(await minute(), 'with a bad one').toBeGreaterThan(0);
    await tamper(`update credits set gross = gross - 1 where id = ${credit('tron')}`);
    expect(await minute()).toBe(0);
  });

  it('looks at everything where nobody has a key to prove a mark with', async () => {
    await tamper(`update credits set gross = gross + 1 where id = ${credit('tron')}`);
    expect(await auditAndFreeze({ ...depsOf(database), config: {} as Deps['config'] }, new Set())).toBeGreaterThan(0);
    await tamper(`update credits set gross = gross - 1 where id = ${credit('tron')}`);
  });
});

it('the minute audit asks each check by itself where they cannot be asked together, and finds the same', async () => {
  await database.sql`delete from freezes`;
  await untilPassed();
  await tamper(`update credits set gross = gross + 1 where id = ${credit('tron')}`);
  await database.sql.unsafe(`update credits set pool = pool where id = ${credit('tron')}`);
  const deps = depsOf(database);
  let together = 0;
  const sql = new Proxy(deps.db.sql, {
    get(target, key, receiver) {
      if (key !== 'unsafe') return Reflect.get(target, key, receiver) as unknown;
      return (text: string) => {
        if (!text.includes('json_build_array')) return target.unsafe(text);
        together += 1;
        return target.unsafe('select 1 / 0');
      };
    },
  });
  expect(await auditAndFreeze({ ...deps, db: { ...deps.db, sql } }, new Set())).toBeGreaterThan(0);
  expect([together, await frozen()]).toEqual([1, ['audit A4']]);
  await tamper(`update credits set gross = gross - 1 where id = ${credit('tron')}`);
  await database.sql`delete from freezes`;
});

describe('at night', () => {
  beforeEach(async () => {
    await database.sql`delete from freezes`;
    now = Date.parse('2026-03-01T12:00:00Z');
  });

  it('what somebody did past every trigger is found, dispatch stops, and each minute finds it from then on', async () => {
    await database.sql`delete from audit_marks`;
    await untilPassed();
    await tamper(
      `update ledger_entries set amount = amount + 0.000000000000000001 where transaction_id = (select min(transaction_id) from ledger_entries) and amount > 0`,
    );
    expect(await minute()).toBe(0);
    expect(await auditEverything(depsOf(database)), 'by day').toBe(0);
    now = Date.parse('2026-03-02T02:30:00Z');
    expect(await auditEverything(depsOf(database)), 'by night').toBeGreaterThan(0);
    expect(await frozen()).toEqual(['audit A1']);
    expect(await minute()).toBeGreaterThan(0);
    await tamper(
      `update ledger_entries set amount = amount - 0.000000000000000001 where transaction_id = (select min(transaction_id) from ledger_entries) and amount > 0`,
    );
    expect(await minute()).toBe(0);
    expect((await marks()).length).toBe(MARKED.length);
  });

  it('figures that are kept as sums are held against their rows, and stop nothing when they are wrong', async () => {
    await database.sql`delete from audit_marks`;
    expect([await minute(), await auditEverything(depsOf(database))]).toEqual([0, 0]);
    await tamper(`update payments set status = 'EXPIRED' where id = ${payment('tron')}`);
    now = Date.parse('2026-03-02T02:30:00Z');
    expect(await auditEverything(depsOf(database))).toBeGreaterThan(0);
    expect(await frozen()).toEqual(['audit A10']);
    await tamper(
      `update payments set status = 'SUCCESS' where id = ${payment('tron')}; update credit_tallies set gross = gross + 1 where gross = (select max(gross) from credit_tallies)`,
    );
    await database.sql`delete from freezes`;
    expect(await auditEverything(depsOf(database)), 'once a night').toBe(0);
    now = Date.parse('2026-03-03T02:30:00Z');
    expect(await auditEverything(depsOf(database))).toBe(1);
    expect(await frozen()).toEqual([]);
    await tamper('update credit_tallies set gross = gross - 1 where gross = (select max(gross) from credit_tallies)');
    now = Date.parse('2026-03-04T02:30:00Z');
    expect(await auditEverything(depsOf(database))).toBe(0);
    expect(await minute()).toBe(0);
  });

  it('everything is looked at once, and by day where the night was missed', async () => {
    await database.sql`delete from audit_marks`;
    expect(await minute()).toBe(0);
    const wholeAt = async () => [
      ...new Set((await database.sql<{ wholeAt: Date }[]>`select whole_at from audit_marks where check_name <> 'A33'`).map((row) => row.wholeAt.toISOString())),
    ];
    expect(await wholeAt()).toEqual(['2026-03-01T12:00:00.000Z']);
    now = Date.parse('2026-03-02T00:30:00Z');
    await auditEverything(depsOf(database));
    expect(await wholeAt(), 'in the evening').toEqual(['2026-03-01T12:00:00.000Z']);
    now = Date.parse('2026-03-02T03:00:00Z');
    await auditEverything(depsOf(database));
    expect(await wholeAt(), 'in the night').toEqual(['2026-03-02T03:00:00.000Z']);
    now = Date.parse('2026-03-03T10:00:00Z');
    await auditEverything(depsOf(database));
    expect(await wholeAt(), 'nobody was at work in the night').toEqual(['2026-03-03T10:00:00.000Z']);
  });
});

describe('what changed is written down', () => {
  const worker = () => database.as('worker').sql;

  it('whoever writes, and no login of a process can take it back, add to it or stop it', async () => {
    for (const by of [1, -1]) await worker().unsafe(`update ledger_accounts set balance = balance + ${by} where id = ${accountOf('available', 'tron')}`);
    await worker().unsafe(`update credits set remaining = remaining where id = ${credit('tron')}`);
    const [{ count }] = await database.sql<[{ count: number }]>`select count(*)::int as count from audit_changes`;
    expect(count).toBeGreaterThan(0);
    for (const statement of [
      'delete from audit_changes',
      'delete from audit_moves where true',
      `update audit_changes set xid = '1'`,
      `insert into audit_moves (account_id, amount) values (1, 1)`,
      'truncate audit_changes',
      'alter table credits disable trigger credits_noted',
      'set session_replication_role = replica',
    ])
      await expect(
        worker()
          .unsafe(statement)
          .then((rows) => rows.count),
        statement,
      ).rejects.toThrow(/permission denied|must be owner|younger than a day/);
    expect(await database.sql`select count(*)::int as count from audit_changes`).toEqual([{ count }]);
  });

  it('and given up a day after every mark has passed it', async () => {
    await database.sql`update payments set language = language where id = (select id from payments limit 1)`;
    await untilPassed();
    expect(await forgetAudited(depsOf(database))).toBe(0);
    await tamper(`update audit_changes set at = at - interval '${DAY_MS} milliseconds'; update audit_moves set at = at - interval '${DAY_MS} milliseconds'`);
    await database.sql`update payments set language = language where id = (select id from payments limit 1)`;
    expect(await forgetAudited(depsOf(database))).toBeGreaterThan(0);
    // What no mark has passed is still there, however old.
    expect((await database.sql`select 1 from audit_changes`).length).toBeGreaterThan(0);
  });
});
