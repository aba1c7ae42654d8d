import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compareHoldings } from '#api/audit/holdings.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { inquirePayment } from '#api/payments/inquire.ts';
import { findGateway } from '#api/store/gateways.ts';
import { bookOpeningBalances } from '#api/treasury/book-opening-balances.ts';
import { explainBalances } from '#api/treasury/explain-balances.ts';
import { ChainUnavailable, type TransactionFacts } from '#shared/chains/chain.ts';
import type { BlockMessage, Sighting, Transfer } from '#shared/core/chain-events.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { aSentTransaction, type Books, holding, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';

const ETHER = 10n ** 18n;
const PASSER = '0x9a55e49a55e49a55e49a55e49a55e49a55e49a55';

let books: Books;
let payment: TestPayment;
/** What an address holds from a block on, beside `books.onChain`: `[height, amount]`. */
let arrivals: { address: string; height: number; rawAmount: bigint }[];
/** Blocks whose balances the node has forgotten. */
let forgotten: number;

beforeEach(async () => {
  books = await someBooks();
  books.deps.metrics = createApiMetrics('test');
  payment = await books.aPayment({ assetId: books.assets.ETH.id, total: '1', priceUsd: '2000' });
  arrivals = [];
  forgotten = 0;
  const { reader } = books.deps.chains.get('ethereum') as { reader: { balance(address: string, contract: string | null, height?: number): Promise<bigint> } };
  reader.balance = async (address, contract, height = Number.MAX_SAFE_INTEGER) => {
    if (height < forgotten) throw new ChainUnavailable('missing trie node');
    const arrived = arrivals.filter((one) => contract === null && one.address === address && one.height <= height);
    return arrived.reduce((sum, one) => sum + one.rawAmount, books.onChain.get(holding(address, contract)) ?? 0n);
  };
  await books.chain.mine([], { acks: [{ address: payment.address, watchedFrom: 100 }] });
});
afterEach(async () => {
  await assertCleanAudit(books.db);
  await books.drop();
});

/** Mines blocks read from an endpoint that shows no internal transfers. */
const mineBlind = async (blocks: number, sightings: Sighting[] = []): Promise<void> => {
  for (let i = 0; i < blocks; i++) await books.chain.play({ ...books.chain.next(i === 0 ? sightings : []), internalUnseen: true });
};
const arrive = (address: string, rawAmount: bigint): void => void arrivals.push({ address, height: books.chain.height + 1, rawAmount });
const flags = () =>
  books.db.sql`
    select address, payment_id, raw_amount::text, from_height as "from", to_height as "to", resolved_at is not null as resolved
    from unexplained_balances order by found_at, address`;
const eth = (rawAmount: bigint, over: Partial<Transfer> = {}) => books.chain.transfer(payment.address, books.assets.ETH, rawAmount, over);
const internal = (rawAmount: bigint): Transfer => eth(rawAmount, { kind: 'internal', ordinal: 1, sender: PASSER });
const gauge = async () => (await books.deps.metrics?.unexplainedBalances.get())?.values.find((one) => one.labels.chain === 'ethereum')?.value;
const statusOf = async () => (await books.db.sql`select status from payments where id = ${payment.id}`)[0]?.status;
const blind = () => books.db.sql`select from_height as "from", to_height as "to" from blind_blocks order by 1`;

describe('internal transfers in the books', () => {
  it('are credited like any other once they are final, beside the transaction’s own value', async () => {
    const first = eth(ETHER / 4n);
    await books.chain.mine([first, { ...internal((ETHER * 3n) / 4n), txid: first.txid }]);
    books.onChain.set(holding(payment.address, null), ETHER);
    await books.chain.mine();
    expect(await creditFinalDeposits(books.deps, books.network.id)).toBe(1);
    expect(await statusOf()).toBe('SUCCESS');
    expect(await books.db.sql`select kind, ordinal, state from deposits order by kind`).toEqual([
      { kind: 'internal', ordinal: 1, state: 'credited' },
      { kind: 'native', ordinal: 0, state: 'credited' },
    ]);
    expect((await compareHoldings(books.deps)).filter((one) => one.difference !== 0n)).toEqual([]);
  });

  it('leave with the block a reorganisation takes away, and are credited once where they are mined again', async () => {
    const transfer = internal(ETHER);
    await books.chain.mine([transfer]);
    books.chain.forkAt(books.chain.height - 1);
    await books.chain.mine();
    expect(await books.db.sql`select state from deposits`).toEqual([{ state: 'dropped' }]);
    await books.chain.mine([{ ...transfer, position: 5 }]);
    await books.chain.mine();
    books.onChain.set(holding(payment.address, null), ETHER);
    await creditFinalDeposits(books.deps, books.network.id);
    expect(await books.db.sql`select state, position from deposits`).toEqual([{ state: 'credited', position: 5 }]);
    expect((await compareHoldings(books.deps)).filter((one) => one.difference !== 0n)).toEqual([]);
  });

  it('to a wallet are coins put in', async () => {
    await books.chain.mine([{ ...internal(ETHER), recipient: books.hotWallet }]);
    books.onChain.set(holding(books.hotWallet, null), ETHER);
    await books.chain.mine();
    await books.chain.mine();
    expect(await books.db.sql`select kind from ledger_transactions`).toEqual([{ kind: 'fund' }]);
    expect((await compareHoldings(books.deps)).filter((one) => one.difference !== 0n)).toEqual([]);
  });

  it('away from an address of ours that no payout of ours explains halt it', async () => {
    await books.chain.mine([{ ...internal(ETHER), sender: books.hotWallet, recipient: PASSER }]);
    expect(await books.db.sql`select halted_reason is not null as halted from wallets where network_id = ${books.network.id} and role = 'hot'`).toEqual([
      { halted: true },
    ]);
  });
});

