// Recursive length prefix (Yellow Paper, appendix B) written straight into a buffer, from the hex digits of a reply.

import { HALVES, PAIRS } from '../hex-bytes.ts';
import { DOUBT, QUOTE } from '../json-bytes.ts';

const ZERO = 0x30;
const X = 0x78;
/** How many bytes the header of a string or list of this length takes, at most 16 MiB. */
export function headerLength(length: number): number {
  if (length < 56) return 1;
  if (length < 0x100) return 2;
  return length < 0x1_0000 ? 3 : 4;
}

/** Writes the header of a string (`kind` 0x80) or list (0xc0) at `at`; answers the place after it. */
export function writeHeader(into: Uint8Array, at: number, length: number, kind: 0x80 | 0xc0): number {
  if (length < 56) {
    into[at] = kind + length;
    return at + 1;
  }
  const end = at + headerLength(length);
  into[at] = kind + 55 + (end - at - 1);
  for (let place = end - 1, left = length; place > at; place--, left >>= 8) into[place] = left;
  return end;
}

/** Whether a string of whole bytes in hex may begin at `at`: a quote and 0x. */
export function isHex(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === QUOTE && bytes[at + 1] === ZERO && bytes[at + 2] === X;
}

/** Writes `length` bytes that stand in hex at `at`, opening quote included; answers the place after the closing one, or DOUBT when they are not exactly these. */
export function writeHex(bytes: Uint8Array, at: number, into: Uint8Array, to: number, length: number): number {
  if (!isHex(bytes, at)) return DOUBT;
  let digit = at + 3;
  let none = 0;
  for (let place = to; place < to + length; place++) {
    const byte = PAIRS[((bytes[digit] as number) << 8) | (bytes[digit + 1] as number)] as number;
    none |= byte;
    into[place] = byte;
    digit += 2;
  }
  return none >= 0 && bytes[digit] === QUOTE ? digit + 1 : DOUBT;
}

/** The place after a number in hex without leading zeros, opening quote included, or DOUBT. */
export function endOfQuantity(bytes: Uint8Array, at: number): number {
  if (!isHex(bytes, at)) return DOUBT;
  const first = at + 3;
  let digit = first;
  while ((HALVES[bytes[digit] as number] as number) <= 15) digit += 1;
  if (digit === first || bytes[digit] !== QUOTE || (bytes[first] === ZERO && digit > first + 1)) return DOUBT;
  return digit + 1;
}

/** How many bytes RLP takes for the number between `at` and `end`, as endOfQuantity found it. */
export function quantityLength(bytes: Uint8Array, at: number, end: number): number {
  const digits = end - at - 4;
  return digits === 1 || (digits === 2 && (HALVES[bytes[at + 3] as number] as number) < 8) ? 1 : 1 + ((digits + 1) >> 1);
}

/** Writes that number; answers the place after it. At most 55 bytes long. */
export function writeQuantity(bytes: Uint8Array, at: number, end: number, into: Uint8Array, to: number): number {
  let digit = at + 3;
  const last = end - 1;
  let place = to;
  if (quantityLength(bytes, at, end) > 1) into[place++] = 0x80 + ((last - digit + 1) >> 1);
  else if (last - digit === 1 && bytes[digit] === ZERO) {
    into[place++] = 0x80;
    return place;
  }
  if (((last - digit) & 1) === 1) into[place++] = HALVES[bytes[digit++] as number] as number;
  for (; digit < last; digit += 2) into[place++] = ((HALVES[bytes[digit] as number] as number) << 4) | (HALVES[bytes[digit + 1] as number] as number);
  return place;
}

/** Writes whole bytes in hex, between an opening quote at `at` and the place after the closing one, as an RLP string; answers the place after it, or DOUBT. */
export function writeString(bytes: Uint8Array, at: number, end: number, into: Uint8Array, to: number): number {
  const length = stringBytes(at, end);
  if (length === DOUBT) return DOUBT;
  if (length === 1) {
    if (writeHex(bytes, at, into, to, 1) !== end) return DOUBT;
    if ((into[to] as number) < 0x80) return to + 1;
  }
  const body = writeHeader(into, to, length, 0x80);
  return writeHex(bytes, at, into, body, length) === end ? body + length : DOUBT;
}

/** How many bytes stand in hex between an opening quote and the place after the closing one, or DOUBT. */
function stringBytes(at: number, end: number): number {
  const digits = end - at - 4;
  return digits >= 0 && (digits & 1) === 0 ? digits >> 1 : DOUBT;
}

/** How many bytes RLP takes for these, or DOUBT: a single small one is its own header. */
export function stringLength(bytes: Uint8Array, at: number, end: number): number {
  const length = stringBytes(at, end);
  if (length === DOUBT) return DOUBT;
  return length === 1 && (HALVES[bytes[at + 3] as number] as number) < 8 ? 1 : headerLength(length) + length;
}
