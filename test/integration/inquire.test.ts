import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { allocateDeposit } from '#api/operator/allocate.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { expireDuePayments } from '#api/payments/expire.ts';
import { inquirePayment } from '#api/payments/inquire.ts';
import { markAllocated } from '#api/store/deposits.ts';
import { findGateway } from '#api/store/gateways.ts';
import type { BlockMessage, Transfer } from '#shared/core/chain-events.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { type Books, type PaymentOptions, STRANGER, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';

let books: Books;
let payment: TestPayment;

const start = async (options: PaymentOptions = {}, gatewaySettings: Record<string, unknown> = {}): Promise<void> => {
  books = await someBooks({ gatewaySettings });
  payment = await books.aPayment(options);
};

interface Answer {
  resultCode: string;
  attemptsUsed: number;
  attemptsRemaining: number;
  txHash: string;
  status: string;
  network?: string;
  receivedAmount?: string;
  receivedAssetSymbol?: string;
  confirmations?: number;
}

const inquire = async (txHash: string, network?: string, of = payment): Promise<Answer> => {
  const gateway = await findGateway(books.deps.db.sql, (await books.db.sql`select gateway_id from payments where id = ${of.id}`)[0]?.gatewayId);
  if (gateway === undefined) throw new Error('no gateway');
  return (await inquirePayment(books.deps, { gateway, paymentId: of.id, txHash, network })) as Answer;
};
const usdt = (units: bigint, over: Partial<Transfer> = {}, to = payment.address) => books.chain.transfer(to, books.assets.USDT, units, over);

/** Puts transfers of one transaction into a block the node knows; the stream brings the block, and the transfers only when `seen`. */
async function mined(
  transfers: Transfer[],
  options: { seen?: boolean; on?: 'ethereum' | 'sidechain'; time?: Date; succeeded?: boolean } = {},
): Promise<string> {
  const on = options.on ?? 'ethereum';
  const chain = on === 'ethereum' ? books.chain : books.otherChain;
  const txid = transfers[0]?.txid ?? `0x${randomBytes(32).toString('hex')}`;
  const time = options.time === undefined ? {} : { time: options.time };
  const message = chain.next(
    transfers.map((transfer, ordinal) => ({ ...transfer, txid, ordinal, position: 3 })),
    time,
  );
  const content = message.sightings.filter((one): one is Transfer => one.kind !== 'sent');
  await chain.play({ ...message, sightings: options.seen ? message.sightings : [] });
  books.node.hashes.set(`${on} ${message.to}`, message.hash);
  books.node.transactions.set(`${on} ${txid}`, {
    txid,
    height: message.to,
    blockHash: message.hash,
    succeeded: options.succeeded ?? true,
    transfers: options.succeeded === false ? [] : content,
  });
  return txid;
}

const credit = () => creditFinalDeposits(books.deps, books.network.id);
const row = async (of = payment) => (await books.db.sql`select * from payments where id = ${of.id}`)[0];
const deposits = () => books.db.sql`select state, path, amount::text, claimed_by from deposits order by network_id, height, position, ordinal`;
const webhooks = async () => (await books.db.sql`select status from webhook_events order by created_at`).map((event) => event.status);
const balances = async (...kinds: string[]) => {
  const rows = await books.db.sql`select kind, sum(balance)::text as balance from ledger_accounts group by kind`;
  return kinds.map((kind) => formatAmount(parseTrusted(rows.find((one) => one.kind === kind)?.balance ?? '0')));
};
const pass = (seconds: number) => books.db.sql`update clock_offset set seconds = seconds + ${seconds}`;
const expireNow = async () => {
  expect(await expireDuePayments(books.deps)).toBe(1);
};
const NOBODYS = `0x${'a'.repeat(64)}`;

afterEach(async () => {
  await assertCleanAudit(books.db);
  await books.drop();
});

