import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyMempool } from '#api/consumers/apply-mempool.ts';
import { startMempoolConsumer } from '#api/consumers/mempool-events.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { expireDuePayments } from '#api/payments/expire.ts';
import { explainAnyPayment } from '#api/payments/explain.ts';
import { pendingDeposit } from '#api/payments/pending-deposit.ts';
import { readParts } from '#api/payments/view.ts';
import { findPayment } from '#api/store/payments.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { encodeMempoolMessage, type MempoolMessage, mempoolStream, type SeenTransaction } from '#shared/core/mempool-message.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { FINALITY } from '#shared/core/policy.ts';
import { openStreams } from '#shared/platform/redis-streams.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { type Books, someBooks, STRANGER, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { freshRedis } from '#test/harness/redis.ts';

/** Half a coin, 1,000 USD at the locked price. */
const HALF = 5n * 10n ** 17n;
const TXID = (digit: string) => digit.repeat(64);

let books: Books;
let payment: TestPayment;
let seq: number;

beforeEach(async () => {
  books = await someBooks({ finality: FINALITY.bitcoin });
  payment = await books.aPayment({ assetId: books.assets.ETH.id, total: '0.5', priceUsd: '2000', expiresIn: 60 });
  seq = 0;
});
afterEach(async () => {
  try {
    await assertCleanAudit(books.db);
  } finally {
    await books.drop();
  }
});

const serviceNow = async (): Promise<Date> => (await books.db.sql<[{ now: Date }]>`select sluice_now() as now`)[0].now;
const advance = (seconds: number) => books.db.sql`update clock_offset set seconds = seconds + ${seconds}`;
/** A transaction that would bring `units` to each of these addresses. */
const waiting = async (
  digit: string,
  spends: string[],
  to: readonly (string | [string, bigint])[],
  over: Partial<Transfer> = {},
): Promise<SeenTransaction> => ({
  txid: TXID(digit),
  firstSeenAt: (await serviceNow()).getTime(),
  spends: spends.map((name) => `${TXID(name)}:0`),
  transfers: to.map((one, ordinal) => {
    const [recipient, units] = typeof one === 'string' ? [one, HALF] : one;
    const { coSenders } = over;
    return {
      kind: 'native',
      txid: TXID(digit),
      ordinal,
      sender: over.sender ?? STRANGER,
      ...(coSenders && { coSenders }),
      recipient,
      contract: null,
      rawAmount: String(units),
    };
  }),
});
const tell = async (transactions: SeenTransaction[], over: { epoch?: number; seq?: number } = {}) => {
  seq += 1;
  return applyMempool(books.deps, books.network, {
    network: books.network.name,
    epoch: 1,
    seq,
    takenAt: (await serviceNow()).getTime(),
    transactions,
    ...over,
  });
};
/** The indexer's word that it has published the chain up to now. */
const caughtUp = () => books.db.sql`
  insert into indexer_leases (network_id, holder, epoch, expires_at, published_height, caught_up_at)
  values (${books.network.id}, 'test', 1, now(), ${books.chain.height}, sluice_now())
  on conflict (network_id) do update set published_height = excluded.published_height, caught_up_at = excluded.caught_up_at`;
const mineIt = async (transaction: SeenTransaction, over: Partial<Transfer> = {}) =>
  books.chain.mine(
    transaction.transfers.map((one) => books.chain.transfer(one.recipient, books.assets.ETH, BigInt(one.rawAmount), { ...one, ...over })),
    { time: await serviceNow() },
  );
const credit = () => creditFinalDeposits(books.deps, books.network.id);
const row = async () =>
  (await books.db.sql<{ status: string; depositPath: string | null }[]>`select status, deposit_path from payments where id = ${payment.id}`)[0];
const status = async () => (await row())?.status;
const states = async () =>
  Object.fromEntries(
    (await books.db.sql<{ txid: string; state: string }[]>`select txid, state from mempool_transactions order by txid`).map((one) => [one.txid[0], one.state]),
  );
/** Past the deadline, on a chain that was read up to this moment. */
const afterDeadline = async () => {
  await advance(120);
  await books.chain.mine([], { time: await serviceNow() });
  await caughtUp();
  return expireDuePayments(books.deps);
};
/** The market halves, so that the price that judged can be told. */
const halvePrice = () => books.prices.set('ETH', parseTrusted('1000'));
const pending = async () => {
  const found = await findPayment(books.deps.db.sql, payment.id);
  if (found === undefined) throw new Error('no payment');
  const shown = await pendingDeposit(books.deps.db.sql, books.deps, await readParts(books.deps, found));
  return shown && { ...shown, amount: formatAmount(shown.amount) };
};

