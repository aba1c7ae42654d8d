import type { NetworkConfig } from '#shared/core/assets.ts';
import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '../breathe.ts';
import { type BlockContent, type BlockRef, ChainUnavailable, type Reader, type TransactionFacts, type WatchSet } from '../chain.ts';
import { toHex21 } from './transaction.ts';
import { pastBalances, presentBalance } from './balance.ts';
import { type TronApi, TronRefused } from './http.ts';
import { readOutcomes } from './infos.ts';
import { contentOf, type ProvenBlock, provenOf, refOf } from './movements.ts';
import { heightOf } from './proofs.ts';
import { type Header, isNothing, readBlock, readHash, readHeader, readInteger, readList, readObject, unsure } from './replies.ts';
import { readReply, UnreadReply } from './unread-reply.ts';
import { isList, walkBlocks } from './walk-block.ts';

/** Ids of block 0 of the public networks; the last eight digits are their chain ids. */
const GENESIS: Record<string, string> = {
  mainnet: '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc',
  nile: '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc',
};
/** Blocks that share one request; with their outcomes they fit the largest reply. */
const BLOCKS_PER_REQUEST = 10;
/** Recent blocks looked at to find out whether a node records internal transactions. */
const PROBED_BLOCKS = 10;
/** Successful contract calls without one internal transaction after which a node counts as one that records none. */
const TELLING_CALLS = 500;

const EVERYTHING: WatchSet = { has: () => true };
const NOTHING: WatchSet = { has: () => false };

/** What was answered about consecutive blocks, all of them and the outcomes of each. */
interface ToldChunk {
  heights: readonly number[];
  answer: unknown;
  infos: readonly unknown[];
}

/** How replies are asked for: where everything concerns somebody there is nothing to walk over. */
function waysOf(watched: WatchSet): 'unread' | undefined {
  return watched === EVERYTHING ? undefined : 'unread';
}

function known(answer: unknown, height: number): unknown {
  return isNothing(answer) ? unsure(`it does not know block ${height}`) : answer;
}

/**
 * Reads a TRON network over the HTTP API of a full node. Header ids, transaction ids and merkle roots are recomputed from
 * bytes, amounts are read from bytes, and the outcomes of a block must match its transactions one to one, before a word of
 * it is believed. Outcomes themselves are proven by nothing on this chain: large credits ask a second endpoint.
 */
