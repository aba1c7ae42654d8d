// Walks over JSON as bytes without making objects. It knows only the plainest form, which nodes write: ASCII, no escapes, no spaces between tokens.
// Anything else is answered with DOUBT and left to JSON.parse; JSON that is not doubted is read the same by every parser.

/** Not a place: the caller must not believe anything found so far. */
export const DOUBT = -1;

export const QUOTE = 0x22;
export const COMMA = 0x2c;
const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
/** Of an exponent; with this bit a letter is a small one. */
const EXPONENT = 0x65;
const SMALL = 0x20;

/** Deeper than anything a node answers. A walk needs no more memory than a stack of this size. */
const DEEPEST = 64;
const kinds = new Uint8Array(DEEPEST);

/** Characters that need no escape in a string: ASCII without control characters, quotes and backslashes. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, code) => (code >= 0x20 && code < 0x80 && code !== QUOTE && code !== 0x5c ? 1 : 0));

const LITERALS = ['true', 'false', 'null'].map((word) => Buffer.from(word));

/** The place after the string whose opening quote is at `at`, or DOUBT. */
export function endOfString(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return DOUBT;
  let place = at + 1;
  // Four at a time, because walks spend most of their time here.
  while (
    ((PLAIN[bytes[place] as number] as number) &
      (PLAIN[bytes[place + 1] as number] as number) &
      (PLAIN[bytes[place + 2] as number] as number) &
      (PLAIN[bytes[place + 3] as number] as number)) ===
    1
  )
    place += 4;
  while (PLAIN[bytes[place] as number] === 1) place += 1;
  return bytes[place] === QUOTE ? place + 1 : DOUBT;
}

/** The place after the colon of the key whose opening quote is at `at`, or DOUBT. */
export function endOfKey(bytes: Uint8Array, at: number): number {
  const end = endOfString(bytes, at);
  return end !== DOUBT && bytes[end] === COLON ? end + 1 : DOUBT;
}

/** Whether a key is this one; its opening quote is at `at`, and its value begins at `value`. */
export function isKey(bytes: Uint8Array, at: number, value: number, key: Uint8Array): boolean {
  return value - at - 3 === key.length && isAt(bytes, at + 1, key);
}

/** Whether exactly these bytes are at `at`. */
export function isAt(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false;
  return true;
}

/** The place after the value that begins at `at`, or DOUBT when there is no value of the plainest form. Takes time in proportion to its length. */
export function endOfValue(bytes: Uint8Array, at: number): number {
  let place = at;
  let depth = 0;
  for (;;) {
    const code = bytes[place];
    if (code === QUOTE) place = endOfString(bytes, place);
    else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      if (bytes[place + 1] === code + 2) place += 2;
      else {
        if (depth === DEEPEST) return DOUBT;
        kinds[depth++] = code;
        place = code === OPEN_LIST ? place + 1 : endOfKey(bytes, place + 1);
        if (place === DOUBT) return DOUBT;
        continue;
      }
    } else place = code === MINUS || isDigit(code) ? endOfNumber(bytes, place) : endOfLiteral(bytes, place);
    if (place === DOUBT) return DOUBT;
    for (;;) {
      if (depth === 0) return place;
      const kind = kinds[depth - 1] as number;
      if (bytes[place] === COMMA) {
        place = kind === OPEN_LIST ? place + 1 : endOfKey(bytes, place + 1);
        if (place === DOUBT) return DOUBT;
        break;
      }
      // In ASCII each closing bracket is two places after its opening one.
      if (bytes[place] !== kind + 2) return DOUBT;
      place += 1;
      depth -= 1;
    }
  }
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= ZERO && code <= ZERO + 9;
}

function endOfDigits(bytes: Uint8Array, at: number): number {
  let place = at;
  while (isDigit(bytes[place])) place += 1;
  return place === at ? DOUBT : place;
}

function endOfNumber(bytes: Uint8Array, at: number): number {
  const first = bytes[at] === MINUS ? at + 1 : at;
  const whole = endOfDigits(bytes, first);
  if (whole === DOUBT || (bytes[first] === ZERO && whole > first + 1)) return DOUBT;
  const end = bytes[whole] === DOT ? endOfDigits(bytes, whole + 1) : whole;
  if (end === DOUBT || ((bytes[end] as number) | SMALL) !== EXPONENT) return end;
  const sign = bytes[end + 1];
  return endOfDigits(bytes, sign === PLUS || sign === MINUS ? end + 2 : end + 1);
}

function endOfLiteral(bytes: Uint8Array, at: number): number {
  for (const word of LITERALS) if (isAt(bytes, at, word)) return at + word.length;
  return DOUBT;
}
