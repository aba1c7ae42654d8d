// Reads what nodes write in hex, quotes included, as bytes.

import { HALVES, PAIRS } from '../hex-bytes.ts';
import { DOUBT, QUOTE } from '../json-bytes.ts';

const ZERO = 0x30;
const X = 0x78;
/** Whether a string of whole bytes in hex may begin at `at`: a quote and 0x. */
function isHex(bytes: Uint8Array, at: number): boolean {
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

/** Digits of a word, the longest number that anybody believes (readQuantity). */
const WORD_DIGITS = 64;

/** The place after a number in hex without leading zeros and no longer than a word, opening quote included, or DOUBT. */
export function endOfQuantity(bytes: Uint8Array, at: number): number {
  if (!isHex(bytes, at)) return DOUBT;
  const first = at + 3;
  let digit = first;
  while ((HALVES[bytes[digit] as number] as number) <= 15) digit += 1;
  if (digit === first || digit - first > WORD_DIGITS || bytes[digit] !== QUOTE || (bytes[first] === ZERO && digit > first + 1)) return DOUBT;
  return digit + 1;
}
