import { describe, expect, it } from 'vitest';
import { WORKING_RIGHTS } from '#shared/platform/database-rights.ts';
import { parseWrites } from '#shared/platform/database-roles.ts';
import { needsOf, readReferences, reachableStatements } from '#test/harness/reachable-sql.ts';

const START = 'api/main.ts#start';
const SEEDS = ['api/operator/seed-networks.ts#seedNetworks', 'api/operator/pin-genesis.ts#pinGenesis', 'api/treasury/wallets.ts#seedWallets'];
/** What only some processes come to, though the start of all refers to it. */
const ENTRIES = {
  http: [
    'api/main.ts#startHttp',
    'api/people/invitations.ts#invitePerson',
    'api/people/invitations.ts#recoverPerson',
    'api/people/revoke-person.ts#revokePerson',
    ...SEEDS,
  ],
  worker: [
    'api/main.ts#startWorker',
    'api/jobs/all-work.ts#work',
    'api/screening/open.ts#openScreening',
    'api/clients/screening/registry.ts#openScreeningSources',
  ],
  signer: ['api/main.ts#startSignerRole'],
  indexer: ['indexer/main.ts#main'],
  console: ['api/main.ts#startConsole'],
} as const;
/** Of what serves a contract: what is asked by a session takes no Idempotency-Key and has no key to note, and its refusals are nobody's to put on an allowlist. */
const NOT_BY_A_SESSION = ['api/http/idempotency.ts#committer', 'api/gateways/refusals.ts#noteRefusal', 'api/gateways/requests.ts#noteRequest'];
/** Runs with the owner's rights. */
const OWNERS = ['shared/platform/migrate.ts#migrate', 'shared/platform/database-roles.ts#grantRights'];

const TABLES = new Set(Object.values(WORKING_RIGHTS).flatMap(({ reads, writes }) => [...reads, ...Object.keys(writes)]));
const graph = readReferences();

describe.each(['http', 'worker', 'signer', 'indexer', 'console'] as const)('the rights of %s', (role) => {
  const roots = role === 'indexer' || role === 'console' ? ENTRIES[role] : [START, ...ENTRIES[role]];
  const stop = [
    ...Object.values(ENTRIES)
      .flat()
      .filter((entry) => !(roots as readonly string[]).includes(entry)),
    ...OWNERS,
    ...(role === 'console' ? NOT_BY_A_SESSION : []),
  ];
  const statements = reachableStatements(graph, roots, stop);

  it('are enough for every statement that its process can come to', () => {
    expect(statements.length).toBeGreaterThan(5);
    const { reads, writes } = WORKING_RIGHTS[role];
    const allowed = new Set(reads.map((table) => `select ${table}`));
    for (const [table, words] of Object.entries(writes)) {
      const { insert, update, remove } = parseWrites(words);
      if (insert) allowed.add(`insert ${table}`);
      if (remove) allowed.add(`delete ${table}`);
      for (const column of update) allowed.add(`update ${table}.${column}`).add(`lock ${table}`);
    }
    const lacking = statements.flatMap(({ owner, text }) =>
      needsOf(text, TABLES)
        // The console reads of every table what people may read; the tests that run as its login find what it may not.
        .filter((need) => !allowed.has(need) && !(role === 'console' && need.startsWith('select ')))
        .map((need) => `${need}: ${owner}`),
    );
    // What is shared says it where there is a key for it, which is in http alone (decision 0036).
    const elsewhere = role === 'http' ? [] : ['insert statements: api/store/keyed-orders.ts#insertStatements'];
    expect([...new Set(lacking)].filter((need) => !elsewhere.includes(need)).sort()).toEqual([]);
  });

  it('are no more than those statements need, where their text says it', () => {
    const needed = new Set(statements.flatMap(({ text }) => needsOf(text, TABLES)));
    const surplus = Object.entries(WORKING_RIGHTS[role].writes).flatMap(([table, words]) => {
      const { insert, remove } = parseWrites(words);
      return [
        ...(insert && !needed.has(`insert ${table}`) ? [`insert ${table}`] : []),
        ...(remove && !needed.has(`delete ${table}`) ? [`delete ${table}`] : []),
      ];
    });
    // Names of histories are put into the one statement that writes them all (api/store/advance.ts); statements are for http alone (decision 0036).
    expect(surplus.filter((one) => !/^insert ((payment|settlement|payout|aml)_events|statements)$/.test(one))).toEqual([]);
  });
});

/** As a template has it where something is put in. */
const PUT_IN = (expression: string): string => `$\{${expression}}`;

describe('what a statement needs', () => {
  it.each([
    [
      `update watches w set acked_epoch = ${PUT_IN('x')}, (a, b) = (1, 2) from assets where w.id = 1`,
      ['select assets', 'update watches.a', 'update watches.acked_epoch', 'update watches.b'],
    ],
    [
      `insert into wallets (id) values (${PUT_IN('f({ a: 1 })')}) on conflict (id) do update set lockable = default returning id`,
      ['insert wallets', 'update wallets.lockable'],
    ],
    ['select 1 from assets a join wallets w on true where a.id = 1 for update of w', ['lock wallets', 'select assets', 'select wallets']],
    ['delete from outbox where id in (select id from outbox for update skip locked)', ['delete outbox', 'lock outbox', 'select outbox']],
  ])('is read from its text: %s', (text, needs) => {
    expect(needsOf(text, TABLES).sort()).toEqual(needs);
  });
});
