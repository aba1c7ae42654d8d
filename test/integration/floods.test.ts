import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { screenCredit } from '#api/aml/screen-credit.ts';
import { bookedCold } from '#api/ledger/balances.ts';
import { allocateDeposit } from '#api/operator/allocate.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { inquirePayment } from '#api/payments/inquire.ts';
import { lookUpTransaction } from '#api/payments/look-up-transaction.ts';
import { findGateway } from '#api/store/gateways.ts';
import { findPayment, type Payment } from '#api/store/payments.ts';
import { countUnstored } from '#api/store/rescans.ts';
import { applyOutgoing } from '#api/payouts/apply-outgoing.ts';
import { bookStored } from '#api/payouts/book-strays.ts';
import type { Chain } from '#api/deps.ts';
import type { Claim } from '#shared/chains/pool-votes.ts';
import type { Finality } from '#shared/core/assets.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { aSentTransaction, anAddress, type Books, type PaymentOptions, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';

let books: Books;
let payment: TestPayment;

const start = async (options: PaymentOptions = {}, finality?: Finality): Promise<void> => {
  books = await someBooks(finality === undefined ? {} : { finality });
  payment = await books.aPayment(options);
};
afterEach(async () => {
  await assertCleanAudit(books.db);
  await books.drop();
});

const MANY = 20;
const usdt = (units: bigint, over: Partial<Transfer> = {}, to = payment.address) => books.chain.transfer(to, books.assets.USDT, units, over);
const crowd = (count: number, units: bigint, over: (at: number) => Partial<Transfer> = () => ({})) =>
  Array.from({ length: count }, (_, at) => usdt(units, over(at)));
const credit = () => creditFinalDeposits(books.deps, books.network.id);
const deposits = () => books.db.sql`select state, amount::text, parts, lost_at is not null as lost from deposits order by height, position, ordinal`;
const sightings = () => books.db.sql`select raw_amount::text, parts, canonical from sightings order by height, position, ordinal, id`;
const row = async () => (await books.db.sql`select status, received_amount::text as received from payments where id = ${payment.id}`)[0];
const balance = async (kind: string) =>
  formatAmount(parseTrusted((await books.db.sql`select coalesce(sum(balance), 0)::text as sum from ledger_accounts where kind = ${kind}`)[0]?.sum));
const received = async () => [await balance('chain'), await balance('unallocated'), await balance('loss')];

