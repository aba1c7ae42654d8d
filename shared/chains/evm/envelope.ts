import { concatBytes } from 'viem';
import { addressOfPoint } from './address-of-point.ts';
import { keccak } from './keccak.ts';
import { recoverKey } from './recover-key.ts';
import { bytes, encodeRlp, quantity, type Rlp } from './rlp.ts';

type Fields = Readonly<Record<string, unknown>>;

/** How a field is written: a number, bytes, an address that may be missing, a flag, or one of the lists. */
type Kind = 'number' | 'bytes' | 'address?' | 'flag' | 'minted' | 'access' | 'hashes' | 'authorizations' | 'chain';
type Form = readonly (readonly [field: string, kind: Kind])[];

/** What somebody signed, without the signature. */
const SIGNED: Readonly<Record<number, Form>> = {
  0: [
    ['nonce', 'number'],
    ['gasPrice', 'number'],
    ['gas', 'number'],
    ['to', 'address?'],
    ['value', 'number'],
    ['input', 'bytes'],
  ],
  // EIP-2930
  1: [
    ['chainId', 'chain'],
    ['nonce', 'number'],
    ['gasPrice', 'number'],
    ['gas', 'number'],
    ['to', 'address?'],
    ['value', 'number'],
    ['input', 'bytes'],
    ['accessList', 'access'],
  ],
  // EIP-1559
  2: [
    ['chainId', 'chain'],
    ['nonce', 'number'],
    ['maxPriorityFeePerGas', 'number'],
    ['maxFeePerGas', 'number'],
    ['gas', 'number'],
    ['to', 'address?'],
    ['value', 'number'],
    ['input', 'bytes'],
    ['accessList', 'access'],
  ],
  // EIP-4844
  3: [
    ['chainId', 'chain'],
    ['nonce', 'number'],
    ['maxPriorityFeePerGas', 'number'],
    ['maxFeePerGas', 'number'],
    ['gas', 'number'],
    ['to', 'address?'],
    ['value', 'number'],
    ['input', 'bytes'],
    ['accessList', 'access'],
    ['maxFeePerBlobGas', 'number'],
    ['blobVersionedHashes', 'hashes'],
  ],
  // EIP-7702
  4: [
    ['chainId', 'chain'],
    ['nonce', 'number'],
    ['maxPriorityFeePerGas', 'number'],
    ['maxFeePerGas', 'number'],
    ['gas', 'number'],
    ['to', 'address?'],
    ['value', 'number'],
    ['input', 'bytes'],
    ['accessList', 'access'],
    ['authorizationList', 'authorizations'],
  ],
};

/** What nobody signs: the chain itself puts it into a block, and its sender is one of the fields. Arbitrum's (nitro, arb_types.go) and the OP stack's deposits. */
const UNSIGNED: Readonly<Record<number, Form>> = {
  100: [
    ['chainId', 'chain'],
    ['requestId', 'bytes'],
    ['from', 'bytes'],
    ['to', 'bytes'],
    ['value', 'number'],
  ],
  101: [
    ['chainId', 'chain'],
    ['from', 'bytes'],
    ['nonce', 'number'],
    ['gasPrice', 'number'],
    ['gas', 'number'],
    ['to', 'address?'],
    ['value', 'number'],
    ['input', 'bytes'],
  ],
  102: [
    ['chainId', 'chain'],
    ['requestId', 'bytes'],
    ['from', 'bytes'],
    ['gasPrice', 'number'],
    ['gas', 'number'],
    ['to', 'address?'],
    ['value', 'number'],
    ['input', 'bytes'],
  ],
  104: [
    ['chainId', 'chain'],
    ['nonce', 'number'],
    ['from', 'bytes'],
    ['gasPrice', 'number'],
    ['gas', 'number'],
    ['to', 'address?'],
    ['value', 'number'],
    ['input', 'bytes'],
    ['ticketId', 'bytes'],
    ['refundTo', 'bytes'],
    ['maxRefund', 'number'],
    ['submissionFeeRefund', 'number'],
  ],
  105: [
    ['chainId', 'chain'],
    ['requestId', 'bytes'],
    ['from', 'bytes'],
    ['l1BaseFee', 'number'],
    ['depositValue', 'number'],
    ['gasPrice', 'number'],
    ['gas', 'number'],
    ['retryTo', 'address?'],
    ['retryValue', 'number'],
    ['beneficiary', 'bytes'],
    ['maxSubmissionFee', 'number'],
    ['refundTo', 'bytes'],
    ['retryData', 'bytes'],
  ],
  106: [
    ['chainId', 'chain'],
    ['input', 'bytes'],
  ],
  126: [
    ['sourceHash', 'bytes'],
    ['from', 'bytes'],
    ['to', 'address?'],
    ['mint', 'minted'],
    ['value', 'number'],
    ['gas', 'number'],
    ['isSystemTx', 'flag'],
    ['input', 'bytes'],
  ],
};

