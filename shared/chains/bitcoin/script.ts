import { hash } from 'node:crypto';
import { bech32, bech32m } from '@scure/base';
import { base58check } from './base58.ts';
import type { BitcoinParams } from './params.ts';

/** Longer scripts without an address are named by their hash: anyone may make one of ten thousand bytes. */
const LONGEST_NAMED_BYTES = 60;
/** A witness program of 40 bytes; nothing longer has an address. */
const LONGEST_WITH_ADDRESS_BYTES = 42;
const OP_1 = 0x51;
const OP_16 = 0x60;
/** The same exchanges are in every block; writing each address once is most of the cost of a block. */
const REMEMBERED = 50_000;
const written = new Map<string, Map<string, string | null>>();

/**
 * The address of an output script, given as lower-case hexadecimal digits; null where the script has none (a bare public
 * key, a bare multisig, data).
 */
export function addressOfScript(script: string, params: BitcoinParams): string | null {
  if (script.length > 2 * LONGEST_WITH_ADDRESS_BYTES) return null;
  const known = written.get(params.hrp) ?? new Map<string, string | null>();
  const before = known.get(script);
  if (before !== undefined) return before;
  const address = writeAddress(Buffer.from(script, 'hex'), params);
  if (known.size >= REMEMBERED) known.clear();
  known.set(script, address);
  written.set(params.hrp, known);
  return address;
}

/** How the books name whoever holds an output: by its address, or by the script where it has none. */
export function ownerOfScript(script: string, params: BitcoinParams): string {
  const address = addressOfScript(script, params);
  if (address !== null) return address;
  if (script.length <= 2 * LONGEST_NAMED_BYTES) return `script:${script}`;
  return `script:sha256:${hash('sha256', Buffer.from(script, 'hex'), 'hex')}`;
}

/** The script of a witness program (BIP-141). */
export function witnessScript(version: number, program: Uint8Array): string {
  const opcode = version === 0 ? 0 : OP_1 + version - 1;
  return Buffer.from([opcode, program.length, ...program]).toString('hex');
}

/** A witness address of any version, written as BIP-173 (version 0) or BIP-350 says. */
export function witnessAddress(version: number, program: Uint8Array, hrp: string): string {
  const code = version === 0 ? bech32 : bech32m;
  return code.encode(hrp, [version, ...code.toWords(program)]);
}

function writeAddress(script: Uint8Array, params: BitcoinParams): string | null {
  const [first = -1, second = -1] = script;
  if (script.length === 25 && first === 0x76 && second === 0xa9 && script[2] === 20 && script[23] === 0x88 && script[24] === 0xac)
    return base58check.encode(new Uint8Array([params.p2pkh, ...script.subarray(3, 23)]));
  if (script.length === 23 && first === 0xa9 && second === 20 && script[22] === 0x87)
    return base58check.encode(new Uint8Array([params.p2sh, ...script.subarray(2, 22)]));
  const version = first === 0 ? 0 : first >= OP_1 && first <= OP_16 ? first - OP_1 + 1 : undefined;
  if (version === undefined || second < 2 || second > 40 || script.length !== 2 + second) return null;
  if (version === 0 && second !== 20 && second !== 32) return null;
  return witnessAddress(version, script.subarray(2), params.hrp);
}
