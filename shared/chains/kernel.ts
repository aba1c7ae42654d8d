import compiled from './kernel/kernel.json' with { type: 'json' };
import type { HasKey } from './chain.ts';

/** What the sources in kernel/ export, compiled by `npm run generate` (decision 0090). */
interface Kernel {
  memory: { buffer: ArrayBuffer };
  sha256(count: number, again: number, to: number): void;
  hashTransactions(count: number): void;
  hashPairs(count: number, again: number, carries: number): void;
  hashKeys(count: number): void;
  readDigits(length: number): number;
  keccakBoth(from: number, length: number, to: number, other: number, otherLength: number, otherTo: number): void;
  writeTrieRoot(count: number, root: number): void;
  endReply(length: number): void;
  endOfValue(at: number): number;
  walkFrame(at: number): number;
  walkReceipts(length: number, count: number, heightLength: number): number;
  walkBodies(length: number, count: number, stateSyncs: number): number;
  walkTransactions(most: number): number;
  walkContract(length: number): number;
  walkOutcomes(count: number, heightLength: number, timeLength: number): number;
}

/** Writes the transaction between two places of a reply, of a type; answers how long that is, 0 when its form is not known or it does not fit. */
export type Encode = (from: number, end: number, type: number, into: Uint8Array) => number;

/** Where things are in its memory, as memory.as says. */
const LARGEST = 4 * 1024 * 1024;
const ZEROS = 1024;
const MOST = 0x4000;
const REPLY = 0x1_0000;
const TXIDS = REPLY + LARGEST + ZEROS;
const BLOCK_HASH = TXIDS + MOST * 69;
const HEIGHT = BLOCK_HASH + 128;
const WORD = HEIGHT + 128;
const FOUND = WORD + 256;
const HASH_BYTES = 32;
/** No contract calls deeper (EIP-150). */
export const DEEPEST_CALL = 1_024;
const VALUES = FOUND + MOST * 64;
const STARTS = VALUES + LARGEST + ZEROS;
const ENDS = STARTS + MOST * 4;
const NODES = ENDS + MOST * 4;
const LEAF_ROOM = 16;
const FRAME = NODES + 8192;
const STEPS = FRAME + 64;

/** How many numbers are told of each receipt or transaction, and what they are: places in the reply, 0 for nowhere, before the last three. */
export const TOLD = 16;
export const START = 0;
export const END = 1;
export const FROM = 2;
export const TO = 3;
export const CREATED = 4;
export const GAS = 5;
export const STATUS = 6;
export const LOGS = 7;
export const NAMED = 8;

/** What a walk found: the root over all receipts or transactions, and TOLD numbers about each. */
export interface Walked {
  root: string;
  told: Int32Array;
}

/** Of which block a reply must tell. */
interface Block {
  hash: string;
  height: number;
  transactions: readonly string[];
}

// Both belong to the walk that is under way, which nothing interrupts.
let has: HasKey = () => false;
const ENCODES_NOTHING: Encode = () => 0;
let encode: Encode = ENCODES_NOTHING;

const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(compiled.wasm, 'base64')), {
  env: {
    has: (at: number) => has(memory, at),
    encode: (from: number, end: number, type: number, to: number, room: number) => encode(from, end, type, memory.subarray(to, to + room)),
  },
});
const kernel = exports as unknown as Kernel;
const memory = Buffer.from(kernel.memory.buffer);
const words = new Int32Array(kernel.memory.buffer);

/** Walks over the receipts of a block as receipts.as says; undefined unless everything but the root is proven by that. */
export function walkReceipts(reply: Uint8Array, block: Block, watched: HasKey): (Walked & { logs: number }) | undefined {
  const heightText = `"0x${block.height.toString(16)}"`;
  if (!place(reply, block)) return undefined;
  memory.write(heightText, HEIGHT, 'latin1');
  has = watched;
  const logs = kernel.walkReceipts(reply.length, block.transactions.length, heightText.length);
  return logs < 0 ? undefined : { logs, ...walked(block) };
}

/** The same of its transactions, as bodies.as says; `encodeOther` writes those of forms that are rare. */
export function walkBodies(reply: Uint8Array, block: Block, stateSyncs: boolean, encodeOther: Encode): Walked | undefined {
  if (!place(reply, block)) return undefined;
  encode = encodeOther;
  const isProven = kernel.walkBodies(reply.length, block.transactions.length, stateSyncs ? 1 : 0) !== 0;
  // It keeps the whole reply.
  encode = ENCODES_NOTHING;
  return isProven ? walked(block) : undefined;
}

