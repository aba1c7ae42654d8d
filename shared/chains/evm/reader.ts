import type { NetworkConfig } from '#shared/core/assets.ts';
import type { SentTransaction, Transfer } from '#shared/core/chain-events.ts';
import { type BlockContent, type BlockRef, ChainUnavailable, type Reader, type TransactionFacts, type WatchSet } from '../chain.ts';
import { bloomOf, joinBlooms } from './bloom.ts';
import {
  type Header,
  type Log,
  readHeader,
  readQuantity,
  readReceipt,
  readReceipts,
  readTransaction,
  type Receipt,
  type Transaction,
  unsure,
} from './replies.ts';
import { type Rpc, RpcRefused } from './rpc.ts';
import { encodeBalanceOf } from './token.ts';

/** keccak256('Transfer(address,address,uint256)') */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const ADDRESS_PADDING = `0x${'0'.repeat(24)}`;
/** Blocks whose headers and receipts share one HTTP request. */
const BLOCKS_PER_REQUEST = 20;

const EVERYTHING: WatchSet = { has: () => true };

/**
 * Reads an EVM network from receipts: they name sender, recipient, status and logs, so a transaction is fetched only when
 * one of its two ends is watched. Every reply is cross-checked (by hash, parent, counts, bloom) before a word of it is believed.
 */
