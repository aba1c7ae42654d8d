/** A field that is written: an integer, or bytes. */
export interface Field {
  number: number;
  value: bigint | Uint8Array;
}

/** A field as it stands in bytes: a varint, bytes of a length that stands before them, or null for what no message of this chain has. */
export interface ReadField {
  number: number;
  value: bigint | Uint8Array | null;
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const GROUP = 3;
const END_GROUP = 4;
const FIXED32 = 5;
/** Bytes of a varint that a double still holds exactly, and the largest number of those. */
const EXACT = 7;
const MOST_EXACT = BigInt(Number.MAX_SAFE_INTEGER);
const LONGEST_VARINT = 10;

/**
 * The fields of one protobuf message in their order, nothing interpreted; undefined when the bytes are no message. Reads whatever
 * java-tron reads, and as it does: senders may spell what they send in any way a protobuf library takes. Integers keep 64 bits,
 * field numbers and lengths 32, whatever else a long varint holds; fixed numbers and groups are fields without a value.
 */
export function readFields(bytes: Uint8Array): ReadField[] | undefined {
  const fields: ReadField[] = [];
  /** Numbers of the groups that are open; what stands inside of them is no field of the message. */
  const open: number[] = [];
  let at = 0;
  const varint = (): bigint | undefined => {
    let low = 0;
    for (let i = 0; i < EXACT; i++) {
      const byte = bytes[at++];
      if (byte === undefined) return undefined;
      low += (byte & 127) * 2 ** (7 * i);
      if (byte < 128) return BigInt(low);
    }
    let value = BigInt(low);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) return undefined;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
    return undefined;
  };
  const lengthOf = (kind: number): number => (kind === BYTES ? Number(BigInt.asIntN(32, varint() ?? -1n)) : kind === FIXED64 ? 8 : kind === FIXED32 ? 4 : -1);
  while (at < bytes.length) {
    const key = Number(BigInt.asUintN(32, varint() ?? 0n));
    const number = Math.floor(key / 8);
    const kind = key % 8;
    if (number === 0) return undefined;
    let value: ReadField['value'] | undefined = null;
    if (kind === VARINT) value = varint();
    else if (kind === END_GROUP) {
      if (open.pop() !== number) return undefined;
      continue;
    } else if (kind !== GROUP) {
      const length = lengthOf(kind);
      if (length < 0 || at + length > bytes.length) return undefined;
      if (kind === BYTES) value = bytes.subarray(at, at + length);
      at += length;
    }
    if (value === undefined) return undefined;
    if (open.length === 0) fields.push({ number, value });
    if (kind === GROUP) open.push(number);
  }
  return open.length === 0 ? fields : undefined;
}

/** The bytes of a message; a field of zero or nothing is left out, as proto3 does, unless it is said to be there. */
export function writeFields(fields: readonly (Field & { always?: true })[]): Uint8Array {
  const room = fields.reduce((sum, { value }) => sum + 2 * LONGEST_VARINT + (typeof value === 'bigint' ? 0 : value.length), 0);
  const bytes = Buffer.allocUnsafe(room);
  let at = 0;
  const varint = (value: bigint): void => {
    let rest = BigInt.asUintN(64, value);
    for (; rest > MOST_EXACT; rest >>= 7n) bytes[at++] = Number(rest & 127n) | 128;
    let low = Number(rest);
    for (; low > 127; low = Math.floor(low / 128)) bytes[at++] = (low % 128) | 128;
    bytes[at++] = low;
  };
  for (const { number, value, always } of fields) {
    if (!always && (typeof value === 'bigint' ? value === 0n : value.length === 0)) continue;
    varint(BigInt(number * 8 + (typeof value === 'bigint' ? VARINT : BYTES)));
    if (typeof value === 'bigint') varint(value);
    else {
      varint(BigInt(value.length));
      bytes.set(value, at);
      at += value.length;
    }
  }
  return bytes.subarray(0, at);
}