const HEX = /^0x[0-9a-fA-F]*$/;

/**
 * The bytes whose hash is a transaction's id and whose place the transactions' root covers (EIP-2718), made of the fields as a node tells them. Pure.
 * @returns null when its type is not known here or something that belongs to it is not told
 */
export function encodeTransaction(tx: Fields, type: number, chainId: string): Uint8Array | null {
  const form = SIGNED[type];
  const items = form === undefined ? itemsOf(tx, UNSIGNED[type], chainId) : joined(itemsOf(tx, form, chainId), signatureOf(tx, type));
  return items === null ? null : enveloped(type, items);
}

/**
 * Who signed a transaction, recovered from its signature; null for what nobody signs. Pure.
 * @throws Error when the signature is none
 */
export function signerOf(tx: Fields, type: number, chainId: string): string | null {
  const form = SIGNED[type];
  const items = form === undefined ? null : itemsOf(tx, form, chainId);
  if (items === null) return null;
  const v = BigInt(String(type === 0 ? tx.v : (tx.yParity ?? tx.v)));
  // Since EIP-155 a legacy signature names its chain, and is made over that name.
  const named = type === 0 && v >= 35n ? [quantity((v - 35n) / 2n), quantity(0n), quantity(0n)] : [];
  const parity = type !== 0 ? v : v >= 35n ? (v - 35n) % 2n : v - 27n;
  return addressOfPoint(recoverKey(keccak(enveloped(type, [...items, ...named])), { r: BigInt(String(tx.r)), s: BigInt(String(tx.s)), parity }));
}

function enveloped(type: number, items: readonly Rlp[]): Uint8Array {
  const body = encodeRlp(items);
  return type === 0 ? body : concatBytes([Uint8Array.of(type), body]);
}

function joined(items: readonly Rlp[] | null, more: readonly Rlp[] | null): Rlp[] | null {
  return items === null || more === null ? null : [...items, ...more];
}

function signatureOf(tx: Fields, type: number): Rlp[] | null {
  return all([type === 0 ? tx.v : (tx.yParity ?? tx.v), tx.r, tx.s].map(numberOf));
}

function itemsOf(tx: Fields, form: Form | undefined, chainId: string): Rlp[] | null {
  return form === undefined ? null : all(form.map(([field, kind]) => itemOf(tx[field], kind, chainId)));
}

function itemOf(value: unknown, kind: Kind, chainId: string): Rlp | null {
  switch (kind) {
    case 'number':
      return numberOf(value);
    case 'bytes':
      return bytesOf(value);
    case 'address?':
      return isTold(value) ? bytesOf(value) : new Uint8Array();
    case 'minted':
      return isTold(value) ? numberOf(value) : quantity(0n);
    case 'flag':
      return quantity(value === true ? 1n : 0n);
    case 'chain':
      return isTold(value) ? numberOf(value) : quantity(BigInt(chainId));
    case 'hashes':
      return Array.isArray(value) ? all(value.map(bytesOf)) : null;
    case 'access':
      return listOf(value, ({ address, storageKeys }) => all([bytesOf(address), Array.isArray(storageKeys) ? all(storageKeys.map(bytesOf)) : null]));
    case 'authorizations':
      return listOf(value, ({ chainId: chain, address, nonce, yParity, v, r, s }) =>
        all([numberOf(chain), bytesOf(address), ...[nonce, yParity ?? v, r, s].map(numberOf)]),
      );
  }
}

function listOf(value: unknown, one: (entry: Fields) => Rlp | null): Rlp | null {
  return Array.isArray(value) ? all(value.map((entry) => (typeof entry === 'object' && entry !== null ? one(entry as Fields) : null))) : null;
}

function all(items: readonly (Rlp | null)[]): Rlp[] | null {
  return items.includes(null) ? null : (items as Rlp[]);
}

function isTold(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function bytesOf(value: unknown): Uint8Array | null {
  return typeof value === 'string' && HEX.test(value) && value.length % 2 === 0 ? bytes(value) : null;
}

/** Some nodes write the parts of a signature with all of their leading zeros. */
function numberOf(value: unknown): Uint8Array | null {
  return typeof value === 'string' && HEX.test(value) && value !== '0x' ? quantity(BigInt(value)) : null;
}
