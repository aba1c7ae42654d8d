import { bookedHoldings } from '#test/fixtures/booked-holdings.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAudit } from '#api/audit/run-audit.ts';
import { assertDurable } from '#api/ledger/assert-durable.ts';
import { gatewayBalances, poolBalance } from '#api/ledger/balances.ts';
import { Overdraw, post, postNew } from '#api/ledger/post.ts';
import { findAccounts } from '#api/store/ledger.ts';
import { allEnded } from '#shared/core/both-ended.ts';
import { type Coins, parseTrusted } from '#shared/core/money.ts';
import { connect, type Database, type Tx } from '#shared/platform/postgres.ts';
import { gatewayAccount, type Posting, systemAccount } from '#state-machines/ledger/accounts.ts';
import { credit, mature, reserve, unallocated } from '#state-machines/ledger/postings.ts';
import { type Books, someBooks } from '#test/fixtures/books.ts';
import { urlFor } from '#test/harness/logins.ts';

const coins = (text: string): Coins => parseTrusted<'asset'>(text);

describe('the ledger', () => {
  let books: Books;
  let assetId: string;
  let gatewayId: string;
  beforeAll(async () => {
    books = await someBooks();
    assetId = books.assets.USDT.id;
    gatewayId = books.gatewayId;
  });
  afterAll(async () => {
    // Postings are made up here, without the accruals and credits that stand behind them.
    const checks = (await runAudit(books.deps.db.sql)).filter(({ check }) => !['A18', 'A21'].includes(check));
    for (const { check, rows } of checks) expect(rows, check).toEqual([]);
    await books.drop();
  });

  const give = (amount: string): Promise<boolean> =>
    books.deps.db.transaction(async (tx) => {
      const [terms, key] = [{ gatewayId, assetId, pool: 'green' as const }, randomUUID()];
      await post(tx, {
        sourceKey: `give:${key}`,
        kind: 'credit',
        postings: credit({ ...terms, gross: coins(amount), net: coins(amount), networkFee: coins('0'), commission: coins('0'), platformBears: coins('0') }),
      });
      return post(tx, { sourceKey: `give:${key}:mature`, kind: 'mature', postings: mature({ ...terms, amount: coins(amount) }) });
    });
  const available = (): Promise<Coins> => poolBalance(books.deps.db.sql, gatewayId, assetId, 'green');
  const take = (db: Database, amount: string): Promise<boolean> =>
    db.transaction((tx) =>
      post(tx, {
        sourceKey: `take:${randomUUID()}`,
        kind: 'test',
        postings: [
          { account: gatewayAccount('available', gatewayId), assetId, amount: -coins(amount) },
          { account: systemAccount('chain'), assetId, amount: coins(amount) },
        ],
      }),
    );

  it('posts each source key once, however often and however concurrently it is asked to', async () => {
    const before = await available();
    const sourceKey = `once:${randomUUID()}`;
    const postings: Posting[] = [
      { account: systemAccount('chain'), assetId, amount: -coins('7') },
      { account: gatewayAccount('available', gatewayId), assetId, amount: coins('7') },
    ];
    const answers = await Promise.all(Array.from({ length: 10 }, () => books.deps.db.transaction((tx) => post(tx, { sourceKey, kind: 'test', postings }))));
    expect(answers.filter(Boolean)).toHaveLength(1);
    expect(await available()).toBe(before + coins('7'));
  });

  it('lets exactly as many of 128 concurrent withdrawals through as the balance holds (trap A)', async () => {
    const wide = connect(urlFor(books.db.url), { name: 'overdraw', max: 32 });
    try {
      await give('100');
      const start = await available();
      const answers = await Promise.allSettled(Array.from({ length: 128 }, () => take(wide, '10')));
      const paid = answers.filter((answer) => answer.status === 'fulfilled').length;
      expect(BigInt(paid)).toBe(start / coins('10'));
      expect(answers.filter((answer) => answer.status === 'rejected').every((answer) => answer.reason instanceof Overdraw)).toBe(true);
      expect(await available()).toBe(start - BigInt(paid) * coins('10'));
    } finally {
      await wide.end();
    }
  });

  it('writes nothing of a posting that would overdraw, and says which account', async () => {
    await expect(take(books.deps.db, '1000000')).rejects.toMatchObject({ name: 'Overdraw', account: { kind: 'available', gatewayId, assetId } });
  });

  it('takes back what was sent beside a new posting that would overdraw, and the posting with what failed beside it', async () => {
    const before = await available();
    const state = async () => [await available(), await books.db.sql`select count(*)::int as n from ledger_transactions where source_key like 'beside-%'`];
    const posting = (sourceKey: string, amount: string, beside: (tx: Tx) => Promise<unknown>) =>
      books.deps.db.transaction(async (tx) => {
        const accounts = [gatewayAccount('available', gatewayId), systemAccount('commission')].map((account) => ({ ...account, assetId }));
        const known = await findAccounts(tx, accounts);
        const postings = [-coins(amount), coins(amount)].map((change, i) => ({ account: accounts[i] as (typeof accounts)[number], assetId, amount: change }));
        await allEnded([postNew(tx, { sourceKey, kind: 'test', postings }, known), beside(tx)]);
      });
    const further = (tx: Tx) => tx`insert into ledger_transactions (source_key, kind) values ('beside-further', 'test')`;
    const failing = (tx: Tx) => tx`select 1 / 0`;
    await expect(posting('beside-1', '1000000', further)).rejects.toMatchObject({ name: 'Overdraw', account: { kind: 'available', gatewayId } });
    await expect(posting('beside-2', '1000000', failing)).rejects.toThrow();
    await expect(posting('beside-3', '0.001', failing)).rejects.toThrow('division by zero');
    expect(await state()).toEqual([before, [{ n: 0 }]]);
    await posting('beside-4', '0.001', further);
    await expect(posting('beside-4', '0.001', async () => undefined)).rejects.toThrow('beside-4 is posted already');
    expect(await state()).toEqual([before - coins('0.001'), [{ n: 2 }]]);
  });

  it('posts a new cause as any other where its accounts were not found ahead, or none', async () => {
    const before = await available();
    const postNewly = (sourceKey: string, amount: string) =>
      books.deps.db.transaction((tx) => {
        const postings: Posting[] = [
          { account: systemAccount('chain'), assetId, amount: -coins(amount) },
          { account: gatewayAccount('available', gatewayId), assetId, amount: coins(amount) },
        ];
        return postNew(tx, { sourceKey, kind: 'test', postings: amount === '0' ? [] : postings }, []);
      });
    await postNewly('new-1', '3');
    await postNewly('new-2', '0');
    expect(await available()).toBe(before + coins('3'));
    expect(await books.db.sql`select kind from ledger_transactions where source_key like 'new-%'`).toHaveLength(2);
  });

  it('lets only accounts of the deployment go below zero', async () => {
    await books.deps.db.transaction((tx) =>
      post(tx, {
        sourceKey: 'overdraw-platform',
        kind: 'test',
        postings: [
          { account: systemAccount('platformExpense'), assetId, amount: -coins('1') },
          { account: systemAccount('commission'), assetId, amount: coins('1') },
        ],
      }),
    );
    await expect(
      books.deps.db.transaction((tx) => post(tx, { sourceKey: 'overdraw-unallocated', kind: 'test', postings: unallocated(assetId, coins('-1')) })),
    ).rejects.toBeInstanceOf(Overdraw);
  });

  it('adds up several postings to one account before it looks at the balance', async () => {
    const before = await available();
    await books.deps.db.transaction((tx) =>
      post(tx, {
        sourceKey: 'netted',
        kind: 'test',
        postings: [
          { account: gatewayAccount('available', gatewayId), assetId, amount: -(before + coins('5')) },
          { account: gatewayAccount('available', gatewayId), assetId, amount: before + coins('5') },
        ],
      }),
    );
    expect(await available()).toBe(before);
  });

  it('keeps a reservation in an account of its own settlement', async () => {
    await give('20');
    const [before, settlementId] = [await available(), randomUUID()];
    const claimed = books.deps.db.transaction(async (tx) => {
      await post(tx, {
        sourceKey: `settlement:${settlementId}:reserve`,
        kind: 'reserve',
        postings: reserve({ gatewayId, assetId, settlementId, pool: 'green', amount: coins('20') }),
      });
      const [balance] = (await gatewayBalances(tx, gatewayId)).filter((one) => one.assetId === assetId);
      expect(balance).toMatchObject({ available: before - coins('20'), reserved: coins('20') });
      throw new Error('rolled back');
    });
    await expect(claimed).rejects.toThrow('rolled back');
    expect(await available()).toBe(before);
  });

  it('refuses postings that do not sum to zero, in the code and in the database', async () => {
    const lopsided: Posting[] = [{ account: systemAccount('chain'), assetId, amount: coins('1') }];
    await expect(books.deps.db.transaction((tx) => post(tx, { sourceKey: 'lopsided', kind: 'test', postings: lopsided }))).rejects.toThrow(/sum/);
    const direct = books.deps.db.transaction(async (tx) => {
      const [t] = await tx<[{ id: number }]>`insert into ledger_transactions (source_key, kind) values ('direct', 'test') returning id`;
      await tx`insert into ledger_entries (transaction_id, account_id, asset_id, amount) select ${t.id}, id, asset_id, 1 from ledger_accounts where kind = 'chain' and asset_id = ${assetId}`;
    });
    await expect(direct).rejects.toThrow(/does not sum to zero/);
  });

  it("refuses an entry whose asset is not its account's", async () => {
    const mixed = books.deps.db.transaction(async (tx) => {
      const [t] = await tx<[{ id: number }]>`insert into ledger_transactions (source_key, kind) values ('mixed', 'test') returning id`;
      await tx`insert into ledger_entries (transaction_id, account_id, asset_id, amount) select ${t.id}, id, ${books.assets.ETH.id}, 1 from ledger_accounts where kind = 'chain' and asset_id = ${assetId}`;
    });
    await expect(mixed).rejects.toThrow(/another asset/);
  });

  it.each(['ledger_entries', 'ledger_transactions'])('never changes or deletes what is in %s', async (table) => {
    const column = table === 'ledger_entries' ? 'amount' : 'kind';
    await expect(books.db.sql`update ${books.db.sql(table)} set ${books.db.sql(column)} = ${books.db.sql(column)}`).rejects.toThrow(/append-only/);
    await expect(books.db.sql`delete from ${books.db.sql(table)}`).rejects.toThrow(/append-only/);
  });

  it('has a last line of defence below every gateway balance', async () => {
    await expect(books.db.sql`update ledger_accounts set balance = -1 where kind = 'available' and asset_id = ${assetId}`).rejects.toThrow(/check constraint/);
  });

  it.each(['NaN', 'Infinity', '-Infinity', '1.0000000000000000001'])('refuses %s as an amount (trap B)', async (value) => {
    await expect(books.db.sql`update ledger_accounts set balance = ${value}::text::numeric where kind = 'chain' and asset_id = ${assetId}`).rejects.toThrow(
      /check constraint|violates/,
    );
    await expect(books.db.sql`select ${value}::text::numeric::raw_units`).rejects.toThrow(/violates|check/);
  });

  it('says what is held on chain as minus the outside', async () => {
    const before = await bookedHoldings(books.deps.db.sql, assetId);
    await give('3.000000000000000001');
    expect(await bookedHoldings(books.deps.db.sql, assetId)).toBe(before + coins('3.000000000000000001'));
  });
});

describe('durability', () => {
  it('is refused a money role when Postgres may forget an acknowledged commit (trap D)', async () => {
    const books = await someBooks();
    const url = new URL(books.db.url);
    try {
      await expect(assertDurable(books.deps.db.sql)).resolves.toBeUndefined();
      await books.db.sql`alter database ${books.db.sql(url.pathname.slice(1))} set synchronous_commit = off`;
      const later = connect(books.db.url, { name: 'durability', max: 1 });
      await expect(assertDurable(later.sql)).rejects.toThrow('synchronous_commit is off');
      await later.end();
    } finally {
      await books.drop();
    }
  });
});
