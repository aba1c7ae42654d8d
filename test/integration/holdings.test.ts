import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Chain } from '#api/deps.ts';
import type { Check } from '#api/audit/check.ts';
import { CHECKS } from '#api/audit/checks.ts';
import { KEPT_CHECKS } from '#api/audit/kept-checks.ts';
import { compareHoldings } from '#api/audit/holdings.ts';
import { runAudit, runCheck } from '#api/audit/run-audit.ts';
import type { Deps } from '#api/deps.ts';
import { periodicAudit } from '#api/jobs/periodic-work.ts';
import { allocateDeposit } from '#api/operator/allocate.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { expireDuePayments } from '#api/payments/expire.ts';
import { bookOpeningBalances } from '#api/treasury/book-opening-balances.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { formatAmount } from '#shared/core/money.ts';
import { aSentTransaction, type Books, type BooksAsset, holding, someBooks, STRANGER, type TestPayment } from '#test/fixtures/books.ts';

let books: Books;
let payment: TestPayment;
beforeEach(async () => {
  books = await someBooks();
  payment = await books.aPayment();
});
afterEach(() => books.drop());

const usdt = (units: bigint, over = {}) => books.chain.transfer(payment.address, books.assets.USDT, units, over);
const moved = (address: string, asset: BooksAsset, change: bigint) => {
  const key = holding(address, asset.contract);
  books.onChain.set(key, (books.onChain.get(key) ?? 0n) + change);
};
const differences = async () =>
  (await compareHoldings(books.deps)).filter((one) => one.difference !== 0n).map((one) => `${one.symbol} ${formatAmount(one.difference)}`);