describe('many transfers of one asset to one address in one block', () => {
  beforeEach(() => start({ total: '20' }));

  it('are one row with their number, judged once by their sum', async () => {
    await books.chain.mine(crowd(MANY, 1_000_000n));
    expect(await sightings()).toEqual([{ rawAmount: '20000000', parts: MANY, canonical: true }]);
    expect(await deposits()).toEqual([{ state: 'seen', amount: '20', parts: MANY, lost: false }]);
    await books.chain.mine();
    await credit();
    expect(await row()).toEqual({ status: 'SUCCESS', received: '20' });
    expect(await books.db.sql`select gross::text from credits`).toEqual([{ gross: '20' }]);
    expect(await books.db.sql`select 1 from sightings where booked_at is null`).toEqual([]);
  });

  it('keep their transactions, places, senders and amounts beside it', async () => {
    const transfers = crowd(MANY, 1_000_000n, (at) => ({ ordinal: at, rawAmount: String(1_000_000 + at) }));
    await books.chain.mine(transfers);
    const [sum] = await books.db.sql`select txids, positions, ordinals, senders, raw_amounts::text[] as amounts from transfer_sums`;
    expect(sum).toEqual({
      txids: transfers.map((one) => one.txid),
      positions: transfers.map((_, at) => at),
      ordinals: transfers.map((one) => one.ordinal),
      senders: transfers.map((one) => one.sender),
      amounts: transfers.map((one) => one.rawAmount),
    });
  });

  it('stay rows of their own while they are no more than wallets make', async () => {
    await books.chain.mine(crowd(POLICY.transfersAlone, 1_000_000n));
    expect(await deposits()).toHaveLength(POLICY.transfersAlone);
    expect(await books.db.sql`select 1 from transfer_sums`).toEqual([]);
  });

  it('are summed by sender, because screening asks about each, and all are asked about', async () => {
    const senders = [anAddress(), anAddress()] as const;
    await books.chain.mine(crowd(MANY, 1_000_000n, (at) => ({ sender: senders[at % 2] as string })));
    await books.db.sql`update gateways set settings = jsonb_set(settings, '{screening,enabled}', 'true')`;
    await books.chain.mine();
    await credit();
    expect(await deposits()).toMatchObject([
      { amount: '10', parts: 10, state: 'credited' },
      { amount: '10', parts: 10, state: 'credited' },
    ]);
    const asked: string[] = [];
    books.deps.screening.deposit = async (input) => {
      asked.push(...input.senders);
      return { score: 0, ref: randomUUID() };
    };
    const [one] = await books.db.sql`select id from credits`;
    expect(await screenCredit(books.deps, one?.id)).toBe(true);
    expect(asked.toSorted()).toEqual(senders.toSorted());
  });

  it('stay what they are when the same block is told again, by the stream, by a build that knows of no sums, or by a rescan', async () => {
    await books.chain.mine(crowd(MANY, 1_000_000n));
    const [message] = books.chain.branch;
    if (message === undefined) throw new Error('nothing was mined');
    expect(await books.chain.apply(message)).toEqual({ outcome: 'duplicate' });
    expect(await books.chain.apply({ ...message, seq: 2 })).toEqual({ outcome: 'duplicate' });
    expect(await books.chain.apply({ ...message, seq: 3, sightings: message.sightings.toReversed().slice(3) })).toEqual({ outcome: 'duplicate' });
    expect(await countUnstored(books.deps.db.sql, books.network.id, message.sightings)).toBe(0);
    for (const one of message.sightings as Transfer[])
      await books.db.sql`
        insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, recipient, contract, raw_amount)
        values (${books.network.id}, ${one.kind}, ${one.txid}, ${one.ordinal}, ${one.height}, ${one.blockHash}, ${one.position}, now(), ${one.sender}, ${one.recipient},
          ${one.contract}, ${one.rawAmount}::text::numeric) on conflict do nothing`;
    expect(await sightings()).toEqual([{ rawAmount: '20000000', parts: MANY, canonical: true }]);
    expect(await deposits()).toEqual([{ state: 'seen', amount: '20', parts: MANY, lost: false }]);
  });

  it('are dropped with their block, and taken for what they are in the blocks they come back in, in any order', async () => {
    const transfers = crowd(MANY, 1_000_000n);
    await books.chain.mineEmpty(3);
    await books.chain.mine(transfers);
    books.chain.forkAt(books.chain.height - 1);
    await books.chain.mine();
    expect(await deposits()).toEqual(Array.from({ length: MANY }, () => ({ state: 'dropped', amount: '1', parts: null, lost: false })));
    expect((await sightings()).every((one) => !one.canonical)).toBe(true);
    const shuffled = transfers.toReversed();
    await books.chain.mine(shuffled.slice(0, 12));
    await books.chain.mine([...shuffled.slice(12), usdt(500_000n)]);
    await books.chain.mineEmpty(2);
    await credit();
    expect((await deposits()).every((one) => one.state === 'credited')).toBe(true);
    // What a block has decides, whatever was together before: the first one brought 12.
    expect(await row()).toEqual({ status: 'MISMATCH', received: '12' });
    expect(await received()).toEqual(['-20.5', '0', '0']);
  });

  it('are there again when the chain comes back to their block', async () => {
    await books.chain.mineEmpty(3);
    const message = books.chain.next([...crowd(MANY, 1_000_000n), ...crowd(MANY, 2_000_000n, () => ({ recipient: books.hotWallet }))]);
    await books.chain.play(message);
    const ancestor = message.to - 1;
    books.chain.forkAt(ancestor);
    await books.chain.mine();
    books.chain.forkAt(ancestor);
    const again = books.chain.next();
    await books.chain.play({ ...again, hash: message.hash, parentHash: message.parentHash, sightings: message.sightings });
    await books.chain.mine();
    await credit();
    expect(await row()).toEqual({ status: 'SUCCESS', received: '20' });
    expect(await received()).toEqual(['-60', '0', '0']);
  });

  it('are answered about by the hash of any of them as if they were alone', async () => {
    const transfers = crowd(MANY, 1_000_000n, (at) => ({ rawAmount: at === 7 ? '2000000' : '1000000' }));
    await books.chain.mine(transfers);
    await books.chain.mine();
    await credit();
    await nodeKnows();
    expect(await inquire(transfers[7]?.txid as string)).toMatchObject({ resultCode: 'already_credited', receivedAmount: '2', status: 'MISMATCH' });
    expect(await deposits()).toHaveLength(1);
  });

  it('are confirmed by every provider one by one, where they are worth that', async () => {
    const claims: Claim[] = [];
    const chain = books.deps.chains.get('ethereum') as Chain;
    chain.config = { ...chain.config, rpcUrls: ['http://one.example', 'http://two.example'] };
    chain.reader.agrees = async (asked) => {
      claims.push(...asked);
      return 'agreed';
    };
    const transfers = crowd(MANY, 100_000_000n);
    await books.chain.mine(transfers);
    await books.chain.mine();
    await credit();
    expect(claims.map(({ txid, rawAmount }) => ({ txid, rawAmount }))).toEqual(transfers.map(({ txid, rawAmount }) => ({ txid, rawAmount })));
    expect(await row()).toMatchObject({ received: '2000' });
  });

  it('are never summed with what our own transactions and addresses moved', async () => {
    const sent = crowd(MANY, 1_000_000n);
    const { txid } = sent[0] as Transfer;
    await books.db.sql`insert into payouts (id, network_id, wallet_id, purpose, status, asset_id, recipient, raw_amount, nonce, plan, created_at)
      select gen_random_uuid(), network_id, id, 'top_up', 'BROADCAST', ${books.assets.USDT.id}, ${payment.address}, 1000000, 0, '{}', sluice_now() from wallets where address = ${books.hotWallet} and network_id = ${books.network.id}`;
    await books.db
      .sql`insert into payout_attempts (id, payout_id, number, txid, signed_bytes, fee_limit) select gen_random_uuid(), id, 1, ${txid}, '\\x00', 0 from payouts`;
    await books.db.sql`update wallets set next_nonce = 1`;
    const other = await books.aPayment();
    await books.chain.mine([
      ...sent.map((one, ordinal) => ({ ...one, txid, ordinal })),
      ...crowd(MANY, 1_000_000n, () => ({ sender: other.address })),
      ...crowd(MANY, 1_000_000n),
    ]);
    expect((await sightings()).filter((one) => one.parts !== null)).toEqual([{ rawAmount: '20000000', parts: MANY, canonical: true }]);
    expect(await sightings()).toHaveLength(2 * MANY + 1);
    expect(await deposits()).toEqual([{ state: 'seen', amount: '20', parts: MANY, lost: false }]);
  });

  it('are booked once when they went to a wallet of ours', async () => {
    await books.chain.mine(crowd(MANY, 1_000_000n, () => ({ recipient: books.hotWallet })));
    await books.chain.mineEmpty(2);
    expect(await sightings()).toEqual([{ rawAmount: '20000000', parts: MANY, canonical: true }]);
    expect(await balance('capital')).toBe('20');
    expect(await books.db.sql`select 1 from ledger_transactions`).toHaveLength(1);
  });

  it('leave what came back from cold storage among them alone, because it is booked as that', async () => {
    const cold = anAddress();
    const chain = books.deps.chains.get('ethereum') as Chain;
    chain.config = { ...chain.config, cold: { address: cold } };
    const { id } = books.assets.USDT;
    await books.chain.mine([usdt(100_000_000n, {}, books.hotWallet)]);
    await books.chain.mineEmpty(2);
    await books.deps.db.transaction((tx) => bookStored(tx, id, parseTrusted('50'), 'test'));
    const dust = crowd(MANY, 1n, () => ({ recipient: books.hotWallet }));
    await books.chain.mine([...dust, usdt(40_000_000n, { sender: cold }, books.hotWallet)]);
    await books.chain.mineEmpty(2);
    expect(formatAmount(await bookedCold(books.deps.db.sql, id))).toBe('10');
    expect(await balance('capital')).toBe('100.00002');
  });

  it('stay outputs where coins are outputs', async () => {
    await books.db.sql`update networks set family = 'bitcoin'`;
    await books.chain.mine(crowd(MANY, 1_000_000n));
    expect(await deposits()).toHaveLength(MANY);
    await books.db.sql`update networks set family = 'evm'`;
  });

  it('of coins that contracts pass on are summed too, and another reading that counts them otherwise brings none of them twice', async () => {
    const internal = (shift: number) =>
      Array.from({ length: MANY }, (_, at) => ({
        ...books.chain.transfer(payment.address, books.assets.ETH, 10n ** 17n),
        kind: 'internal' as const,
        txid: `0x${'1'.repeat(64)}`,
        ordinal: at + shift,
        position: 0,
      }));
    const message = books.chain.next(internal(1));
    await books.chain.play(message);
    expect(await deposits()).toMatchObject([{ amount: '2', parts: MANY }]);
    const again = internal(2).map((one) => ({ ...one, height: message.to, blockHash: message.hash, time: message.time }));
    expect(await books.chain.apply({ ...message, seq: message.seq + 1, sightings: again })).toEqual({ outcome: 'duplicate' });
    expect(await deposits()).toMatchObject([{ amount: '2', parts: MANY }]);
  });
});