export function tronReader(network: Pick<NetworkConfig, 'chainId' | 'name'>, api: TronApi, tellingCalls = TELLING_CALLS): Reader {
  const call: TronApi = async (path, body, as) => {
    try {
      return await api(path, body, as);
    } catch (error) {
      if (error instanceof TronRefused) throw new ChainUnavailable(error.message, { cause: error, trouble: 'refused' });
      throw error;
    }
  };
  const evidence = { recorded: false, calls: 0, upTo: -1 };

  const headNow = async (view: 'wallet' | 'walletsolidity' = 'wallet'): Promise<Header> => readHeader(await call(`${view}/getblock`, { detail: false }));

  const headerAt = async (height: number): Promise<Header> => {
    const answer = await call('wallet/getblock', { id_or_num: String(height), detail: false });
    const header = readHeader(known(answer, height));
    return header.height === height ? header : unsure(`asked for block ${height}, got ${header.height}`);
  };

  /** Block 0 has no outcomes: what it allots is no transfer. */
  const infosAt = (height: number, as: 'unread' | undefined): Promise<unknown> =>
    height === 0 ? Promise.resolve([]) : call('wallet/gettransactioninfobyblocknum', { num: height }, as);

  /** Reads everything of a block, whoever is watched. */
  const proveEach = (answer: unknown, infos: unknown): ProvenBlock => {
    const block = readBlock(answer);
    const proven = block.height === 0 ? { ...block, transactions: [] } : block;
    return provenOf(proven, readOutcomes(proven, readReply(infos)));
  };

  /** Walks over what was told of these blocks where that proves them, and reads each of them where it does not (decision 0048): what is believed is the same. */
  const walk = async (answer: unknown, infos: readonly unknown[], watched: WatchSet, listed: boolean): Promise<ProvenBlock[] | undefined> => {
    if (!(answer instanceof UnreadReply) || isList(answer) !== listed || !infos.every((told) => told instanceof UnreadReply)) return undefined;
    const walked = await inTurns(walkBlocks(answer, infos, watched), breathe);
    if (walked !== undefined) for (const told of [answer, ...infos]) told.release();
    return walked;
  };

  const note = ({ header, runs, recordsInternals }: ProvenBlock): void => {
    evidence.recorded ||= recordsInternals;
    // A block that is read again tells nothing new.
    if (header.height > evidence.upTo) evidence.calls += runs;
    evidence.upTo = Math.max(evidence.upTo, header.height);
  };

  const recordsInternals = (): boolean => evidence.recorded || evidence.calls < tellingCalls;

  /** `watched` decides how much of it is read: what is left out concerns none of them. */
  const blockAtHeight = async (height: number, watched: WatchSet): Promise<ProvenBlock> => {
    const as = waysOf(watched);
    // Outcomes are asked for by height, so they are asked first: a block that is still canonical afterwards was so before.
    const infos = await infosAt(height, as);
    const answer = await call('wallet/getblockbynum', { num: height }, as);
    const walked = await walk(answer, [infos], watched, false);
    const proven = walked?.[0] ?? proveEach(known(readReply(answer), height), infos);
    if (proven.header.height !== height) unsure(`asked for block ${height}, got ${proven.header.height}`);
    note(proven);
    return proven;
  };

  const read = async (proven: ProvenBlock, watched: WatchSet): Promise<BlockContent> => ({
    ...(await contentOf(proven, watched)),
    ...(recordsInternals() || proven.runs === 0 ? {} : { internalUnseen: true }),
  });

  const askChunk = async (from: number, to: number, watched: WatchSet): Promise<ToldChunk> => {
    const as = waysOf(watched);
    const heights = Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const [answer, ...infos] = await Promise.all([
      call('wallet/getblockbylimitnext', { startNum: from, endNum: to + 1 }, as),
      ...heights.map((height) => infosAt(height, as)),
    ]);
    return { heights, answer, infos };
  };

  const readTold = async ({ heights, answer, infos }: ToldChunk, watched: WatchSet): Promise<BlockContent[]> => {
    const contents: BlockContent[] = [];
    const take = async (proven: ProvenBlock, height: number): Promise<void> => {
      if (proven.header.height !== height) unsure(`asked for block ${height}, got ${proven.header.height}`);
      note(proven);
      contents.push(await read(proven, watched));
    };
    const walked = await walk(answer, infos, watched, true);
    if (walked !== undefined) for (const [i, height] of heights.entries()) await take(walked[i] as ProvenBlock, height);
    else {
      const blocks = readList(readObject(readReply(answer), 'the blocks').block, 'the blocks');
      if (blocks.length !== heights.length) unsure(`asked for blocks ${heights[0]}..${heights.at(-1)}, got ${blocks.length}`);
      for (const [i, height] of heights.entries()) await take(proveEach(blocks[i], infos[i]), height);
    }
    return contents;
  };

  const range: Reader['range'] = async (from, to, watched, { enough = Number.POSITIVE_INFINITY } = {}) => {
    if (from > to) throw new RangeError(`an empty range of blocks: ${from}..${to}`);
    const contents: BlockContent[] = [];
    let parentHash: string | undefined;
    let last: BlockRef | undefined;
    let internalUnseen = false;
    let transfers = 0;
    const ask = (start: number): Promise<ToldChunk> => askChunk(start, Math.min(to, start + BLOCKS_PER_REQUEST - 1), watched);
    let asked = ask(from);
    for (let next = from + BLOCKS_PER_REQUEST; ; next += BLOCKS_PER_REQUEST) {
      const told = await asked;
      // The node answers for the next ones while these are walked over; whoever wants no more of them need not know what became of that.
      if (next <= to) asked = ask(next);
      asked.catch(() => undefined);
      for (const content of await readTold(told, watched)) {
        const { block } = content;
        if (last !== undefined && block.parentHash !== last.hash) unsure(`block ${block.height} does not follow block ${last.height}`);
        parentHash ??= block.parentHash;
        last = block;
        internalUnseen ||= content.internalUnseen === true;
        transfers += content.transfers.length;
        if (content.transfers.length > 0 || content.sent.length > 0) contents.push(content);
      }
      if (next > to || transfers >= enough) break;
    }
    return { parentHash: parentHash as string, last: last as BlockRef, contents, ...(internalUnseen ? { internalUnseen } : {}) };
  };

  let probed: Promise<void> | undefined;
  const probe = async (): Promise<void> => {
    try {
      const { height } = await headNow();
      await range(Math.max(0, height - PROBED_BLOCKS + 1), height, NOTHING);
    } catch (error) {
      probed = undefined;
      throw error;
    }
  };

  /** The solid block, and the head below which it was found, as last told. */
  let below: { head: string; solid: string } | undefined;
  const pastBalance = pastBalances(call, { headNow, contents: async (from, to) => readTold(await askChunk(from, to, EVERYTHING), EVERYTHING) });

  return {
    async genesisHash() {
      const { hash } = await headerAt(0);
      const known = GENESIS[network.chainId];
      if (known !== undefined && known !== hash)
        throw new ChainUnavailable(`the node's first block is ${hash}, but ${network.name} is configured as ${network.chainId}`, { trouble: 'wrong-chain' });
      return hash;
    },

    async head() {
      // Asked in this order the head can only be above the solid block.
      const solid = await headNow('walletsolidity');
      // Asked several times a block: below the head that it was found below, a block is still found.
      const known = solid.hash === below?.solid ? below.head : undefined;
      const [latest, same] = await Promise.all([headNow(), known === undefined ? headerAt(solid.height) : undefined]);
      if (latest.height < solid.height) unsure(`its head ${latest.height} is below its solid block ${solid.height}`);
      const { hash } = latest.hash === known ? solid : (same ?? (await headerAt(solid.height)));
      if (hash !== solid.hash) unsure(`block ${solid.height} is ${hash} in one view and ${solid.hash} in the solid one`);
      below = { head: latest.hash, solid: solid.hash };
      return { latest: refOf(latest), safeHeight: null, finalizedHeight: solid.height };
    },

    async blockAt(height) {
      return refOf(await headerAt(height));
    },

    async block(hash, watched) {
      const proven = await blockAtHeight(heightOf(hash), watched);
      return proven.header.hash === hash ? read(proven, watched) : unsure(`block ${hash} is no longer on its chain`);
    },

    range,

    async transaction(txid) {
      const info = await call('wallet/gettransactioninfobyid', { value: txid });
      if (isNothing(info)) return withoutOutcome(call, txid);
      const { id, blockNumber } = readObject(info, 'the outcome');
      if (readHash(id, 'the transaction id of an outcome') !== txid) unsure(`asked for transaction ${txid}, got ${id}`);
      // The outcome only says which block to read: a whole block proves its transactions, and numbers every movement.
      const proven = await blockAtHeight(readInteger(blockNumber, 'the block number of an outcome'), EVERYTHING);
      const { block, transfers, internalUnseen } = await read(proven, EVERYTHING);
      const { outcome } = proven.found.find(({ transaction }) => transaction.txid === txid) ?? unsure(`block ${block.height} does not hold ${txid}`);
      return {
        txid,
        height: block.height,
        blockHash: block.hash,
        succeeded: outcome.succeeded,
        transfers: transfers.filter((transfer) => transfer.txid === txid),
        ...(internalUnseen ? { internalUnseen } : {}),
      };
    },

    hasCode: async (address) => !isNothing(readObject(await call('wallet/getcontract', { value: toHex21(address), visible: false }), 'what is at an address')),
    balance: (address, contract, height) => (height === undefined ? presentBalance(call, address, contract) : pastBalance(address, contract, height)),

    /** No node says so itself; one that ran many contracts lately and shows no internal transaction of any of them records none. */
    async seesInternal() {
      probed ??= probe();
      await probed;
      return recordsInternals();
    },

    close: () => Promise.resolve(),
  };
}

/** A transaction no block has an outcome of: waiting in the node's pool, or unknown. */
async function withoutOutcome(call: TronApi, txid: string): Promise<TransactionFacts | null> {
  const [waiting, included] = await Promise.all([
    call('wallet/gettransactionfrompending', { value: txid }),
    call('wallet/gettransactionbyid', { value: txid }),
  ]);
  if (!isNothing(waiting)) {
    const { txID } = readObject(waiting, 'the pending transaction');
    return txID === txid ? { txid, height: null, blockHash: null, succeeded: null, transfers: [] } : unsure(`asked for transaction ${txid}, got another one`);
  }
  return isNothing(included) ? null : unsure(`it has the transaction ${txid} but not its outcome`);
}
