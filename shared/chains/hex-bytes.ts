// Reads hex digits of a reply as bytes without making a string. Lower case only, as nodes write them.

const DIGITS = '0123456789abcdef';
/** The value of each hex digit, by its character code; 255 for any other character. */
export const HALVES = Uint8Array.from({ length: 256 }, (_, code) => DIGITS.indexOf(String.fromCharCode(code)) & 255);
/** The byte of two digits, by both character codes; below zero when one is not a digit. */
export const PAIRS = Int16Array.from({ length: 1 << 16 }, (_, codes) => {
  const [high, low] = [HALVES[codes >> 8] as number, HALVES[codes & 255] as number];
  return (high | low) <= 15 ? (high << 4) | low : -1;
});

/** Writes the `length` bytes whose digits begin at `at`; false when one is not a digit. */
export function writeBytes(bytes: Uint8Array, at: number, into: Uint8Array, to: number, length: number): boolean {
  let none = 0;
  for (let place = to, digit = at; place < to + length; place++, digit += 2) {
    const byte = PAIRS[((bytes[digit] as number) << 8) | (bytes[digit + 1] as number)] as number;
    none |= byte;
    into[place] = byte;
  }
  return none >= 0;
}
