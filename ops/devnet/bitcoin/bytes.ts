import { hash } from 'node:crypto';

/** SHA-256 twice, which is how Bitcoin hashes transactions and headers. */
export function hash256(bytes: Uint8Array): Uint8Array {
  return sha256(sha256(bytes));
}

export function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer');
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

/** Bytes of a hexadecimal text; null when it is none. */
export function fromHex(text: string): Uint8Array | null {
  return /^([0-9a-fA-F]{2})*$/.test(text) ? new Uint8Array(Buffer.from(text, 'hex')) : null;
}

/** How a hash is written: its bytes backwards. */
export function idOf(hash: Uint8Array): string {
  return toHex(Uint8Array.from(hash).reverse());
}

/** The hash behind an id, as it stands in transactions and headers. */
export function hashOf(id: string): Uint8Array {
  return new Uint8Array(Buffer.from(id, 'hex')).reverse();
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
