import type { WatchSet } from '#shared/chains/chain.ts';

/** Words of 32 bits in a 20-byte key. */
const WORDS = 5;
const FIRST_CAPACITY = 1 << 10;
/** Above this fill a probe sequence grows long. */
const FULLEST = 0.6;
const HEX_ADDRESS = /^0x[0-9a-f]{40}$/;

export interface AddressTable extends WatchSet {
  /** Adds one canonical address in O(1); false when it was there already. @throws RangeError when it is not 20 bytes of hex */
  add(address: string): boolean;
  readonly size: number;
}

/**
 * The watch set as one flat open-addressing table of 20-byte keys: about 35 bytes per address and nothing per address per
 * block, so that a million addresses fit in tens of megabytes (performance.md 0.3). A look-up that misses, nearly every one,
 * costs the parsing of eight bytes.
 */
export function createAddressTable(): AddressTable {
  let capacity = FIRST_CAPACITY;
  let keys = new Uint32Array(capacity * WORDS);
  let used = new Uint8Array(capacity);
  let size = 0;
  const key = new Uint32Array(WORDS);

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

  return {
    has(address) {
      // The common answer is no, and needs no more than two words.
      const first = Number.parseInt(address.slice(2, 10), 16) >>> 0;
      const end = Number.parseInt(address.slice(34, 42), 16) >>> 0;
      let slot = hashOf(first, end) & (capacity - 1);
      while (used[slot] === 1 && keys[slot * WORDS] !== first) slot = (slot + 1) & (capacity - 1);
      if (used[slot] !== 1 || !HEX_ADDRESS.test(address)) return false;
      parseKey(address, key);
      return used[find(key, 0)] === 1;
    },
    add(address) {
      if (!HEX_ADDRESS.test(address)) throw new RangeError(`not an address of 20 bytes: ${address}`);
      if ((size + 1) / capacity > FULLEST) grow();
      parseKey(address, key);
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

function parseKey(address: string, into: Uint32Array): void {
  for (let word = 0; word < WORDS; word++) into[word] = Number.parseInt(address.slice(2 + word * 8, 10 + word * 8), 16);
}
