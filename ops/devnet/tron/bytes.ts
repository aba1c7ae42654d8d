import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';

/** Hex text without 0x, lower case: how a TRON node writes bytes. */
export type Hex = string;

const base58check = createBase58check(sha256);

export function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(bytes).digest());
}

export function toHex(bytes: Uint8Array): Hex {
  return Buffer.from(bytes).toString('hex');
}

/** @throws Error when the text is not whole bytes of hex */
export function fromHex(hex: Hex): Uint8Array {
  if (hex.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(hex)) throw new Error(`INVALID hex String: ${hex}`);
  return new Uint8Array(Buffer.from(hex, 'hex'));
}

/** Hex of text, as nodes write messages. */
export function textToHex(text: string): Hex {
  return Buffer.from(text, 'utf8').toString('hex');
}

/** Text of hex, as `visible` shows names. */
export function hexToText(hex: Hex): string {
  return Buffer.from(hex, 'hex').toString('utf8');
}

/** The `T…` form of a 41-prefixed address. */
export function toBase58(hex41: Hex): string {
  return base58check.encode(fromHex(hex41));
}

/** The 41-prefixed hex of an address in either form, or null when it is none. */
export function parseAddress(text: string): Hex | null {
  if (/^41[0-9a-fA-F]{40}$/.test(text)) return text.toLowerCase();
  try {
    const bytes = base58check.decode(text);
    return bytes.length === 21 && bytes[0] === 0x41 ? toHex(bytes) : null;
  } catch {
    return null;
  }
}

/** A 32-byte word of calldata or of a log. */
export function word(value: bigint): Hex {
  return value.toString(16).padStart(64, '0');
}

/** The 32-byte word of a 41-prefixed address. */
export function addressWord(hex41: Hex): Hex {
  return hex41.slice(2).padStart(64, '0');
}
