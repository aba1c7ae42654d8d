import type { NetworkConfig } from '#shared/core/assets.ts';
import type { SentTransaction, Transfer } from '#shared/core/chain-events.ts';
import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '../breathe.ts';
import { type BlockContent, type BlockRef, ChainUnavailable, type Reader, type TransactionFacts, type WatchSet } from '../chain.ts';
import { profileOf } from '../networks.ts';
import { askingSize, isTooMuch } from '../too-much.ts';
import { readAnswer, Unread } from '../unread.ts';
import { openAbilities } from './abilities.ts';
import { openBlockReceipts } from './block-receipts.ts';
import {
  type Bodies,
  bodyOf,
  type ChainRules,
  concerns,
  crossCheck,
  crossCheckBodies,
  movesOf,
  movesOurs,
  sawAll,
  sawOf,
  sentOf,
  type Traces,
  transfersOf,
} from './content.ts';
import {
  type Header,
  HeaderUnproven,
  type Outcome,
  readHeader,
  readInteger,
  readList,
  readObject,
  readQuantity,
  readReceipt,
  readReceiptsInSteps,
  readTransaction,
  type Receipt,
  type Transaction,
  unsure,
} from './replies.ts';
import { type Rpc, RpcRefused } from '../rpc.ts';
import { openForesight } from './foresight.ts';
import { encodeBalanceOf, readBalance } from './token.ts';
import { TRANSFER } from './token-transfer.ts';
import { openTracing } from './tracing.ts';
import { walkBodies } from './walk-bodies.ts';
import { logPlacesIn } from './walk-logs.ts';
import { walkReceipts } from './walk-receipts.ts';
import type { HeaderTrust } from './header-trust.ts';

/** Most blocks whose headers and receipts share one HTTP request. */
const BLOCKS_PER_REQUEST = 20;
/** How many are asked for first: nobody knows yet how much is in them. */
const FIRST_BLOCKS = 5;
/** More logs than this in one answer, about a dozen megabytes, and fewer blocks are asked for: it is parsed in one go. */
const LOGS_PER_REQUEST = 20_000;
/** Most blocks whose traces do; a busy block's are several megabytes. */
const TRACES_PER_REQUEST = 4;

const EVERYTHING: WatchSet = { has: () => true };

/** A block whose receipts are its own: `covered` of them are proven by the root in its header. */
interface Checked {
  header: Header;
  /** How many logs they have. */
  logs: number;
  covered: number;
  /** What traces must agree with, of each. */
  outcomes(): readonly Outcome[];
  /** Those that concern a watched address. */
  concerned(traces: Traces, watched: WatchSet): Promise<Receipt[]>;
  /** Nobody asks this any more: the reply it is read from is given back. */
  release(): void;
}

/**
 * Reads an EVM network from receipts and traces: those name both ends of everything that moved, so transactions are fetched
 * only of blocks that concern a watched address. A header must give its own hash, and every reply what its roots say, before a word of it is
 * believed; `trusts` decides about headers with fields that nobody here knows (decision 0039).
 */
