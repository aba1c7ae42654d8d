import type { Steps } from '#shared/core/turns.ts';
import type { HasKey, WatchSet } from '../chain.ts';
import { CLOSE_LIST, CLOSE_OBJECT, COMMA, DOUBT, endOfKey, endOfValue, isAt, isKey, OPEN_LIST, OPEN_OBJECT, QUOTE } from '../json-bytes.ts';
import { type ExpectedOutcome, MOST_WALKED, walkOutcomes, walkTransactions } from '../kernel.ts';
import { merkleRoot } from '../merkle-root.ts';
import { CREATE, TRIGGER } from './contract.ts';
import { readOutcome } from './infos.ts';
import { type Found, type ProvenBlock, runsContract } from './movements.ts';
import { leafHashOf, NOTHING } from './proofs.ts';
import { type Header, readHeader, readTransaction, RESULTS } from './replies.ts';
import type { UnreadReply } from './unread-reply.ts';
import { watchedKeys } from './watched-hex.ts';

const KEYS = { blockID: Buffer.from('blockID'), block_header: Buffer.from('block_header'), transactions: Buffer.from('transactions') };
const PAIRING = { twice: false, carries: true };
const HASH_DIGITS = 64;
const [LIST_BEGINS, LIST_ENDS] = [Buffer.from('{"block":['), Buffer.from(']}')];

/** A transaction of which the walk went on: what its outcome must agree with, and where it is to be read. */
interface Passed {
  txid: string;
  type: number;
  contractRet: string;
  start: number;
  end: number;
  toRead: boolean;
}

/** What was walked over of one block. */
interface WalkedBlock {
  end: number;
  header: Header;
  passed: Passed[];
}

/** Whether a reply is a list of blocks, as it is where a range of them was asked for, even of one. */
export function isList({ bytes }: UnreadReply): boolean {
  return isAt(bytes, 0, LIST_BEGINS);
}

/**
 * Walks once over the blocks of one reply and over the outcomes of each, and reads only what concerns a watched address. Every check that reading all of them makes is
 * made of all of them (decision 0048). Undefined when anything about the replies is unusual: then nothing is known. A transaction or an outcome
 * that is unusual by itself is read with care, and the others are not.
 * @throws ChainUnavailable where reading one of these does
 */
export function* walkBlocks(answer: UnreadReply, infos: readonly UnreadReply[], watched: WatchSet): Steps<ProvenBlock[] | undefined> {
  const { bytes } = answer;
  const listed = isList(answer);
  if (!listed && infos.length !== 1) return undefined;
  const has = watchedKeys(watched);
  const proven: ProvenBlock[] = [];
  let at = listed ? LIST_BEGINS.length : 0;
  for (const [i, told] of infos.entries()) {
    const block: WalkedBlock | undefined = yield* walkBlock(answer, at, has);
    const found = block && (yield* walkInfos(answer, told, block, has));
    if (block === undefined || found === undefined) return undefined;
    proven.push(found);
    at = block.end;
    if (i < infos.length - 1) {
      if (bytes[at] !== COMMA) return undefined;
      at += 1;
    }
  }
  return (listed ? bytes.length === at + LIST_ENDS.length && isAt(bytes, at, LIST_ENDS) : bytes.length === at) ? proven : undefined;
}

function* rootOf(leaves: readonly Buffer[]): Steps<string> {
  return leaves.length === 0 ? NOTHING : (yield* merkleRoot(Buffer.concat(leaves), PAIRING)).toString('hex');
}