describe('a transfer the indexer missed (contract 4.1, decisions 9)', () => {
  beforeEach(() => start());

  it('is matched, recorded and credited at once when its block is final, by the path manual_inquiry', async () => {
    const txid = await mined([usdt(100_000_000n)]);
    await books.chain.mine();
    expect(await inquire(txid)).toEqual({
      resultCode: 'matched',
      attemptsUsed: 0,
      attemptsRemaining: 5,
      txHash: txid,
      status: 'SUCCESS',
      network: 'ethereum',
      receivedAmount: '100',
      receivedAssetSymbol: 'USDT',
      confirmations: 2,
    });
    expect(await row()).toMatchObject({ status: 'SUCCESS', depositPath: 'manual_inquiry', receivedAmount: '100' });
    expect(await deposits()).toEqual([{ state: 'credited', path: 'manual_inquiry', amount: '100', claimedBy: 'inquiry' }]);
    expect(await webhooks()).toEqual(['SUCCESS']);
    expect(await balances('pending', 'networkFee', 'chain', 'unallocated')).toEqual(['99.5', '0.5', '-100', '0']);
    expect(await inquire(txid)).toMatchObject({ resultCode: 'already_credited', attemptsUsed: 0, status: 'SUCCESS', receivedAmount: '100' });
  });

  it('is pending_confirmation while its block is not final, and then confirms by normal crediting', async () => {
    const txid = await mined([usdt(100_000_000n)]);
    expect(await inquire(txid)).toMatchObject({ resultCode: 'pending_confirmation', status: 'PENDING', confirmations: 1, attemptsUsed: 0 });
    expect(await deposits()).toMatchObject([{ state: 'seen', claimedBy: 'inquiry' }]);
    await books.chain.mine();
    expect(await credit()).toBe(1);
    expect(await row()).toMatchObject({ status: 'SUCCESS', depositPath: 'manual_inquiry' });
    expect(await inquire(txid)).toMatchObject({ resultCode: 'already_credited' });
  });

  it('cannot be credited a second time by the stream that brings it later', async () => {
    const transfer = usdt(100_000_000n);
    const message = books.chain.next([{ ...transfer, position: 3 }]);
    await books.chain.play({ ...message, sightings: [] });
    books.node.hashes.set(`ethereum ${message.to}`, message.hash);
    books.node.transactions.set(`ethereum ${transfer.txid}`, {
      txid: transfer.txid,
      height: message.to,
      blockHash: message.hash,
      succeeded: true,
      transfers: message.sightings as Transfer[],
    });
    await books.chain.mine();
    expect(await inquire(transfer.txid)).toMatchObject({ resultCode: 'matched' });
    await books.chain.apply({ ...message, seq: message.seq + 50 });
    await credit();
    expect(await books.db.sql`select count(*)::int as n from sightings`).toEqual([{ n: 1 }]);
    expect(await balances('chain')).toEqual(['-100']);
  });

  it('is not believed while our own tip is below its block', async () => {
    const txid = await mined([usdt(100_000_000n)]);
    const facts = books.node.transactions.get(`ethereum ${txid}`);
    if (facts === undefined) throw new Error('not mined');
    const ahead = (facts.height ?? 0) + 5;
    books.node.transactions.set(`ethereum ${txid}`, { ...facts, height: ahead, transfers: facts.transfers.map((one) => ({ ...one, height: ahead })) });
    books.node.hashes.set(`ethereum ${ahead}`, facts.blockHash ?? '');
    // While we catch up, the node's final block is ahead of our tip.
    await books.db.sql`update chain_tips set final_height = ${ahead}`;
    expect(await inquire(txid)).toMatchObject({ resultCode: 'pending_confirmation', attemptsUsed: 0, confirmations: 0 });
    expect(await deposits()).toEqual([]);
  });

  it('is not believed while the node holds another block at that height than we do', async () => {
    const txid = await mined([usdt(100_000_000n)]);
    const facts = books.node.transactions.get(`ethereum ${txid}`);
    if (facts === undefined) throw new Error('not mined');
    const other = `0x${'b'.repeat(64)}`;
    books.node.transactions.set(`ethereum ${txid}`, { ...facts, blockHash: other, transfers: facts.transfers.map((one) => ({ ...one, blockHash: other })) });
    books.node.hashes.set(`ethereum ${facts.height}`, other);
    expect(await inquire(txid)).toMatchObject({ resultCode: 'pending_confirmation', attemptsUsed: 0 });
    expect(await deposits()).toEqual([]);
  });

  it('is not believed when the block it names is not on the main chain of the node itself', async () => {
    const txid = await mined([usdt(100_000_000n)]);
    for (const key of books.node.hashes.keys()) books.node.hashes.set(key, `0x${'c'.repeat(64)}`);
    expect(await inquire(txid)).toMatchObject({ resultCode: 'pending_confirmation' });
    expect(await deposits()).toEqual([]);
  });

  it('is found below the final height where single blocks are no longer stored', async () => {
    const txid = await mined([usdt(100_000_000n)]);
    await books.chain.mineEmpty(3);
    await books.db.sql`delete from chain_blocks where height < ${books.chain.height - 1}`;
    expect(await inquire(txid)).toMatchObject({ resultCode: 'matched', status: 'SUCCESS' });
  });

  it('is dropped with its block by a reorganisation, and found again in the block it is mined in then', async () => {
    await books.chain.mine();
    const transfer = usdt(100_000_000n);
    const txid = await mined([transfer]);
    expect(await inquire(txid)).toMatchObject({ resultCode: 'pending_confirmation' });
    books.chain.forkAt(books.chain.height - 1);
    await books.chain.mineEmpty(2);
    expect(await deposits()).toMatchObject([{ state: 'dropped' }]);
    books.node.transactions.clear();
    expect(await inquire(txid)).toMatchObject({ resultCode: 'tx_not_found', attemptsUsed: 1 });
    await mined([transfer]);
    await books.chain.mine();
    expect(await inquire(txid)).toMatchObject({ resultCode: 'matched', status: 'SUCCESS' });
    expect(await balances('chain')).toEqual(['-100']);
  });

  it('is credited with all transfers of its transaction to the payment, those of one asset as one (decisions 3)', async () => {
    const to = payment.address;
    const stranger = usdt(7_000_000n, { recipient: STRANGER, sender: `0x${'1'.repeat(40)}` });
    const txid = await mined([stranger, usdt(40_000_000n), usdt(60_000_000n), books.chain.transfer(to, books.assets.USDC, 5_000_000n)]);
    await books.chain.mine();
    expect(await inquire(txid)).toMatchObject({ resultCode: 'matched', status: 'SUCCESS', receivedAmount: '100', receivedAssetSymbol: 'USDT' });
    expect(await row()).toMatchObject({ receivedAmount: '100' });
    expect(await deposits()).toMatchObject([
      { state: 'credited', amount: '40' },
      { state: 'credited', amount: '60' },
      { state: 'credited', amount: '5' },
    ]);
    expect(await webhooks()).toEqual(['SUCCESS']);
  });

  it('takes the hash in any case', async () => {
    const txid = await mined([usdt(100_000_000n)]);
    await books.chain.mine();
    expect(await inquire(`0x${txid.slice(2).toUpperCase()}`, 'ethereum')).toMatchObject({ resultCode: 'matched', txHash: txid });
  });

  it('waits for a price it needs, has been matched all the same, and resolves with the first one', async () => {
    books.prices.delete('ETH');
    const txid = await mined([books.chain.transfer(payment.address, books.assets.ETH, 50_000_000_000_000_000n)]);
    await books.chain.mine();
    expect(await inquire(txid)).toMatchObject({ resultCode: 'matched', status: 'PENDING' });
    books.prices.set('ETH', parseTrusted('2000'));
    expect(await credit()).toBe(1);
    expect(await row()).toMatchObject({ status: 'SUCCESS', depositPath: 'manual_inquiry' });
  });
});

