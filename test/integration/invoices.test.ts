import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runAudit } from '#api/audit/run-audit.ts';
import { closeMonths } from '#api/billing/close-months.ts';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { post } from '#api/ledger/post.ts';
import { showInvoice, showInvoices } from '#api/operator/invoices.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { reverseAccrual } from '#api/store/charges.ts';
import { advanceClock, readClock } from '#api/store/clock.ts';
import { closeMonth, listDueMonths } from '#api/store/invoices.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { systemAccount } from '#state-machines/ledger/accounts.ts';
import { type Books, type PaymentOptions, someBooks } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { add, type Rational, rational, round, text, times, ZERO } from '../unit/core/rational.ts';

let books: Books;
beforeEach(async () => {
  books = await someBooks();
});
afterEach(async () => {
  await assertCleanAudit(books.db);
  await books.drop();
});

const now = async (): Promise<Date> => (await readClock(books.deps.db.sql)).now;
const monthOf = (date: Date): string => date.toISOString().slice(0, 7);
const next = (date: Date, months = 1): Date => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1));

/** Moves the service clock to a moment, or so many seconds before it. */
async function goTo(moment: Date, secondsBefore = 0): Promise<void> {
  const seconds = (moment.getTime() - (await now()).getTime()) / 1_000 - secondsBefore;
  await books.deps.db.transaction((tx) => advanceClock(tx, Math.ceil(seconds)));
}

/** A payment of a monthly-billed gateway that is paid now; returns its id. */
async function pay(units: bigint, options: PaymentOptions = {}): Promise<string> {
  const payment = await books.aPayment({ feePayer: 'PLATFORM', commissionBps: 100, checkAmountDeviation: false, ...options });
  await books.chain.mine([books.chain.transfer(payment.address, books.assets.USDT, units)]);
  await books.chain.mine();
  await creditFinalDeposits(books.deps, books.network.id);
  return payment.id;
}

interface Shown {
  id: string;
  gatewayId: string;
  month: string;
  totalUsd: string;
  amountDue: string;
  lineCount: number;
  lines: { kind: string; paymentId: string | null; usd: string; amount: string }[];
}
async function invoices(query: Record<string, unknown> = {}): Promise<Shown[]> {
  const { data } = await showInvoices(books.deps, { params: {}, query, body: undefined });
  return (data as { items: Shown[] }).items;
}