describe('coins that arrive unseen', () => {
  it('are flagged with the payment and the very block, and credit nothing', async () => {
    await mineBlind(4);
    arrive(payment.address, ETHER);
    await mineBlind(6);
    expect(await explainBalances(books.deps)).toBe(1);
    const came = arrivals[0]?.height;
    expect(await flags()).toEqual([{ address: payment.address, paymentId: payment.id, rawAmount: String(ETHER), from: came, to: came, resolved: false }]);
    expect(await gauge()).toBe(1);
    expect(await creditFinalDeposits(books.deps, books.network.id)).toBe(0);
    expect([await statusOf(), (await books.db.sql`select 1 from deposits`).length]).toEqual(['PENDING', 0]);
    expect(await explainBalances(books.deps)).toBe(0);
    expect(await flags()).toHaveLength(1);
  });

  it('wait until their block is final', async () => {
    arrive(payment.address, ETHER);
    await mineBlind(1);
    expect(await explainBalances(books.deps)).toBe(0);
    await mineBlind(1);
    expect(await explainBalances(books.deps)).toBe(1);
  });

  it('are not looked for while blocks that were read by logs are still to be read completely, unless something holds that up or it takes a day', async () => {
    arrive(payment.address, ETHER);
    await books.chain.play({ ...books.chain.next(), internalUnseen: true, byLogs: true });
    await mineBlind(2);
    expect(await explainBalances(books.deps)).toBe(0);
    await books.db.sql`update rescans set problem = 'the node has another block'`;
    expect(await explainBalances(books.deps)).toBe(1);
    await books.db.sql`delete from unexplained_balances`;
    await books.db.sql`delete from balance_looks`;
    await books.db.sql`update rescans set problem = null`;
    expect(await explainBalances(books.deps)).toBe(0);
    await books.db.sql`update rescans set requested_at = requested_at - interval '25 hours'`;
    expect(await explainBalances(books.deps)).toBe(1);
  });

  it('are not looked for in blocks that were read with their internal transfers', async () => {
    arrive(payment.address, ETHER);
    for (let i = 0; i < 5; i++) await books.chain.mine();
    expect(await explainBalances(books.deps)).toBe(0);
    expect(await flags()).toEqual([]);
    expect(await gauge()).toBe(0);
  });

  it('resolve themselves when a sighting explains them: nothing is counted twice', async () => {
    arrive(payment.address, ETHER);
    const message = books.chain.next();
    await books.chain.play({ ...message, internalUnseen: true });
    await mineBlind(3);
    await explainBalances(books.deps);
    // A rescan through an endpoint with traces says again what the block held.
    const seen = { ...internal(ETHER), height: message.to, blockHash: message.hash, position: 0, time: message.time };
    await books.chain.apply({ ...message, seq: message.seq + 50, sightings: [seen] });
    await creditFinalDeposits(books.deps, books.network.id);
    expect(await explainBalances(books.deps)).toBe(1);
    expect(await flags()).toMatchObject([{ resolved: true }]);
    expect([await statusOf(), await gauge()]).toEqual(['SUCCESS', 0]);
  });

  it('are told with what is missing of old balances: the blocks in which they may have come', async () => {
    await mineBlind(4);
    arrive(payment.address, ETHER);
    await mineBlind(6);
    forgotten = books.chain.height - 2;
    await explainBalances(books.deps);
    expect(await flags()).toMatchObject([{ from: 100, to: books.chain.height - 1 }]);
  });

  it('grow in the one flag there is', async () => {
    arrive(payment.address, 5n);
    await mineBlind(3);
    await explainBalances(books.deps);
    arrive(payment.address, 6n);
    await mineBlind(3);
    expect(await explainBalances(books.deps)).toBe(1);
    expect(await flags()).toMatchObject([{ rawAmount: '11', resolved: false }]);
    expect(await flags()).toHaveLength(1);
  });

  it('are found at a wallet, beside what it opened with, sent and paid for', async () => {
    books.onChain.set(holding(books.hotWallet, null), 10n * ETHER);
    await books.db.sql`insert into watches (network_id, address, acked_epoch, watched_from) values (${books.network.id}, ${books.hotWallet}, 1, 101)`;
    await books.chain.mine();
    await bookOpeningBalances(books.deps);
    const sent = aSentTransaction(books.hotWallet, { rawFee: '21000', nonce: 0 });
    await mineBlind(1, [sent, { ...eth(2n * ETHER), txid: sent.txid, sender: books.hotWallet, recipient: PASSER }]);
    arrive(books.hotWallet, -2n * ETHER - 21_000n);
    await mineBlind(3);
    expect(await explainBalances(books.deps)).toBe(0);
    arrive(books.hotWallet, 7n);
    await mineBlind(3);
    expect(await explainBalances(books.deps)).toBe(1);
    expect(await flags()).toMatchObject([{ address: books.hotWallet, paymentId: null, rawAmount: '7' }]);
  });

  it('of payments long closed, and of sandbox payments, are nobody’s question', async () => {
    arrive(payment.address, ETHER);
    await mineBlind(3);
    await books.db
      .sql`update payments set status = 'EXPIRED', resolved_at = sluice_now() - interval '2 days', expires_at = sluice_now() - interval '2 days' where id = ${payment.id}`;
    expect(await explainBalances(books.deps)).toBe(0);
    // The audit asks for the webhook of a payment that came to rest.
    await books.db.sql`update payments set webhook_url = null where id = ${payment.id}`;
  });

  it('do not keep other networks waiting when a node cannot answer', async () => {
    arrive(payment.address, ETHER);
    await mineBlind(3);
    forgotten = Number.MAX_SAFE_INTEGER;
    expect(await explainBalances(books.deps)).toBe(0);
    expect(await gauge()).toBe(0);
    forgotten = 0;
    expect(await explainBalances(books.deps)).toBe(1);
  });
});