/** Puts a reply, and what it is compared with, where the kernel looks for them; false when there is no room for that. */
function place(reply: Uint8Array, { hash, transactions }: Block): boolean {
  if (transactions.length === 0 || transactions.length > MOST || reply.length > LARGEST) return false;
  put(reply);
  memory.write(`"${transactions.join('","')}"`, TXIDS, 'latin1');
  memory.write(`"${hash}"`, BLOCK_HASH, 'latin1');
  return true;
}

function walked({ transactions }: Block): Walked {
  return { root: `0x${memory.toString('hex', WORD, WORD + HASH_BYTES)}`, told: words.slice(FOUND / 4, FOUND / 4 + transactions.length * TOLD) };
}

function put(reply: Uint8Array): void {
  memory.set(reply, REPLY);
  kernel.endReply(reply.length);
}

/** Keccak-256 of two messages at once, which together fit in a reply. */
export function keccakBoth(one: Uint8Array, other: Uint8Array): [Buffer, Buffer] {
  const second = REPLY + one.length;
  memory.set(one, REPLY);
  memory.set(other, second);
  kernel.keccakBoth(REPLY, one.length, WORD, second, other.length, WORD + HASH_BYTES);
  return [Buffer.from(memory.subarray(WORD, WORD + HASH_BYTES)), Buffer.from(memory.subarray(WORD + HASH_BYTES, WORD + 2 * HASH_BYTES))];
}

/** SHA-256 of each message, one digest after the other. Together they fit in a reply, and there are no more than a block may have transactions. */
export function sha256Each(messages: readonly Uint8Array[]): Buffer {
  let at = REPLY;
  for (const [i, message] of messages.entries()) {
    memory.set(message, at);
    [words[STARTS / 4 + i], words[ENDS / 4 + i]] = [at, at + message.length];
    at += message.length;
  }
  kernel.sha256(messages.length, 0, VALUES);
  return Buffer.from(memory.subarray(VALUES, VALUES + messages.length * HASH_BYTES));
}

/** The root of the trie that has these values under their positions, as trie-root.ts finds it. None of them is so short that it is its own header. */
export function trieRoot(values: readonly Uint8Array[]): string {
  let at = VALUES;
  for (const [i, value] of values.entries()) {
    at += LEAF_ROOM;
    memory.set(value, at);
    [words[STARTS / 4 + i], words[ENDS / 4 + i]] = [at, at + value.length];
    at += value.length;
  }
  kernel.writeTrieRoot(values.length, WORD);
  return `0x${memory.toString('hex', WORD, WORD + HASH_BYTES)}`;
}

/** How many transactions of Bitcoin, or keys, are hashed in one go, and how many bytes of transactions: less than a millisecond's worth (decision 0030). */
export const MOST_HASHED = 512;
export const MOST_HASHED_BYTES = 64 * 1024;
/** The same of hashes that a row above is made of: an even number. */
export const MOST_PAIRED = 2_048;
/** Bytes of a key that an output of Bitcoin names by its hash, and of that hash. */
const KEY_BYTES = 33;
const KEY_HASH_BYTES = 20;
const PLACES = 2 * HASH_BYTES;

/** Where a transaction of Bitcoin begins, where its outputs end, and where it ends, each of all of them. */
export interface TransactionPlaces {
  starts: readonly number[];
  bodyEnds: readonly number[];
}

/** Writes SHA-256 of SHA-256 of transactions `from` to `to`, excluded, to two rows: their ids, and the hashes that cover witnesses. What they are, bitcoin.as says. */
export function hashTransactions(
  bytes: Uint8Array,
  { starts, bodyEnds }: TransactionPlaces,
  [from, to]: readonly [number, number],
  { txids, wtxids }: { txids: Buffer; wtxids: Buffer },
): void {
  const first = starts[from] as number;
  memory.set(bytes.subarray(first, starts[to]), REPLY);
  for (let i = from, at = FOUND / 4; i < to; i++, at += PLACES / 4) {
    words[at] = (starts[i] as number) - first;
    words[at + 1] = (bodyEnds[i] as number) - first;
    words[at + 2] = (starts[i + 1] as number) - first;
  }
  kernel.hashTransactions(to - from);
  for (let i = from, at = FOUND; i < to; i++, at += PLACES) {
    memory.copy(wtxids, i * HASH_BYTES, at, at + HASH_BYTES);
    memory.copy(txids, i * HASH_BYTES, at + HASH_BYTES, at + PLACES);
  }
}

/** How the pairs of a row are hashed: SHA-256 twice and an odd one paired with itself, as Bitcoin does, or once and an odd one carried up, as TRON does. */
export interface Pairing {
  twice: boolean;
  carries: boolean;
}