describe('holdings', () => {
  it('agree with the books at every step of a deposit: seen, credited, dropped', async () => {
    await books.chain.mine();
    expect(await differences()).toEqual([]);
    await books.chain.mine([usdt(100_000_000n)]);
    moved(payment.address, books.assets.USDT, 100_000_000n);
    expect(await differences()).toEqual([]);
    await books.chain.mine();
    await creditFinalDeposits(books.deps, books.network.id);
    expect(await differences()).toEqual([]);
    await books.chain.mine([usdt(7_000_000n)]);
    books.chain.forkAt(books.chain.height - 1);
    await books.chain.mine();
    expect(await differences()).toEqual([]);
  });

  it('count fees and outgoing transfers of ours that are not final yet, and nothing that stays between our addresses', async () => {
    await books.chain.mine([usdt(100_000_000n)]);
    moved(payment.address, books.assets.USDT, 100_000_000n);
    moved(payment.address, books.assets.ETH, 10n ** 18n);
    const [gas, sweep, out] = [
      aSentTransaction(STRANGER),
      aSentTransaction(payment.address, { rawFee: '21000', nonce: 0 }),
      aSentTransaction(books.hotWallet, { rawFee: '5000', nonce: 0 }),
    ];
    await books.chain.mine([
      books.chain.transfer(payment.address, books.assets.ETH, 10n ** 18n, { txid: gas.txid }),
      sweep,
      books.chain.transfer(books.hotWallet, books.assets.USDT, 60_000_000n, { sender: payment.address, txid: sweep.txid }),
      out,
      books.chain.transfer(STRANGER, books.assets.USDT, 25_000_000n, { sender: books.hotWallet, txid: out.txid }),
    ]);
    moved(payment.address, books.assets.ETH, -21_000n);
    moved(payment.address, books.assets.USDT, -60_000_000n);
    moved(books.hotWallet, books.assets.USDT, 60_000_000n - 25_000_000n);
    moved(books.hotWallet, books.assets.ETH, -5_000n);
    expect(await differences()).toEqual([]);
  });

  it('show money nobody can explain', async () => {
    await books.chain.mine();
    moved(books.hotWallet, books.assets.USDC, -1n);
    expect(await differences()).toEqual(['USDC -0.000001']);
  });

  it('are compared for every other asset when the chain does not answer for one, which is named', async () => {
    await books.chain.mine();
    await books.db.sql`
      insert into ledger_transactions (source_key, kind) select 'opening:' || w.id || ':' || a.id, 'fund' from wallets w join assets a on a.network_id = w.network_id`;
    moved(books.hotWallet, books.assets.USDC, -1n);
    books.node.mute.add(books.assets.USDT.contract ?? '');
    await expect(differences()).rejects.toThrow(ChainUnavailable);
    const unread: string[] = [];
    const compared = await compareHoldings(books.deps, ({ network, symbol }) => unread.push(`${symbol} on ${network}`));
    expect(unread).toEqual([`USDT on ${books.network.name}`]);
    expect(compared.filter((one) => one.difference !== 0n).map(({ symbol }) => symbol)).toEqual(['USDC']);
  });

  const watchHotWallet = (from: number) =>
    books.db.sql`insert into watches (network_id, address, acked_epoch, watched_from) values (${books.network.id}, ${books.hotWallet}, 1, ${from})`;
  /** A transfer to the hot wallet that the chain shows and the books are told of. */
  const funded = async (asset: BooksAsset, units: bigint): Promise<void> => {
    moved(books.hotWallet, asset, units);
    await books.chain.mine([books.chain.transfer(books.hotWallet, asset, units)]);
    await books.chain.mine();
  };

  it('include what wallets held before they were watched, once, whatever moved before that was asked', async () => {
    await books.chain.mine();
    moved(books.hotWallet, books.assets.ETH, 5n * 10n ** 18n);
    expect(await bookOpeningBalances(books.deps)).toBe(0);
    expect(await differences()).toEqual(['ETH 5']);
    await watchHotWallet(books.chain.height + 1);
    await funded(books.assets.ETH, 2n * 10n ** 18n);
    expect(await bookOpeningBalances(books.deps)).toBe(3);
    expect(await bookOpeningBalances(books.deps)).toBe(0);
    expect(await differences()).toEqual([]);
  });

  it('count once what a wallet was sent just before its indexer gave its word, which may be later than it began to look', async () => {
    await books.chain.mine();
    moved(books.hotWallet, books.assets.ETH, 5n * 10n ** 18n);
    await funded(books.assets.ETH, 2n * 10n ** 18n);
    await watchHotWallet(books.chain.height + 1);
    await books.chain.mine();
    await books.chain.mine();
    expect(await bookOpeningBalances(books.deps)).toBe(3);
    expect(await differences()).toEqual([]);
  });

  it('include what a wallet was sent of a token before somebody configured it, once, and what came later', async () => {
    await books.chain.mine();
    await watchHotWallet(books.chain.height + 1);
    await funded(books.assets.USDC, 3_000_000n);
    // As if that had been booked before the token was known: past the books, that is.
    await books.db.sql`update assets set created_at = sluice_now() where id = ${books.assets.USDC.id}`;
    await books.db.sql`update sightings set booked_at = sluice_now() - interval '1 day' where contract = ${books.assets.USDC.contract}`;
    await funded(books.assets.USDC, 4_000_000n);
    await bookOpeningBalances(books.deps);
    const [opened] = await books.db.sql<{ amount: string }[]>`
      select e.amount::text as amount from ledger_transactions t join ledger_entries e on e.transaction_id = t.id join ledger_accounts l on l.id = e.account_id
      where t.source_key like 'opening:%' and l.asset_id = ${books.assets.USDC.id} and e.amount > 0`;
    expect(Number(opened?.amount)).toBe(3);
  });

  it('count once what a wallet was sent in blocks that are final but not applied yet', async () => {
    await books.chain.mine();
    await watchHotWallet(books.chain.height);
    const { reader } = books.deps.chains.get(books.network.name) as Chain;
    const paidAt = books.chain.height + 3;
    const shown = reader.balance;
    reader.balance = async (address, contract, height) =>
      (await shown(address, contract, height)) + (address === books.hotWallet && contract === null && height !== undefined && height >= paidAt ? 2n : 0n);
    // Far behind: what is final lies beyond what was read.
    await books.chain.play({ ...books.chain.next(), finalNumber: paidAt, headNumber: paidAt + 1 });
    expect(await bookOpeningBalances(books.deps)).toBe(3);
    await books.chain.mine();
    await books.chain.mine([books.chain.transfer(books.hotWallet, books.assets.ETH, 2n)]);
    expect(books.chain.height).toBe(paidAt);
    expect(await differences()).toEqual([]);
  });

  it('are opened for every wallet and asset that can be told while one cannot', async () => {
    await books.chain.mine();
    await watchHotWallet(books.chain.height);
    books.node.mute.add(books.assets.USDT.contract ?? '');
    expect(await bookOpeningBalances(books.deps)).toBe(2);
    books.node.mute.clear();
    expect(await bookOpeningBalances(books.deps)).toBe(1);
  });

  it('are opened for every wallet and asset that can be told while one is said to be more than there can be', async () => {
    await books.chain.mine();
    await watchHotWallet(books.chain.height);
    const absurd = 2n ** 256n - 1n;
    moved(books.hotWallet, books.assets.USDT, absurd);
    expect(await bookOpeningBalances(books.deps)).toBe(2);
    moved(books.hotWallet, books.assets.USDT, 5n - absurd);
    expect([await bookOpeningBalances(books.deps), await differences()]).toEqual([1, []]);
  });
});

