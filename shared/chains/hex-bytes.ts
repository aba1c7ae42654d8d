// Hex digits of a reply as the bytes they stand for, without a text of them. Small letters only, as nodes write them.

const DIGITS = '0123456789abcdef';
/** The half byte that each digit is, by its code; 255 is none. */
export const HALVES = Uint8Array.from({ length: 256 }, (_, code) => DIGITS.indexOf(String.fromCharCode(code)) & 255);
/** The byte that two digits are, by the codes of both; below zero for what is none. */
export const PAIRS = Int16Array.from({ length: 1 << 16 }, (_, codes) => {
  const [high, low] = [HALVES[codes >> 8] as number, HALVES[codes & 255] as number];
  return (high | low) <= 15 ? (high << 4) | low : -1;
});

/** Writes the `length` bytes whose digits begin at `at`; false when not all of them are digits. */
export function writeBytes(bytes: Uint8Array, at: number, into: Uint8Array, to: number, length: number): boolean {
  let none = 0;
  for (let place = to, digit = at; place < to + length; place++, digit += 2) {
    const byte = PAIRS[((bytes[digit] as number) << 8) | (bytes[digit + 1] as number)] as number;
    none |= byte;
    into[place] = byte;
  }
  return none >= 0;
}

/** Whether the digits that begin at `at` are those of these bytes. */
export function areBytes(bytes: Uint8Array, at: number, expected: Uint8Array, from: number, length: number): boolean {
  for (let place = from, digit = at; place < from + length; place++, digit += 2)
    if (PAIRS[((bytes[digit] as number) << 8) | (bytes[digit + 1] as number)] !== expected[place]) return false;
  return true;
}

/** Whether all there is between two places are digits of whole bytes. */
export function areDigits(bytes: Uint8Array, from: number, to: number): boolean {
  let none = 0;
  for (let at = from; at < to; at++) none |= HALVES[bytes[at] as number] as number;
  return none <= 15 && ((to - from) & 1) === 0;
}