describe('a transaction beyond the tip, while the indexer is stopped (contract 3.1)', () => {
  /** A block that the node has above our tip, with transactions of one transfer each; applied only when it is played. */
  function unread(transfers: Transfer[]): { message: BlockMessage; txids: string[] } {
    const message = books.chain.next(transfers.map((transfer, position) => ({ ...transfer, position })));
    books.node.hashes.set(`ethereum ${message.to}`, message.hash);
    for (const transfer of message.sightings as Transfer[])
      books.node.transactions.set(`ethereum ${transfer.txid}`, {
        txid: transfer.txid,
        height: message.to,
        blockHash: message.hash,
        succeeded: true,
        transfers: [transfer],
      });
    books.node.heads.set('ethereum', message.to + 1);
    return { message, txids: transfers.map(({ txid }) => txid) };
  }
  const freezes = () => books.db.sql`select scope from freezes`;
  const losses = () => books.db.sql`select kind from ledger_transactions where kind in ('loss', 'regain')`;

  beforeEach(async () => {
    await start();
    await books.db.sql`
      insert into watches (network_id, address, acked_epoch, watched_from) values (${books.network.id}, ${payment.address}, 1, 0)
      on conflict (network_id, address) do update set acked_epoch = 1, watched_from = 0`;
    await books.chain.mine();
  });

  it('is matched at once when the node itself calls it final, and credited once when the indexer is back', async () => {
    const { message, txids } = unread([usdt(100_000_000n)]);
    expect(await inquire(txids[0] as string)).toMatchObject({
      resultCode: 'matched',
      status: 'SUCCESS',
      attemptsUsed: 0,
      confirmations: 2,
      receivedAmount: '100',
    });
    expect(await webhooks()).toEqual(['SUCCESS']);
    await books.chain.play(message);
    await books.chain.mine();
    expect(await credit()).toBe(0);
    expect(await deposits()).toMatchObject([{ state: 'credited', path: 'manual_inquiry' }]);
    expect([await balances('chain', 'pending'), await losses(), await freezes()]).toEqual([['-100', '99.5'], [], []]);
    expect(await inquire(txids[0] as string)).toMatchObject({ resultCode: 'already_credited' });
  });

  it('waits while the node does not call it final', async () => {
    const { message, txids } = unread([usdt(100_000_000n)]);
    books.node.heads.set('ethereum', message.to);
    expect(await inquire(txids[0] as string)).toMatchObject({ resultCode: 'pending_confirmation', attemptsUsed: 0 });
    expect(await deposits()).toEqual([]);
  });

  it('is judged together with what else its block brought', async () => {
    const { txids } = unread([usdt(60_000_000n), usdt(40_000_000n)]);
    expect(await inquire(txids[0] as string)).toMatchObject({ resultCode: 'matched', status: 'SUCCESS' });
    expect(await row()).toMatchObject({ receivedAmount: '100' });
  });

  it('leaves the decision to a deposit that was seen before it and is on the same chain', async () => {
    await books.chain.mine([usdt(100_000_000n)]);
    books.node.hashes.set(`ethereum ${books.chain.height}`, books.chain.hash);
    const { txids } = unread([usdt(7_000_000n)]);
    expect(await inquire(txids[0] as string)).toMatchObject({ resultCode: 'matched', status: 'SUCCESS', receivedAmount: '7' });
    expect(await row()).toMatchObject({ receivedAmount: '100', depositPath: 'standard' });
  });

  it('decides when the chain no longer holds what was seen before it', async () => {
    await books.chain.mine([usdt(50_000_000n)]);
    books.node.hashes.set(`ethereum ${books.chain.height}`, `0x${'d'.repeat(64)}`);
    const { txids } = unread([usdt(100_000_000n)]);
    expect(await inquire(txids[0] as string)).toMatchObject({ resultCode: 'matched', status: 'SUCCESS' });
    expect(await row()).toMatchObject({ receivedAmount: '100' });
  });

  it('is lost, and its asset frozen, when the indexer comes to its height and does not see it', async () => {
    const { message, txids } = unread([usdt(100_000_000n)]);
    await inquire(txids[0] as string);
    await books.chain.play({ ...message, hash: `0x${'e'.repeat(64)}`, sightings: [] });
    expect((await losses()).map(({ kind }) => kind as string)).toEqual(['loss']);
    expect(await freezes()).toEqual([{ scope: `asset:${books.assets.USDT.id}` }]);
    expect(await row()).toMatchObject({ status: 'SUCCESS' });
  });

  it('stays what it is when the chain below it was reorganised meanwhile', async () => {
    await books.chain.mine();
    const { message, txids } = unread([usdt(100_000_000n)]);
    await inquire(txids[0] as string);
    books.chain.forkAt(books.chain.height - 1);
    await books.chain.mine();
    const mined = books.chain.next([]);
    await books.chain.play({ ...message, epoch: mined.epoch, seq: mined.seq, parentHash: books.chain.hash });
    await books.chain.mine();
    expect([await losses(), await freezes()]).toEqual([[], []]);
    expect(await deposits()).toMatchObject([{ state: 'credited' }]);
  });
});