describe('dust', () => {
  beforeEach(() => start({ total: '20' }));

  it('of thousands of transfers is one row that decides nothing, whoever sent it, and the payment after it counts', async () => {
    await books.chain.mine(crowd(3_000, 1n, () => ({ sender: anAddress() })));
    await books.chain.mine([usdt(20_000_000n)]);
    await books.chain.mine();
    await credit();
    expect(await deposits()).toEqual([
      { state: 'dust', amount: '0.003', parts: 3_000, lost: false },
      { state: 'credited', amount: '20', parts: null, lost: false },
    ]);
    expect(await row()).toEqual({ status: 'SUCCESS', received: '20' });
    expect(await received()).toEqual(['-20.003', '0.003', '0']);
  });

  it('stays dust however much of it comes: no row of it reaches the floor', async () => {
    // The floor is 0.01: three of these are below it, four are not.
    await books.chain.mine(crowd(MANY, 3_000n));
    await books.chain.mine();
    await credit();
    expect((await deposits()).map(({ state, amount, parts }) => [state, amount, parts])).toEqual([
      ...Array.from({ length: 6 }, () => ['dust', '0.009', 3]),
      ['dust', '0.006', 2],
    ]);
    expect(await row()).toMatchObject({ status: 'PENDING' });
    expect(await received()).toEqual(['-0.06', '0.06', '0']);
  });

  it('that an operator allocates is allocated as a whole', async () => {
    await books.chain.mine(crowd(MANY, 100n));
    await books.chain.mine();
    await credit();
    const [dust] = await books.db.sql`select id from deposits`;
    await allocateDeposit(books.deps, { params: { id: dust?.id }, query: {}, body: { paymentId: payment.id, reason: 'asked for' } });
    expect(await deposits()).toEqual([{ state: 'credited', amount: '0.002', parts: MANY, lost: false }]);
    expect(await received()).toEqual(['-0.002', '0', '0']);
  });
});

