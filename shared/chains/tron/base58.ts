const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** A TRON address is 25 bytes (prefix, 20, checksum), and 25 bytes that begin with 0x41 are 34 digits. */
const BYTES = 25;
const DIGITS = 34;
/** 58^5, the largest power whose product with 16 bits is exact. */
const STEP = 656_356_768;
const HALVES = 13;

const VALUES = new Int8Array(128).fill(-1);
for (const [value, digit] of [...ALPHABET].entries()) VALUES[digit.charCodeAt(0)] = value;

const halves = new Uint16Array(HALVES);

/** The 34 digits of 25 bytes that begin with 0x41; several hundred are written per block, so it works on five digits at a time. */
export function encodeBase58(bytes: Uint8Array): string {
  halves[0] = bytes[0] as number;
  for (let i = 1; i < HALVES; i++) halves[i] = ((bytes[2 * i - 1] as number) << 8) | (bytes[2 * i] as number);
  let text = '';
  while (text.length < DIGITS) {
    let rest = 0;
    for (let i = 0; i < HALVES; i++) {
      const value = rest * 65_536 + (halves[i] as number);
      halves[i] = Math.floor(value / STEP);
      rest = value % STEP;
    }
    for (let digit = 0; digit < 5 && text.length < DIGITS; digit++) {
      text = ALPHABET.charAt(rest % 58) + text;
      rest = Math.floor(rest / 58);
    }
  }
  return text;
}

/** Reads 34 digits into 25 bytes, whatever their checksum; false when a character is no digit or the number is too large. */
export function decodeBase58(text: string, into: Uint8Array): boolean {
  if (text.length !== DIGITS) return false;
  halves.fill(0);
  // 34 digits are six times five and four.
  for (let at = 0; at < DIGITS; ) {
    const end = at === 0 ? 4 : at + 5;
    let add = 0;
    for (; at < end; at++) {
      const value = VALUES[text.charCodeAt(at)] ?? -1;
      if (value < 0) return false;
      add = add * 58 + value;
    }
    for (let i = HALVES - 1; i >= 0; i--) {
      const value = (halves[i] as number) * STEP + add;
      halves[i] = value % 65_536;
      add = Math.floor(value / 65_536);
    }
    if (add > 0) return false;
  }
  if ((halves[0] as number) > 255) return false;
  into[0] = halves[0] as number;
  for (let i = 1; i < HALVES; i++) {
    into[2 * i - 1] = (halves[i] as number) >> 8;
    into[2 * i] = (halves[i] as number) & 255;
  }
  return true;
}

/** How many bytes `decodeBase58` writes. */
export const ADDRESS_BYTES = BYTES;
