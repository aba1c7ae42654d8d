import { bytesToHex } from 'viem';
import { keccak } from './keccak.ts';
import { bytes, encodeRlp, quantity, type Rlp } from './rlp.ts';

type Kind = 'bytes' | 'number';

/** What every header begins with, in this order (Yellow Paper 4.4). */
const ALWAYS: readonly (readonly [field: string, kind: Kind])[] = [
  ['parentHash', 'bytes'],
  ['sha3Uncles', 'bytes'],
  ['miner', 'bytes'],
  ['stateRoot', 'bytes'],
  ['transactionsRoot', 'bytes'],
  ['receiptsRoot', 'bytes'],
  ['logsBloom', 'bytes'],
  ['difficulty', 'number'],
  ['number', 'number'],
  ['gasLimit', 'number'],
  ['gasUsed', 'number'],
  ['timestamp', 'number'],
  ['extraData', 'bytes'],
  ['mixHash', 'bytes'],
  ['nonce', 'bytes'],
];

/**
 * What forks appended, in this order: London, Shanghai, Cancun (three), Prague, Amsterdam (EIP-7928, EIP-7843). Arbitrum, the OP stack, Polygon
 * and BSC write the same ones, each as many as it has.
 */
const APPENDED: readonly (readonly [field: string, kind: Kind])[] = [
  ['baseFeePerGas', 'number'],
  ['withdrawalsRoot', 'bytes'],
  ['blobGasUsed', 'number'],
  ['excessBlobGas', 'number'],
  ['parentBeaconBlockRoot', 'bytes'],
  ['requestsHash', 'bytes'],
  ['blockAccessListHash', 'bytes'],
  ['slotNumber', 'number'],
];

/** What nodes tell of a block beside its header, or a second time: none of it is hashed. */
const BESIDE = new Set([
  ...['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals', 'author', 'sealFields', 'blockAccessList'],
  // Arbitrum tells apart what its mixHash and extraData hold, BSC its time in thousandths.
  ...['l1BlockNumber', 'sendCount', 'sendRoot', 'milliTimestamp'],
]);

const KNOWN = new Set([...ALWAYS, ...APPENDED].map(([field]) => field));
const HEX = /^0x[0-9a-fA-F]*$/;

/**
 * The hash that a block's own fields give, as its node tells them: keccak-256 of the header in RLP. Pure.
 * @param gaps what stands for a field of a fork that is missing before one of a later fork: nothing at all on some development nodes
 * @returns null when a field that every header has is missing, or one is no hex
 */
export function headerHash(block: Readonly<Record<string, unknown>>, gaps: 'empty' | 'left out' = 'empty'): string | null {
  const items: (Rlp | null)[] = ALWAYS.map(([field, kind]) => itemOf(block[field], kind));
  const last = APPENDED.findLastIndex(([field]) => isTold(block[field]));
  for (const [field, kind] of APPENDED.slice(0, last + 1)) {
    if (isTold(block[field])) items.push(itemOf(block[field], kind));
    else if (gaps === 'empty') items.push(new Uint8Array());
  }
  return items.includes(null) ? null : bytesToHex(keccak(encodeRlp(items as Rlp[])));
}

/** Names of fields that may belong to a header of a fork that nobody here has heard of. */
export function unknownFields(block: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(block).filter((field) => !KNOWN.has(field) && !BESIDE.has(field) && isTold(block[field]));
}

function isTold(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function itemOf(value: unknown, kind: Kind): Uint8Array | null {
  if (typeof value !== 'string' || !HEX.test(value)) return null;
  if (kind === 'bytes') return value.length % 2 === 0 ? bytes(value) : null;
  return value === '0x' ? null : quantity(BigInt(value));
}
