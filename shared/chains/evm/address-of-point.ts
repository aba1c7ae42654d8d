import { keccak } from './keccak.ts';

const ADDRESS_BYTES = 20;

/** Canonical address of a public key, given as both coordinates of its point, 64 bytes: the last twenty bytes of their hash. Pure. */
export function addressOfPoint(point: Uint8Array): string {
  return `0x${Buffer.from(keccak(point).subarray(-ADDRESS_BYTES)).toString('hex')}`;
}