/** Writes the row above some hashes over them, of each pair one; answers how many bytes long it is. At most MOST_PAIRED of them. */
export function hashPairs(row: Buffer, { twice, carries }: Pairing): number {
  memory.set(row, REPLY);
  const count = row.length / HASH_BYTES;
  kernel.hashPairs(count, twice ? 1 : 0, carries ? 1 : 0);
  return memory.copy(row, 0, REPLY, REPLY + Math.ceil(count / 2) * HASH_BYTES);
}

/** Says of each key that begins at one of these places of the bytes whether its hash is watched. At most MOST_HASHED of them. */
export function whichKeys(bytes: Buffer, places: readonly number[], watched: HasKey): boolean[] {
  for (const [i, at] of places.entries()) bytes.copy(memory, REPLY + i * KEY_BYTES, at, at + KEY_BYTES);
  kernel.hashKeys(places.length);
  return places.map((_, i) => watched(memory, FOUND + i * KEY_HASH_BYTES));
}

/** How many bytes become of digits in one go. */
const PART_OF_DIGITS = 512 * 1024;

/** The bytes that digits in lower case stand for; undefined when they are anything else. */
export function readDigits(digits: Uint8Array): Buffer | undefined {
  if (digits.length % 2 !== 0) return undefined;
  const bytes = Buffer.allocUnsafe(digits.length / 2);
  for (let done = 0; done < bytes.length; done += PART_OF_DIGITS) {
    const length = Math.min(PART_OF_DIGITS, bytes.length - done);
    memory.set(digits.subarray(2 * done, 2 * (done + length)), VALUES);
    if (kernel.readDigits(length) === 0) return undefined;
    memory.copy(bytes, done, REPLY, REPLY + length);
  }
  return bytes;
}

/** Transactions or outcomes of TRON that are walked over in one go, and how many bytes of a reply they may take, unless it is one of them. */
export const MOST_WALKED = 256;
const PART_OF_TRON = 128 * 1024;
/** Numbers about each: the first two are places after that at which the walk began. */
const NUMBERS = 16;
const LEAF = 32;

/** What a walk found of a transaction of TRON; places are of the reply. */
export interface WalkedTransaction {
  start: number;
  end: number;
  type: number;
  /** Number of the outcome that the block states. */
  result: number;
  /** Whether it is sent by a watched address, or would pass TRX to one by itself. */
  named: boolean;
  /** Where the digits of its id begin. */
  txid: number;
  /** SHA-256 of its merkle leaf. */
  leafHash: Buffer;
}

/** Walks over some transactions of a list, the first of which begins at `from`, as tron.as says; it ends before one that is unusual in any way. */
export function walkTransactions(reply: Uint8Array, from: number, watched: HasKey): WalkedTransaction[] {
  put(reply.subarray(from, from + PART_OF_TRON));
  has = watched;
  const count = kernel.walkTransactions(MOST_WALKED);
  const found: WalkedTransaction[] = [];
  for (let i = 0, at = FOUND / 4; i < count; i++, at += NUMBERS) {
    const number = (place: number): number => words[at + place] as number;
    const leafHash = Buffer.from(memory.subarray(4 * at + LEAF, 4 * at + LEAF + HASH_BYTES));
    found.push({
      start: from + number(0),
      end: from + number(1),
      type: number(2),
      result: number(3),
      named: number(4) !== 0,
      txid: from + number(5),
      leafHash,
    });
  }
  return found;
}

/** What the bytes of a transaction of TRON say that it does, in as few words as walkTransactions compares; undefined when anything about them is unusual. */
export function walkContract(rawData: Uint8Array): { type: number; owner: string; recipient: string | null; rawAmount: number } | undefined {
  put(rawData);
  if (kernel.walkContract(rawData.length) === 0) return undefined;
  const [type, owner, recipient] = words.subarray(FOUND / 4) as unknown as [number, number, number];
  const address = (at: number): string => memory.toString('hex', at, at + KEY_HASH_BYTES);
  return { type, owner: address(owner), recipient: recipient === 0 ? null : address(recipient), rawAmount: memory.readDoubleLE(FOUND + 16) };
}

/** What an outcome must agree with: its transaction's id, the number of what the block says came of it (-1 for what has none), and whether a contract ran. */
export interface ExpectedOutcome {
  txid: string;
  result: number;
  ran: boolean;
}

/** What a walk found of an outcome. */
export interface WalkedOutcome {
  start: number;
  end: number;
  /** Whether it has to be read: it names a watched address where coins or tokens moved, or anything about it is unusual. */
  toRead: boolean;
  /** How many internal transactions it lists, of effect or not. */
  internals: number;
}

