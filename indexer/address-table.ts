import type { WatchSet } from '#shared/chains/chain.ts';
import { hasGoodChecksum, KEY_HASH_BYTES, prefixOf, readKeyHash } from '#shared/chains/bitcoin/key-hash.ts';
import { tronAddress } from '#shared/chains/tron/address.ts';
import { ADDRESS_BYTES, decodeBase58 } from '#shared/chains/tron/base58.ts';

/** Words of 32 bits in a 20-byte key. */
const WORDS = 5;
const FIRST_CAPACITY = 1 << 10;
/** Above this fill a probe sequence grows long. */
const FULLEST = 0.6;
const HEX_ADDRESS = /^0x[0-9a-f]{40}$/;

export interface AddressTable extends WatchSet {
  /** Adds one canonical address (0x…, T… or P2WPKH, of one network) in O(1); false when it was there already. @throws RangeError when it is not one */
  add(address: string): boolean;
  /** Whether these twenty bytes are those of an address in the table. */
  hasKey(bytes: Uint8Array, at: number): boolean;
  readonly size: number;
}

/**
 * The watch set as one flat open-addressing table of 20-byte keys: about 35 bytes per address and nothing per address per
 * block, so that a million addresses fit in tens of megabytes (performance.md 0.3). A look-up that misses, nearly every one,
 * costs the parsing of eight bytes for EVM, of one base58 number for TRON and of 32 digits for P2WPKH; no checksum is computed for it.
 */
export function createAddressTable(): AddressTable {
  let capacity = FIRST_CAPACITY;
  let keys = new Uint32Array(capacity * WORDS);
  let used = new Uint8Array(capacity);
  let size = 0;
  const key = new Uint32Array(WORDS);
  /** Of the P2WPKH addresses in the table; undefined while there is none. */
  let prefix: string | undefined;

  /** Slot that holds the key in `words` at `offset`, or the free one where it belongs. */
  const find = (words: Uint32Array, offset: number): number => {
    let slot = hashOf(words[offset] as number, words[offset + WORDS - 1] as number) & (capacity - 1);
    while (used[slot] === 1) {
      let word = 0;
      while (word < WORDS && keys[slot * WORDS + word] === words[offset + word]) word += 1;
      if (word === WORDS) return slot;
      slot = (slot + 1) & (capacity - 1);
    }
    return slot;
  };

  const grow = (): void => {
    const before = { keys, used, capacity };
    capacity *= 2;
    keys = new Uint32Array(capacity * WORDS);
    used = new Uint8Array(capacity);
    for (let slot = 0; slot < before.capacity; slot++) {
      if (before.used[slot] !== 1) continue;
      const to = find(before.keys, slot * WORDS);
      used[to] = 1;
      for (let word = 0; word < WORDS; word++) keys[to * WORDS + word] = before.keys[slot * WORDS + word] as number;
    }
  };

  const bytes = new Uint8Array(Math.max(ADDRESS_BYTES, KEY_HASH_BYTES));
  /** Reads the twenty bytes inside a base58 address into `key`; false when the text cannot be one. */
  const parseBase58 = (address: string): boolean => {
    if (!decodeBase58(address, bytes)) return false;
    takeBytes(1);
    return true;
  };
  const takeBytes = (from: number): void => {
    for (let word = 0; word < WORDS; word++) {
      const at = from + word * 4;
      key[word] = ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);
    }
  };
  /** The same of a P2WPKH address; every other kind of address of that chain is none of ours. */
  const parseKeyHash = (address: string): boolean => {
    if (!readKeyHash(address, bytes)) return false;
    takeBytes(0);
    return true;
  };

  return {
    has(address) {
      if (prefix !== undefined) return prefixOf(address) === prefix && parseKeyHash(address) && used[find(key, 0)] === 1 && hasGoodChecksum(address, prefix);
      if (address.startsWith('T')) return parseBase58(address) && used[find(key, 0)] === 1 && isBase58Address(address);
      // The common answer is no, and needs no more than two words.
      const first = Number.parseInt(address.slice(2, 10), 16) >>> 0;
      const end = Number.parseInt(address.slice(34, 42), 16) >>> 0;
      let slot = hashOf(first, end) & (capacity - 1);
      while (used[slot] === 1 && keys[slot * WORDS] !== first) slot = (slot + 1) & (capacity - 1);
      if (used[slot] !== 1 || !HEX_ADDRESS.test(address)) return false;
      parseHex(address, key);
      return used[find(key, 0)] === 1;
    },
    hasKey(from, at) {
      const first = wordAt(from, at);
      let slot = hashOf(first, wordAt(from, at + 16)) & (capacity - 1);
      // As above: nearly every one is told from what is in the table by its first word.
      while (used[slot] === 1 && keys[slot * WORDS] !== first) slot = (slot + 1) & (capacity - 1);
      if (used[slot] !== 1) return false;
      for (let word = 0; word < WORDS; word++) key[word] = wordAt(from, at + 4 * word);
      return used[find(key, 0)] === 1;
    },
    add(address) {
      const hrp = prefixOf(address);
      const keyHash = hrp !== undefined && (prefix ?? hrp) === hrp && parseKeyHash(address) && hasGoodChecksum(address, hrp);
      if (!keyHash && (prefix !== undefined || (!HEX_ADDRESS.test(address) && !isBase58Address(address))))
        throw new RangeError(`not an address of 20 bytes: ${address}`);
      if ((size + 1) / capacity > FULLEST) grow();
      if (keyHash) {
        prefix = hrp;
        parseKeyHash(address);
      } else if (address.startsWith('T')) parseBase58(address);
      else parseHex(address, key);
      const slot = find(key, 0);
      if (used[slot] === 1) return false;
      used[slot] = 1;
      keys.set(key, slot * WORDS);
      size += 1;
      return true;
    },
    get size() {
      return size;
    },
  };
}

/** Addresses are hashes already; both ends are used so that made-up ones that count upwards do not meet either. */
function hashOf(first: number, last: number): number {
  return first ^ Math.imul(last, 0x9e37_79b1);
}

/** Four bytes as an unsigned number, the first one highest. */
function wordAt(bytes: Uint8Array, at: number): number {
  return (((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)) >>> 0;
}

function isBase58Address(address: string): boolean {
  return tronAddress.parse(address).ok;
}

function parseHex(address: string, into: Uint32Array): void {
  for (let word = 0; word < WORDS; word++) into[word] = Number.parseInt(address.slice(2 + word * 8, 10 + word * 8), 16);
}