describe('the monthly invoice (decisions 11)', () => {
  it('closes what was accrued up to 00:00 UTC on the first, and leaves what comes after it for the next one', async () => {
    const boundary = next(await now());
    await goTo(boundary, 30);
    const last = await pay(100_000_000n);
    await pay(50_000_000n);
    expect(await closeMonths(books.deps)).toBe(0);
    await goTo(boundary, -5);
    const after = await pay(10_000_000n);
    expect(await closeMonths(books.deps)).toBe(1);
    const [invoice] = await invoices();
    expect(invoice).toMatchObject({
      gatewayId: books.gatewayId,
      month: monthOf(new Date(boundary.getTime() - 1)),
      lineCount: 2,
      totalUsd: '2.5',
      amountDue: '2.50',
    });
    expect(invoice?.lines.map((line) => [line.kind, line.usd])).toEqual([
      ['payment', '1.5'],
      ['payment', '1'],
    ]);
    expect(invoice?.lines[0]?.paymentId).toBe(last);
    await goTo(next(boundary));
    expect(await closeMonths(books.deps)).toBe(1);
    expect((await invoices())[0]).toMatchObject({ month: monthOf(boundary), totalUsd: '0.6', lines: [{ paymentId: after }] });
  });

  it('is made once, however many workers close at the same time and how often', async () => {
    await pay(100_000_000n);
    await goTo(next(await now(), 2));
    await pay(20_000_000n);
    await goTo(next(await now()));
    const made = await Promise.all(Array.from({ length: 8 }, () => closeMonths(books.deps)));
    expect(made.reduce((sum, one) => sum + one, 0)).toBe(2);
    expect(await closeMonths(books.deps)).toBe(0);
    expect((await invoices()).map((one) => [one.totalUsd, one.lineCount])).toEqual([
      ['0.7', 1],
      ['1.5', 1],
    ]);
  });

  it('of a worker that dies before its commit never existed, and is made by the next', async () => {
    await pay(100_000_000n);
    await goTo(next(await now()));
    const [due] = await listDueMonths(books.deps.db.sql);
    const dying = books.deps.db.transaction(async (tx) => {
      expect(await closeMonth(tx, { ...(due as NonNullable<typeof due>), id: randomUUID() })).toEqual({ lines: 1, totalUsd: '1.5' });
      throw new Error('killed');
    });
    await expect(dying).rejects.toThrow('killed');
    expect(await invoices()).toEqual([]);
    expect(await closeMonths(books.deps)).toBe(1);
    expect((await invoices())[0]).toMatchObject({ totalUsd: '1.5' });
  });

  it('is made of what waits for it, which is no more than is on none; what is missing there the audit misses', async () => {
    const waiting = async () => (await books.db.sql<{ id: string }[]>`select accrual_id as id from accruals_to_invoice order by at`).map(({ id }) => id);
    await pay(100_000_000n);
    const [first] = await waiting();
    await goTo(next(await now()));
    await pay(10_000_000n);
    expect(await waiting()).toHaveLength(2);
    await closeMonths(books.deps);
    expect(await waiting()).toEqual([expect.not.stringMatching(first as string)]);
    await books.db.sql`delete from accruals_to_invoice`;
    await goTo(next(await now()));
    await books.deps.db.transaction((tx) => advanceClock(tx, 900));
    expect(await closeMonths(books.deps)).toBe(0);
    expect((await runAudit(books.deps.db.sql)).filter((one) => one.rows.length > 0).map((one) => one.check)).toEqual(['A20']);
    await books.db.sql`insert into accruals_to_invoice select id, gateway_id, at from accruals where id not in (select accrual_id from invoice_lines)`;
    expect(await closeMonths(books.deps)).toBe(1);
  });

  it('that others of its month are on hides nothing: what is missing on the list the audit misses all the same', async () => {
    await pay(100_000_000n);
    await pay(10_000_000n);
    await books.db.sql`delete from accruals_to_invoice where accrual_id = (select id from accruals order by usd limit 1)`;
    await goTo(next(await now()));
    await books.deps.db.transaction((tx) => advanceClock(tx, 900));
    expect(await closeMonths(books.deps)).toBe(1);
    expect((await runAudit(books.deps.db.sql)).filter((one) => one.rows.length > 0).map((one) => one.check)).toEqual(['A20']);
    await books.db.sql`insert into accruals_to_invoice select id, gateway_id, at from accruals where id not in (select accrual_id from invoice_lines)`;
  });

  it('is asked about, with all else that is due, by what waits for it, however many cashouts were paid out', async () => {
    const plan = await books.db.transaction(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`
        insert into settlement_fees (settlement_id, native_asset_id, locked, actual, native_price_usd, native_price_at)
        select gen_random_uuid(), (select id from assets where contract is null limit 1), 1, 1, 2000, now() from generate_series(1, 5000)`;
      await tx`analyze settlement_fees`;
      const rows = await tx`explain (format json) select ${periodicWork['close-months'].look(tx, books.deps)}`;
      await tx`delete from settlement_fees`;
      return JSON.stringify(rows);
    });
    const scans = [...plan.matchAll(/"Node Type":"([^"]+)"[^{}]*?"Relation Name":"settlement_fees"/g)].map(([, kind]) => kind);
    expect(scans).toHaveLength(1);
    expect(scans[0]).toMatch(/Index Scan$|Bitmap Heap Scan$/);
    expect(plan).toContain('settlement_fees_unpriced');
  });

  it("takes what was booked after its own month was closed on the next month's invoice", async () => {
    await pay(100_000_000n);
    const boundary = next(await now());
    await goTo(boundary);
    await closeMonths(books.deps);
    const late = await pay(10_000_000n);
    // As if its transaction had begun before the month ended and was committed after the invoice.
    await books.db.sql`alter table accruals disable trigger accruals_append_only`;
    await books.db.sql`update accruals set at = ${new Date(boundary.getTime() - 1)} where payment_id = ${late}`;
    await books.db.sql`update accruals_to_invoice set at = ${new Date(boundary.getTime() - 1)}`;
    await books.db.sql`update expense_months set month = month - interval '1 month' where month = ${boundary}`;
    await books.db.sql`alter table accruals enable trigger accruals_append_only`;
    expect(await closeMonths(books.deps)).toBe(0);
    await assertCleanAudit(books.db);
    await goTo(next(boundary));
    expect(await closeMonths(books.deps)).toBe(1);
    expect(await invoices()).toMatchObject([
      { month: monthOf(boundary), lines: [{ paymentId: late }] },
      { month: monthOf(new Date(boundary.getTime() - 1)), lineCount: 1 },
    ]);
  });

  it('adds up to what its lines and the accruals of the month say, to the unit, whatever the prices were', async () => {
    const deposits = fc.sample(fc.tuple(fc.bigInt({ min: 20_000n, max: 10n ** 12n }), fc.integer({ min: 1, max: 2_000_000 })), { numRuns: 6, seed: 7 });
    let expected: Rational = ZERO;
    for (const [units, micros] of deposits) {
      const priceUsd = formatAmount(parseTrusted(`${micros}`) / 1_000_000n);
      await pay(units, { priceUsd });
      // Network fee of 0.5 and 1 % of the gross, rounded up at six places, at the locked price.
      const commission = round(times(rational(`${units}`), rational('0.00000001')), 6, 'up');
      expected = add(expected, round(times(add(rational('0.5'), commission), rational(priceUsd)), 18, 'half-up'));
    }
    await goTo(next(await now()));
    await closeMonths(books.deps);
    const [invoice] = await invoices();
    expect(invoice?.totalUsd).toBe(text(expected));
    const lines = invoice?.lines.reduce((sum, line) => add(sum, rational(line.usd)), ZERO) ?? ZERO;
    expect(text(lines)).toBe(invoice?.totalUsd);
    expect(invoice?.amountDue).toBe(Number(text(round(expected, 2, 'half-up'))).toFixed(2));
    const [accrued] = await books.db.sql<{ usd: string }[]>`select trim_scale(sum(usd))::text as usd from accruals`;
    expect(accrued?.usd).toBe(invoice?.totalUsd);
  });

  it('gives back in the next one what a refund gave back, as a line below zero', async () => {
    await pay(100_000_000n);
    await goTo(next(await now()));
    await closeMonths(books.deps);
    const [credit] = await books.db.sql<{ id: string }[]>`select id from credits`;
    const coins = parseTrusted<'asset'>('1');
    const back = () =>
      books.deps.db.transaction(async (tx) => {
        if (!(await reverseAccrual(tx, { creditId: credit?.id as string, coins }))) return false;
        const [commission, expense] = [systemAccount('commission'), systemAccount('platformExpense')];
        const assetId = books.assets.USDT.id;
        const postings = [
          { account: commission, assetId, amount: -coins },
          { account: expense, assetId, amount: coins },
        ];
        return post(tx, { sourceKey: 'reversal', kind: 'refund', postings });
      });
    expect([await back(), await back()]).toEqual([true, false]);
    await goTo(next(await now()));
    await closeMonths(books.deps);
    expect((await invoices())[0]).toMatchObject({ totalUsd: '-1', amountDue: '-1.00', lines: [{ kind: 'reversal', amount: '-1', usd: '-1' }] });
  });

  it('is not written for a platform-billed gateway: what it costs is the expense of the platform', async () => {
    const id = await pay(100_000_000n, { openAmountFrom: '5' });
    await books.db.sql`alter table accruals disable trigger accruals_append_only`;
    await books.db.sql`update payments set billing = 'PLATFORM' where id = ${id}`;
    await books.db.sql`update accruals set billing = 'PLATFORM' where payment_id = ${id}`;
    await books.db.sql`update expense_months set billing = 'PLATFORM'`;
    await books.db.sql`alter table accruals enable trigger accruals_append_only`;
    await goTo(next(await now()));
    expect(await closeMonths(books.deps)).toBe(0);
    expect(await books.db.sql`select trim_scale(balance)::text as balance from ledger_accounts where kind = 'platformExpense'`).toEqual([{ balance: '-1.5' }]);
  });

  it('is listed by gateway, month and page, and read alone with its lines page by page', async () => {
    for (const units of [100_000_000n, 50_000_000n, 20_000_000n]) await pay(units);
    const first = monthOf(await now());
    await goTo(next(await now()));
    await pay(10_000_000n);
    await goTo(next(await now()));
    await closeMonths(books.deps);
    expect((await invoices({ month: first })).map((one) => [one.month, one.lineCount])).toEqual([[first, 3]]);
    expect(await invoices({ gatewayId: randomUUID() })).toEqual([]);
    expect(await invoices({ gatewayId: books.gatewayId, limit: 1, page: 2 })).toHaveLength(1);
    for (const month of ['2026-13', '2026', 'x', '']) await expect(invoices({ month })).rejects.toMatchObject({ code: 'validation_error' });
    const [invoice] = await invoices({ month: first });
    const read = async (query: Record<string, unknown>) =>
      (await showInvoice(books.deps, { params: { id: invoice?.id as string }, query, body: undefined })).data as {
        invoice: Shown;
        pagination: Record<string, unknown>;
      };
    const second = await read({ limit: 2, page: 2 });
    expect(second.invoice.lines.map((line) => line.usd)).toEqual(['0.7']);
    expect(second.pagination).toEqual({ total: 3, limit: 2, page: 2, hasMore: false });
    await expect(showInvoice(books.deps, { params: { id: randomUUID() }, query: {}, body: undefined })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('can be neither changed, nor be anything but the sum of its lines; the audit misses a month that was not closed', async () => {
    await pay(100_000_000n);
    await goTo(next(await now()));
    // Fifteen minutes after midnight somebody should have closed it.
    await books.deps.db.transaction((tx) => advanceClock(tx, 900));
    expect((await runAudit(books.deps.db.sql)).filter((one) => one.rows.length > 0).map((one) => one.check)).toEqual(['A20']);
    await closeMonths(books.deps);
    await expect(books.db.sql`update invoices set total_usd = 0`).rejects.toThrow(/append-only/);
    await expect(books.db.sql`delete from invoice_lines`).rejects.toThrow(/append-only/);
    const violated = async () => (await runAudit(books.deps.db.sql)).filter((one) => one.rows.length > 0).map((one) => one.check);
    for (const [table, column] of [
      ['invoices', 'total_usd'],
      ['accruals', 'usd'],
    ] as const) {
      const tamper = async (by: string) => {
        await books.db.sql.unsafe(
          `alter table ${table} disable trigger user; update ${table} set ${column} = ${column} + ${by}; alter table ${table} enable trigger user`,
        );
      };
      await tamper('0.000000000000000001');
      expect([table, await violated()]).toEqual([table, ['A19']]);
      await tamper('-0.000000000000000001');
    }
    const month = `${monthOf(await now())}-01`;
    const forged = books.deps.db.transaction(
      (tx) => tx`insert into invoices (id, gateway_id, month, line_count, total_usd) values (${randomUUID()}, ${books.gatewayId}, ${month}, 1, 5)`,
    );
    await expect(forged).rejects.toThrow(/not the sum of its lines/);
  });
});