describe('what was set aside', () => {
  it('is claimed by an inquiry as far as its transaction goes, and the rest stays set aside', async () => {
    await start({ expiresIn: -3_600, graceSeconds: 0, status: 'EXPIRED' });
    const transfers = crowd(MANY, 1_000_000n);
    await books.chain.mine(transfers);
    await books.chain.mine();
    await credit();
    expect(await deposits()).toMatchObject([{ state: 'unallocated', amount: '20', parts: MANY }]);
    await nodeKnows();
    expect(await inquire(transfers[5]?.txid as string)).toMatchObject({ resultCode: 'matched', receivedAmount: '1' });
    expect((await deposits()).map((one) => one.state).toSorted()).toEqual(['credited', ...Array.from({ length: MANY - 1 }, () => 'unallocated')]);
    expect(await received()).toEqual(['-20', '19', '0']);
    expect(await inquire(transfers[0]?.txid as string)).toMatchObject({ resultCode: 'matched', receivedAmount: '1' });
    expect(await received()).toEqual(['-20', '18', '0']);
  });
});

describe('what no stream ever told', () => {
  it('is asked about in as many statements as one transfer takes', async () => {
    await start();
    await books.chain.mine();
    const [block] = books.chain.branch;
    if (block === undefined) throw new Error('nothing was mined');
    const { to: height, hash: blockHash } = block;
    books.node.hashes.set(`ethereum ${height}`, blockHash);
    const statements = async (count: number): Promise<number> => {
      let made = 0;
      const sql = new Proxy(books.deps.db.sql, {
        apply(target, self, given) {
          made += 1;
          return Reflect.apply(target, self, given);
        },
      });
      const txid = `0x${String(count).padStart(64, '0')}`;
      const transfers = crowd(count, 1_000_000n, (ordinal) => ({ txid, ordinal }));
      books.node.transactions.set(`ethereum ${txid}`, { txid, height, blockHash, succeeded: true, transfers });
      const [deps, chain] = [{ ...books.deps, db: { ...books.deps.db, sql } }, books.deps.chains.get('ethereum') as Chain];
      const paid = (await findPayment(books.deps.db.sql, payment.id)) as Payment;
      expect(await lookUpTransaction(deps, chain, txid, paid, new Set([payment.address]))).toMatchObject({ is: 'transfers', transfers });
      return made;
    };
    expect(await statements(MANY)).toBe(await statements(1));
  });

  it('is brought into the books by an inquiry, however many transfers its transaction has', async () => {
    await start({ total: '20' });
    await books.chain.mineEmpty(3);
    const [block] = books.chain.branch;
    if (block === undefined) throw new Error('nothing was mined');
    const { to: height, hash: blockHash, time } = block;
    const txid = `0x${'2'.repeat(64)}`;
    const transfers = crowd(MANY, 1_000_000n, (ordinal) => ({ txid, ordinal, position: 0, height, blockHash, time }));
    books.node.hashes.set(`ethereum ${height}`, blockHash);
    books.node.transactions.set(`ethereum ${txid}`, { txid, height, blockHash, succeeded: true, transfers });
    expect(await inquire(txid)).toMatchObject({ resultCode: 'matched', receivedAmount: '20', attemptsUsed: 0 });
    expect(await inquire(txid)).toMatchObject({ resultCode: 'already_credited', receivedAmount: '20' });
    expect(await deposits()).toEqual([{ state: 'credited', amount: '20', parts: MANY, lost: false }]);
    expect(await row()).toEqual({ status: 'SUCCESS', received: '20' });
  });
});

