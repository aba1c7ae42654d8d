import { describe, expect, it } from 'vitest';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { evmReader } from '#shared/chains/evm/reader.ts';
import { readReceipts } from '#shared/chains/evm/replies.ts';
import { RpcRefused } from '#shared/chains/rpc.ts';
import { movesByTransaction, readCallTraces, readParityTraces } from '#shared/chains/evm/traces.ts';
import callTraces from '#test/fixtures/chain/anvil-1.7.1/debug_traceBlockByNumber_callTracer.json' with { type: 'json' };
import block from '#test/fixtures/chain/anvil-1.7.1/eth_getBlockByNumber_full.json' with { type: 'json' };
import receipts from '#test/fixtures/chain/anvil-1.7.1/eth_getBlockReceipts.json' with { type: 'json' };
import pending from '#test/fixtures/chain/anvil-1.7.1/eth_getTransactionByHash_pending.json' with { type: 'json' };
import parityTraces from '#test/fixtures/chain/anvil-1.7.1/trace_block.json' with { type: 'json' };

/**
 * A block recorded from anvil 1.7.1: a payment, a token transfer, a batch of three, a contract that pays two, one whose inner
 * frame reverts after paying, one that reverts altogether, and one that destroys itself in somebody's favour.
 */
const PAYEE = `0x${'aa'.repeat(20)}`;
const OTHER = `0x${'bb'.repeat(20)}`;
const WATCHED = { has: (address: string) => address === PAYEE || address === OTHER };
const [plain, token, batch, split, tried, failed, gone] = block.transactions.map((transaction) => transaction.hash) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];

type Recorded = Record<string, (params: readonly unknown[]) => unknown>;

const REPLIES: Recorded = {
  eth_getBlockByHash: ([, full]) => (full === true ? block : { ...block, transactions: block.transactions.map(({ hash }) => hash) }),
  eth_getBlockReceipts: () => receipts,
  eth_getTransactionByHash: ([txid]) => block.transactions.find(({ hash }) => hash === txid) ?? null,
};

function recordedReader(tracing: Recorded) {
  const replies = { ...REPLIES, ...tracing };
  return evmReader({ name: 'local', chainId: '31337' }, async (method, params) => {
    const reply = replies[method];
    if (reply === undefined) throw new RpcRefused(method, -32_601, 'method not found', undefined);
    return structuredClone(reply(params));
  });
}

const LOGGED = [
  { kind: 'native', txid: plain, ordinal: 0, recipient: PAYEE, contract: null, rawAmount: '1000000000000000000' },
  { kind: 'token', txid: token, ordinal: 0, recipient: PAYEE, rawAmount: '1500000' },
  { kind: 'token', txid: batch, ordinal: 0, recipient: PAYEE, rawAmount: '5' },
  { kind: 'token', txid: batch, ordinal: 1, recipient: OTHER, rawAmount: '5' },
  { kind: 'token', txid: batch, ordinal: 2, recipient: PAYEE, rawAmount: '5' },
];
const PASSED_ON = [
  { kind: 'internal', txid: split, recipient: PAYEE, contract: null, rawAmount: '50' },
  { kind: 'internal', txid: split, recipient: OTHER, contract: null, rawAmount: '50' },
  { kind: 'internal', txid: gone, recipient: OTHER, contract: null, rawAmount: '107' },
];

describe('a recorded block', () => {
  it('is read with every movement that took effect and none that was undone', async () => {
    const { transfers, block: ref } = await recordedReader({ debug_traceBlockByHash: () => callTraces }).block(block.hash, WATCHED);
    expect(transfers).toMatchObject([...LOGGED, ...PASSED_ON]);
    expect(transfers.filter(({ txid }) => txid === tried || txid === failed)).toEqual([]);
    expect(ref).toEqual({ height: 3, hash: block.hash, parentHash: block.parentHash, time: 1_760_000_001 });
  });

  it('without a node that traces is read without what contracts passed on, and nothing is made up', async () => {
    const { transfers } = await recordedReader({}).block(block.hash, WATCHED);
    expect(transfers).toMatchObject(LOGGED);
  });

  it('is refused whole when its receipts are another block’s', async () => {
    const reader = recordedReader({ eth_getBlockReceipts: () => receipts.map((receipt) => ({ ...receipt, blockHash: `0x${'11'.repeat(32)}` })) });
    await expect(reader.block(block.hash, WATCHED)).rejects.toThrow(ChainUnavailable);
  });

  it('tells what a contract passed on alike in both dialects, down to the place in the transaction', () => {
    const read = readReceipts(receipts);
    const [calls, flat] = [readCallTraces(callTraces), readParityTraces(parityTraces, block.hash)].map((traced) => movesByTransaction(read, traced).traced);
    for (const txid of [plain, token, batch, split, tried, failed]) expect(flat?.get(txid)).toEqual(calls?.get(txid));
    expect(calls?.get(split)?.moves.map(({ ordinal, value }) => [ordinal, value])).toEqual([
      [1, 50n],
      [2, 50n],
    ]);
    expect(calls?.get(tried)?.moves).toEqual([]);
    expect(calls?.get(failed)).toMatchObject({ failed: true, moves: [] });
  });
});

describe('a recorded transaction that waits', () => {
  it('has no block, no outcome and no transfers', async () => {
    const reader = recordedReader({ eth_getTransactionByHash: () => pending, eth_getTransactionReceipt: () => null });
    expect(await reader.transaction(pending.hash)).toEqual({ txid: pending.hash, height: null, blockHash: null, succeeded: null, transfers: [] });
  });
});
