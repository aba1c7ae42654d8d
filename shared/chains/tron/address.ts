import { hash } from 'node:crypto';
import { Invariant } from '#shared/core/errors.ts';
import type { AddressCodec } from '../chain.ts';
import { ADDRESS_BYTES, decodeBase58, encodeBase58 } from './base58.ts';

/** First byte of every address; the test networks use it too, 0xa0 was given up. */
const PREFIX = 0x41;
const CHECKSUM_AT = 21;
const SHAPE = /^T[1-9A-HJ-NP-Za-km-z]{33}$/;
const HEX_BODY = /^[0-9a-f]{40}$/;
const TXID = /^[0-9a-fA-F]{64}$/;
const ZERO = '0'.repeat(40);
/** The same exchanges and contracts appear in every block; writing each address once is most of the cost of a block. */
const REMEMBERED = 50_000;
const written = new Map<string, string>();

/** What else people paste, so that the refusal names it. */
const MISTAKES: readonly (readonly [RegExp, string])[] = [
  [/^(0x)?41[0-9a-fA-F]{40}$/i, 'is the hexadecimal form; give the base58 form, which begins with T'],
  [/^0x[0-9a-fA-F]{40}$/i, 'is an EVM address, not a TRON one'],
  [/^\s|\s$/, 'has white space around it'],
];

/**
 * TRON addresses: base58check text only, inside and for people (decisions 10); the hexadecimal form is refused everywhere.
 * The zero address is nobody's, so it is refused.
 */
export const tronAddress: AddressCodec = {
  parse(text) {
    const body = SHAPE.test(text) ? bodyOf(text) : undefined;
    if (body !== undefined) return body === ZERO ? { ok: false, problem: 'is the zero address' } : { ok: true, canonical: text };
    if (SHAPE.test(text)) return { ok: false, problem: 'has a wrong checksum' };
    const mistake = MISTAKES.find(([pattern]) => pattern.test(text));
    return { ok: false, problem: mistake?.[1] ?? 'must be a TRON address: T followed by 33 base58 characters' };
  },
  display: (canonical) => canonical,
  parseTxid: (text) =>
    TXID.test(text) ? { ok: true, canonical: text.toLowerCase() } : { ok: false, problem: 'must be a TRON transaction hash: 64 hexadecimal digits without 0x' },
};

/**
 * The canonical address of 20 bytes as nodes write them: 40 lower-case digits, with or without 41 or 0x before them.
 * @throws Invariant when they are anything else
 */
export function toBase58(hex: string): string {
  const body = hex.startsWith('0x') || (hex.length === 42 && hex.startsWith('41')) ? hex.slice(2) : hex;
  const known = written.get(body);
  if (known !== undefined) return known;
  if (!HEX_BODY.test(body)) throw new Invariant(`not the 20 bytes of a TRON address: ${hex}`);
  const bytes = new Uint8Array(ADDRESS_BYTES);
  bytes[0] = PREFIX;
  for (let i = 0; i < 20; i++) bytes[i + 1] = Number.parseInt(body.slice(2 * i, 2 * i + 2), 16);
  bytes.set(checksumOf(bytes), CHECKSUM_AT);
  const address = encodeBase58(bytes);
  if (written.size >= REMEMBERED) written.clear();
  written.set(body, address);
  return address;
}

/** The 20 bytes of a canonical address as 40 lower-case digits, without prefix. @throws Invariant when it is not one */
export function toHex20(base58: string): string {
  const body = bodyOf(base58);
  if (body === undefined) throw new Invariant(`not a TRON address: ${base58}`);
  return body;
}

/** Undefined when the text is not 25 bytes of base58 with the right prefix and checksum. */
function bodyOf(text: string): string | undefined {
  const bytes = new Uint8Array(ADDRESS_BYTES);
  if (!decodeBase58(text, bytes) || !isChecked(bytes)) return undefined;
  return Buffer.from(bytes.subarray(1, CHECKSUM_AT)).toString('hex');
}

/** Whether the bytes inside a base58 text are those of an address that somebody may have: prefix and checksum are right, and it is not the zero address. */
export function isAddressBytes(bytes: Uint8Array): boolean {
  return isChecked(bytes) && bytes.subarray(1, CHECKSUM_AT).some((byte) => byte !== 0);
}

function isChecked(bytes: Uint8Array): boolean {
  if (bytes[0] !== PREFIX) return false;
  const checksum = checksumOf(bytes);
  for (let i = 0; i < 4; i++) if (bytes[CHECKSUM_AT + i] !== checksum[i]) return false;
  return true;
}

function checksumOf(bytes: Uint8Array): Uint8Array {
  return hash('sha256', hash('sha256', bytes.subarray(0, CHECKSUM_AT), 'buffer'), 'buffer').subarray(0, 4);
}