describe('coins seen on their way before the deadline', () => {
  it('keep the payment open and its price locked until they confirm late', async () => {
    const paying = await waiting('a', ['0'], [payment.address]);
    await tell([paying]);
    expect(await pending()).toMatchObject({ assetSymbol: 'ETH', network: 'ethereum', amount: '0.5', txHash: TXID('a'), confirmations: 0, required: 1 });
    expect((await explainAnyPayment(books.deps, payment.id)).steps.map((one) => one.rule)).toContain('deposit_waiting');
    expect(await afterDeadline()).toBe(0);
    halvePrice();
    await mineIt(paying);
    expect(await pending()).toMatchObject({ confirmations: 1, required: 1 });
    await credit();
    expect(await row()).toEqual({ status: 'SUCCESS', depositPath: 'late_confirmation' });
    expect(await states()).toEqual({ a: 'mined' });
    expect(await pending()).toBeNull();
    const told = (await explainAnyPayment(books.deps, payment.id)).steps.map((one) => one.rule);
    expect(told.indexOf('deposit_found')).toBeLessThan(told.indexOf('deposit_decided'));
  });

  it('do neither when they were first seen after it', async () => {
    await advance(61);
    const paying = await waiting('a', ['0'], [payment.address]);
    await tell([paying]);
    expect(await afterDeadline()).toBe(1);
    halvePrice();
    await mineIt(paying);
    await credit();
    expect(await row()).toEqual({ status: 'MISMATCH', depositPath: 'late_capture' });
  });

  it('count no more once another transaction spends the same coins elsewhere', async () => {
    await tell([await waiting('a', ['0'], [payment.address])]);
    await tell([await waiting('b', ['0'], ['0x00000000000000000000000000000000000000ff'])]);
    expect(await states()).toEqual({ a: 'replaced' });
    expect(await pending()).toBeNull();
    expect(await afterDeadline()).toBe(1);
  });

  it('count no more once the node has dropped them, but not before the chain was read up to then: a block may hold them', async () => {
    const paying = await waiting('a', ['0'], [payment.address]);
    await tell([paying]);
    await advance(120);
    await caughtUp();
    await books.chain.mine([], { time: await serviceNow() });
    await advance(1);
    await tell([]);
    expect(await states()).toEqual({ a: 'gone' });
    expect(await expireDuePayments(books.deps)).toBe(0);
    await caughtUp();
    expect(await expireDuePayments(books.deps)).toBe(1);
    // It was seen in time all the same, should it be mined after all.
    halvePrice();
    await mineIt(paying);
    await credit();
    expect(await row()).toEqual({ status: 'SUCCESS', depositPath: 'late_capture' });
  });

  it('go on counting when a transaction with a higher fee replaces them after the deadline', async () => {
    await tell([await waiting('a', ['0'], [payment.address])]);
    await advance(120);
    const bumped = await waiting('b', ['0', '1'], [payment.address]);
    await tell([bumped]);
    await books.chain.mine([], { time: await serviceNow() });
    await caughtUp();
    expect(await states()).toEqual({ a: 'replaced', b: 'waiting' });
    expect(await expireDuePayments(books.deps)).toBe(0);
    halvePrice();
    await mineIt(bumped);
    await credit();
    expect(await row()).toEqual({ status: 'SUCCESS', depositPath: 'late_confirmation' });
  });

  it('lend their time to no larger sum: whoever sends more later sends it at the market', async () => {
    await tell([await waiting('a', ['0'], [[payment.address, HALF / 2n]])]);
    await advance(120);
    const more = await waiting('b', ['0'], [payment.address]);
    await tell([more]);
    await books.chain.mine([], { time: await serviceNow() });
    await caughtUp();
    expect(await expireDuePayments(books.deps)).toBe(1);
    halvePrice();
    await mineIt(more);
    await credit();
    expect(await row()).toEqual({ status: 'MISMATCH', depositPath: 'late_capture' });
  });

  it('lend it to no other transaction of their block either: a little in time reserves no price for the rest', async () => {
    const little = await waiting('a', ['0'], [[payment.address, HALF / 10n]]);
    await tell([little]);
    expect(await afterDeadline()).toBe(0);
    const rest = await waiting('b', ['1'], [[payment.address, HALF - HALF / 10n]]);
    await tell([little, rest]);
    halvePrice();
    const both = { ...little, transfers: [...little.transfers, ...rest.transfers] };
    await mineIt(both);
    await credit();
    expect(await row()).toEqual({ status: 'MISMATCH', depositPath: 'late_confirmation' });
  });

  it('keep it open again when the block that held them is orphaned', async () => {
    await books.chain.mine([], { time: await serviceNow() });
    const base = books.chain.height;
    const paying = await waiting('a', ['0'], [payment.address]);
    await tell([paying]);
    await mineIt(paying);
    books.chain.forkAt(base);
    await advance(120);
    await books.chain.mine([], { time: await serviceNow() });
    await caughtUp();
    expect(await states()).toEqual({ a: 'gone' });
    expect(await expireDuePayments(books.deps)).toBe(0);
    await tell([paying], { epoch: 2, seq: 1 });
    expect(await states()).toEqual({ a: 'waiting' });
    await caughtUp();
    expect(await expireDuePayments(books.deps)).toBe(0);
    await mineIt(paying);
    await credit();
    expect(await row()).toEqual({ status: 'SUCCESS', depositPath: 'late_confirmation' });
  });

  it.each([
    ['below the dust floor', async () => waiting('a', ['0'], [[payment.address, 10n ** 15n]])],
    ['from a wallet of ours', async () => waiting('a', ['0'], [payment.address], { sender: books.hotWallet })],
    ['of which a wallet of ours pays a part', async () => waiting('a', ['0'], [payment.address], { coSenders: [books.hotWallet] })],
  ])('keep nothing open %s', async (_what, transaction) => {
    await tell([await transaction()]);
    expect(await afterDeadline()).toBe(1);
  });

  it('are believed for as long as somebody looks: 15 minutes after the last word they keep nothing open', async () => {
    await tell([await waiting('a', ['0'], [payment.address])]);
    expect(await afterDeadline()).toBe(0);
    await books.db.sql`update mempool_snapshots set applied_at = clock_timestamp() - interval '16 minutes'`;
    expect(await expireDuePayments(books.deps)).toBe(1);
  });
});

