import { ChainUnavailable } from '#shared/chains/chain.ts';
import { bloomOf, joinBlooms } from '#shared/chains/evm/bloom.ts';
import { receiptsRoot } from '#shared/chains/evm/receipts-root.ts';
import { readReceipt } from '#shared/chains/evm/replies.ts';
import type { Meddling } from '../conformance/meddler.ts';
import { addressWord, type EvmBench, TRANSFER, word } from './evm-bench.ts';
import { coins, type Row, tokens } from './row.ts';

type Fields = Record<string, unknown>;
type Change = (told: Fields) => void;

/** What a node is to tell of one transaction instead of what happened. */
interface Edit {
  receipt?: Change;
  transaction?: Change;
  /** The block it is in. */
  block?: Change;
  /** Its callTracer entry and its trace_block entries. */
  trace?: (entries: Fields[]) => Fields[];
}

/** A bench whose chain may be told otherwise; the telling agrees with itself in every count, bloom and root. */
export interface ToldBench extends EvmBench {
  tell(txid: string, edit: Edit): void;
}

export function toldBench(bench: EvmBench): { told: ToldBench; meddling(): Promise<Meddling> } {
  const edits = new Map<string, Edit>();
  const { node } = bench.chain;
  const apply = (change: Change | undefined, answer: unknown): Fields => {
    const copy = structuredClone(answer) as Fields;
    change?.(copy);
    return copy;
  };
  return {
    told: { ...bench, tell: (txid, edit) => edits.set(txid, edit) },
    async meddling() {
      const blocks = new Map<string, { receipts: Fields[]; header: Fields }>();
      for (const [txid, edit] of edits) {
        const { blockHash } = await node.call<{ blockHash: string }>('eth_getTransactionReceipt', [txid]);
        const receipts = (await node.call<Fields[]>('eth_getBlockReceipts', [blockHash])).map((one) =>
          one.transactionHash === txid ? renumbered(apply(edit.receipt, one)) : one,
        );
        const header = apply(edit.block, await node.call('eth_getBlockByHash', [blockHash, false]));
        header.logsBloom = joinBlooms(receipts.map((one) => one.logsBloom as string));
        header.receiptsRoot = rootOf(receipts) ?? header.receiptsRoot;
        blocks.set(blockHash, { receipts, header }).set(String(header.number), { receipts, header });
      }
      return ({ call, params, answer }) => {
        const [which] = params as string[];
        if (call === 'eth_getBlockReceipts') return blocks.get(which as string)?.receipts ?? answer;
        if (call === 'eth_getBlockByHash' || call === 'eth_getBlockByNumber') return blocks.get(String((answer as Fields | null)?.hash))?.header ?? answer;
        if (call === 'eth_getTransactionByHash') return answer === null ? null : apply(edits.get(which as string)?.transaction, answer);
        if (call !== 'debug_traceBlockByHash' && call !== 'trace_block') return answer;
        const entries = answer as Fields[];
        const txid = String(entries[0]?.txHash ?? entries[0]?.transactionHash);
        return edits.get(txid)?.trace?.(structuredClone(entries)) ?? answer;
      };
    },
  };
}