describe('a reorganisation after they were booked', () => {
  const finality: Finality = { resolve: [{ rule: { blocks: 2 } }], mature: { blocks: 12 } };

  it('loses each of them, and regains each where it comes back: what never does stays lost', async () => {
    await start({ total: '20' }, finality);
    await books.chain.mineEmpty(3);
    const [transfers, dust] = [crowd(MANY, 1_000_000n), crowd(MANY, 100n)];
    await books.chain.mine([...transfers, ...dust]);
    await books.chain.mine();
    await credit();
    expect(await received()).toEqual(['-20.002', '0.002', '0']);
    books.chain.forkAt(books.chain.height - 2);
    expect(await books.chain.mine()).toMatchObject({ outcome: 'applied' });
    expect(await received()).toEqual(['0', '0.002', '-20.002']);
    expect(await books.db.sql`select scope from freezes`).toEqual([{ scope: `asset:${books.assets.USDT.id}` }]);
    await assertCleanAudit(books.db);
    await books.chain.mine([...transfers.toReversed().slice(0, 9), ...dust.slice(0, 10)]);
    await books.chain.mine([...dust.slice(10), ...transfers.toReversed().slice(9, 19)]);
    await books.chain.mineEmpty(2);
    expect(await credit()).toBe(0);
    expect(await received()).toEqual(['-19.002', '0.002', '-1']);
    expect((await deposits()).filter((one) => one.lost)).toMatchObject([{ amount: '1', state: 'credited' }]);
    expect(await row()).toEqual({ status: 'SUCCESS', received: '20' });
    expect(await books.db.sql`select 1 from sightings where canonical and booked_at is null`).toEqual([]);
  });
});

