import type { WatchSet } from '#shared/chains/chain.ts';
import { hasGoodChecksum, KEY_HASH_BYTES, prefixOf, readKeyHash } from '#shared/chains/bitcoin/key-hash.ts';
import { PAIRS } from '#shared/chains/hex-bytes.ts';
import { isAddressBytes } from '#shared/chains/tron/address.ts';
import { ADDRESS_BYTES, decodeBase58 } from '#shared/chains/tron/base58.ts';

/** Words of 32 bits in a 20-byte key. */
const WORDS = 5;
const FIRST_CAPACITY = 1 << 10;
/** Above this fill a probe sequence grows long. */
const FULLEST = 0.6;
/** Keys of one piece of memory; pieces are added and never copied. */
const KEYS_PER_PIECE = 1 << 14;
const PIECE_BITS = 14;
const HEX_ADDRESS_LENGTH = 42;
const SPACE = 0x20;
const HEX_ADDRESS = /^0x[0-9a-f]{40}$/;

export interface AddressTable extends WatchSet {
  /** Adds one canonical address (0x…, T… or P2WPKH, of one network) in O(1); false when it was there already. @throws RangeError when it is not one */
  add(address: string): boolean;
  /**
   * Adds many, joined by spaces, as the database has them: checksums were right when these were made, and nobody can pay to one that is
   * not, so a million of them are not computed again. They are found from the next question on, when the index is made for all of them at once.
   * @throws RangeError at the first that has not even the shape of one
   */
  addAll(addresses: string): void;
  /** Whether these twenty bytes are those of an address in the table. */
  hasKey(bytes: Uint8Array, at: number): boolean;
  readonly size: number;
}

/**
 * The watch set as 20-byte keys one after the other, and a flat open-addressing index over them: a tag of one byte and the number of a key per
 * slot, 28 to 37 bytes per address in all and nothing per address per block, so that a million addresses fit in tens of megabytes (performance.md
 * 0.3). When it grows only the index is made anew, after the old one was let go; of many that are added together it is made once, when they are all there. A look-up that misses, nearly every one, looks at tags and no key; it
 * costs the parsing of eight bytes for EVM, of one base58 number for TRON and of 32 digits for P2WPKH; no checksum is computed for it.
 */
