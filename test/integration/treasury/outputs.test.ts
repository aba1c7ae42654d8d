import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { insertSpends, keepWatchingOutputs, listSpendable, lockOutputs, type Purse, releaseOutputs, sumUnready } from '#api/store/outputs.ts';
import { nameOf, type Output, type OutputBooks, outputBooks } from '#test/fixtures/output-books.ts';

/** Clients that want the same outputs at once. */
const CLIENTS = 12;

let self: OutputBooks;
beforeAll(async () => {
  self = await outputBooks();
});
afterAll(() => self.drop());

const sql = () => self.books.db.sql;
const purse = (role: 'hot' | 'held' | 'funding' = 'hot'): Purse => ({
  networkId: self.books.network.id,
  address: self.wallets[role].address,
  pool: role === 'hot' ? 'green' : role === 'held' ? 'held' : null,
});
const names = async (role: 'hot' | 'held' | 'funding' = 'hot') => (await listSpendable(sql(), purse(role))).map(nameOf);

/** A deposit of a payment, final and credited. */
async function aDeposit(rawAmount: bigint): Promise<{ output: Output; paymentId: string; address: string }> {
  const payment = await self.aPayment();
  await sql()`
    insert into watches (network_id, address, acked_epoch, watched_from, watch_until) values (${self.books.network.id}, ${payment.address}, 1, 1, now() + interval '1 day')
    on conflict (network_id, address) do update set acked_epoch = 1, watch_until = excluded.watch_until`;
  const output = await self.pay(payment.address, rawAmount);
  await self.mine();
  await creditFinalDeposits(self.deps, self.books.network.id);
  return { output, paymentId: payment.id, address: payment.address };
}

/** A payout row that outputs can be locked for. */
async function aPayoutRow(): Promise<string> {
  const id = randomUUID();
  await sql()`
    insert into payouts (id, network_id, wallet_id, purpose, status, asset_id, recipient, raw_amount, plan, created_at)
    values (${id}, ${self.books.network.id}, ${self.wallets.hot.id}, 'top_up', 'CANCELLED', ${self.asset.id}, 'x', 1, '{}', sluice_now())`;
  return id;
}

const lock = (payoutId: string, outputs: Output[]) => self.books.db.transaction((tx) => lockOutputs(tx, self.books.network.id, payoutId, outputs));

describe('what a wallet may spend', () => {
  it('is its own final outputs and the credited deposits of its pool, the largest first, and nothing of another pool', async () => {
    const own = await self.pay(self.wallets.hot.address, 5_000n);
    const held = await self.pay(self.wallets.held.address, 6_000n);
    const funding = await self.pay(self.wallets.funding.address, 7_000n);
    const [green, flagged] = [await aDeposit(90_000n), await aDeposit(80_000n)];
    await sql()`update credits set pool = 'held' where payment_id = ${flagged.paymentId}`;
    expect(await names('hot')).toEqual([green.output, own].map(nameOf));
    expect(await names('held')).toEqual([flagged.output, held].map(nameOf));
    expect(await names('funding')).toEqual([nameOf(funding)]);
  });

  it('waits until a block is final, until coins of a coinbase are 100 deep, and comes back when a fork takes the spend back', async () => {
    const before = await names('funding');
    const [young] = self.transaction({ inputs: [self.foreign(9_000n)], outputs: [{ address: self.wallets.funding.address, rawAmount: 8_000n }] }).made as [
      Output,
    ];
    await self.mine([{ ...self.transaction({ inputs: [], outputs: [] }), txid: young.txid, made: [young] }]);
    expect(await names('funding')).toEqual(before);
    expect(await sumUnready(sql(), purse('funding'))).toBe(8_000n);
    // What costs as much to spend as it brings is not waited for: anybody can send more of it with every block.
    expect(await sumUnready(sql(), purse('funding'), 8_000n)).toBe(0n);
    await self.mine();
    expect(await names('funding')).toContain(nameOf(young));
    await sql()`update sightings set coinbase = true where txid = ${young.txid}`;
    expect(await names('funding')).toEqual(before);
    expect(await sumUnready(sql(), purse('funding'))).toBe(8_000n);
    await sql()`update sightings set coinbase = false where txid = ${young.txid}`;

    const height = self.books.chain.height;
    await self.mine([self.transaction({ inputs: [young], outputs: [{ address: self.wallets.funding.address, rawAmount: 7_500n }] })]);
    expect(await names('funding')).not.toContain(nameOf(young));
    self.books.chain.forkAt(height);
    await self.mine();
    await self.mine();
    expect(await names('funding')).toContain(nameOf(young));
  });

  it('leaves out what waits for a verdict, what lies at a halted address, and what nobody watches', async () => {
    const { output, paymentId, address } = await aDeposit(70_000n);
    const name = nameOf(output);
    const { id: networkId } = self.books.network;
    expect(await names()).toContain(name);
    await sql()`update credits set screening = 'waiting' where payment_id = ${paymentId}`;
    expect(await names()).not.toContain(name);
    await sql()`update credits set screening = 'none' where payment_id = ${paymentId}`;
    const walletId = randomUUID();
    await sql()`
      insert into wallets (id, network_id, role, address, derivation_path, halted_reason) values (${walletId}, ${networkId}, 'deposit', ${address}, 'm/9', 'a test')`;
    expect(await names()).not.toContain(name);
    await sql()`delete from wallets where id = ${walletId}`;
    await sql()`update watches set acked_epoch = null where address = ${address}`;
    expect(await names()).not.toContain(name);
    await sql()`update watches set acked_epoch = 1 where address = ${address}`;
    expect(await names()).toContain(name);
  });
});

