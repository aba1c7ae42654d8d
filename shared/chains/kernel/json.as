// Walks over JSON as bytes, as json-bytes.ts does: it knows only the plainest form, and anything else is answered with DOUBT.

/** Not a place: the caller must not believe anything found so far. */
export const DOUBT: usize = 0;

export const QUOTE: u8 = 0x22;
export const COMMA: u8 = 0x2c;
const COLON: u8 = 0x3a;
export const OPEN_LIST: u8 = 0x5b;
export const CLOSE_LIST: u8 = 0x5d;
export const OPEN_OBJECT: u8 = 0x7b;
export const CLOSE_OBJECT: u8 = 0x7d;
const MINUS: u8 = 0x2d;
const PLUS: u8 = 0x2b;
const DOT: u8 = 0x2e;
const ZERO: u8 = 0x30;
/** Of an exponent; with this bit a letter is a small one. */
const EXPONENT: u8 = 0x65;
const SMALL: u8 = 0x20;

/** Deeper than anything a node answers. */
const DEEPEST: i32 = 64;
const kinds = memory.data(64);

/** The place after the string whose opening quote is at `at`, or DOUBT. Sixteen letters at a time. */
export function endOfString(at: usize): usize {
  if (load<u8>(at) != QUOTE) return DOUBT;
  for (let place = at + 1; ; place += 16) {
    const letters = v128.load(place);
    // Compared with a sign, what is beyond ASCII is below a space too.
    const special = v128.or(
      v128.or(i8x16.eq(letters, i8x16.splat(0x22)), i8x16.eq(letters, i8x16.splat(0x5c))),
      i8x16.lt_s(letters, i8x16.splat(0x20)),
    );
    const found = i8x16.bitmask(special);
    if (found == 0) continue;
    const end = place + ctz(found);
    return load<u8>(end) == QUOTE ? end + 1 : DOUBT;
  }
}

/** The place after the colon of the key whose opening quote is at `at`, or DOUBT. */
export function endOfKey(at: usize): usize {
  const end = endOfString(at);
  return end != DOUBT && load<u8>(end) == COLON ? end + 1 : DOUBT;
}

/** Whether exactly this text is at `at`. */
export function isAt(at: usize, text: string): bool {
  const words = changetype<usize>(text);
  const length = text.length;
  for (let i = 0; i < length; i += 16) {
    // Texts of programs have two bytes for each letter.
    const expected = i8x16.narrow_i16x8_u(v128.load(words + 2 * i), v128.load(words + 2 * i, 16));
    const left = length - i;
    const all = left >= 16 ? 0xffff : (1 << left) - 1;
    if ((i8x16.bitmask(i8x16.eq(v128.load(at + i), expected)) & all) != all) return false;
  }
  return true;
}

/** Whether the `length` bytes at both places are the same. */
export function isSame(at: usize, other: usize, length: usize): bool {
  for (let i: usize = 0; i < length; i += 16) {
    const left = length - i;
    const all = left >= 16 ? 0xffff : (1 << <i32>left) - 1;
    if ((i8x16.bitmask(i8x16.eq(v128.load(at + i), v128.load(other + i))) & all) != all) return false;
  }
  return true;
}

/** Whether the key at `at`, whose length was looked at, is this one. */
@inline
export function isKey(at: usize, key: string): bool {
  return isAt(at + 1, key);
}

/** The place after the value that begins at `at`, or DOUBT when there is no value of the plainest form. Takes time in proportion to its length. */
export function endOfValue(at: usize): usize {
  let place = at;
  let depth = 0;
  while (true) {
    const code = load<u8>(place);
    if (code == QUOTE) place = endOfString(place);
    else if (code == OPEN_OBJECT || code == OPEN_LIST) {
      if (load<u8>(place, 1) == code + 2) place += 2;
      else {
        if (depth == DEEPEST) return DOUBT;
        store<u8>(kinds + depth, code);
        depth += 1;
        place = code == OPEN_LIST ? place + 1 : endOfKey(place + 1);
        if (place == DOUBT) return DOUBT;
        continue;
      }
    } else place = code == MINUS || isDigit(code) ? endOfNumber(place) : endOfLiteral(place);
    if (place == DOUBT) return DOUBT;
    while (true) {
      if (depth == 0) return place;
      const kind = load<u8>(kinds + depth - 1);
      const next = load<u8>(place);
      if (next == COMMA) {
        place = kind == OPEN_LIST ? place + 1 : endOfKey(place + 1);
        if (place == DOUBT) return DOUBT;
        break;
      }
      // In ASCII each closing bracket is two places after its opening one.
      if (next != kind + 2) return DOUBT;
      place += 1;
      depth -= 1;
    }
  }
}

@inline
function isDigit(code: u8): bool {
  return code - ZERO <= 9;
}

function endOfDigits(at: usize): usize {
  let place = at;
  while (isDigit(load<u8>(place))) place += 1;
  return place == at ? DOUBT : place;
}

function endOfNumber(at: usize): usize {
  const first = load<u8>(at) == MINUS ? at + 1 : at;
  const whole = endOfDigits(first);
  if (whole == DOUBT || (load<u8>(first) == ZERO && whole > first + 1)) return DOUBT;
  const end = load<u8>(whole) == DOT ? endOfDigits(whole + 1) : whole;
  if (end == DOUBT || (load<u8>(end) | SMALL) != EXPONENT) return end;
  const sign = load<u8>(end, 1);
  return endOfDigits(sign == PLUS || sign == MINUS ? end + 2 : end + 1);
}

function endOfLiteral(at: usize): usize {
  if (isAt(at, 'true') || isAt(at, 'null')) return at + 4;
  return isAt(at, 'false') ? at + 5 : DOUBT;
}