describe('a deposit that is known already', () => {
  beforeEach(() => start());

  it('is pending_confirmation before it is final, and its path stays the ordinary one', async () => {
    const txid = await mined([usdt(100_000_000n)], { seen: true });
    expect(await inquire(txid)).toMatchObject({ resultCode: 'pending_confirmation', confirmations: 1, receivedAmount: '100' });
    await books.chain.mine();
    await credit();
    expect(await row()).toMatchObject({ status: 'SUCCESS', depositPath: 'standard' });
  });

  it('is answered from the books while the chain cannot be asked', async () => {
    const txid = await mined([usdt(100_000_000n)], { seen: true });
    await books.chain.mine();
    await credit();
    books.node.down.add('ethereum').add('sidechain');
    expect(await inquire(txid)).toMatchObject({ resultCode: 'already_credited', status: 'SUCCESS' });
  });

  it('is credited at once when it is final and no worker came to it yet', async () => {
    const txid = await mined([usdt(100_000_000n)], { seen: true });
    await books.chain.mine();
    expect(await inquire(txid)).toMatchObject({ resultCode: 'matched', status: 'SUCCESS' });
    expect(await row()).toMatchObject({ depositPath: 'standard' });
  });

  it('below the dust floor is recorded, resolves nothing and makes the payment not eligible for it', async () => {
    const known = await mined([usdt(9_999n)], { seen: true });
    const missed = await mined([usdt(9_998n)]);
    await books.chain.mine();
    await credit();
    for (const txid of [known, missed]) expect(await inquire(txid)).toMatchObject({ resultCode: 'payment_not_eligible', attemptsUsed: 0, status: 'PENDING' });
    expect(await deposits()).toMatchObject([{ state: 'dust' }, { state: 'dust' }]);
    expect(await balances('unallocated')).toEqual(['0.019997']);
    expect(await webhooks()).toEqual([]);
  });
});