export function evmReader(network: Pick<NetworkConfig, 'chainId' | 'name'>, rpc: Rpc): Reader {
  const call: Rpc = async (method, params) => {
    try {
      return await rpc(method, params);
    } catch (error) {
      if (error instanceof RpcRefused) throw new ChainUnavailable(error.message, { cause: error });
      throw error;
    }
  };

  const headerOf = async (method: string, id: string): Promise<Header> => {
    const answer = await call(method, [id, false]);
    return answer === null ? unsure(`it does not know block ${id}`) : readHeader(answer);
  };

  const headerAt = async (height: number): Promise<Header> => {
    const header = await headerOf('eth_getBlockByNumber', hex(height));
    return header.height === height ? header : unsure(`asked for block ${height}, got ${header.height}`);
  };

  const headerByHash = async (hash: string): Promise<Header> => {
    const header = await headerOf('eth_getBlockByHash', hash);
    return header.hash === hash ? header : unsure(`asked for block ${hash}, got ${header.hash}`);
  };

  /** Null when the node has no such tag, or nothing under it yet. */
  const taggedHeight = async (tag: 'safe' | 'finalized'): Promise<number | null> => {
    try {
      const answer = await rpc('eth_getBlockByNumber', [tag, false]);
      return answer === null ? null : readHeader(answer).height;
    } catch (error) {
      if (error instanceof RpcRefused) return null;
      throw error;
    }
  };

  const fetchTransaction = async (receipt: Receipt): Promise<Transaction> => {
    const answer = await call('eth_getTransactionByHash', [receipt.txid]);
    const tx = answer === null ? unsure(`it has the receipt of ${receipt.txid} but not the transaction`) : readTransaction(answer);
    if (tx.txid !== receipt.txid || tx.blockHash !== receipt.blockHash || tx.from !== receipt.from || tx.to !== receipt.to)
      unsure(`transaction ${receipt.txid} and its receipt differ`);
    return tx;
  };

  const contentOf = async (header: Header, receipts: Receipt[], watched: WatchSet): Promise<BlockContent> => {
    crossCheck(header, receipts);
    const transfers: Transfer[] = [];
    const sent: SentTransaction[] = [];
    const bodies = new Map<string, Promise<Transaction>>();
    for (const receipt of receipts) {
      const native = receipt.to ?? receipt.created;
      if (watched.has(receipt.from) || (receipt.succeeded && native !== null && watched.has(native))) {
        const body = fetchTransaction(receipt);
        body.catch(() => undefined);
        bodies.set(receipt.txid, body);
      }
    }
    for (const receipt of receipts) {
      const body = await bodies.get(receipt.txid);
      if (body !== undefined && watched.has(receipt.from)) sent.push(sentOf(header, receipt, body));
      transfers.push(...transfersOf(header, receipt, body, watched));
    }
    return { block: refOf(header), transfers, sent };
  };

  const readChunk = async (from: number, to: number, watched: WatchSet): Promise<{ headers: Header[]; contents: BlockContent[] }> => {
    const heights = Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const blocks = await Promise.all(heights.map((height) => Promise.all([headerAt(height), call('eth_getBlockReceipts', [hex(height)])])));
    const contents = await Promise.all(blocks.map(([header, receipts]) => contentOf(header, readReceipts(receipts), watched)));
    return { headers: blocks.map(([header]) => header), contents };
  };

  return {
    async genesisHash() {
      const [chainId, genesis] = await Promise.all([call('eth_chainId', []), headerAt(0)]);
      const answered = readQuantity(chainId, 'the chain id').toString();
      if (answered !== network.chainId)
        throw new ChainUnavailable(`the node serves chain ${answered}, but ${network.name} is configured as chain ${network.chainId}`);
      return genesis.hash;
    },

    async head() {
      const [latest, safeHeight, finalizedHeight] = await Promise.all([
        headerOf('eth_getBlockByNumber', 'latest'),
        taggedHeight('safe'),
        taggedHeight('finalized'),
      ]);
      return { latest: refOf(latest), safeHeight, finalizedHeight };
    },

    async blockAt(height) {
      return refOf(await headerAt(height));
    },

    async block(hash, watched) {
      const [header, receipts] = await Promise.all([headerByHash(hash), call('eth_getBlockReceipts', [hash])]);
      return contentOf(header, readReceipts(receipts), watched);
    },

    async range(from, to, watched) {
      const contents: BlockContent[] = [];
      let parentHash: string | undefined;
      let last: BlockRef | undefined;
      let next: ReturnType<typeof readChunk> | undefined = readChunk(from, Math.min(to, from + BLOCKS_PER_REQUEST - 1), watched);
      for (let start = from; next !== undefined; start += BLOCKS_PER_REQUEST) {
        const current: ReturnType<typeof readChunk> = next;
        const following = start + BLOCKS_PER_REQUEST;
        // The node reads the next blocks while these are checked.
        next = following > to ? undefined : readChunk(following, Math.min(to, following + BLOCKS_PER_REQUEST - 1), watched);
        next?.catch(() => undefined);
        const chunk = await current;
        for (const header of chunk.headers) {
          if (last !== undefined && header.parentHash !== last.hash) unsure(`block ${header.height} does not follow block ${last.height}`);
          parentHash ??= header.parentHash;
          last = refOf(header);
        }
        contents.push(...chunk.contents.filter((content) => content.transfers.length > 0 || content.sent.length > 0));
      }
      if (parentHash === undefined || last === undefined) throw new RangeError(`an empty range of blocks: ${from}..${to}`);
      return { parentHash, last, contents };
    },

    async transaction(txid) {
      const [body, answer] = await Promise.all([call('eth_getTransactionByHash', [txid]), call('eth_getTransactionReceipt', [txid])]);
      if (answer === null) return body === null ? null : pending(readTransaction(body), txid);
      // The receipt only says which block to read: the receipts of a whole block prove one another, and number every log.
      const { txid: answered, blockHash } = readReceipt(answer);
      if (answered !== txid) unsure(`asked for transaction ${txid}, got ${answered}`);
      const [header, answers] = await Promise.all([headerByHash(blockHash), call('eth_getBlockReceipts', [blockHash])]);
      const receipts = readReceipts(answers);
      crossCheck(header, receipts);
      const receipt = receipts.find((one) => one.txid === txid) ?? unsure(`block ${blockHash} does not hold ${txid}`);
      const tx = await fetchTransaction(receipt);
      return { txid, height: header.height, blockHash, succeeded: receipt.succeeded, transfers: transfersOf(header, receipt, tx, EVERYTHING) };
    },

    async balance(address, contract, height) {
      const at = height === undefined ? 'latest' : hex(height);
      if (contract === null) return readQuantity(await call('eth_getBalance', [address, at]), 'the balance');
      const answer = await call('eth_call', [{ to: contract, data: encodeBalanceOf(address) }, at]);
      return typeof answer === 'string' && /^0x[0-9a-fA-F]{64}$/.test(answer) ? BigInt(answer) : unsure(`${contract} answered balanceOf with no number`);
    },

    close: () => Promise.resolve(),
  };
}