describe('a word on what waits', () => {
  it('that was lost loses nothing: the next one tells all of it, with its time', async () => {
    const early = await waiting('a', ['0'], [payment.address]);
    await advance(90);
    await tell([early]);
    expect(await afterDeadline()).toBe(0);
    expect(await status()).toBe('PENDING');
  });

  it('that is older than the last, or of an older epoch, changes nothing', async () => {
    const paying = await waiting('a', ['0'], [payment.address]);
    await tell([paying], { seq: 5 });
    expect(await tell([], { seq: 4 })).toEqual({ outcome: 'dropped' });
    expect(await tell([], { seq: 5 })).toEqual({ outcome: 'dropped' });
    await books.db.sql`
      insert into indexer_leases (network_id, holder, epoch, expires_at) values (${books.network.id}, 'test', 3, now())`;
    expect(await tell([], { epoch: 2, seq: 9 })).toEqual({ outcome: 'dropped' });
    expect(await states()).toEqual({ a: 'waiting' });
    expect(await tell([], { epoch: 3, seq: 1 })).toMatchObject({ outcome: 'applied', ended: [{ txid: TXID('a'), replacedBy: null }] });
  });

  it('that comes after the block leaves what the block holds as it is', async () => {
    const paying = await waiting('a', ['0'], [payment.address]);
    await tell([paying]);
    await mineIt(paying);
    await tell([paying]);
    expect(await states()).toEqual({ a: 'mined' });
    const unseen = await waiting('b', ['1'], [payment.address]);
    await mineIt(unseen);
    await tell([unseen]);
    expect(await states()).toEqual({ a: 'mined' });
    await credit();
  });

  it('is forgotten a month after it came to nothing', async () => {
    await tell([await waiting('a', ['0'], [payment.address])]);
    await tell([]);
    expect(await afterDeadline()).toBe(1);
    await advance(31 * 86_400);
    await tell([]);
    expect(await states()).toEqual({});
  });
});

describe('the stream of such words', () => {
  it('is read by any worker, refuses what is forged or strange, and loses nothing when Redis is wiped', async () => {
    const redis = await freshRedis();
    const open = (key: string) => openStreams({ url: redis.url, key, name: 'test', log: books.deps.log });
    const [streams, stranger] = [open('k'.repeat(48)), open('x'.repeat(48))];
    await waitFor(() => streams.problem() === null && stranger.problem() === null, { what: 'redis' });
    const chain = books.deps.chains.get(books.network.name);
    Object.assign(chain?.reader ?? {}, { mempool: () => expect.unreachable('the api asked a node what waits') });
    const stream = mempoolStream(books.network.name);
    const word = async (at: number, transactions: SeenTransaction[], over: Partial<MempoolMessage> = {}) =>
      encodeMempoolMessage({ network: books.network.name, epoch: 1, seq: at, takenAt: (await serviceNow()).getTime(), transactions, ...over });
    const become = (wanted: Record<string, string>) =>
      waitFor(async () => JSON.stringify(await states()) === JSON.stringify(wanted), { what: JSON.stringify(wanted) });
    const workers = [startMempoolConsumer(books.deps, streams), startMempoolConsumer(books.deps, streams)];
    try {
      const paying = await waiting('a', ['0'], [payment.address]);
      await stranger.append(stream, await word(9, []));
      await streams.append(stream, await word(9, [], { network: 'sidechain' }));
      await streams.append(stream, '{}');
      await streams.append(stream, await word(1, [paying]));
      await become({ a: 'waiting' });
      await waitFor(async () => (await books.db.sql`select 1 from parked_messages`).length === 3, { what: 'three refused words' });
      await redis.flush();
      await streams.append(stream, await word(2, [await waiting('b', ['0'], [payment.address])]));
      await become({ a: 'replaced', b: 'waiting' });
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()));
      await Promise.all([streams.close(), stranger.close()]);
      await redis.stop();
    }
  });
});