export function evmReader(network: Pick<NetworkConfig, 'chainId' | 'name' | 'coinLogs'>, rpc: Rpc, trusts: HeaderTrust = async () => false): Reader {
  const rules: ChainRules = { chainId: network.chainId, stateSyncs: profileOf('evm', network.chainId).stateSyncs };
  const tracing = openTracing(rpc);

  const checkEach = async (header: Header, answer: unknown): Promise<Checked & { receipts: Receipt[] }> => {
    const receipts = await receiptsIn(answer);
    const covered = await inTurns(crossCheck(header, receipts, rules), breathe);
    return {
      header,
      receipts,
      logs: receipts.reduce((sum, { logs }) => sum + logs.length, 0),
      covered: header.rootless === true ? 0 : covered,
      outcomes: () => receipts,
      async concerned(traces, watched) {
        const found: Receipt[] = [];
        for (const receipt of receipts) {
          if (concerns(receipt, traces, watched)) found.push(receipt);
          await breathe();
        }
        return found;
      },
      release: () => undefined,
    };
  };

  /** Walks over the receipts where that proves them, and reads each of them where it does not (decision 0046): what is believed is the same. */
  const check = async (header: Header, answer: unknown, watched: WatchSet): Promise<Checked> => {
    const unread = answer instanceof Unread ? answer : undefined;
    const walked = unread && walkReceipts(unread, header, watched);
    await breathe();
    if (walked === undefined) return checkEach(header, answer);
    return {
      header,
      logs: walked.logs,
      covered: header.transactions.length,
      outcomes: () => walked.outcomes(),
      concerned: async (traces, ours) => walked.named(movesOurs(traces, ours)).filter((receipt) => concerns(receipt, traces, ours)),
      release: () => unread?.release(),
    };
  };
  /** Header and receipts of a block, asked for together. */
  const askFor = (hash: string): Promise<[Header, unknown]> => {
    const asked = headerByHash(hash);
    return Promise.all([asked, receipts.of(hash, asked)]);
  };
  const blocksAtOnce = askingSize(FIRST_BLOCKS, BLOCKS_PER_REQUEST);
  const tracesAtOnce = askingSize(TRACES_PER_REQUEST, TRACES_PER_REQUEST);

  const call: Rpc = async (method, params, as) => {
    try {
      return await rpc(method, params, as);
    } catch (error) {
      if (error instanceof RpcRefused) throw new ChainUnavailable(error.message, { cause: error });
      // An endpoint that was away may come back as another node.
      if (error instanceof ChainUnavailable && error.trouble === 'down') {
        tracing.forget();
        receipts.forget();
        abilities.forget();
      }
      throw error;
    }
  };

  const receipts = openBlockReceipts(call);
  const abilities = openAbilities(rpc, network.coinLogs === true ? null : tracing, (ability) => {
    if (ability === 'block receipts') receipts.forget();
  });

  const believe = async (answer: unknown): Promise<Header> => {
    try {
      return readHeader(answer);
    } catch (error) {
      if (!(error instanceof HeaderUnproven)) throw error;
      const trust = await trusts(error);
      if (trust === false) throw error;
      return trust === 'accepted' ? { ...error.header, rootless: true } : error.header;
    }
  };

  const headerOf = async (method: string, id: string): Promise<Header> => {
    const answer = await call(method, [id, false]);
    return answer === null ? unsure(`it does not know block ${id}`) : believe(answer);
  };

  const headerAt = async (height: number): Promise<Header> => {
    const header = await headerOf('eth_getBlockByNumber', hex(height));
    return header.height === height ? header : unsure(`asked for block ${height}, got ${header.height}`);
  };

  const headerByHash = async (hash: string): Promise<Header> => {
    const header = await headerOf('eth_getBlockByHash', hash);
    return header.hash === hash ? header : unsure(`asked for block ${hash}, got ${header.hash}`);
  };

  /**
   * What was proven last of the blocks under each tag, which are asked for several times a block: whoever names such a block again is believed that it is there, and nothing
   * else that he says of it. A header that nothing proves is not among them.
   */
  const proven = new Map<string, Header>();
  const believeTagged = async (tag: string, answer: unknown): Promise<Header> => {
    const { hash } = readObject(answer, 'the block');
    const known = proven.get(tag);
    if (known !== undefined && known.hash === hash) return known;
    const header = await believe(answer);
    if (header.rootless !== true) proven.set(tag, header);
    return header;
  };

  const latestHeader = async (): Promise<Header> => {
    const answer = await call('eth_getBlockByNumber', ['latest', false]);
    return answer === null ? unsure('it does not know block latest') : believeTagged('latest', answer);
  };

  /** Null when the node has no such tag, or nothing under it yet. */
  const taggedHeight = async (tag: 'safe' | 'finalized'): Promise<number | null> => {
    try {
      const answer = await rpc('eth_getBlockByNumber', [tag, false]);
      return answer === null ? null : (await believeTagged(tag, answer)).height;
    } catch (error) {
      if (error instanceof RpcRefused) return null;
      throw error;
    }
  };

  const askForBodies = (hash: string): Promise<unknown> => call('eth_getBlockByHash', [hash, true], 'unread');
  const foresight = openForesight(askFor, askForBodies);

  /**
   * All transactions of a block: one alone says nothing about whether the block holds it. Where only those at `positions` matter, the others are walked
   * over if that proves them (decision 0046).
   */
  const bodiesOf = async (header: Header, positions?: readonly number[], foreseenBodies?: Promise<unknown>): Promise<Bodies> => {
    const before = await foreseenBodies?.catch(() => null);
    // Behind one address there may be several nodes, of which one had not heard of the block yet when it was announced.
    const unread = isNothing(before) ? await askForBodies(header.hash) : before;
    const walked = unread instanceof Unread && positions !== undefined ? walkBodies(unread, header, rules, positions) : undefined;
    await breathe();
    if (walked !== undefined) {
      (unread as Unread).release();
      return walked;
    }
    const answer = readAnswer(unread);
    const block = answer === null ? unsure(`it has the receipts of block ${header.hash} but not the block`) : readObject(answer, 'the block');
    return inTurns(crossCheckBodies(header, readList(block.transactions, 'the list of transactions'), rules), breathe);
  };

  const tracesOf = async ({ header, outcomes }: Checked, watched: WatchSet): Promise<Traces> =>
    network.coinLogs === true ? 'in-logs' : tracing.trace(header, outcomes(), watched);

  /** Says what happened in a block whose receipts were cross-checked, and gives back the replies that told of it. */
  const contentOf = async (checked: Checked, traces: Traces, watched: WatchSet, foreseenBodies?: Promise<unknown>): Promise<BlockContent> => {
    const { header, covered } = checked;
    const transfers: Transfer[] = [];
    const sent: SentTransaction[] = [];
    const concerned = await checked.concerned(traces, watched);
    const bodies =
      concerned.length === 0
        ? undefined
        : await bodiesOf(
            header,
            concerned.map(({ position }) => position),
            foreseenBodies,
          );
    if (bodies === undefined) foreseenBodies?.then(leaveUnheard, () => undefined);
    for (const receipt of bodies === undefined ? [] : concerned) {
      const body = bodyOf(header, receipt, bodies as Bodies, network.chainId);
      if (watched.has(receipt.from)) sent.push(sentOf(header, receipt, body));
      const proven = receipt.position < Math.min(covered, (bodies as Bodies).covered);
      // One by one: a transaction can make more of them than a function takes arguments.
      for (const transfer of transfersOf(header, receipt, body, movesOf(receipt, traces, body), watched))
        transfers.push(proven ? transfer : { ...transfer, unproven: true });
      await breathe();
    }
    checked.release();
    if (traces !== 'in-logs') traces?.release?.();
    return { block: refOf(header), transfers, sent, ...unseenUnless(sawAll(traces)) };
  };

  interface Chunk {
    headers: Header[];
    contents: BlockContent[];
    sawInternal: boolean;
    logs: number;
  }

  /** Traces blocks a few at a time, and fewer when that was too much. */
  const traceAll = async (blocks: readonly Checked[], watched: WatchSet): Promise<Traces[]> => {
    const traces: Traces[] = [];
    while (traces.length < blocks.length) {
      const part = blocks.slice(traces.length, traces.length + tracesAtOnce.now());
      try {
        traces.push(...(await Promise.all(part.map((block) => tracesOf(block, watched)))));
        tracesAtOnce.grow();
      } catch (error) {
        if (part.length === 1 || !isTooMuch(error) || !tracesAtOnce.shrink()) throw error;
      }
    }
    return traces;
  };

  const readChunk = async (from: number, to: number, watched: WatchSet): Promise<Chunk> => {
    const heights = Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const answers = await Promise.all(
      heights.map((height) => {
        const header = headerAt(height);
        return Promise.all([header, receipts.of(hex(height), header)]);
      }),
    );
    const blocks: Checked[] = [];
    for (const [header, answer] of answers) blocks.push(await check(header, answer, watched));
    const traces = await traceAll(blocks, watched);
    const contents = await Promise.all(blocks.map((block, i) => contentOf(block, traces[i], watched)));
    return { headers: blocks.map(({ header }) => header), contents, sawInternal: traces.every(sawAll), logs: blocks.reduce((sum, { logs }) => sum + logs, 0) };
  };

  return {
    async genesisHash() {
      const [chainId, genesis] = await Promise.all([call('eth_chainId', []), headerAt(0)]);
      const answered = readQuantity(chainId, 'the chain id').toString();
      if (answered !== network.chainId)
        throw new ChainUnavailable(`the node serves chain ${answered}, but ${network.name} is configured as chain ${network.chainId}`, {
          trouble: 'wrong-chain',
        });
      return genesis.hash;
    },

    async head() {
      const [latest, safeHeight, finalizedHeight] = await Promise.all([latestHeader(), taggedHeight('safe'), taggedHeight('finalized')]);
      return { latest: refOf(latest), safeHeight, finalizedHeight };
    },

    async blockAt(height) {
      return refOf(await headerAt(height));
    },

    foresee({ hash, height }) {
      if (network.coinLogs !== true) tracing.foresee({ hash, height });
      foresight.foresee(hash);
    },

    async block(hash, watched, { lean = false } = {}) {
      const { answers, bodies } = foresight.take(hash);
      const [header, answer] = await answers;
      const checked = await check(header, answer, watched);
      // Its traces are several times as long as its receipts, and what they would show can be told from balances.
      const traces = lean && network.coinLogs !== true ? undefined : await tracesOf(checked, watched);
      const content = await contentOf(checked, traces, watched, bodies);
      foresight.heard(content.transfers.length > 0 || content.sent.length > 0);
      return content;
    },

    async range(from, to, watched, { enough = Number.POSITIVE_INFINITY } = {}) {
      const chunkFrom = (start: number): { start: number; end: number; read: Promise<Chunk> } => {
        const end = Math.min(to, start + blocksAtOnce.now() - 1);
        const read = readChunk(start, end, watched);
        read.catch(() => undefined);
        return { start, end, read };
      };
      const contents: BlockContent[] = [];
      let first: Header | undefined;
      let last: Header | undefined;
      let sawInternal = true;
      let transfers = 0;
      let ahead: ReturnType<typeof chunkFrom> | undefined;
      for (let start = from; start <= to && transfers < enough; ) {
        const current: ReturnType<typeof chunkFrom> = ahead ?? chunkFrom(start);
        // The node reads the next blocks while these are checked, unless it has enough to do.
        ahead = current.end < to && blocksAtOnce.now() === BLOCKS_PER_REQUEST ? chunkFrom(current.end + 1) : undefined;
        const chunk = await current.read.catch(async (error: unknown) => {
          // What was asked for ahead may have shared a request with this, and must not share the next one.
          await ahead?.read.catch(() => undefined);
          const alone = ahead === undefined && current.end === start;
          ahead = undefined;
          if (alone || !isTooMuch(error) || !blocksAtOnce.shrink()) throw error;
          return undefined;
        });
        if (chunk === undefined) continue;
        if (chunk.logs > LOGS_PER_REQUEST) blocksAtOnce.shrink();
        else blocksAtOnce.grow();
        transfers += chunk.contents.reduce((sum, content) => sum + content.transfers.length, 0);
        for (const header of chunk.headers) {
          if (last !== undefined && header.parentHash !== last.hash) unsure(`block ${header.height} does not follow block ${last.height}`);
          first ??= header;
          last = header;
        }
        contents.push(...chunk.contents.filter((content) => content.transfers.length > 0 || content.sent.length > 0));
        sawInternal &&= chunk.sawInternal;
        start = current.end + 1;
      }
      if (first === undefined || last === undefined) throw new RangeError(`an empty range of blocks: ${from}..${to}`);
      return { parentHash: first.parentHash, last: refOf(last), contents, ...unseenUnless(sawInternal) };
    },

    async tokenPlaces(from, to, watched, contracts, heard = []) {
      const asked = { fromBlock: hex(from), toBlock: hex(to), address: [...contracts], topics: [TRANSFER] };
      const answer = await call('eth_getLogs', [asked], 'unread');
      const unread = answer instanceof Unread ? answer : undefined;
      const same = unread && heard.find(({ told }) => told.bytes.equals(unread.bytes));
      if (same !== undefined) {
        unread?.release();
        return same.places;
      }
      const places = logPlacesIn(answer, { from, to, watched, contracts });
      if (unread !== undefined) heard.push({ places, told: unread });
      return places;
    },

    async transaction(txid) {
      const [body, answer] = await Promise.all([call('eth_getTransactionByHash', [txid]), call('eth_getTransactionReceipt', [txid])]);
      if (answer === null) return body === null ? null : pending(readTransaction(body), txid);
      // The receipt only says which block to read: the receipts of a whole block prove one another, and number every log.
      const { txid: answered, blockHash } = readReceipt(answer);
      if (answered !== txid) unsure(`asked for transaction ${txid}, got ${answered}`);
      const [header, answers] = await askFor(blockHash);
      const checked = await checkEach(header, answers);
      const receipt = checked.receipts.find((one) => one.txid === txid) ?? unsure(`block ${blockHash} does not hold ${txid}`);
      const [bodies, traces] = await Promise.all([bodiesOf(header), tracesOf(checked, EVERYTHING)]);
      const tx = bodyOf(header, receipt, bodies, network.chainId);
      const told = transfersOf(header, receipt, tx, movesOf(receipt, traces, tx), EVERYTHING);
      const transfers =
        receipt.position < Math.min(checked.covered, bodies.covered) ? told : told.map((transfer): Transfer => ({ ...transfer, unproven: true }));
      return { txid, height: header.height, blockHash, succeeded: receipt.succeeded, transfers, ...unseenUnless(sawOf(traces, txid) || !receipt.succeeded) };
    },

    async balance(address, contract, height) {
      const at = height === undefined ? 'latest' : hex(height);
      if (contract === null) return readQuantity(await call('eth_getBalance', [address, at]), 'the balance');
      const answer = await call('eth_call', [{ to: contract, data: encodeBalanceOf(address) }, at]);
      return readBalance(answer, contract);
    },

    async nonceAt(address, height) {
      return readInteger(await call('eth_getTransactionCount', [address, hex(height)]), 'the nonce');
    },

    async hasCode(address) {
      const answer = await call('eth_getCode', [address, 'latest']);
      if (typeof answer !== 'string' || !/^0x([0-9a-fA-F]{2})*$/.test(answer)) unsure(`it told no code of ${address}`);
      return answer !== '0x';
    },

    async seesInternal() {
      return network.coinLogs === true || tracing.offered();
    },

    async lacks(anew = false) {
      try {
        return await abilities.lacks(anew);
      } catch (error) {
        if (error instanceof RpcRefused) throw new ChainUnavailable(error.message, { cause: error });
        throw error;
      }
    },

    close: () => Promise.resolve(),
  };
}

function isNothing(answer: unknown): boolean {
  return answer === undefined || answer === null || (answer instanceof Unread && answer.bytes.length === 'null'.length);
}

/** Gives back a reply that nobody needs. */
function leaveUnheard(answer: unknown): void {
  if (answer instanceof Unread) answer.release();
}

function receiptsIn(answer: unknown): Promise<Receipt[]> {
  return inTurns(readReceiptsInSteps(readAnswer(answer)), breathe);
}

function unseenUnless(saw: boolean): { internalUnseen?: true } {
  return saw ? {} : { internalUnseen: true };
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