describe('a deposit that was set aside', () => {
  it('after the grace period moves from unallocated to the gateway, resolves the payment and sends the second webhook', async () => {
    await start({ expiresIn: -7_200, graceSeconds: 3_600 });
    await expireNow();
    const txid = await mined([usdt(100_000_000n)], { seen: true });
    await books.chain.mine();
    await credit();
    expect(await balances('unallocated', 'chain')).toEqual(['100', '-100']);
    expect(await inquire(txid)).toMatchObject({ resultCode: 'matched', status: 'SUCCESS', attemptsUsed: 0 });
    expect(await row()).toMatchObject({ status: 'SUCCESS', depositPath: 'manual_inquiry', deviationUsd: '0' });
    expect(await balances('unallocated', 'chain', 'pending', 'networkFee')).toEqual(['0', '-100', '99.5', '0.5']);
    expect(await webhooks()).toEqual(['EXPIRED', 'SUCCESS']);
    expect(await books.db.sql`select kind from ledger_transactions order by id`).toEqual([{ kind: 'unallocated' }, { kind: 'claim' }, { kind: 'credit' }]);
    expect(await inquire(txid)).toMatchObject({ resultCode: 'already_credited' });
  });

  it('after the grace period and missed by the indexer as well is credited straight away', async () => {
    await start({ expiresIn: -7_200, graceSeconds: 3_600 });
    await expireNow();
    const txid = await mined([usdt(99_000_000n)]);
    await books.chain.mine();
    expect(await inquire(txid)).toMatchObject({ resultCode: 'matched', status: 'MISMATCH' });
    expect(await webhooks()).toEqual(['EXPIRED', 'MISMATCH']);
  });

  it('on a network nobody selected is credited in the asset of that network, valued at its market price', async () => {
    await start();
    const txid = await mined([books.otherChain.transfer(payment.address, books.otherUsdt, 100_000_000n)], { seen: true, on: 'sidechain' });
    await books.otherChain.mine();
    await books.chain.mine();
    await creditFinalDeposits(books.deps, books.otherNetwork.id);
    expect(await deposits()).toMatchObject([{ state: 'unallocated' }]);
    expect(await row()).toMatchObject({ status: 'PENDING' });
    expect(await inquire(txid, 'sidechain')).toMatchObject({ resultCode: 'matched', status: 'SUCCESS', network: 'sidechain' });
    expect(await row()).toMatchObject({ receivedAssetId: books.otherUsdt.id, depositPath: 'manual_inquiry', deviationUsd: '0' });
    expect(await balances('unallocated')).toEqual(['0']);
  });

  it('on such a network is allocated before it is final, so that it is credited and not set aside', async () => {
    await start();
    await books.chain.mine();
    const txid = await mined([books.otherChain.transfer(payment.address, books.otherUsdt, 100_000_000n)], { seen: true, on: 'sidechain' });
    expect(await inquire(txid)).toMatchObject({ resultCode: 'pending_confirmation', network: 'sidechain' });
    await books.otherChain.mine();
    await creditFinalDeposits(books.deps, books.otherNetwork.id);
    expect(await row()).toMatchObject({ status: 'SUCCESS', depositPath: 'manual_inquiry' });
  });

  it('for a payment that has resolved is credited as an additional deposit: no status, no webhook', async () => {
    await start();
    await books.chain.mine([usdt(100_000_000n)]);
    await books.chain.mine();
    await credit();
    const txid = await mined([books.otherChain.transfer(payment.address, books.otherUsdt, 30_000_000n)], { seen: true, on: 'sidechain' });
    await books.otherChain.mine();
    await creditFinalDeposits(books.deps, books.otherNetwork.id);
    expect(await inquire(txid)).toMatchObject({ resultCode: 'matched', status: 'SUCCESS', receivedAmount: '30' });
    expect(await row()).toMatchObject({ receivedAmount: '100', depositPath: 'standard' });
    expect(await webhooks()).toEqual(['SUCCESS']);
    expect(await balances('chain', 'unallocated')).toEqual(['-130', '0']);
  });

  it('that a reorganisation took away cannot be allocated, until it is mined again', async () => {
    await start({ expiresIn: -7_200, graceSeconds: 3_600 });
    await expireNow();
    await books.drop();
    books = await someBooks({ finality: { resolve: [{ rule: { blocks: 2 } }], mature: { tag: 'finalized' } } });
    payment = await books.aPayment({ expiresIn: -7_200, graceSeconds: 3_600 });
    await expireNow();
    await books.chain.mine();
    const transfer = usdt(100_000_000n);
    const txid = await mined([transfer], { seen: true });
    await books.chain.mine();
    await credit();
    books.chain.forkAt(books.chain.height - 2);
    await books.chain.mine();
    books.node.transactions.clear();
    expect(await inquire(txid)).toMatchObject({ resultCode: 'tx_not_found', status: 'EXPIRED' });
    expect(await balances('unallocated', 'loss', 'chain')).toEqual(['100', '-100', '0']);
    await mined([transfer]);
    await books.chain.mine();
    expect(await inquire(txid)).toMatchObject({ resultCode: 'matched', status: 'SUCCESS' });
    expect(await balances('unallocated', 'loss', 'chain')).toEqual(['0', '0', '-100']);
  });
});

