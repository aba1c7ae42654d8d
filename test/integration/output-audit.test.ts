import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OUTPUT_CHECKS } from '#api/audit/output-checks.ts';
import { runAudit } from '#api/audit/run-audit.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { bookOpeningBalances } from '#api/treasury/book-opening-balances.ts';
import { STRANGER, type TestPayment } from '#test/fixtures/books.ts';
import { nameOf, type Output, type OutputBooks, outputBooks, psbtBeginning } from '#test/fixtures/output-books.ts';

const BTC = 100_000_000n;

let world: OutputBooks;
let payment: TestPayment;
beforeEach(async () => {
  world = await outputBooks();
  payment = await world.aPayment();
});
afterEach(() => world.drop());

const sql = () => world.books.db.sql;
const violated = async () => (await runAudit(sql() as never)).filter((result) => result.rows.length > 0).map((result) => result.check);
/** Watches the wallets from the next block on and books what they hold. */
const open = async (): Promise<void> => {
  await world.mine();
  await world.watchWallets();
  expect(await bookOpeningBalances(world.deps)).toBe(3);
};

describe('the audit of outputs', () => {
  class Undone extends Error {}

  /** Names of the checks that see what statements do past every trigger; it is undone at once. */
  async function seenBy(...statements: string[]): Promise<string[]> {
    const seen: string[] = [];
    await world.books.db
      .transaction(async (tx) => {
        await tx`set local session_replication_role = replica`;
        for (const statement of statements) await tx.unsafe(statement);
        for (const { name, query } of OUTPUT_CHECKS) if ((await tx.unsafe(query as string)).length > 0) seen.push(name);
        throw new Undone();
      })
      .catch((error: unknown) => {
        if (!(error instanceof Undone)) throw error;
      });
    return seen;
  }

  it('sees a lock that was lifted, an anchor that was changed, coins of another pool, and amounts that do not add up', async () => {
    await world.mine([world.transaction({ inputs: [world.foreign(BTC)], outputs: [{ address: world.wallets.funding.address, rawAmount: 300n }] })], {
      unseen: true,
    });
    await open();
    const [own, foreign] = [await world.pay(world.wallets.hot.address, BTC), await world.pay(world.wallets.held.address, BTC)];
    const deposit = await world.pay(payment.address, 9_000n);
    await creditFinalDeposits(world.deps, world.books.network.id);
    const change = { address: world.wallets.hot.address, rawAmount: 500n };
    const waiting = await world.aPayout('hot', { inputs: [own, deposit], outputs: [{ address: STRANGER, rawAmount: 1_000n }, change] });
    expect(await violated()).toEqual([]);
    const point = (output: Output) => `txid = '${output.txid}' and vout = ${output.vout}`;
    const bytes = (...inputs: Output[]) => `update payout_attempts set signed_bytes = '\\x${psbtBeginning(inputs).toString('hex')}'`;
    expect(await seenBy(`update payouts set purpose = 'consolidation'`)).toEqual(['A29']);
    expect(await seenBy(`update output_locks set released_at = now() where ${point(own)}`)).toEqual(['A27']);
    expect(await seenBy(`update payouts set anchor = '${nameOf(deposit)}'`)).toEqual(['A27']);
    expect(await seenBy(bytes(deposit, own))).toEqual(['A27']);
    expect(await seenBy(`update payout_attempts set signed_bytes = 'x'`)).toEqual(['A27']);
    expect(await seenBy('update payouts set anchor = null')).toContain('A27');
    expect(
      await seenBy(
        'drop index output_locks_live',
        `insert into output_locks (network_id, txid, vout, payout_id) select network_id, txid, vout, payout_id from output_locks`,
      ),
    ).toEqual(['A28']);
    expect(await seenBy(`update output_locks set txid = '${foreign.txid}' where ${point(deposit)}`)).toEqual(['A28']);
    expect(await seenBy(`update output_locks set vout = 7 where ${point(deposit)}`)).toEqual(['A28']);
    expect(await seenBy(`update credits set pool = 'held'`)).toEqual(['A28']);
    expect(await seenBy(`update payouts set status = 'CANCELLED'`)).toEqual(['A28']);
    expect(await seenBy(`update deposits set state = 'unallocated'`)).toEqual(['A28']);
    expect(await seenBy(`update opening_outputs set raw_amount = raw_amount + 1`)).toEqual(['A29']);
    await world.mine([waiting.spent]);
    expect(await violated()).toEqual([]);
    expect(await seenBy(`update output_locks set released_at = now() where ${point(deposit)}`)).toEqual(['A28']);
    expect(await seenBy(`update sightings set raw_fee = raw_fee + 1 where kind = 'sent'`)).toEqual(['A29']);
    expect(await seenBy(`update sightings set raw_amount = raw_amount - 1 where txid = '${waiting.spent.txid}' and ordinal = 1 and kind = 'native'`)).toEqual([
      'A29',
    ]);
    expect(await seenBy(`update sightings set recipient = 'bcrt1other' where txid = '${waiting.spent.txid}' and ordinal = 1 and kind = 'native'`)).toEqual([
      'A29',
    ]);
    expect(await seenBy('update payout_attempts set fee_limit = 1')).toEqual(['A29']);
  });

  it('A6 gives coins that were made in a block until they can move, and not one block more', async () => {
    await sql()`insert into prices (symbol, usd, source, at) values ('BTC', 50000, 'static', now())`;
    await world.pay(payment.address, 9_000n);
    /** As if it had been made so many blocks ago. */
    const madeAgo = (blocks: number) => sql()`update sightings set coinbase = true, height = ${world.books.chain.height - blocks}`;
    await sql()`update clock_offset set seconds = 121`;
    await madeAgo(98);
    expect(await violated()).toEqual([]);
    await madeAgo(99);
    expect(await violated()).toEqual(['A6']);
  });

  it('A11 gives a payment whose coins wait to be mined the time they wait, while somebody looks', async () => {
    await sql()`update clock_offset set seconds = 3600 + 18 * 60`;
    expect(await violated()).toEqual(['A11']);
    const [networkId, txid] = [world.books.network.id, 'a'.repeat(64)];
    await sql()`insert into mempool_snapshots (network_id, epoch, seq, taken_at) values (${networkId}, 1, 1, now())`;
    await sql()`insert into mempool_transactions (network_id, txid, first_seen_at, spends, state) values (${networkId}, ${txid}, now(), '{}', 'waiting')`;
    await sql()`
      insert into mempool_deposits (network_id, txid, kind, ordinal, payment_id, address_id, asset_id, raw_amount, amount, first_seen_at)
      values (${networkId}, ${txid}, 'native', 0, ${payment.id}, ${payment.addressId}, ${world.asset.id}, 1000, 0.00001, now())`;
    expect(await violated()).toEqual([]);
    await sql()`update mempool_snapshots set applied_at = now() - interval '18 minutes'`;
    expect(await violated()).toEqual(['A11']);
    await sql()`update mempool_snapshots set applied_at = now()`;
    await sql()`update mempool_transactions set state = 'gone', ended_at = sluice_now() - interval '18 minutes'`;
    expect(await violated()).toEqual(['A11']);
  });
});
