import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyMessage } from '#api/consumers/apply-message.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { acquireConsumerLeases, holdsConsumerLease } from '#api/store/leases.ts';
import { acquireConsumerLease } from '#test/fixtures/consumer-lease.ts';
import { connect } from '#shared/platform/postgres.ts';
import { type Books, anAddress, aSentTransaction, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';

let books: Books;
let payment: TestPayment;
beforeEach(async () => {
  books = await someBooks();
  payment = await books.aPayment();
});
afterEach(async () => {
  await assertCleanAudit(books.db);
  await books.drop();
});

const usdt = (units: bigint, over = {}) => books.chain.transfer(payment.address, books.assets.USDT, units, over);
const deposits = () => books.db.sql`select txid, state, height, block_hash, amount::text, position from deposits order by height, position`;
const tip = async () => (await books.db.sql`select * from chain_tips where network_id = ${books.network.id}`)[0];
const canonical = async () => (await books.db.sql`select txid, height from sightings where canonical order by height, position`).map((row) => row.txid);
const rewinds = () => books.db.sql`select epoch, reason from rewind_requests order by id`;

describe('applying a block', () => {
  it('stores the sighting, the deposit as seen, the block and the tip together', async () => {
    const sighting = usdt(100_000_000n);
    expect(await books.chain.mine([sighting])).toMatchObject({ outcome: 'applied', orphanedBlocks: 0 });
    expect(await deposits()).toMatchObject([{ txid: sighting.txid, state: 'seen', height: books.chain.height, blockHash: books.chain.hash, amount: '100' }]);
    expect(await tip()).toMatchObject({ height: books.chain.height, hash: books.chain.hash, epoch: 1, seq: 1 });
  });

  it('takes no deposit from an address of ours, of an unknown token, of zero, or to a stranger; all are kept as evidence', async () => {
    const other = await books.aPayment();
    const sightings = [
      usdt(1_000_000n, { sender: books.hotWallet }),
      usdt(1_000_000n, { sender: other.address }),
      usdt(1_000_000n, { contract: anAddress() }),
      usdt(0n),
      books.chain.transfer(books.hotWallet, books.assets.USDT, 5_000_000n),
    ];
    await books.chain.mine(sightings);
    expect(await deposits()).toEqual([]);
    expect(await canonical()).toHaveLength(5);
  });

  it('takes no deposit from a transaction we signed', async () => {
    const sighting = usdt(1_000_000n);
    await books.db.sql`insert into payouts (id, network_id, wallet_id, purpose, status, asset_id, recipient, raw_amount, nonce, plan, created_at)
      select gen_random_uuid(), network_id, id, 'top_up', 'BROADCAST', ${books.assets.USDT.id}, ${payment.address}, 1000000, 0, '{}', sluice_now() from wallets where address = ${books.hotWallet} and network_id = ${books.network.id}`;
    await books.db
      .sql`insert into payout_attempts (id, payout_id, number, txid, signed_bytes, fee_limit) select gen_random_uuid(), id, 1, ${sighting.txid}, '\\x00', 0 from payouts`;
    await books.db.sql`update wallets set next_nonce = 1`;
    await books.chain.mine([sighting]);
    expect(await deposits()).toEqual([]);
  });

  it('keeps two transfers of one transaction apart by their place in it', async () => {
    const first = usdt(1_000_000n, { ordinal: 0, position: 0 });
    await books.chain.mine([first, { ...usdt(2_000_000n), txid: first.txid, ordinal: 1, position: 0 }]);
    expect(await deposits()).toHaveLength(2);
  });

  it('takes the internal transfers of a block once, though another reading counts their places otherwise, and new ones of it', async () => {
    const [other, third] = [await books.aPayment(), await books.aPayment()];
    const coins = (to: string, ordinal: number, over = {}) => ({
      ...books.chain.transfer(to, books.assets.ETH, 10n ** 18n, over),
      kind: 'internal' as const,
      ordinal,
      position: 0,
    });
    const first = coins(payment.address, 1);
    const message = books.chain.next([first, { ...coins(payment.address, 2), txid: first.txid }]);
    await books.chain.apply(message);
    expect(await deposits()).toHaveLength(2);
    const again = (shift: number) => [
      ...message.sightings.map((one) => (one.kind === 'sent' ? one : { ...one, ordinal: one.ordinal + shift })),
      { ...(message.sightings[0] as typeof first), recipient: third.address, ordinal: 9 },
    ];
    expect(await books.chain.apply({ ...message, seq: message.seq + 1, sightings: again(1) })).toEqual({ outcome: 'duplicate' });
    expect(await deposits()).toHaveLength(2);
    // Another address of ours in the same transaction was not watched the first time: that is no contradiction.
    await books.chain.apply({
      ...message,
      seq: message.seq + 2,
      sightings: [...again(0), { ...(message.sightings[0] as typeof first), recipient: other.address, ordinal: 3 }],
    });
    expect(await deposits()).toHaveLength(4);
  });

  it('survives a token that claims to move more than exists, and goes on', async () => {
    await books.chain.mine([usdt(2n ** 256n - 1n, { contract: anAddress() }), usdt(3_000_000n)]);
    await books.chain.mine([usdt(2n ** 256n - 1n)]);
    expect(await deposits()).toMatchObject([{ amount: '3' }]);
    expect(await canonical()).toHaveLength(3);
  });

  it('goes on when a configured token says that more than exists came to a wallet, or a node that a transaction of ours cost as much', async () => {
    const most = 2n ** 256n - 1n;
    await books.db.sql`update wallets set halted_reason = 'test' where address = ${books.hotWallet}`;
    await books.chain.mine([
      books.chain.transfer(books.hotWallet, books.assets.USDT, most),
      books.chain.transfer(books.hotWallet, books.assets.USDC, 3_000_000n),
      aSentTransaction(books.hotWallet, { nonce: 3, rawFee: String(10n ** 76n) }),
    ]);
    await books.chain.mineEmpty(3);
    const booked = await books.db
      .sql`select l.kind, e.amount::text from ledger_transactions l join ledger_entries e on e.transaction_id = l.id where e.amount > 0`;
    expect(booked).toEqual([{ kind: 'fund', amount: '3' }]);
  });

  it('writes acknowledgements, with the block and on their own', async () => {
    const acks = [{ address: payment.address, watchedFrom: 100 }];
    await books.chain.mine([], { acks });
    expect(await books.db.sql`select acked_epoch, watched_from from watches where address = ${payment.address}`).toEqual([{ ackedEpoch: 1, watchedFrom: 100 }]);
    const later = await books.aPayment();
    const message = books.chain.next([], { acks: [{ address: later.address, watchedFrom: books.chain.height + 1 }] });
    expect(await books.chain.apply({ ...message, to: message.from - 1, hash: message.parentHash })).toEqual({ outcome: 'acknowledged' });
    expect(await books.db.sql`select acked_epoch from watches where address = ${later.address}`).toEqual([{ ackedEpoch: 1 }]);
    expect(await tip()).toMatchObject({ height: books.chain.height, seq: 2 });
  });

  it('lists the payments to be credited with the rest where it is asked to, and only there', async () => {
    await books.chain.mine([usdt(100_000_000n)]);
    expect(await books.chain.mine(), 'not asked to').toMatchObject({ toCredit: { open: undefined } });
    await books.chain.mineEmpty(20);
    const fence = await acquireConsumerLease(books.db.sql, { networkId: books.network.id, holder: 'test', seconds: 3_600 });
    const message = books.chain.next([]);
    const applied = await applyMessage(books.deps, books.network, fence as number, message, { listsOpen: true });
    const open = [{ paymentId: payment.id, gatewayId: books.gatewayId, symbols: ['USDT'], doubted: false, waitsFor: [] }];
    expect(applied).toMatchObject({ outcome: 'applied', toCredit: { tip: { height: message.to, finalHeight: message.finalNumber }, open } });
    const { toCredit } = applied as Extract<typeof applied, { outcome: 'applied' }>;
    expect(await creditFinalDeposits(books.deps, books.network.id, toCredit)).toBe(1);
    expect(await deposits()).toMatchObject([{ state: 'credited' }]);
  });

  it('looks for freezes to lift only while there are any for deposits that were lost', async () => {
    await books.chain.mineEmpty(1);
    const fence = await acquireConsumerLease(books.db.sql, { networkId: books.network.id, holder: 'test', seconds: 3_600 });
    const asked: string[] = [];
    const db = connect(books.db.url, { name: 'sluice-test', observe: (work) => asked.push(work) });
    const applied = await applyMessage({ ...books.deps, db }, books.network, fence as number, books.chain.next([])).finally(() => db.end());
    expect(applied).toMatchObject({ outcome: 'applied' });
    // Of old blocks.
    expect(asked.filter((work) => work === 'delete')).toHaveLength(1);
  });

  it('forgets blocks twice as deep as finality, and no nearer ones', async () => {
    await books.chain.mineEmpty(80);
    const [row] = await books.db.sql`select min(height) as lowest, max(height) as highest from chain_blocks`;
    expect(row?.highest - row?.lowest).toBe(64);
  });
});

describe('messages that do not simply follow', () => {
  it('applies a message once, whenever it is delivered again', async () => {
    await books.chain.mine([usdt(100_000_000n)]);
    const [message] = books.chain.branch;
    await books.chain.mineEmpty(2);
    expect(await books.chain.apply(message!)).toEqual({ outcome: 'duplicate' });
    expect(await deposits()).toHaveLength(1);
    expect(await tip()).toMatchObject({ height: books.chain.height });
  });

  it('asks for a rewind, once per epoch, when a message is missing', async () => {
    await books.chain.mine();
    const missed = books.chain.next();
    for (const ahead of [2, 3]) {
      const message = {
        ...missed,
        from: missed.from + ahead,
        to: missed.to + ahead,
        seq: missed.seq + ahead,
        parentHash: anAddress(),
        hash: anAddress(),
        headNumber: missed.to + ahead,
      };
      expect(await books.chain.apply(message)).toMatchObject({ outcome: 'rewind', requested: ahead === 2 });
    }
    expect(await rewinds()).toMatchObject([{ epoch: 1 }]);
    expect(await books.chain.apply(missed)).toMatchObject({ outcome: 'applied' });
  });

  it('takes messages delivered in the wrong order for a gap, and goes on from the tip under a new epoch', async () => {
    await books.chain.mine();
    const [second, third] = [books.chain.next(), books.chain.next()];
    expect(await books.chain.apply({ ...third, from: second.to + 1, to: second.to + 1, headNumber: second.to + 1, parentHash: second.hash })).toMatchObject({
      outcome: 'rewind',
    });
    expect(await books.chain.apply(second)).toMatchObject({ outcome: 'applied' });
    books.chain.forkAt(books.chain.height);
    expect(await tip()).toMatchObject({ hash: second.hash });
  });

  it('drops what an earlier epoch still says', async () => {
    await books.chain.mine();
    const stale = books.chain.next();
    books.chain.forkAt(books.chain.height);
    await books.chain.mineEmpty(1);
    expect(
      await books.chain.apply({
        ...stale,
        parentHash: books.chain.hash,
        from: books.chain.height + 1,
        to: books.chain.height + 1,
        headNumber: books.chain.height + 1,
      }),
    ).toEqual({
      outcome: 'dropped',
      reason: 'older_epoch',
    });
    expect(await tip()).toMatchObject({ hash: books.chain.hash, epoch: 2 });
  });

  it('does nothing for a worker whose lease was taken over', async () => {
    await books.chain.mine();
    const message = books.chain.next([usdt(1_000_000n)]);
    await books.db.sql`update consumer_leases set expires_at = now() - interval '1 second'`;
    const fence = await acquireConsumerLease(books.deps.db.sql, { networkId: books.network.id, holder: 'another', seconds: 60 });
    expect(fence).toBe(books.chain.fence + 1);
    expect(await books.chain.apply(message)).toEqual({ outcome: 'fenced' });
    expect(await deposits()).toEqual([]);
    expect(await applyMessage(books.deps, books.network, fence as number, message)).toMatchObject({ outcome: 'applied' });
  });

  it('gives a lease to one holder at a time and keeps its number while it renews', async () => {
    const lease = { networkId: books.otherNetwork.id, seconds: 60 };
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((holder) => acquireConsumerLease(books.deps.db.sql, { ...lease, holder })));
    expect(answers.filter((answer) => answer !== undefined)).toEqual([1]);
    const holder = ['a', 'b', 'c', 'd'][answers.indexOf(1)] as string;
    expect(await acquireConsumerLease(books.deps.db.sql, { ...lease, holder })).toBe(1);
  });

  it('leaves a lease that a transaction leans on as it is, waits for none, and renews the others', async () => {
    const { db } = books.deps;
    const ours = { holder: 'test', seconds: 60 };
    const other = await acquireConsumerLease(db.sql, { networkId: books.otherNetwork.id, ...ours });
    await db.transaction(async (tx) => {
      expect(await holdsConsumerLease(tx, books.network.id, books.chain.fence)).toBe(true);
      const { held } = await acquireConsumerLeases(db.sql, { networkIds: [books.network.id, books.otherNetwork.id], ...ours });
      expect(held).toEqual([{ networkId: books.otherNetwork.id, fence: other }]);
    });
  });

  it('renews a lease by the transaction that leans on it, once that commits, and none that somebody else took', async () => {
    const { db } = books.deps;
    const lasts = async () =>
      (
        await db.sql<
          { longer: boolean }[]
        >`select expires_at > clock_timestamp() + interval '30 seconds' as longer from consumer_leases where network_id = ${books.network.id}`
      )[0]?.longer;
    await books.db.sql`update consumer_leases set expires_at = clock_timestamp() + interval '5 seconds' where network_id = ${books.network.id}`;
    const { fence } = books.chain;
    expect(await db.transaction((tx) => holdsConsumerLease(tx, books.network.id, fence - 1, 60))).toBe(false);
    const undone = db.transaction(async (tx) => {
      expect(await holdsConsumerLease(tx, books.network.id, fence, 60)).toBe(true);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await lasts()).toBe(false);
    await db.transaction(async (tx) => {
      expect(await holdsConsumerLease(tx, books.network.id, fence, 60)).toBe(true);
      const { held } = await acquireConsumerLeases(db.sql, { networkIds: [books.network.id], holder: 'another', seconds: 60 });
      expect(held).toEqual([]);
    });
    expect(await lasts()).toBe(true);
  });

  it('gives the lease of a process that ended to whoever finds it missing twice, and none of one that has a session', async () => {
    const { db } = books.deps;
    const [alive, dead] = ['api:0a1b2c3d-0000-4000-8000-000000000000', 'api:9f8e7d6c-0000-4000-8000-000000000000'];
    const session = db.apart({ name: 'sluice-api worker 0a1b2c3d 2026-01-01T00:00:00Z', max: 1 });
    try {
      await session.sql`select 1`;
      await acquireConsumerLease(db.sql, { networkId: books.otherNetwork.id, holder: dead, seconds: 3_600 });
      await db.sql`update consumer_leases set holder = ${alive}, expires_at = clock_timestamp() + interval '1 hour' where network_id = ${books.network.id}`;
      const asked = { networkIds: [books.network.id, books.otherNetwork.id], holder: 'api:11111111-0000-4000-8000-000000000000', seconds: 60 };
      const first = await acquireConsumerLeases(db.sql, asked);
      expect(first).toEqual({ held: [], absent: [dead] });
      const second = await acquireConsumerLeases(db.sql, { ...asked, gone: [...first.absent, alive] });
      expect(second.held).toEqual([{ networkId: books.otherNetwork.id, fence: 2 }]);
    } finally {
      await session.end();
    }
  });
});

describe('reorganisations', () => {
  const reorganise = async (depth: number) => {
    await books.chain.mineEmpty(2);
    const ancestor = books.chain.height;
    const paid = usdt(100_000_000n);
    await books.chain.mine([paid]);
    await books.chain.mineEmpty(depth - 1);
    books.chain.forkAt(ancestor);
    return { paid, ancestor };
  };
  /** Deep enough that nothing is final yet. */
  const slow = () => someBooks({ finality: { resolve: [{ rule: { blocks: 6 } }], mature: { blocks: 6 } } });

  describe.each([1, 3])('of depth %i', (depth) => {
    beforeEach(async () => {
      await books.drop();
      books = await slow();
      payment = await books.aPayment();
    });

    it('follows a deposit that is mined again in another block and place', async () => {
      const { paid, ancestor } = await reorganise(depth);
      await books.chain.mine();
      expect(await deposits()).toMatchObject([{ state: 'dropped' }]);
      await books.chain.mine([{ ...paid, position: 7 }]);
      expect(await deposits()).toMatchObject([{ txid: paid.txid, state: 'seen', height: ancestor + 2, blockHash: books.chain.hash, position: 7 }]);
      expect(await canonical()).toEqual([paid.txid]);
    });

    it('follows a deposit that is mined again in the very block that replaces its own', async () => {
      const { paid, ancestor } = await reorganise(depth);
      expect(await books.chain.mine([paid])).toMatchObject({ outcome: 'applied', orphanedBlocks: depth, droppedDeposits: 1 });
      expect(await deposits()).toMatchObject([{ state: 'seen', height: ancestor + 1, blockHash: books.chain.hash }]);
    });

    it('drops a deposit that is not mined again', async () => {
      const { paid } = await reorganise(depth);
      await books.chain.mineEmpty(depth + 6);
      expect(await deposits()).toMatchObject([{ txid: paid.txid, state: 'dropped' }]);
      expect(await canonical()).toEqual([]);
    });

    it('takes a replacement for a deposit of its own', async () => {
      const { paid } = await reorganise(depth);
      const replacement = usdt(90_000_000n);
      await books.chain.mine([replacement]);
      expect(await books.db.sql`select txid, state from deposits order by state`).toEqual([
        { txid: paid.txid, state: 'dropped' },
        { txid: replacement.txid, state: 'seen' },
      ]);
    });

    it('takes the same transaction with another effect for what it is now', async () => {
      const { paid } = await reorganise(depth);
      await books.chain.mine([{ ...paid, rawAmount: '55000000' }]);
      expect(await deposits()).toMatchObject([{ txid: paid.txid, state: 'seen', amount: '55' }]);
    });

    it('comes back to a branch it had left', async () => {
      const { paid, ancestor } = await reorganise(depth);
      await books.chain.mine();
      const [first] = (await books.db.sql`select block_hash from sightings where txid = ${paid.txid}`).map((row) => row.blockHash);
      books.chain.forkAt(ancestor);
      const message = books.chain.next([paid]);
      await books.chain.apply({ ...message, hash: first, sightings: message.sightings.map((sighting) => ({ ...sighting, blockHash: first })) });
      expect(await deposits()).toMatchObject([{ state: 'seen', blockHash: first }]);
      expect(await canonical()).toEqual([paid.txid]);
    });
  });

  it('freezes the network when a branch leaves the chain below a final block, and applies nothing of it', async () => {
    await books.chain.mineEmpty(6);
    const before = await tip();
    books.chain.forkAt(books.chain.height - 4);
    expect(await books.chain.mine([usdt(1_000_000n)])).toMatchObject({ outcome: 'frozen' });
    expect(await books.db.sql`select scope from freezes`).toEqual([{ scope: `network:${books.network.name}` }]);
    expect(await tip()).toEqual(before);
    expect(await deposits()).toEqual([]);
  });

  it('freezes nothing when a block is replaced after a node told once of a final block that no chain has', async () => {
    await books.chain.mineEmpty(2);
    const far = 80_000_000;
    expect(await books.chain.play({ ...books.chain.next(), safeNumber: far, finalNumber: far, headNumber: far })).toMatchObject({ outcome: 'applied' });
    await books.chain.mineEmpty(3);
    expect(await tip()).toMatchObject({ finalHeight: books.chain.height - 1 });
    books.chain.forkAt(books.chain.height - 1);
    expect(await books.chain.mine()).toMatchObject({ outcome: 'applied', orphanedBlocks: 1 });
    expect(await books.db.sql`select scope from freezes`).toEqual([]);
  });

  it('goes back to blocks that were applied where a tip has a final block above them', async () => {
    await books.chain.mineEmpty(3);
    await books.db.sql`update chain_tips set final_height = 80000000 where network_id = ${books.network.id}`;
    await books.chain.mine();
    expect(await tip()).toMatchObject({ finalHeight: books.chain.height - 1 });
  });

  it('keeps what was sent by our own addresses with its outcome', async () => {
    const wallet = books.hotWallet;
    await books.db.sql`update wallets set halted_reason = 'test' where address = ${wallet}`;
    await books.chain.mine([aSentTransaction(wallet, { nonce: 3, succeeded: false, rawFee: '42' })]);
    expect(await books.db.sql`select kind, sender, nonce, succeeded, raw_fee::text from sightings`).toEqual([
      { kind: 'sent', sender: wallet, nonce: 3, succeeded: false, rawFee: '42' },
    ]);
  });
});