describe('a deposit that an operator gave to another payment', () => {
  it('stays with it through a reorganisation, whoever finds it again', async () => {
    books = await someBooks({ finality: { resolve: [{ rule: { blocks: 2 } }], mature: { tag: 'finalized' } } });
    payment = await books.aPayment({ expiresIn: -7_200, graceSeconds: 3_600 });
    const other = await books.aPayment();
    await expireNow();
    await books.chain.mine();
    const transfer = books.chain.transfer(payment.address, books.assets.ETH, 50_000_000_000_000_000n);
    const txid = await mined([transfer], { seen: true });
    await books.chain.mine();
    await credit();
    books.prices.delete('ETH');
    const [deposit] = await books.db.sql`select id from deposits`;
    await allocateDeposit(books.deps, { params: { id: deposit?.id }, query: {}, body: { paymentId: other.id, reason: 'theirs' } });
    books.chain.forkAt(books.chain.height - 2);
    await books.chain.mine();
    expect(await deposits()).toMatchObject([{ state: 'dropped', claimedBy: 'operator' }]);
    await mined([{ ...transfer, txid }]);
    expect(await inquire(txid, 'ethereum')).toMatchObject({ resultCode: 'claimed_by_other_payment' });
    // The stream brings it after all.
    const facts = books.node.transactions.get(`ethereum ${txid}`);
    await books.chain.apply({ ...(books.chain.branch.at(-1) as BlockMessage), sightings: facts?.transfers ?? [] });
    expect(await books.db.sql`select payment_id, state, claimed_by from deposits`).toEqual([{ paymentId: other.id, state: 'seen', claimedBy: 'operator' }]);
    books.prices.set('ETH', parseTrusted('2000'));
    await books.chain.mine();
    await credit();
    expect([(await row())?.status, (await row(other))?.status]).toEqual(['EXPIRED', 'SUCCESS']);
  });
});

describe('verdicts that use an attempt (decisions 9)', () => {
  beforeEach(() => start());

  it.each(['tx_not_found', 'wrong_recipient', 'tx_failed', 'unsupported_asset', 'claimed_by_other_payment'])('%s uses one', async (code) => {
    const other = await books.aPayment();
    const unknownToken = { ...books.assets.USDT, contract: `0x${'9'.repeat(40)}` };
    const transactions: Record<string, () => Promise<string>> = {
      tx_not_found: async () => NOBODYS,
      wrong_recipient: () => mined([usdt(1_000_000n, {}, STRANGER)]),
      tx_failed: () => mined([], { succeeded: false }),
      unsupported_asset: () => mined([books.chain.transfer(payment.address, unknownToken, 5n)]),
      claimed_by_other_payment: () => mined([usdt(100_000_000n, {}, other.address)], { seen: true }),
    };
    const txid = (await transactions[code]?.()) ?? '';
    expect(await inquire(txid)).toMatchObject({ resultCode: code, attemptsUsed: 1, attemptsRemaining: 4, status: 'PENDING' });
    expect(await row()).toMatchObject({ inquiryAttempts: 1 });
  });

  it("does not tell one gateway of another one's payments: an address of theirs is just a wrong recipient", async () => {
    const stranger = randomUUID();
    await books.db.sql`insert into gateways (id, name, status, billing, settings) select ${stranger}, 'Other', status, billing, settings from gateways limit 1`;
    const other = await books.aPayment({ gatewayId: stranger });
    const txid = await mined([usdt(100_000_000n, {}, other.address)], { seen: true });
    expect(await inquire(txid)).toMatchObject({ resultCode: 'wrong_recipient', attemptsUsed: 1 });
  });

  it('what one of our own addresses sent is no deposit', async () => {
    const txid = await mined([usdt(100_000_000n, { sender: books.hotWallet })]);
    expect(await inquire(txid)).toMatchObject({ resultCode: 'wrong_recipient', attemptsUsed: 1 });
    expect(await deposits()).toEqual([]);
  });

  it('a zero amount is no deposit', async () => {
    const txid = await mined([usdt(0n)]);
    expect(await inquire(txid)).toMatchObject({ resultCode: 'wrong_recipient' });
  });

  it('then answers attempts_exhausted with 200, uses none, and asks no chain any more', async () => {
    const paid = await mined([usdt(100_000_000n)]);
    for (let attempt = 1; attempt <= 5; attempt += 1) expect(await inquire(NOBODYS)).toMatchObject({ resultCode: 'tx_not_found', attemptsUsed: attempt });
    books.node.down.add('ethereum').add('sidechain');
    for (const txid of [NOBODYS, paid]) expect(await inquire(txid)).toMatchObject({ resultCode: 'attempts_exhausted', attemptsUsed: 5, attemptsRemaining: 0 });
  });

  it("are limited by the gateway's setting", async () => {
    await books.drop();
    await start({}, { inquiryAttempts: 2 });
    expect(await inquire(NOBODYS)).toMatchObject({ attemptsUsed: 1, attemptsRemaining: 1 });
    expect(await inquire(NOBODYS)).toMatchObject({ attemptsUsed: 2, attemptsRemaining: 0 });
    expect(await inquire(NOBODYS)).toMatchObject({ resultCode: 'attempts_exhausted', attemptsUsed: 2 });
  });

  it('never exceed the limit however many ask at once, and each counted verdict is counted once', async () => {
    const answers = await Promise.all(Array.from({ length: 24 }, () => inquire(NOBODYS)));
    expect(answers.filter((answer) => answer.resultCode === 'tx_not_found')).toHaveLength(5);
    expect(answers.filter((answer) => answer.resultCode === 'attempts_exhausted')).toHaveLength(19);
    expect(await row()).toMatchObject({ inquiryAttempts: 5 });
  });
});