function crossCheck(header: Header, receipts: Receipt[]): void {
  if (receipts.length !== header.transactions.length)
    unsure(`block ${header.height} has ${header.transactions.length} transactions but ${receipts.length} receipts`);
  let logs = 0;
  for (const [i, receipt] of receipts.entries()) {
    if (receipt.blockHash !== header.hash || receipt.height !== header.height) unsure(`receipt ${i} of block ${header.height} is from another block`);
    if (receipt.txid !== header.transactions[i] || receipt.position !== i) unsure(`receipt ${i} of block ${header.height} is out of place`);
    if (!receipt.succeeded && receipt.logs.length > 0) unsure(`the failed transaction ${receipt.txid} has logs`);
    for (const log of receipt.logs) if (log.index !== logs++) unsure(`block ${header.height} has a gap in its log indexes`);
  }
  for (const { logs: own, logsBloom, txid } of receipts) if (bloomOf(own) !== logsBloom) unsure(`the logs of ${txid} are not those its bloom was made of`);
  if (joinBlooms(receipts.map((receipt) => receipt.logsBloom)) !== header.logsBloom)
    unsure(`the logs of block ${header.height} are not those its bloom was made of`);
}

function sentOf(header: Header, receipt: Receipt, tx: Transaction): SentTransaction {
  return {
    kind: 'sent',
    txid: receipt.txid,
    ...placeOf(header, receipt),
    sender: receipt.from,
    nonce: tx.nonce,
    succeeded: receipt.succeeded,
    rawFee: (receipt.gasUsed * receipt.gasPrice).toString(),
  };
}

/** The coin and token movements of one transaction that touch a watched address at either end. */
function transfersOf(header: Header, receipt: Receipt, tx: Transaction | undefined, watched: WatchSet): Transfer[] {
  if (!receipt.succeeded) return [];
  const transfers: Transfer[] = [];
  const place = { txid: receipt.txid, ...placeOf(header, receipt) };
  const recipient = receipt.to ?? receipt.created;
  if (tx !== undefined && recipient !== null && tx.value > 0n)
    transfers.push({ kind: 'native', ...place, ordinal: 0, sender: receipt.from, recipient, contract: null, rawAmount: tx.value.toString() });
  for (const [ordinal, log] of receipt.logs.entries()) {
    const token = tokenTransferOf(log);
    if (token !== undefined && (watched.has(token.recipient) || watched.has(token.sender))) transfers.push({ kind: 'token', ...place, ordinal, ...token });
  }
  return transfers;
}

/**
 * An ERC-20 Transfer: exactly three topics (four is ERC-721), both ends plain addresses, one word of data, more than zero.
 * The contract that emitted it is reported, whatever it is; only the configured ones are ever credited.
 */
function tokenTransferOf(log: Log): { sender: string; recipient: string; contract: string; rawAmount: string } | undefined {
  const [signature, from, to] = log.topics;
  if (log.topics.length !== 3 || signature !== TRANSFER || from === undefined || to === undefined || log.data.length !== 66) return undefined;
  if (!from.startsWith(ADDRESS_PADDING) || !to.startsWith(ADDRESS_PADDING)) return undefined;
  const amount = BigInt(log.data);
  if (amount === 0n) return undefined;
  return { sender: `0x${from.slice(26)}`, recipient: `0x${to.slice(26)}`, contract: log.emitter, rawAmount: amount.toString() };
}

function placeOf(header: Header, receipt: Receipt): { height: number; blockHash: string; position: number; time: number } {
  return { height: header.height, blockHash: header.hash, position: receipt.position, time: header.time };
}

function refOf(header: Header): BlockRef {
  return { height: header.height, hash: header.hash, parentHash: header.parentHash, time: header.time };
}

function pending(tx: Transaction, txid: string): TransactionFacts {
  if (tx.txid !== txid) unsure(`asked for transaction ${txid}, got ${tx.txid}`);
  return { txid, height: null, blockHash: null, succeeded: null, transfers: [] };
}

function hex(height: number): string {
  return `0x${height.toString(16)}`;
}