/** What an honest header would name; null where a receipt cannot even be read. */
function rootOf(receipts: Fields[]): string | null {
  try {
    return receiptsRoot(receipts.map(readReceipt));
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}

function renumbered(receipt: Fields): Fields {
  const logs = (receipt.logs as Fields[]).map((log, i) => ({ ...log, logIndex: `0x${i.toString(16)}` }));
  const changed = { ...receipt, logs };
  return { ...changed, logsBloom: bloomOf(readReceipt(changed).logs) };
}

const V = 6_000_000_000_000_001n;
const pay = (bench: ToldBench, to: string): Promise<string> => bench.send({ to, value: V });
const paid = coins('ETH', V);
const hexOf = (value: bigint): string => `0x${value.toString(16)}`;

const transferLog = (receipt: Fields, contract: string, to: string, raw: bigint): Fields => ({
  address: contract,
  topics: [`0x${TRANSFER}`, `0x${addressWord(contract)}`, `0x${addressWord(to)}`],
  data: `0x${word(raw)}`,
  blockHash: receipt.blockHash,
  blockNumber: receipt.blockNumber,
  transactionHash: receipt.transactionHash,
  transactionIndex: receipt.transactionIndex,
  removed: false,
});

/** A payment of V that is told with something more, or otherwise, than anvil can be made to tell. */
const told = (name: string, reason: string, edit: (to: string, bench: ToldBench) => Edit, gets: Row<ToldBench>['gets'] = [paid]): Row<ToldBench> => ({
  name,
  reason,
  async make(bench, to) {
    const txid = await pay(bench, to);
    bench.tell(txid, edit(to, bench));
    return txid;
  },
  gets,
});

/** What other nodes and chains tell that anvil does not. */
export const TOLD: readonly Row<ToldBench>[] = [
  told('a block with withdrawals to the address', 'stakers are paid in the block’s body: no transaction, no deposit (chains 1.2)', (to) => ({
    block: (block) =>
      Object.assign(block, {
        withdrawals: [{ index: '0x1', validatorIndex: '0x1', address: to, amount: '0x3b9aca00' }],
        withdrawalsRoot: `0x${'11'.repeat(32)}`,
      }),
  })),
  told('a block that the address made, with uncles', 'rewards of old chains are in no transaction either', (to) => ({
    block: (block) => Object.assign(block, { miner: to, uncles: [`0x${'12'.repeat(32)}`] }),
  })),
  told('a reward for the block among its traces', 'trace_block lists rewards like calls, with an author and a value', (to) => ({
    trace: (entries) =>
      entries[0]?.traceAddress === undefined
        ? entries
        : [...entries, { ...entries[0], type: 'reward', action: { author: to, rewardType: 'block', value: hexOf(V) }, result: null, transactionHash: null }],
  })),
  told('a payment with blobs', 'type 3: what its blobs cost is no part of its value', () => ({
    transaction: (tx) => Object.assign(tx, { type: '0x3', maxFeePerBlobGas: '0x5', blobVersionedHashes: [`0x01${'13'.repeat(31)}`] }),
    receipt: (receipt) => Object.assign(receipt, { type: '0x3', blobGasUsed: '0x20000', blobGasPrice: '0x5' }),
  })),
  told('a deposit from another layer that mints more than it pays', 'OP-stack type 0x7e: `mint` goes to the sender, only `value` to the recipient', () => ({
    transaction: (tx) => Object.assign(tx, { type: '0x7e', mint: hexOf(1000n * V), sourceHash: `0x${'14'.repeat(32)}`, isSystemTx: false }),
    receipt: (receipt) => Object.assign(receipt, { type: '0x7e', depositNonce: '0x1' }),
  })),
  told('a transaction of a type nobody has heard of', 'new types come with every fork; value and status keep their meaning', () => ({
    transaction: (tx) => Object.assign(tx, { type: '0x69', amount: hexOf(1000n * V) }),
    receipt: (receipt) => Object.assign(receipt, { type: '0x69' }),
  })),
  told('everything in upper case', 'gateways differ in how they write hex; an address is the same in both', () => ({
    receipt: (receipt) => Object.assign(receipt, { to: upper(receipt.to), from: upper(receipt.from) }),
    transaction: (tx) => Object.assign(tx, { to: upper(tx.to), from: upper(tx.from) }),
  })),
  told('the same with EIP-55 checksums, and fields nobody asked for', 'some nodes print checksummed addresses', (to, bench) => ({
    receipt: (receipt) =>
      Object.assign(receipt, {
        root: null,
        value: hexOf(10n * V),
        internalTransactions: [{ to, value: hexOf(V) }],
        contractAddress: null,
        feePayer: bench.chain.faucet,
      }),
    transaction: (tx) => Object.assign(tx, { yParity: '0x0', amount: hexOf(10n * V) }),
  })),
  told('a contract created at the address, with coins', 'a creation has no recipient: the coins are where the contract is', (to) => ({
    receipt: (receipt) => Object.assign(receipt, { to: null, contractAddress: to }),
    transaction: (tx) => Object.assign(tx, { to: null }),
    trace: (entries) => entries.map((entry) => created(entry, to)),
  })),
  told(
    'a failed creation at the address, with coins',
    'the receipt names the contract that never was',
    (to) => ({
      receipt: (receipt) => Object.assign(receipt, { to: null, contractAddress: to, status: '0x0' }),
      transaction: (tx) => Object.assign(tx, { to: null }),
      trace: (entries) => entries.map((entry) => Object.assign(created(entry, to), entry.txHash === undefined ? { error: 'Reverted', result: null } : {})),
    }),
    [],
  ),
  told(
    'frames that move more coins, all of them below one that failed',
    'children of a failed frame carry no error: nodes list them as if they had happened',
    (to) => ({
      trace: (entries) => withFrames(entries, [{ to, value: hexOf(5n * V), calls: [{ to, value: hexOf(5n * V) }] }], true),
    }),
  ),
  told(
    'a transfer of the token in a log of the same transaction',
    'a contract at the address may call a token when it is paid',
    (to, { chain }) => ({
      receipt: (receipt) => Object.assign(receipt, { logs: [transferLog(receipt, chain.tokens.USDT, to, 8_000_001n)] }),
    }),
    [paid, tokens('USDT', 8_000_001n, 0)],
  ),
  told('a coin log of a chain that has them, where the switch is off', 'EIP-7708 tells the value a second time in a log', (to) => ({
    receipt: (receipt) => Object.assign(receipt, { logs: [transferLog(receipt, '0xfffffffffffffffffffffffffffffffffffffffe', to, V)] }),
  })),
  told('a log of the token’s address with one digit changed', 'only the whole address is the token', (to, { chain }) => ({
    receipt: (receipt) => Object.assign(receipt, { logs: [transferLog(receipt, `${chain.tokens.USDT.slice(0, -1)}6`, to, V)] }),
  })),
  told('a cost far above what was paid', 'rollups take a fee for publishing; it concerns the sender alone', () => ({
    receipt: (receipt) => Object.assign(receipt, { l1Fee: hexOf(10n ** 20n), l1GasUsed: '0x1', effectiveGasPrice: hexOf(10n ** 15n) }),
  })),
];

function upper(text: unknown): string {
  return `0x${String(text).slice(2).toUpperCase()}`;
}

function created(entry: Fields, to: string): Fields {
  if (entry.txHash !== undefined) return Object.assign(entry, { result: { ...(entry.result as Fields), type: 'CREATE', to } });
  return Object.assign(entry, { type: 'create', result: { address: to, code: '0x', gasUsed: '0x0' } });
}

/** Puts frames below the outermost one, as the dialect at hand writes them. */
function withFrames(entries: Fields[], frames: { to: string; value: string; calls?: { to: string; value: string }[] }[], failed: boolean): Fields[] {
  const [first] = entries as [Fields];
  const error = failed ? { error: 'execution reverted' } : {};
  if (first.txHash !== undefined) {
    const top = first.result as Fields;
    top.calls = frames.map((frame) => ({
      type: 'CALL',
      from: top.to,
      ...frame,
      ...error,
      calls: (frame.calls ?? []).map((call) => ({ type: 'CALL', from: frame.to, ...call })),
    }));
    // To itself would move nothing anyway: what is below has to come from somebody else.
    for (const frame of top.calls as Fields[]) for (const call of frame.calls as Fields[]) call.from = `0x${'15'.repeat(20)}`;
    return entries;
  }
  const flat = frames.flatMap((frame, i) => [
    { ...first, traceAddress: [i], subtraces: 1, action: { ...(first.action as Fields), to: frame.to, value: frame.value, callType: 'call' }, ...error },
    ...(frame.calls ?? []).map((call, j) => ({ ...first, traceAddress: [i, j], action: { ...(first.action as Fields), ...call, callType: 'call' } })),
  ]);
  return [...entries, ...flat];
}
