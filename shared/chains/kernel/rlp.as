// Recursive length prefix (Yellow Paper, appendix B) written from the hex digits of a reply, as hex-text.ts does.

import { DOUBT, QUOTE } from './json';

const ZERO: u8 = 0x30;
const X: u8 = 0x78;

/** How many bytes the header of a string or list of this length takes, at most 16 MiB. */
export function headerLength(length: usize): usize {
  if (length < 56) return 1;
  if (length < 0x100) return 2;
  return length < 0x1_0000 ? 3 : 4;
}

/** Writes the header of a string (`kind` 0x80) or list (0xc0) at `to`; answers the place after it. */
export function writeHeader(to: usize, length: usize, kind: usize): usize {
  if (length < 56) {
    store<u8>(to, kind + length);
    return to + 1;
  }
  const end = to + headerLength(length);
  store<u8>(to, kind + 55 + (end - to - 1));
  let left = length;
  for (let place = end - 1; place > to; place--, left >>= 8) store<u8>(place, left);
  return end;
}

/** Whether a string of whole bytes in hex may begin at `at`: a quote and 0x. */
export function isHex(at: usize): bool {
  return load<u8>(at) == QUOTE && load<u8>(at, 1) == ZERO && load<u8>(at, 2) == X;
}

/** The value of a hex digit in lower case; 16 or more for any other letter. */
export function half(letter: u8): u8 {
  const digit = letter - 0x30;
  if (digit < 10) return digit;
  const above: u8 = letter - 0x61;
  return above < 6 ? above + 10 : 16;
}

/** Writes the `length` bytes whose digits begin at `from`; false when one is not a digit. Eight bytes at a time; none beyond the last one is written. */
export function writeDigits(from: usize, to: usize, length: usize): bool {
  const end = to + length;
  let digits = i8x16.splat(-1);
  let at = from;
  let place = to;
  for (; place + 8 <= end; place += 8, at += 16) {
    const letters = v128.load(at);
    const low = i8x16.sub(letters, i8x16.splat(0x30));
    const high = i8x16.sub(letters, i8x16.splat(0x61));
    const isLow = i8x16.lt_u(low, i8x16.splat(10));
    digits = v128.and(digits, v128.or(isLow, i8x16.lt_u(high, i8x16.splat(6))));
    const halves = v128.bitselect(low, i8x16.add(high, i8x16.splat(10)), isLow);
    const bytes = v128.and(v128.or(i16x8.shl(halves, 4), i16x8.shr_u(halves, 8)), i16x8.splat(0xff));
    store<u64>(place, i64x2.extract_lane(i8x16.narrow_i16x8_u(bytes, bytes), 0));
  }
  let none: u8 = 0;
  for (; place < end; place++, at += 2) {
    const high = half(load<u8>(at));
    const low = half(load<u8>(at, 1));
    none |= high | low;
    store<u8>(place, (high << 4) | low);
  }
  return none < 16 && i8x16.all_true(digits);
}

/** The first place from `from` on where no hex digit is. */
export function endOfDigits(from: usize): usize {
  let at = from;
  while (true) {
    const letters = v128.load(at);
    const isLow = i8x16.lt_u(i8x16.sub(letters, i8x16.splat(0x30)), i8x16.splat(10));
    const isHigh = i8x16.lt_u(i8x16.sub(letters, i8x16.splat(0x61)), i8x16.splat(6));
    const others = i8x16.bitmask(v128.or(isLow, isHigh)) ^ 0xffff;
    if (others != 0) return at + ctz(others);
    at += 16;
  }
}

/** Writes `length` bytes that stand in hex at `at`, opening quote included; answers the place after the closing one, or DOUBT when they are not exactly these. */
export function writeHex(at: usize, to: usize, length: usize): usize {
  const end = at + 3 + 2 * length;
  return isHex(at) && writeDigits(at + 3, to, length) && load<u8>(end) == QUOTE ? end + 1 : DOUBT;
}

/** Digits of a word, the longest number that anybody believes. */
const WORD_DIGITS: usize = 64;

/** The place after a number in hex without leading zeros and no longer than a word, opening quote included, or DOUBT. */
export function endOfQuantity(at: usize): usize {
  if (!isHex(at)) return DOUBT;
  const first = at + 3;
  const end = endOfDigits(first);
  const digits = end - first;
  return digits > 0 && digits <= WORD_DIGITS && load<u8>(end) == QUOTE && (load<u8>(first) != ZERO || digits == 1) ? end + 1 : DOUBT;
}

/** How many bytes RLP takes for the number between `at` and `end`, as endOfQuantity found it. */
export function quantityLength(at: usize, end: usize): usize {
  const digits = end - at - 4;
  return digits == 1 || (digits == 2 && half(load<u8>(at, 3)) < 8) ? 1 : 1 + ((digits + 1) >> 1);
}

/** Writes that number; answers the place after it. At most 55 bytes long. */
export function writeQuantity(at: usize, end: usize, to: usize): usize {
  let digit = at + 3;
  const last = end - 1;
  let place = to;
  if (quantityLength(at, end) > 1) store<u8>(place++, 0x80 + ((last - digit + 1) >> 1));
  else if (last - digit == 1 && load<u8>(digit) == ZERO) {
    store<u8>(place, 0x80);
    return place + 1;
  }
  if (((last - digit) & 1) == 1) store<u8>(place++, half(load<u8>(digit++)));
  const length = (last - digit) >> 1;
  writeDigits(digit, place, length);
  return place + length;
}

/** Writes whole bytes in hex, between an opening quote at `at` and the place after the closing one, as an RLP string; answers the place after it, or DOUBT. */
export function writeString(at: usize, end: usize, to: usize): usize {
  if (!isWhole(at, end)) return DOUBT;
  const length = (end - at - 4) >> 1;
  if (length == 1) {
    if (writeHex(at, to, 1) != end) return DOUBT;
    if (load<u8>(to) < 0x80) return to + 1;
  }
  const body = writeHeader(to, length, 0x80);
  return writeHex(at, body, length) == end ? body + length : DOUBT;
}

/** Whether there is room for a quote, 0x, whole bytes and a quote. */
export function isWhole(at: usize, end: usize): bool {
  return end - at >= 4 && ((end - at) & 1) == 0;
}

/** How many bytes RLP takes for these, which are whole: a single small one is its own header. */
export function stringLength(at: usize, end: usize): usize {
  const length = (end - at - 4) >> 1;
  return length == 1 && half(load<u8>(at, 3)) < 8 ? 1 : headerLength(length) + length;
}