describe('what uses no attempt', () => {
  beforeEach(() => start());

  it.each(['', '0x', '0x1234', `0x${'g'.repeat(64)}`, `0x${'a'.repeat(65)}`, 'a'.repeat(64), ` ${NOBODYS}`])('a malformed hash %j is 422', async (txHash) => {
    await expect(inquire(txHash)).rejects.toMatchObject({ code: 'validation_error', field: 'txHash' });
    expect(await row()).toMatchObject({ inquiryAttempts: 0 });
  });

  it('an unknown network is 422', async () => {
    await expect(inquire(NOBODYS, 'dogechain')).rejects.toMatchObject({ code: 'validation_error', field: 'network' });
  });

  it('a chain that cannot be asked is 503', async () => {
    books.node.down.add('ethereum');
    await expect(inquire(NOBODYS)).rejects.toMatchObject({ code: 'service_unavailable', status: 503 });
    await expect(inquire(NOBODYS, 'ethereum')).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await inquire(NOBODYS, 'sidechain')).toMatchObject({ resultCode: 'tx_not_found', attemptsUsed: 1 });
    books.node.down.clear();
    expect(await row()).toMatchObject({ inquiryAttempts: 1 });
  });

  it('a hash that a node below our own tip does not know is 503: it has not read everything yet', async () => {
    await books.chain.mineEmpty(3);
    books.node.heads.set('ethereum', books.chain.height - 1);
    await expect(inquire(NOBODYS)).rejects.toMatchObject({ code: 'service_unavailable', status: 503 });
    expect(await row()).toMatchObject({ inquiryAttempts: 0 });
    books.node.heads.set('ethereum', books.chain.height);
    expect(await inquire(NOBODYS)).toMatchObject({ resultCode: 'tx_not_found', attemptsUsed: 1 });
  });

  it('a node that caught up while it was asked is asked once more', async () => {
    const txid = await mined([usdt(100_000_000n)]);
    await books.chain.mine();
    const known = [...books.node.transactions];
    books.node.transactions.clear();
    const reader = books.deps.chains.get('ethereum')?.reader;
    if (reader === undefined) throw new Error('no reader');
    const { head } = reader;
    reader.head = async () => {
      for (const [key, facts] of known) books.node.transactions.set(key, facts);
      return head();
    };
    expect(await inquire(txid, 'ethereum')).toMatchObject({ resultCode: 'matched', attemptsUsed: 0 });
  });

  it('a match on one network stands although another one cannot be asked', async () => {
    const txid = await mined([usdt(100_000_000n)]);
    await books.chain.mine();
    books.node.down.add('sidechain');
    expect(await inquire(txid)).toMatchObject({ resultCode: 'matched' });
  });

  it('a verdict about a transaction found on one network needs no other; only not found needs them all', async () => {
    const txid = await mined([usdt(100_000_000n, {}, STRANGER)]);
    books.node.down.add('sidechain');
    expect(await inquire(txid)).toMatchObject({ resultCode: 'wrong_recipient', attemptsUsed: 1 });
    await expect(inquire(NOBODYS)).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  it('a transaction that is in no block yet is pending_confirmation', async () => {
    books.node.transactions.set(`ethereum ${NOBODYS}`, { txid: NOBODYS, height: null, blockHash: null, succeeded: null, transfers: [] });
    expect(await inquire(NOBODYS)).toMatchObject({ resultCode: 'pending_confirmation', attemptsUsed: 0 });
  });

  it('a payment without an address is not eligible', async () => {
    const bare = await books.aPayment({ unselected: true });
    await books.db.sql`delete from deposit_addresses where payment_id = ${bare.id}`;
    expect(await inquire(NOBODYS, undefined, bare)).toMatchObject({ resultCode: 'payment_not_eligible', attemptsUsed: 0, attemptsRemaining: 5 });
    await expect(inquire('0x12', undefined, bare)).rejects.toMatchObject({ field: 'txHash' });
  });

  it('a sandbox payment is not eligible', async () => {
    await books.db.sql`update payments set sandbox = true where id = ${payment.id}`;
    expect(await inquire(NOBODYS)).toMatchObject({ resultCode: 'payment_not_eligible', attemptsUsed: 0 });
    // The day's figures counted it as what it was created as.
    await books.db.sql`update payments set sandbox = false where id = ${payment.id}`;
  });

  it("is told as not_found for another gateway's payment", async () => {
    const stranger = randomUUID();
    await books.db.sql`insert into gateways (id, name, status, billing, settings) select ${stranger}, 'Other', status, billing, settings from gateways limit 1`;
    const gateway = await findGateway(books.deps.db.sql, stranger);
    if (gateway === undefined) throw new Error('no gateway');
    await expect(inquirePayment(books.deps, { gateway, paymentId: payment.id, txHash: NOBODYS, network: undefined })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('a deposit that waits for a price', () => {
  it('counts as matched also where another transfer of its block comes first', async () => {
    await start();
    books.prices.delete('ETH');
    const eth = () => ({ ...books.chain.transfer(payment.address, books.assets.ETH, 25_000_000_000_000_000n), position: -1 });
    const message = books.chain.next([eth(), eth()]);
    await books.chain.play(message);
    await books.chain.mine();
    for (const { txid } of message.sightings) expect(await inquire(txid, 'ethereum')).toMatchObject({ resultCode: 'matched', status: 'PENDING' });
    books.prices.set('ETH', parseTrusted('2000'));
    expect(await credit()).toBe(1);
    expect(await row()).toMatchObject({ status: 'SUCCESS', receivedAmount: '0.05' });
    expect(await books.db.sql`select waits_since from deposits`).toEqual([{ waitsSince: null }, { waitsSince: null }]);
  });

  it('is credited although the dust floor was raised above it after an inquiry allocated it', async () => {
    await start({ expiresIn: -7_200, graceSeconds: 3_600 });
    await expireNow();
    books.prices.delete('ETH');
    const txid = await mined([books.chain.transfer(payment.address, books.assets.ETH, 50_000_000_000_000_000n)], { seen: true });
    await books.chain.mine();
    await credit();
    expect(await inquire(txid)).toMatchObject({ resultCode: 'matched', status: 'EXPIRED' });
    await books.db.sql`update assets set dust_floor = 1 where symbol = 'ETH'`;
    books.prices.set('ETH', parseTrusted('2000'));
    expect(await credit()).toBe(1);
    expect(await deposits()).toMatchObject([{ state: 'credited', claimedBy: 'inquiry' }]);
    expect(await row()).toMatchObject({ status: 'EXPIRED' });
    expect(await balances('unallocated', 'chain')).toEqual(['0', '-0.05']);
  });
});

describe('an expired payment', () => {
  it('is credited with a deposit that is allocated while a worker, which would set it aside, fetches prices', async () => {
    await start({ expiresIn: -7_200, graceSeconds: 3_600 });
    await expireNow();
    await books.chain.mine([usdt(100_000_000n)]);
    await books.chain.mine();
    const ids = (await books.db.sql<{ id: string }[]>`select id from deposits`).map((one) => one.id);
    const { fresh } = books.deps.prices;
    books.deps.prices.fresh = async (symbol) => {
      await books.deps.db.transaction((tx) => markAllocated(tx, ids, { by: 'inquiry', paymentId: payment.id }));
      return fresh(symbol);
    };
    await credit();
    expect(await deposits()).toMatchObject([{ state: 'credited', path: 'manual_inquiry' }]);
    expect(await row()).toMatchObject({ status: 'SUCCESS' });
  });

  it('that was paid in time by a transfer nobody saw resolves at its locked price', async () => {
    await start({ expiresIn: 60, priceUsd: '1' });
    const txid = await mined([usdt(100_000_000n)]);
    await pass(3_600);
    await expireNow();
    books.prices.set('USDT', parseTrusted('0.5'));
    await books.chain.mine();
    expect(await inquire(txid)).toMatchObject({ resultCode: 'matched', status: 'SUCCESS' });
    expect(await row()).toMatchObject({ depositPath: 'manual_inquiry', receivedAmountUsd: '50' });
    expect(await webhooks()).toEqual(['EXPIRED', 'SUCCESS']);
  });
});