describe('taking outputs', () => {
  it('lets exactly one of many have them, all or nothing', async () => {
    const [a, b] = [await self.pay(self.wallets.hot.address, 11_000n), await self.pay(self.wallets.hot.address, 12_000n)];
    const ids = await Promise.all(Array.from({ length: CLIENTS }, aPayoutRow));
    const took = await Promise.all(
      ids.map((id, i) =>
        self.books.db
          .transaction(async (tx) => {
            // Some want the other one first, as two choices may.
            if (!(await lockOutputs(tx, self.books.network.id, id, i % 2 === 0 ? [a, b] : [b, a]))) throw new Error('taken');
            return id;
          })
          .catch(() => null),
      ),
    );
    const winners = took.filter((id) => id !== null);
    expect(winners).toHaveLength(1);
    expect(await sql()`select payout_id as id from output_locks where txid in (${a.txid}, ${b.txid}) and released_at is null`).toEqual(
      Array.from({ length: 2 }, () => ({ id: winners[0] })),
    );
    expect(await names()).not.toContain(nameOf(a));
    expect((await listSpendable(sql(), purse(), winners[0] as string)).map(nameOf)).toContain(nameOf(a));
  });

  it('is the same twice, and gives back all but what was kept', async () => {
    const [a, b] = [await self.pay(self.wallets.hot.address, 13_000n), await self.pay(self.wallets.hot.address, 14_000n)];
    const id = await aPayoutRow();
    expect(await lock(id, [a])).toBe(true);
    expect(await lock(id, [a, b])).toBe(true);
    expect(await lock(await aPayoutRow(), [b])).toBe(false);
    await self.books.db.transaction((tx) => releaseOutputs(tx, id, [a]));
    expect(await names()).toContain(nameOf(b));
    expect(await names()).not.toContain(nameOf(a));
    expect(await lock(await aPayoutRow(), [b])).toBe(true);
  });
});

it('stores what a transaction spends once, however often it is told, and never changes it', async () => {
  const own = await self.pay(self.wallets.hot.address, 15_000n);
  await self.mine([self.transaction({ inputs: [own], outputs: [{ address: self.wallets.hot.address, rawAmount: 14_000n }] })]);
  const told = self.books.chain.branch.at(-1)?.sightings ?? [];
  await self.books.db.transaction((tx) => insertSpends(tx, self.books.network.id, told));
  expect(await sql()`select count(*)::int as count from spent_outputs where txid = ${own.txid}`).toEqual([{ count: 1 }]);
  await expect(sql()`delete from spent_outputs where txid = ${own.txid}`).rejects.toThrow();
});

it('keeps watching an address for as long as it may hold coins of ours', async () => {
  const { address } = await aDeposit(60_000n);
  await sql()`update watches set watch_until = now() - interval '1 day' where address = ${address}`;
  expect(await keepWatchingOutputs(sql(), self.books.network.id)).toBeGreaterThan(0);
  // What ran out must be acknowledged anew.
  expect(await sql()`select watch_until, acked_epoch from watches where address = ${address}`).toEqual([{ watchUntil: null, ackedEpoch: null }]);
  expect(await keepWatchingOutputs(sql(), self.books.network.id)).toBe(0);
});