describe('the audit', () => {
  const frozen = async () => (await books.db.sql`select scope from freezes`).map((row) => row.scope);
  const violated = async () => (await runAudit(books.deps.db.sql)).filter((result) => result.rows.length > 0).map((result) => result.check);
  /** Does what no code of ours can: writes past the triggers. */
  const tamper = (statement: string) =>
    books.db.transaction(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx.unsafe(statement);
    });
  const credited = async () => {
    await books.chain.mine([usdt(100_000_000n)]);
    await books.chain.mine();
    await creditFinalDeposits(books.deps, books.network.id);
  };

  it('finds nothing in honest books and freezes nothing', async () => {
    await credited();
    const audit = periodicAudit();
    expect([await audit.run(books.deps), await audit.run(books.deps)]).toEqual([0, 0]);
    expect(await frozen()).toEqual([]);
  });

  it.each([
    ['A1', `update ledger_entries set amount = amount + 0.000000000000000001 where amount > 0`],
    ['A2', `update ledger_accounts set balance = balance + 0.000000000000000001 where kind = 'pending'`],
    ['A4', `update credits set gross = gross + 1, net = net + 1`],
    ['A4', `update deposits set state = 'seen'`],
    ['A4', `update credits set remaining = remaining - 1`],
    ['A5', `update sightings set canonical = false`],
    ['A10', `delete from webhook_events`],
    ['A13', `update chain_blocks set parent_hash = 'another' where height = (select max(height) from chain_blocks)`],
    ['A13', `update chain_tips set hash = 'another'`],
  ])('%s sees one tampered row and stops all dispatch: %s', async (check, statement) => {
    await credited();
    await tamper(statement);
    expect(await violated()).toContain(check);
    await periodicAudit().run(books.deps);
    expect(await frozen()).toEqual(['all']);
  });

  it('A6 sees a final transfer that nobody booked, but only if it lasts', async () => {
    await books.chain.mine([usdt(100_000_000n)]);
    await books.chain.mine();
    await books.db.sql`insert into prices (symbol, usd, source, at) values ('USDT', 1, 'static', now())`;
    await books.db.sql`update clock_offset set seconds = 121`;
    expect(await violated()).toEqual(['A6']);
    const audit = periodicAudit();
    expect(await audit.run(books.deps)).toBe(0);
    expect(await frozen()).toEqual([]);
    expect(await audit.run(books.deps)).toBe(1);
    expect(await frozen()).toEqual(['all']);
  });

  it('A6 leaves out what waits for a price, and what waits behind it, but nothing else', async () => {
    await books.db.sql`insert into prices (symbol, usd, source, at) values ('USDT', 1, 'static', now())`;
    books.prices.delete('ETH');
    await books.chain.mine([books.chain.transfer(payment.address, books.assets.ETH, 10n ** 17n)]);
    await books.chain.mine([usdt(100_000_000n)]);
    await books.chain.mine();
    await books.db.sql`update clock_offset set seconds = 121`;
    // No worker has said yet that it waits.
    expect(await violated()).toEqual(['A6']);
    await creditFinalDeposits(books.deps, books.network.id);
    expect(await violated()).toEqual([]);
    await books.db.sql`insert into prices (symbol, usd, source, at) values ('ETH', 2000, 'static', now())`;
    expect(await violated()).toEqual(['A6']);
  });

  it('A6 takes those prices for fresh that this deployment does', async () => {
    const seen = async (prices: { staticAllowed: boolean; freshSeconds?: number }): Promise<number> =>
      (await runCheck(books.deps.db.sql, CHECKS.find((check) => check.name === 'A6') as Check, prices)).rows.length;
    books.prices.delete('ETH');
    await books.chain.mine([books.chain.transfer(payment.address, books.assets.ETH, 10n ** 17n)]);
    await books.chain.mine();
    await books.db.sql`update clock_offset set seconds = 121`;
    await creditFinalDeposits(books.deps, books.network.id);
    await books.db.sql`insert into prices (symbol, usd, source, at) values ('ETH', 2000, 'median of a, b', sluice_now() - interval '90 seconds')`;
    expect([await seen({ staticAllowed: false }), await seen({ staticAllowed: false, freshSeconds: 60 })]).toEqual([1, 0]);
    await books.db.sql`update prices set source = 'static'`;
    expect([await seen({ staticAllowed: true }), await seen({ staticAllowed: false })]).toEqual([1, 0]);
  });

  it('A6 leaves out what a configured token claims to move beyond all amounts, so that no contract stops the cashouts of all others', async () => {
    await books.db.sql`insert into prices (symbol, usd, source, at) values ('USDT', 1, 'static', now())`;
    await books.chain.mine([usdt(2n ** 256n - 1n)]);
    await books.chain.mine();
    await books.db.sql`update clock_offset set seconds = 121`;
    await creditFinalDeposits(books.deps, books.network.id);
    expect(await violated()).toEqual([]);
  });

  it('A6 leaves out networks that this deployment does not follow any more, whose deposits nobody books', async () => {
    await books.chain.mine([usdt(100_000_000n)]);
    await books.chain.mine();
    await books.db.sql`insert into prices (symbol, usd, source, at) values ('USDT', 1, 'static', now())`;
    await books.db.sql`update clock_offset set seconds = 121`;
    const without: Deps = { ...books.deps, chains: new Map([...books.deps.chains].filter(([name]) => name !== books.network.name)) };
    const audit = periodicAudit();
    expect([await audit.run(without), await audit.run(without), await frozen()]).toEqual([0, 0, []]);
    expect([await audit.run(books.deps), await audit.run(books.deps), await frozen()]).toEqual([0, 1, ['all']]);
  });

  it('A6 leaves out an open amount that waits for the rate of its currency', async () => {
    await books.db.sql`insert into prices (symbol, usd, source, at) values ('USDT', 1, 'static', now())`;
    const open = await books.aPayment({ openAmountFrom: '10', currency: 'EUR' });
    await books.chain.mine([books.chain.transfer(open.address, books.assets.USDT, 100_000_000n)]);
    await books.chain.mine();
    await books.db.sql`update clock_offset set seconds = 121`;
    await creditFinalDeposits(books.deps, books.network.id);
    expect(await violated()).toEqual([]);
    await books.db.sql`insert into prices (symbol, usd, source, at) values ('fiat:EUR', 1.1, 'static', now())`;
    expect(await violated()).toEqual(['A6']);
  });

  it('A4 sees a claimed deposit that is open again after it was credited', async () => {
    const late = await books.aPayment({ expiresIn: -7_200, graceSeconds: 0 });
    await expireDuePayments(books.deps);
    await books.chain.mine([books.chain.transfer(late.address, books.assets.USDT, 100_000_000n)]);
    await books.chain.mine();
    await creditFinalDeposits(books.deps, books.network.id);
    const [deposit] = await books.db.sql`select id from deposits`;
    await allocateDeposit(books.deps, { params: { id: deposit?.id }, query: {}, body: { paymentId: late.id, reason: 'theirs' } });
    expect(await violated()).toEqual([]);
    await tamper(`update deposits set state = 'seen'`);
    // Without the credit row nothing else would show it.
    await tamper(`delete from accruals; delete from credits`);
    expect(await violated()).toContain('A4');
  });

  it('A4 sees a deposit set aside with another amount than the one in the books', async () => {
    const late = await books.aPayment({ expiresIn: -7_200, graceSeconds: 0 });
    await expireDuePayments(books.deps);
    await books.chain.mine([books.chain.transfer(late.address, books.assets.USDT, 100_000_000n)]);
    await books.chain.mine();
    await creditFinalDeposits(books.deps, books.network.id);
    expect(await violated()).toEqual([]);
    await tamper(`update deposits set amount = amount - 1 where state = 'unallocated'`);
    expect(await violated()).toEqual(['A4']);
  });

  it('A11 sees an unpaid payment that never expired', async () => {
    await books.db.sql`update clock_offset set seconds = 3600 + 18 * 60`;
    expect(await violated()).toEqual(['A11']);
  });

  it('A15 sees a transaction of ours that the books do not know', async () => {
    await books.chain.mine([aSentTransaction(books.hotWallet)]);
    await books.db.sql`update wallets set halted_reason = null`;
    expect(await violated()).toEqual(['A15']);
  });

  it('has a check for each promise, each with its own name, numbered without a gap; A14 asks the chains', () => {
    const names = [...CHECKS, ...KEPT_CHECKS].map((check) => check.name);
    const numbered = Array.from({ length: names.length + 1 }, (_, at) => `A${at + 1}`).filter((name) => name !== 'A14');
    expect([...names].sort()).toEqual(numbered.sort());
    expect(names.length).toBeGreaterThanOrEqual(23);
  });
});