export function createAddressTable(): AddressTable {
  let capacity = FIRST_CAPACITY;
  /** Of the key in each slot: 0 is a free one. */
  let tags = new Uint8Array(capacity);
  let numbers = new Uint32Array(capacity);
  const pieces: Uint32Array[] = [];
  let size = 0;
  /** How many of the keys the index refers to: the first ones. */
  let indexed = 0;
  const key = new Uint32Array(WORDS);
  /** Of the P2WPKH addresses in the table; undefined while there is none. */
  let prefix: string | undefined;

  const pieceOf = (number: number): Uint32Array => pieces[number >>> PIECE_BITS] as Uint32Array;
  const placeOf = (number: number): number => (number & (KEYS_PER_PIECE - 1)) * WORDS;

  const isKey = (number: number): boolean => {
    const piece = pieceOf(number);
    const place = placeOf(number);
    let word = 0;
    while (word < WORDS && piece[place + word] === key[word]) word += 1;
    return word === WORDS;
  };

  /** The first slot from `slot` on that has this tag, or the free one before it. */
  const next = (slot: number, tag: number): number => {
    let at = slot;
    while (tags[at] !== tag && tags[at] !== 0) at = (at + 1) & (capacity - 1);
    return at;
  };

  /** Slot that holds the key in `key`, or the free one where it belongs. */
  const find = (): number => {
    const hash = hashOf(key[0] as number, key[WORDS - 1] as number);
    const tag = tagOf(hash);
    let slot = next(hash & (capacity - 1), tag);
    while (tags[slot] === tag && !isKey(numbers[slot] as number)) slot = next((slot + 1) & (capacity - 1), tag);
    return slot;
  };

  /** Whether a key with these ends is there; the common answer is no, and needs no key. */
  const mayHave = (first: number, last: number): boolean => {
    if (indexed < size) indexAll();
    const hash = hashOf(first, last);
    return tags[next(hash & (capacity - 1), tagOf(hash))] !== 0;
  };

  const hasThis = (): boolean => {
    if (indexed < size) indexAll();
    return tags[find()] !== 0;
  };

  /** Makes the index anew, for that many keys, of those it referred to. */
  const growFor = (keys: number): void => {
    while (keys / capacity > FULLEST) capacity *= 2;
    // Nothing refers to the old ones any more when these are made.
    tags = new Uint8Array(0);
    numbers = new Uint32Array(0);
    tags = new Uint8Array(capacity);
    numbers = new Uint32Array(capacity);
    for (let number = 0; number < indexed; number++) {
      const piece = pieceOf(number);
      const place = placeOf(number);
      const hash = hashOf(piece[place] as number, piece[place + WORDS - 1] as number);
      let slot = hash & (capacity - 1);
      while (tags[slot] !== 0) slot = (slot + 1) & (capacity - 1);
      refer(slot, hash, number);
    }
  };

  const refer = (slot: number, hash: number, number: number): void => {
    tags[slot] = tagOf(hash);
    numbers[slot] = number;
  };

  /** Has the index refer to the keys that were added together; one that was there already is dropped. */
  const indexAll = (): void => {
    if (size / capacity > FULLEST) growFor(size);
    const added = size;
    for (let number = indexed; number < added; number++) {
      const piece = pieceOf(number);
      const place = placeOf(number);
      for (let word = 0; word < WORDS; word++) key[word] = piece[place + word] as number;
      const slot = find();
      if (tags[slot] !== 0) continue;
      refer(slot, hashOf(key[0] as number, key[WORDS - 1] as number), indexed);
      if (indexed < number) pieceOf(indexed).set(key, placeOf(indexed));
      indexed += 1;
    }
    size = indexed;
    pieces.length = Math.ceil(size / KEYS_PER_PIECE);
  };

  const bytes = new Uint8Array(Math.max(ADDRESS_BYTES, KEY_HASH_BYTES));
  /** Reads the twenty bytes inside a base58 address into `key`; false when the text cannot be one. */
  const parseBase58 = (address: string): boolean => {
    if (!decodeBase58(address, bytes)) return false;
    takeBytes(1);
    return true;
  };
  const takeBytes = (from: number): void => {
    for (let word = 0; word < WORDS; word++) key[word] = wordAt(bytes, from + word * 4);
  };
  /** The same of a P2WPKH address; every other kind of address of that chain is none of ours. */
  const parseKeyHash = (address: string): boolean => {
    if (!readKeyHash(address, bytes)) return false;
    takeBytes(0);
    return true;
  };
  /** Reads one canonical address into `key`, whatever its family; false when it is none of this table. */
  const parse = (address: string, checksums: boolean): boolean => {
    if (prefix === undefined && address.length === HEX_ADDRESS_LENGTH && parseHex(address, 0, key)) return true;
    const hrp = prefixOf(address);
    if (hrp !== undefined && (prefix ?? hrp) === hrp && parseKeyHash(address) && (!checksums || hasGoodChecksum(address, hrp))) {
      prefix = hrp;
      return true;
    }
    return prefix === undefined && parseBase58(address) && (!checksums || isAddressBytes(bytes));
  };

  const read = (address: string, checksums: boolean): void => {
    if (!parse(address, checksums)) throw new RangeError(`not an address of 20 bytes: ${address}`);
  };

  /** Puts what is in `key` behind the other keys, where the index does not know of it yet. */
  const append = (): void => {
    if (size % KEYS_PER_PIECE === 0) pieces.push(new Uint32Array(KEYS_PER_PIECE * WORDS));
    pieceOf(size).set(key, placeOf(size));
    size += 1;
  };

  return {
    has(address) {
      if (prefix !== undefined) return prefixOf(address) === prefix && parseKeyHash(address) && hasThis() && hasGoodChecksum(address, prefix);
      if (address.startsWith('T')) return parseBase58(address) && hasThis() && isAddressBytes(bytes);
      const first = Number.parseInt(address.slice(2, 10), 16) >>> 0;
      const last = Number.parseInt(address.slice(34, 42), 16) >>> 0;
      return mayHave(first, last) && HEX_ADDRESS.test(address) && parseHex(address, 0, key) && hasThis();
    },
    hasKey(from, at) {
      if (!mayHave(wordAt(from, at), wordAt(from, at + 16))) return false;
      for (let word = 0; word < WORDS; word++) key[word] = wordAt(from, at + 4 * word);
      return hasThis();
    },
    add(address) {
      if (indexed < size) indexAll();
      read(address, true);
      const slot = find();
      if (tags[slot] !== 0) return false;
      append();
      indexAll();
      return true;
    },
    addAll(addresses) {
      const text = Buffer.from(addresses);
      for (let start = 0; start < text.length; ) {
        // No text of its own for each of a million.
        const isHex = prefix === undefined && (text[start + HEX_ADDRESS_LENGTH] ?? SPACE) === SPACE && readHex(text, start, key);
        const space = isHex ? start + HEX_ADDRESS_LENGTH : text.indexOf(SPACE, start);
        const end = space < 0 ? text.length : space;
        if (!isHex) read(addresses.slice(start, end), false);
        append();
        start = end + 1;
      }
    },
    get size() {
      if (indexed < size) indexAll();
      return size;
    },
  };
}

