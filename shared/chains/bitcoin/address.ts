import { bech32, bech32m } from '@scure/base';
import { Invariant } from '#shared/core/errors.ts';
import type { AddressCodec } from '../chain.ts';
import { base58check } from './base58.ts';
import { BITCOIN_NETWORKS, type BitcoinParams, bitcoinParams } from './params.ts';
import { witnessScript } from './script.ts';

/** What an address text says, whoever may use it. */
export type ReadAddress = { kind: 'witness'; hrp: string; version: number; program: Uint8Array } | { kind: 'hash'; prefix: number; hash: Uint8Array };

type Read = { ok: true; read: ReadAddress } | { ok: false; problem: string };

const TXID = /^[0-9a-fA-F]{64}$/;
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{20,60}$/;
/** Anything before the last `1`, then the characters of bech32 (BIP-173). */
const BECH32 = /^[\x21-\x7e]{1,83}1[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{6,}$/i;
const HRPS = new Set(Object.values(BITCOIN_NETWORKS).map(({ hrp }) => hrp));
const NAMES: Record<string, string> = { bc: 'mainnet', tb: 'testnet4 and signet', bcrt: 'regtest' };

/** What else people paste, so that the refusal names it. */
const MISTAKES: readonly (readonly [RegExp, string])[] = [
  [/^\s|\s$/, 'has white space around it'],
  [/^bitcoin:/i, 'is a payment link; give the address in it alone'],
  [/^0x[0-9a-fA-F]{40}$/i, 'is an EVM address, not a Bitcoin one'],
  [/^T[1-9A-HJ-NP-Za-km-z]{33}$/, 'is a TRON address, not a Bitcoin one'],
  [/^(ltc|ltca|tltc|rltc)1/i, 'is a Litecoin address, not a Bitcoin one'],
];

/**
 * Bitcoin addresses of one network (decisions 10): base58check of P2PKH and P2SH, bech32 of witness version 0 (BIP-173),
 * bech32m of version 1 (BIP-350). The text itself is the canonical form, segwit in lower case. Later versions are read but
 * refused: whoever pays them today gives the coins to the first who asks.
 * @throws Error when the network is unknown
 */
export function bitcoinAddress(chainId: string): AddressCodec {
  const params = bitcoinParams(chainId);
  return {
    parse(text) {
      const told = readAddress(text);
      const problem = told.ok ? (foreign(told.read, params, chainId) ?? unpayable(told.read)) : told.problem;
      if (problem !== null) return { ok: false, problem };
      return { ok: true, canonical: told.ok && told.read.kind === 'witness' ? text.toLowerCase() : text };
    },
    display: (canonical) => canonical,
    parseTxid: (text) =>
      TXID.test(text)
        ? { ok: true, canonical: text.toLowerCase() }
        : { ok: false, problem: 'must be a Bitcoin transaction id: 64 hexadecimal digits without 0x' },
  };
}

/** The output script of a canonical address, as hexadecimal digits. @throws Invariant when it is no address of the network */
export function scriptOfAddress(address: string, params: BitcoinParams): string {
  const told = readAddress(address);
  if (!told.ok || foreign(told.read, params, params.chain) !== null) throw new Invariant(`not an address of Bitcoin's network ${params.chain}: ${address}`);
  const { read } = told;
  if (read.kind === 'witness') return witnessScript(read.version, read.program);
  const body = Buffer.from(read.hash).toString('hex');
  return read.prefix === params.p2sh ? `a914${body}87` : `76a914${body}88ac`;
}

/** Reads an address text of any Bitcoin network and any witness version, or says what is wrong with it. */
export function readAddress(text: string): Read {
  const mistake = MISTAKES.find(([pattern]) => pattern.test(text));
  if (mistake !== undefined) return refuse(mistake[1]);
  if (BECH32.test(text) && (HRPS.has(hrpOf(text)) || !BASE58.test(text))) return readWitness(text);
  if (BASE58.test(text)) return readBase58(text);
  return refuse('must be a Bitcoin address: base58check, bech32 or bech32m text');
}

function hrpOf(text: string): string {
  return text.slice(0, text.lastIndexOf('1')).toLowerCase();
}

function readWitness(text: string): Read {
  const hrp = hrpOf(text);
  if (text !== text.toLowerCase() && text !== text.toUpperCase()) return refuse('has mixed case, which no segwit address has');
  if (!HRPS.has(hrp)) return refuse(`is not a Bitcoin address: it begins with ${hrp.slice(0, 20)}1`);
  if (text.length > 90) return refuse('is too long for a segwit address');
  const [old, modern] = [bech32.decodeUnsafe(text), bech32m.decodeUnsafe(text)];
  const decoded = old ?? modern;
  if (decoded === undefined) return refuse('has a wrong checksum');
  const [version, ...words] = decoded.words;
  if (version === undefined) return refuse('has no witness version');
  if (version > 16) return refuse(`has the witness version ${version}, and there are none above 16`);
  if (version === 0 && old === undefined) return refuse('has the checksum of bech32m, but its witness version 0 takes bech32 (BIP-350)');
  if (version > 0 && modern === undefined) return refuse(`has the checksum of bech32, but its witness version ${version} takes bech32m (BIP-350)`);
  const program = bech32.fromWordsUnsafe(words);
  if (program === undefined || program instanceof Error) return refuse('has a malformed witness program');
  if (program.length < 2 || program.length > 40) return refuse(`has a witness program of ${program.length} bytes, and they have from 2 to 40`);
  if (version === 0 && program.length !== 20 && program.length !== 32)
    return refuse(`has a witness program of ${program.length} bytes, and those of version 0 have 20 or 32`);
  return { ok: true, read: { kind: 'witness', hrp, version, program: Uint8Array.from(program) } };
}

function readBase58(text: string): Read {
  const bytes = decodeBase58(text);
  if (bytes === undefined) return refuse('has a wrong checksum');
  const [prefix = -1] = bytes;
  if (bytes.length !== 21) return refuse(`has ${bytes.length} bytes, and base58check addresses have 21`);
  return { ok: true, read: { kind: 'hash', prefix, hash: bytes.slice(1) } };
}

function decodeBase58(text: string): Uint8Array | undefined {
  try {
    return base58check.decode(text);
  } catch {
    return undefined;
  }
}

/** Why an address is not one of this network; null when it is. */
function foreign(read: ReadAddress, params: BitcoinParams, chainId: string): string | null {
  if (read.kind === 'witness') return read.hrp === params.hrp ? null : `is an address of Bitcoin's ${NAMES[read.hrp]}, and this network is ${chainId}`;
  if (read.prefix === params.p2pkh || read.prefix === params.p2sh) return null;
  const whose = Object.values(BITCOIN_NETWORKS).find(({ p2pkh, p2sh }) => read.prefix === p2pkh || read.prefix === p2sh);
  if (whose === undefined) return `is not a Bitcoin address: its prefix is ${read.prefix}`;
  return `is an address of Bitcoin's ${whose.hrp === 'bc' ? 'mainnet' : 'test networks'}, and this network is ${chainId}`;
}

/** Why nobody should be paid at an address that is one; null when somebody may. */
function unpayable(read: ReadAddress): string | null {
  const body = read.kind === 'witness' ? read.program : read.hash;
  if (body.every((byte) => byte === 0)) return 'is the zero address';
  if (read.kind === 'hash' || read.version === 0) return null;
  if (read.version > 1) return `is a segwit address of version ${read.version}, which has no rules yet: anybody could take what is paid to it`;
  return body.length === 32 ? null : `has a witness program of ${body.length} bytes, and those of version 1 have 32`;
}

function refuse(problem: string): Read {
  return { ok: false, problem };
}