describe('a lost deposit', () => {
  it('stays lost when its transaction brings as much of another token in its place', async () => {
    await start({ total: '20' }, { resolve: [{ rule: { blocks: 2 } }], mature: { blocks: 12 } });
    await books.chain.mineEmpty(3);
    const paid = usdt(20_000_000n);
    await books.chain.mine([paid]);
    await books.chain.mine();
    await credit();
    books.chain.forkAt(books.chain.height - 2);
    await books.chain.mine();
    await books.chain.mine([{ ...paid, contract: books.assets.USDC.contract }]);
    await books.chain.mineEmpty(12);
    await credit();
    expect(await deposits()).toMatchObject([{ state: 'credited', amount: '20', lost: true }]);
    expect(await received()).toEqual(['0', '0', '-20']);
    expect(await books.db.sql`select scope from freezes`).toEqual([{ scope: `asset:${books.assets.USDT.id}` }]);
  });
});

describe('a transaction of ours', () => {
  it('is followed by its own sightings in the middle of a flood', async () => {
    await start();
    await books.db.sql`update wallets set halted_reason = 'test' where address = ${books.hotWallet}`;
    const sent = aSentTransaction(books.hotWallet);
    await books.chain.mine([sent, { ...usdt(5_000_000n, { sender: books.hotWallet }, anAddress()), txid: sent.txid }, ...crowd(MANY, 1n)]);
    await books.deps.db.transaction((tx) => applyOutgoing(tx, books.deps, { networkId: books.network.id, networkName: books.network.name }));
    expect(await books.db.sql`select kind, parts from sightings order by id`).toEqual([
      { kind: 'sent', parts: null },
      { kind: 'token', parts: null },
      { kind: 'token', parts: MANY },
    ]);
    await books.db.sql`delete from sightings`;
  });
});

/** The node answers for every block that was mined. */
async function nodeKnows(): Promise<void> {
  for (const message of books.chain.branch) {
    books.node.hashes.set(`ethereum ${message.to}`, message.hash);
    const transfers = message.sightings.filter((one): one is Transfer => one.kind !== 'sent');
    for (const { txid } of transfers)
      books.node.transactions.set(`ethereum ${txid}`, {
        txid,
        height: message.to,
        blockHash: message.hash,
        succeeded: true,
        transfers: transfers.filter((one) => one.txid === txid),
      });
  }
}

async function inquire(txHash: string): Promise<object> {
  const gateway = await findGateway(books.deps.db.sql, books.gatewayId);
  if (gateway === undefined) throw new Error('no gateway');
  return inquirePayment(books.deps, { gateway, paymentId: payment.id, txHash, network: undefined });
}