/** Walks over the block that begins at `from`. */
function* walkBlock(answer: UnreadReply, from: number, has: HasKey): Steps<WalkedBlock | undefined> {
  const { bytes } = answer;
  if (bytes[from] !== OPEN_OBJECT) return undefined;
  let [id, idEnd, head, headEnd] = [0, 0, 0, 0];
  let passed: Passed[] | undefined;
  let leaves: (Buffer | undefined)[] = [];
  for (let at = from + 1; ; at += 1) {
    const value = endOfKey(bytes, at);
    if (value === DOUBT) return undefined;
    let end: number;
    if (isKey(bytes, at, value, KEYS.transactions)) {
      if (passed !== undefined) return undefined;
      passed = [];
      leaves = [];
      end = yield* walkList(answer, value, has, passed, leaves);
    } else {
      end = endOfValue(bytes, value);
      if (isKey(bytes, at, value, KEYS.blockID)) {
        if (id > 0) return undefined;
        [id, idEnd] = [value, end];
      } else if (isKey(bytes, at, value, KEYS.block_header)) {
        if (head > 0) return undefined;
        [head, headEnd] = [value, end];
      } else return undefined;
    }
    if (end === DOUBT) return undefined;
    at = end;
    if (bytes[at] === COMMA) continue;
    if (bytes[at] !== CLOSE_OBJECT || id === 0 || head === 0) return undefined;
    // A string of the plainest form is what stands between its quotes.
    const blockID = bytes[id] === QUOTE ? bytes.toString('latin1', id + 1, idEnd - 1) : undefined;
    const header = readHeader({ blockID, block_header: answer.part(head, headEnd) });
    const whole = leaves.filter((leaf) => leaf !== undefined);
    if (whole.length === leaves.length && (yield* rootOf(whole)) !== header.txTrieRoot) return undefined;
    passed ??= [];
    return new Set(passed.map(({ txid }) => txid)).size === passed.length ? { end: at + 1, header, passed } : undefined;
  }
}

/** Walks over the transactions of a block and adds them, each with the hash of its leaf; answers the place after them, or DOUBT. */
function* walkList(answer: UnreadReply, from: number, has: HasKey, passed: Passed[], leaves: (Buffer | undefined)[]): Steps<number> {
  const { bytes } = answer;
  if (bytes[from] !== OPEN_LIST || bytes[from + 1] === CLOSE_LIST) return DOUBT;
  for (let at = from + 1; ; at += 1) {
    const walked = walkTransactions(bytes, at, has);
    for (const { start, end, type, result, named, txid, leafHash } of walked) {
      passed.push({ txid: bytes.toString('latin1', txid, txid + HASH_DIGITS), type, contractRet: RESULTS[result] as string, start, end, toRead: named });
      leaves.push(leafHash);
      at = end;
    }
    if (walked.length === 0) {
      const end = endOfValue(bytes, at);
      if (end === DOUBT) return DOUBT;
      const { transaction, leaf } = readTransaction(answer.part(at, end));
      const { txid, type, contractRet } = transaction;
      passed.push({ txid, type, contractRet, start: at, end, toRead: true });
      leaves.push(leaf && Buffer.from(leafHashOf(leaf), 'hex'));
      at = end;
    }
    if (bytes[at] === CLOSE_LIST) return at + 1;
    if (bytes[at] !== COMMA) return DOUBT;
    yield;
  }
}

/** Walks over the outcomes of a block, and reads those that have to be with their transactions. */
function* walkInfos(answer: UnreadReply, infos: UnreadReply, { header, passed }: WalkedBlock, has: HasKey): Steps<ProvenBlock | undefined> {
  const { bytes } = infos;
  if (bytes[0] !== OPEN_LIST || header.height === 0) return undefined;
  const found: Found[] = [];
  let [recordsInternals, runs, at] = [false, 0, 1];
  for (let position = 0; position < passed.length; ) {
    if (position > 0) {
      if (bytes[at] !== COMMA) return undefined;
      at += 1;
      yield;
    }
    const expected = passed.slice(position, position + MOST_WALKED).map(expectedOf);
    const walked = walkOutcomes(bytes, at, expected, header, has);
    if (walked.length === 0) return undefined;
    for (const outcome of walked) {
      const { type, contractRet, start, end, toRead } = passed[position] as Passed;
      if (outcome.internals > 0) recordsInternals = true;
      if (runsContract(type, contractRet)) runs += 1;
      if (toRead || outcome.toRead) {
        const { transaction } = readTransaction(answer.part(start, end));
        found.push({ position, transaction, outcome: readOutcome(header, transaction, infos.part(outcome.start, outcome.end)) });
        yield;
      }
      at = outcome.end;
      position += 1;
    }
  }
  return bytes[at] === CLOSE_LIST && at + 1 === bytes.length ? { header, found, runs, recordsInternals } : undefined;
}

function expectedOf({ txid, type, contractRet }: Passed): ExpectedOutcome {
  return { txid, result: RESULTS.indexOf(contractRet), ran: type === TRIGGER || type === CREATE };
}
