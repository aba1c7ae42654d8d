const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
/** What follows the network's prefix in an address of twenty bytes: the separator, the version, 32 digits and the checksum. */
const TAIL = 40;
const CHECKSUM = 6;
/** Generator of the checksum, and what a good one leaves of it under version 0 (BIP-173). */
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3] as const;
const GOOD = 1;

const VALUES = new Int8Array(128).fill(-1);
for (const [value, digit] of [...ALPHABET].entries()) VALUES[digit.charCodeAt(0)] = value;

/** How many bytes `readKeyHash` writes. */
export const KEY_HASH_BYTES = 20;

/** The network's prefix (`bc`, `tb`, `bcrt`) of an address as long as one of twenty bytes; undefined where it has no such shape. */
export function prefixOf(address: string): string | undefined {
  const separator = address.length - TAIL;
  return separator > 0 && address.charCodeAt(separator) === 0x31 && address.charCodeAt(separator + 1) === 0x71 ? address.slice(0, separator) : undefined;
}

/**
 * Reads the twenty bytes inside a P2WPKH address of lower-case letters (BIP-173), whatever its checksum; false when it cannot be
 * one. Asked for every output of every block, so it makes no objects.
 */
export function readKeyHash(address: string, into: Uint8Array): boolean {
  const start = address.length - TAIL + 2;
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let digit = start; digit < address.length - CHECKSUM; digit++) {
    const value = VALUES[address.charCodeAt(digit)] ?? -1;
    if (value < 0) return false;
    bits = ((bits << 5) | value) & 0xfff;
    held += 5;
    if (held < 8) continue;
    held -= 8;
    into[at] = (bits >> held) & 0xff;
    at += 1;
  }
  return at === KEY_HASH_BYTES;
}

/** Whether the last six digits are the checksum of everything before them. */
export function hasGoodChecksum(address: string, prefix: string): boolean {
  let sum = 1;
  const take = (value: number): void => {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    // By number: a million addresses are read at a start, 41 digits each.
    for (let bit = 0; bit < GENERATOR.length; bit++) if ((top >> bit) & 1) sum ^= GENERATOR[bit] as number;
  };
  for (const letter of prefix) take(letter.charCodeAt(0) >> 5);
  take(0);
  for (const letter of prefix) take(letter.charCodeAt(0) & 31);
  for (let at = prefix.length + 1; at < address.length; at++) {
    const value = VALUES[address.charCodeAt(at)] ?? -1;
    if (value < 0) return false;
    take(value);
  }
  return sum === GOOD;
}
