import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyMempool } from '#api/consumers/apply-mempool.ts';
import { pendingDeposit } from '#api/payments/pending-deposit.ts';
import { readParts } from '#api/payments/view.ts';
import { findPayment } from '#api/store/payments.ts';
import type { IndexerDeps, Life } from '#indexer/life.ts';
import { createMempoolWatch } from '#indexer/mempool.ts';
import { createWatchlist } from '#indexer/watchlist.ts';
import { decodeMempoolMessage } from '#shared/core/mempool-message.ts';
import { createIndexerMetrics } from '#shared/platform/metrics.ts';
import type { BitcoinChain } from '#test/harness/bitcoin-chain.ts';
import { bitcoin } from './conformance/bitcoin.ts';
import { aRig, type Payee, type Rig } from './conformance/rig.ts';

const SATOSHIS = 1_000_000n;
const FORGET_SECONDS = 15 * 86_400;

let rig: Rig;
let chain: BitcoinChain;
let payees: Payee[];
let look: () => Promise<void>;

beforeAll(async () => {
  rig = await aRig(bitcoin, { notFinal: 1 });
  chain = rig.node.chain as BitcoinChain;
  payees = await rig.payees(6, 'BTC');
  look = mempoolOf(rig, payees);
}, 120_000);
afterAll(async () => {
  await rig.assertSound();
  await rig.stop();
});

/** The real reader and watch on one side and the real consumer on the other, a look at a time. */
function mempoolOf({ deps, networkId }: Rig, watched: readonly Payee[]): () => Promise<void> {
  const config = [...deps.chains.values()][0];
  if (config === undefined) throw new Error('no network');
  const watchlist = createWatchlist();
  for (const { address } of watched) watchlist.add(address);
  const network = { id: networkId, name: config.config.name };
  const append = async (_stream: string, payload: string) => {
    const decoded = decodeMempoolMessage(payload);
    if (!decoded.ok) throw new Error(decoded.problem);
    await applyMempool(deps, network, decoded.message);
    return '';
  };
  let nowMs = 0;
  const watch = createMempoolWatch(
    { sql: deps.db.sql, streams: { append } as unknown as IndexerDeps['streams'], monotonicMs: () => nowMs, metrics: createIndexerMetrics('test') },
    {
      network: config.config,
      epoch: 1_000_000,
      reader: config.reader,
      watchlist,
      serviceTime: undefined,
      leaseUntilMs: Number.POSITIVE_INFINITY,
      mempoolSeq: 0,
    } satisfies Partial<Life>,
  );
  return async () => {
    nowMs += 60_000;
    await watch();
  };
}

const payee = (at: number): Payee => payees[at] as Payee;
const paying = (at: number) => [{ to: payee(at).address, rawAmount: SATOSHIS }];
const waitingOf = (at: number) =>
  rig.deps.db.sql<{ txid: string; state: string; replacedBy: string | null; rawAmount: string }[]>`
    select t.txid, t.state, t.replaced_by, d.raw_amount::text from mempool_deposits d
    join mempool_transactions t on t.network_id = d.network_id and t.txid = d.txid where d.payment_id = ${payee(at).paymentId} order by t.first_seen_at, d.ordinal`;
const shown = async (at: number) => {
  const payment = await findPayment(rig.deps.db.sql, payee(at).paymentId);
  if (payment === undefined) throw new Error('no payment');
  return pendingDeposit(rig.deps.db.sql, rig.deps, await readParts(rig.deps, payment));
};

describe('a payment that waits in the mempool of a node', () => {
  it('is seen at once, with both of its outputs to one address, then in its block, then credited as two deposits', async () => {
    const { txid } = await chain.purse.pay([...paying(0), { to: chain.outsider, rawAmount: SATOSHIS }, ...paying(0)]);
    await look();
    expect(await waitingOf(0)).toEqual([
      { txid, state: 'waiting', replacedBy: null, rawAmount: '1000000' },
      { txid, state: 'waiting', replacedBy: null, rawAmount: '1000000' },
    ]);
    expect(await shown(0)).toMatchObject({ txHash: txid, confirmations: 0, required: 2, amount: 2n * 10n ** 16n });
    await rig.mine(1);
    await look();
    expect(await shown(0)).toMatchObject({ txHash: txid, confirmations: 1, amount: 2n * 10n ** 16n });
    expect((await waitingOf(0))[0]?.state).toBe('mined');
    await rig.bury();
    expect(await shown(0)).toBeNull();
    expect((await rig.depositsOf([payee(0)])).map(({ ordinal, state }) => [ordinal, state])).toEqual([
      [0, 'credited'],
      [2, 'credited'],
    ]);
  });

  it('is replaced by one that pays the same address with a higher fee, and keeps its time', async () => {
    const first = await chain.purse.pay(paying(1));
    await look();
    const second = await chain.purse.replace(first, paying(1));
    await look();
    expect(await waitingOf(1)).toMatchObject([
      { txid: first.txid, state: 'replaced', replacedBy: second.txid },
      { txid: second.txid, state: 'waiting' },
    ]);
    const seen = await rig.deps.db.sql<{ at: Date }[]>`select distinct first_seen_at as at from mempool_deposits where payment_id = ${payee(1).paymentId}`;
    expect(seen).toHaveLength(1);
    await rig.bury();
    expect((await rig.depositsOf([payee(1)])).map(({ txid, state }) => [txid, state])).toEqual([[second.txid, 'credited']]);
  });

  it('is gone when its coins go elsewhere, and when the node forgets it', async () => {
    const first = await chain.purse.pay(paying(2));
    await look();
    await chain.purse.replace(first);
    await look();
    expect(await waitingOf(2)).toMatchObject([{ txid: first.txid, state: 'gone' }]);
    await rig.mine(1);
    const forgotten = await chain.purse.pay(paying(3));
    await look();
    await chain.node.call('setmocktime', [Math.floor(Date.now() / 1_000) + FORGET_SECONDS]);
    // A node looks for what is too old when something new comes.
    await (await chain.aPayer(SATOSHIS)).look();
    await chain.node.call('setmocktime', [0]);
    await look();
    expect(await waitingOf(3)).toMatchObject([{ txid: forgotten.txid, state: 'gone' }]);
    expect([await shown(2), await shown(3)]).toEqual([null, null]);
  });

  it('waits again when the block that held it is taken back', async () => {
    const { txid } = await chain.purse.pay(paying(4));
    await look();
    await rig.mine(1);
    expect(await waitingOf(4)).toMatchObject([{ txid, state: 'mined' }]);
    const held = await chain.headHash();
    await chain.node.call('invalidateblock', [held]);
    await chain.mineOnly([]);
    await chain.mineOnly([]);
    await rig.follow();
    expect(await waitingOf(4)).toMatchObject([{ txid, state: 'gone' }]);
    await look();
    expect(await waitingOf(4)).toMatchObject([{ txid, state: 'waiting' }]);
    expect(await shown(4)).toMatchObject({ txHash: txid, confirmations: 0 });
    await rig.bury();
    expect(await rig.creditedOf([payee(4)])).toEqual({ BTC: SATOSHIS });
  });
});
