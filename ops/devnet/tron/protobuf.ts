/** One field as it lies on the wire: a varint or bytes. TRON's messages use nothing else. */
export interface WireField {
  number: number;
  value: bigint | Uint8Array;
}

const INT64 = 1n << 64n;

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value < 0n ? value + INT64 : value;
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return bytes;
}

/** Writes fields in the order given; integers as varints, so that no 64-bit value is rounded. */
export function writeFields(fields: readonly WireField[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const { number, value } of fields) {
    if (typeof value === 'bigint') parts.push(Uint8Array.from([...varint(BigInt(number << 3)), ...varint(value)]));
    else parts.push(Uint8Array.from([...varint(BigInt((number << 3) | 2)), ...varint(BigInt(value.length))]), value);
  }
  return new Uint8Array(Buffer.concat(parts));
}

/** Reads the fields of a message. @throws Error when the bytes are no message */
export function readFields(bytes: Uint8Array): WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  const next = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined) throw new Error('While parsing a protocol message, the input ended unexpectedly');
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new Error('CodedInputStream encountered a malformed varint.');
  };
  while (at < bytes.length) {
    const tag = Number(next());
    const number = tag >>> 3;
    if (number === 0) throw new Error('Protocol message contained an invalid tag (zero).');
    if ((tag & 7) === 0) fields.push({ number, value: next() });
    else if ((tag & 7) === 2) {
      const length = Number(next());
      if (length < 0 || at + length > bytes.length) throw new Error('While parsing a protocol message, the input ended unexpectedly');
      fields.push({ number, value: bytes.slice(at, at + length) });
      at += length;
    } else throw new Error('Protocol message tag had invalid wire type.');
  }
  return fields;
}
