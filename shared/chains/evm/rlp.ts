import { toRlp } from 'viem';

/** What RLP can write: bytes, and lists of what it can write. */
export type Rlp = Uint8Array | readonly Rlp[];

/** Recursive length prefix (Yellow Paper, appendix B). Pure. */
export function encodeRlp(item: Rlp): Uint8Array {
  return toRlp(item, 'bytes');
}

/** A number as RLP writes it: no leading zeros, nothing for 0. */
export function quantity(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array();
  const hex = value.toString(16);
  return bytes(`0x${hex.length % 2 === 0 ? hex : `0${hex}`}`);
}

/** Bytes of 0x hex. */
export function bytes(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex');
}