/** Where the kernel expects these: an id as it stands in JSON, and two numbers. */
const EXPECTED = 80;
const RESULT = 68 / 4;
const RAN = 72 / 4;

/**
 * Walks over the outcomes of these transactions, at most MOST_WALKED, the first of which begins at `from`, as tron.as says. It ends before one that belongs to another
 * transaction, or of which not even the end can be told.
 */
export function walkOutcomes(
  reply: Uint8Array,
  from: number,
  expected: readonly ExpectedOutcome[],
  block: { height: number; timeMs: number },
  watched: HasKey,
): WalkedOutcome[] {
  const [height, time] = [String(block.height), String(block.timeMs)];
  memory.write(height, HEIGHT, 'latin1');
  memory.write(time, BLOCK_HASH, 'latin1');
  has = watched;
  for (const part of [PART_OF_TRON, LARGEST]) {
    put(reply.subarray(from, from + part));
    for (const [i, { txid, result, ran }] of expected.entries()) {
      const at = TXIDS + i * EXPECTED;
      memory.write(`"${txid}"`, at, 'latin1');
      words[at / 4 + RESULT] = result;
      words[at / 4 + RAN] = ran ? 1 : 0;
    }
    const count = kernel.walkOutcomes(expected.length, height.length, time.length);
    if (count === 0 && part < LARGEST && from + part < reply.length) continue;
    return Array.from({ length: count }, (_, i) => {
      const number = (place: number): number => words[FOUND / 4 + i * NUMBERS + place] as number;
      return { start: from + number(0), end: from + number(1), toRead: number(2) !== 0, internals: number(3) };
    });
  }
  return [];
}

/** Looks at what is in a reply, one after the other. */
export interface Look {
  /** The place after what begins at `at`; 0 when it is doubted, or longer than the kernel has room for. */
  next(at: number): number;
  /** Somebody else may have used the kernel since. */
  forget(): void;
  /** Where in the reply the kernel has the beginning of what it has. */
  base(): number;
}

/** Has the kernel look at what begins at a place, and at as much as fits in `part` after it before anything is copied again. */
function openLook(bytes: Uint8Array, part: number, look: (at: number) => number, prepare: () => void = () => undefined): Look {
  let [from, to] = [0, 0];
  const open = (at: number, length: number): number => {
    [from, to] = [at, Math.min(bytes.length, at + length)];
    put(bytes.subarray(from, to));
    prepare();
    return look(0);
  };
  // A number that ends with a part may go on in the next one.
  const isCut = (end: number): boolean => to < bytes.length && (end === 0 || from + end === to);
  return {
    next(at) {
      let end = at < to ? look(at - from) : 0;
      if (at >= to || (at > from && isCut(end))) end = open(at, part);
      if (part < LARGEST && isCut(end)) end = open(at, LARGEST);
      return end === 0 || isCut(end) ? 0 : from + end;
    },
    forget() {
      to = 0;
    },
    base: () => from,
  };
}

/** As much as a block's receipts mostly take: memory that was used once is not given back. */
const PART_OF_VALUES = 1024 * 1024;

/** Looks at values of the plainest form (json-bytes.ts). */
export function lookAtValues(bytes: Uint8Array): Look {
  return openLook(bytes, PART_OF_VALUES, kernel.endOfValue);
}

/** How much of a trace is looked at in one go. */
export const PART_OF_TRACES = 256 * 1024;

/** What was found of the frame that was looked at last, by the number of it: the first three are places in the reply. */
export const FRAME_TXID = 1;
export const FRAME_FROM = 2;
/** 0 where there is none. */
export const FRAME_TO = 3;
/** A reward for making the block, of which nothing else is known. */
export const FRAME_REWARDS = 0;
export const FRAME_FAILED = 4;
/** Whether a contract ends. */
export const FRAME_ENDS = 5;
/** Whether it may move coins of or to a watched address. */
export const FRAME_NAMED = 6;
/** How many steps its place among the calls has. */
export const FRAME_DEPTH = 7;
export const frame = words.subarray(FRAME / 4, FRAME / 4 + 8);
export const steps = words.subarray(STEPS / 4, STEPS / 4 + DEEPEST_CALL);

/** Looks at frames of an answer to `trace_block`, as traces.as says. */
export function lookAtFrames(bytes: Uint8Array, blockHash: string, watched: HasKey): Look {
  return openLook(bytes, PART_OF_TRACES, kernel.walkFrame, () => {
    memory.write(`"${blockHash}"`, BLOCK_HASH, 'latin1');
    has = watched;
  });
}
