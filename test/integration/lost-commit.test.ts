import { afterEach, beforeEach, expect, it } from 'vitest';
import { applyMessage } from '#api/consumers/apply-message.ts';
import type { Deps } from '#api/deps.ts';
import { matureCredits } from '#api/ledger/mature-credits.ts';
import { isPosted } from '#api/store/ledger.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import { type Books, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { type CutLink, cutLink } from '#test/harness/cut-link.ts';
import { urlFor } from '#test/harness/logins.ts';

// Trap E: an error while a commit is answered does not mean that it was rolled back.

let books: Books;
let payment: TestPayment;
let link: CutLink;
let throughLink: Database;
let deps: Deps;
beforeEach(async () => {
  books = await someBooks();
  payment = await books.aPayment();
  link = await cutLink(urlFor(books.db.url));
  throughLink = connect(link.url, { name: 'cut', max: 2 });
  deps = { ...books.deps, db: throughLink };
});
afterEach(async () => {
  await assertCleanAudit(books.db);
  await link.close();
  await throughLink.end();
  await books.drop();
});

const usdt = () => books.chain.transfer(payment.address, books.assets.USDT, 100_000_000n);
const balances = async () =>
  Object.fromEntries((await books.db.sql`select kind, trim_scale(balance)::text as balance from ledger_accounts`).map((row) => [row.kind, row.balance]));

it('applies a block whose commit was never confirmed, and takes its redelivery for the duplicate it is', async () => {
  const message = books.chain.next([usdt()]);
  link.cutNextCommit();
  await expect(applyMessage(deps, books.network, books.chain.fence, message)).rejects.toThrow(/CONNECTION|ECONN/);
  expect(link.cuts).toBe(1);
  expect(await applyMessage(deps, books.network, books.chain.fence, message)).toEqual({ outcome: 'duplicate' });
  expect(await books.db.sql`select state from deposits`).toEqual([{ state: 'seen' }]);
});

it('credits once though the commit of the credit was never confirmed', async () => {
  await books.chain.mine([usdt()]);
  await books.chain.mine();
  link.cutNextCommit();
  await creditFinalDeposits(deps, books.network.id);
  expect(link.cuts).toBe(1);
  const [deposit] = await books.db.sql`select id from deposits`;
  expect(await isPosted(throughLink.sql, `deposit:${deposit?.id}`)).toBe(true);
  expect(await creditFinalDeposits(deps, books.network.id)).toBe(0);
  expect(await balances()).toEqual({ chain: '-100', pending: '99.5', networkFee: '0.5' });
  expect(await books.db.sql`select status from webhook_events`).toEqual([{ status: 'SUCCESS' }]);
});

it('matures once though the commit was never confirmed', async () => {
  await books.chain.mine([usdt()]);
  await books.chain.mine();
  await creditFinalDeposits(deps, books.network.id);
  link.cutNextCommit();
  await expect(matureCredits(deps)).rejects.toThrow(/CONNECTION|ECONN/);
  expect(await matureCredits(deps)).toBe(0);
  expect(await balances()).toMatchObject({ pending: '0', available: '99.5' });
});