/** Addresses are hashes already; both ends are used so that made-up ones that count upwards do not meet either. */
function hashOf(first: number, last: number): number {
  return first ^ Math.imul(last, 0x9e37_79b1);
}

/** What a slot says of its key: bits that say nothing of the slot while there are less than 2^24, and never 0. */
function tagOf(hash: number): number {
  return ((hash >>> 24) % 255) + 1;
}

/** Four bytes as an unsigned number, the first one highest. */
function wordAt(bytes: Uint8Array, at: number): number {
  return (((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)) >>> 0;
}

const ZERO_X = 0x3078;
/** The same of one that stands in bytes; false also where it does not end before they do. */
function readHex(text: Uint8Array, start: number, into: Uint32Array): boolean {
  if ((((text[start] as number) << 8) | (text[start + 1] as number)) !== ZERO_X || start + HEX_ADDRESS_LENGTH > text.length) return false;
  let wrong = 0;
  for (let word = 0, at = start + 2; word < WORDS; word++, at += 8) {
    const high = (pairAt(text, at) << 8) | pairAt(text, at + 2);
    const low = (pairAt(text, at + 4) << 8) | pairAt(text, at + 6);
    wrong |= high | low;
    into[word] = (high << 16) | low;
  }
  return wrong >= 0;
}

/** The byte of two digits; below zero when one is none. */
function pairAt(text: Uint8Array, at: number): number {
  return PAIRS[((text[at] as number) << 8) | (text[at + 1] as number)] as number;
}

const DIGITS = new Int8Array(128).fill(-1);
for (const [value, digit] of [...'0123456789abcdef'].entries()) DIGITS[digit.charCodeAt(0)] = value;

/** Reads the canonical EVM address that begins at `start`; false when it is anything else, with something left in `into`. */
function parseHex(text: string, start: number, into: Uint32Array): boolean {
  if (text.charCodeAt(start) !== 0x30 || text.charCodeAt(start + 1) !== 0x78) return false;
  let wrong = 0;
  for (let word = 0, at = start + 2; word < WORDS; word++) {
    let value = 0;
    for (const end = at + 8; at < end; at++) {
      const digit = DIGITS[text.charCodeAt(at)] ?? -1;
      wrong |= digit;
      value = (value << 4) | digit;
    }
    into[word] = value;
  }
  return wrong >= 0;
}
