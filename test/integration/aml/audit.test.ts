import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POOL_CHECKS } from '#api/audit/pool-checks.ts';
import { resolveAml } from '#api/operator/resolve-aml.ts';
import { anAddress, type Books, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { type HeldBooks, heldBooks } from '#test/fixtures/held-books.ts';

let books: Books;
let held: HeldBooks;
const payments: Record<'green' | 'flagged' | 'withheld' | 'refunding', TestPayment> = {} as never;

const resolve = (payment: TestPayment, body: Record<string, unknown>) =>
  resolveAml(held.deps, { params: { id: payment.id }, query: {}, body: { reason: 'test', ...body } });

beforeAll(async () => {
  books = await someBooks();
  held = await heldBooks(books);
  for (const name of ['green', 'flagged', 'withheld', 'refunding'] as const) {
    payments[name] = await held.aPayment();
    await held.earn(payments[name], '100', name === 'green' ? 0 : 80);
  }
  await resolve(payments.withheld, { action: 'WITHHOLD' });
  await resolve(payments.refunding, { action: 'REFUND', address: anAddress() });
});
afterAll(async () => {
  try {
    await held.audit();
  } finally {
    await books.drop();
  }
});

class Undone extends Error {}

/** Names of the checks that see what a statement does past every trigger and constraint; it is undone at once. */
async function seenBy(statement: string): Promise<string[]> {
  const seen: string[] = [];
  await books.db
    .transaction(async (tx) => {
      await tx`set local session_replication_role = replica`;
      const { count } = await tx.unsafe(statement);
      expect(count, 'rows tampered with').toBeGreaterThan(0);
      for (const { name, query } of POOL_CHECKS) if ((await tx.unsafe(query as string)).length > 0) seen.push(name);
      throw new Undone();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error;
    });
  return seen;
}

describe('the audit of the pools', () => {
  it('finds nothing in honest books', async () => {
    for (const { name, query } of POOL_CHECKS) expect(await books.db.sql.unsafe(query as string), name).toEqual([]);
  });

  it.each<[string, string, (of: typeof payments) => string]>([
    ['A21', 'a unit more on an account', () => `update ledger_accounts set balance = balance + 0.000000000000000001 where kind = 'held'`],
    ['A21', 'a unit less of a credit', ({ green }) => `update credits set remaining = remaining - 0.000000000000000001 where payment_id = '${green.id}'`],
    ['A21', 'a credit that matured without its posting', ({ flagged }) => `update credits set matured_at = null where payment_id = '${flagged.id}'`],
    ['A21', 'an ordered refund of another amount', ({ refunding }) => `update aml_refunds set amount = amount + 1 where payment_id = '${refunding.id}'`],
    ['A22', 'a flagged payment whose coins are in the green pool', ({ flagged }) => `update credits set pool = 'green' where payment_id = '${flagged.id}'`],
    ['A22', 'a clean payment whose coins are held', ({ green }) => `update credits set pool = 'held' where payment_id = '${green.id}'`],
    ['A22', 'a state without a history', ({ flagged }) => `update payments set aml_state = null where id = '${flagged.id}'`],
    ['A22', 'coins withheld of a payment that is held', ({ withheld }) => `update payments set aml_state = 'HELD' where id = '${withheld.id}'`],
    ['A23', 'a refund of more than was credited', ({ refunding }) => `update aml_refunds set amount = amount + 1 where payment_id = '${refunding.id}'`],
    ['A23', 'a credit that is refunded by nobody', ({ flagged }) => `update credits set taken = 'refunding' where payment_id = '${flagged.id}'`],
    [
      'A23',
      'a refund that was paid although its coins are not gone',
      ({ refunding }) => `update aml_refunds set status = 'paid', ended_at = now(), txid = 'x' where payment_id = '${refunding.id}'`,
    ],
    ['A23', 'a payment refunded without a refund', ({ green }) => `update payments set aml_state = 'REFUNDED' where id = '${green.id}'`],
  ])('%s sees %s', async (check, _, statement) => {
    expect(await seenBy(statement(payments))).toContain(check);
  });
});