describe('blind blocks', () => {
  it('that are neighbours are one row, whatever order they are told in', async () => {
    await mineBlind(3);
    await books.chain.mine();
    await mineBlind(2);
    const height = books.chain.height;
    expect(await blind()).toEqual([
      { from: 101, to: 103 },
      { from: 105, to: 106 },
    ]);
    const bridge = books.chain.branch.find((message) => message.to === 104) as BlockMessage;
    await books.chain.apply({ ...bridge, seq: bridge.seq + 50, internalUnseen: true });
    expect(await blind()).toEqual([{ from: 101, to: height }]);
  });
});

describe('an inquiry through a node that shows no internal transfers', () => {
  const inquire = async (txHash: string): Promise<{ resultCode: string; attemptsUsed: number }> => {
    const gateway = await findGateway(books.deps.db.sql, books.gatewayId);
    if (gateway === undefined) throw new Error('no gateway');
    return (await inquirePayment(books.deps, { gateway, paymentId: payment.id, txHash, network: undefined })) as { resultCode: string; attemptsUsed: number };
  };
  /** A transaction that touched a contract, in a block of its own. */
  const aCall = async (): Promise<string> => {
    const txid = `0x${randomBytes(32).toString('hex')}`;
    const message = books.chain.next();
    await books.chain.play({ ...message, internalUnseen: true });
    const told: TransactionFacts = { txid, height: message.to, blockHash: message.hash, succeeded: true, transfers: [], internalUnseen: true };
    books.node.hashes.set(`ethereum ${message.to}`, message.hash);
    books.node.transactions.set(`ethereum ${txid}`, told);
    return txid;
  };

  it('waits for the block to be final before it says that nothing was for this payment', async () => {
    const txid = await aCall();
    expect(await inquire(txid)).toMatchObject({ resultCode: 'pending_confirmation', attemptsUsed: 0 });
    await mineBlind(3);
    expect(await inquire(txid)).toMatchObject({ resultCode: 'wrong_recipient', attemptsUsed: 1 });
  });

  it('says nothing, and uses no attempt, while coins lie there that nobody saw arrive', async () => {
    arrive(payment.address, ETHER);
    const txid = await aCall();
    await mineBlind(3);
    await expect(inquire(txid)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await books.db.sql`select inquiry_attempts as used from payments where id = ${payment.id}`).toEqual([{ used: 0 }]);
  });
});
