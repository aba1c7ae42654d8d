import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { allocateDeposit } from '#api/operator/allocate.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { expireDuePayments } from '#api/payments/expire.ts';
import { inquirePayment } from '#api/payments/inquire.ts';
import { findGateway } from '#api/store/gateways.ts';
import { ServiceError } from '#shared/core/errors.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { type Books, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { times } from '#test/harness/counts.ts';

let books: Books;

afterEach(async () => {
  await assertCleanAudit(books.db);
  await books.drop();
});

/** A final transfer of 100 that the node knows; the stream brings it only when `seen`. */
async function paid(payment: TestPayment, seen: boolean): Promise<string> {
  const message = books.chain.next([
    { ...books.chain.transfer(payment.address, books.assets.USDT, 100_000_000n), txid: `0x${randomBytes(32).toString('hex')}` },
  ]);
  const [transfer] = message.sightings as [Transfer];
  await books.chain.play({ ...message, sightings: seen ? message.sightings : [] });
  books.node.hashes.set(`ethereum ${message.to}`, message.hash);
  books.node.transactions.set(`ethereum ${transfer.txid}`, {
    txid: transfer.txid,
    height: message.to,
    blockHash: message.hash,
    succeeded: true,
    transfers: [transfer],
  });
  await books.chain.mine();
  return transfer.txid;
}

const CLIENTS = 4;
const rounds = Array.from({ length: times(100) }, (_, round) => round);

/** Runs every action `CLIENTS` times at once, in a random order; only expected refusals may come back. */
async function race(actions: (() => Promise<unknown>)[]): Promise<void> {
  const all = actions.flatMap((action) => Array.from({ length: CLIENTS }, () => action));
  const shuffled = all.map((action) => ({ action, at: randomBytes(4).readUInt32BE() })).sort((a, b) => a.at - b.at);
  const results = await Promise.allSettled(shuffled.map(({ action }) => action()));
  for (const result of results)
    if (result.status === 'rejected') expect(result.reason).toSatisfy((error) => error instanceof ServiceError && error.status < 500);
}

async function expectOneCredit(payment: TestPayment): Promise<void> {
  expect(await books.db.sql`select gross::text from credits where payment_id = ${payment.id}`).toEqual([{ gross: '100' }]);
  expect(await books.db.sql`select status from payments where id = ${payment.id}`).toEqual([{ status: 'SUCCESS' }]);
  expect(await books.db.sql`select 1 from webhook_events where payment_id = ${payment.id} and status = 'SUCCESS'`).toHaveLength(1);
}

describe('on one payment, everything at once', () => {
  it('a missed deposit: inquiries, crediting, expiry and the stream that brings it after all end in exactly one credit', async () => {
    books = await someBooks();
    const gateway = await findGateway(books.deps.db.sql, books.gatewayId);
    if (gateway === undefined) throw new Error('no gateway');
    for (const round of rounds) {
      const payment = await books.aPayment({ expiresIn: round % 2 === 0 ? -2_000 : 3_600 });
      const txHash = await paid(payment, false);
      await race([
        () => inquirePayment(books.deps, { gateway, paymentId: payment.id, txHash, network: undefined }),
        () => creditFinalDeposits(books.deps, books.network.id),
        () => expireDuePayments(books.deps),
        () => books.chain.apply(books.chain.branch.at(-2) as never),
      ]);
      await expectOneCredit(payment);
    }
  });

  it('a set-aside deposit: inquiries and operators of two payments end in exactly one credit, for one of them', async () => {
    books = await someBooks();
    const gateway = await findGateway(books.deps.db.sql, books.gatewayId);
    if (gateway === undefined) throw new Error('no gateway');
    for (const _ of rounds) {
      const [payment, other] = [await books.aPayment({ expiresIn: -7_200, graceSeconds: 60 }), await books.aPayment()];
      await expireDuePayments(books.deps);
      const txHash = await paid(payment, true);
      await creditFinalDeposits(books.deps, books.network.id);
      const [deposit] = await books.db.sql`select id, state from deposits where payment_id = ${payment.id}`;
      expect(deposit?.state).toBe('unallocated');
      const allocate = (paymentId: string) => () =>
        allocateDeposit(books.deps, { params: { id: deposit?.id }, query: {}, body: { paymentId, reason: 'race' } });
      await race([
        () => inquirePayment(books.deps, { gateway, paymentId: payment.id, txHash, network: 'ethereum' }),
        allocate(payment.id),
        allocate(other.id),
        () => creditFinalDeposits(books.deps, books.network.id),
        () => expireDuePayments(books.deps),
      ]);
      const credited = await books.db.sql`select payment_id from credits where payment_id in (${payment.id}, ${other.id})`;
      expect(credited).toHaveLength(1);
      await expectOneCredit(credited[0]?.paymentId === payment.id ? payment : other);
    }
    expect(await books.db.sql`select balance::text from ledger_accounts where kind = 'unallocated'`).toEqual([{ balance: '0' }]);
  });

  it('an inquiry against a reorganisation of the block: it is credited on the branch that stands, or not at all', async () => {
    books = await someBooks();
    const gateway = await findGateway(books.deps.db.sql, books.gatewayId);
    if (gateway === undefined) throw new Error('no gateway');
    await books.chain.mineEmpty(2);
    for (const _ of rounds) {
      const payment = await books.aPayment();
      const message = books.chain.next([books.chain.transfer(payment.address, books.assets.USDT, 100_000_000n)]);
      const [transfer] = message.sightings as [Transfer];
      await books.chain.play({ ...message, sightings: [] });
      books.node.hashes.set(`ethereum ${message.to}`, message.hash);
      books.node.transactions.set(`ethereum ${transfer.txid}`, {
        txid: transfer.txid,
        height: message.to,
        blockHash: message.hash,
        succeeded: true,
        transfers: [transfer],
      });
      books.chain.forkAt(message.to - 1);
      const replaced = books.chain.next();
      await race([
        () => inquirePayment(books.deps, { gateway, paymentId: payment.id, txHash: transfer.txid, network: 'ethereum' }),
        () => books.chain.apply(replaced),
      ]);
      await books.chain.play(replaced);
      await books.chain.mine();
      await creditFinalDeposits(books.deps, books.network.id);
      expect(await books.db.sql`select status from payments where id = ${payment.id}`).toEqual([{ status: 'PENDING' }]);
      expect(await books.db.sql`select 1 from deposits where payment_id = ${payment.id} and state <> 'dropped'`).toEqual([]);
      await books.db.sql`update payments set expires_at = sluice_now() + interval '1 hour' where id = ${payment.id}`;
    }
  });
});
