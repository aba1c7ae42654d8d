import { randomUUID } from 'node:crypto';

/** A number of sixteen digits or more, which a double may round; in any other text the built-in parser loses nothing. */
const LONG_NUMBER = /(?:^|[[:,])\s*-?\d{16}/;
/** The same between two strings, with nothing after it that would make it a fraction. */
const LONG_INTEGERS = /(?<=^|[\s[:,])-?([1-9]\d{15,})(?![\d.eE+-])/g;
const SHORTEST = 16;
/** No integer of any chain has more digits; a bigint of millions of them would take seconds. Longer ones are what a double makes of them, which nobody takes for a quantity. */
const LONGEST = 100;
const BACKSLASH = 92;
/** Begins what stands for an integer while JSON is parsed; nobody can write it into a text before this process began. */
const MARK = `${randomUUID()}:`;

/**
 * Reads JSON without rounding: integers that a double cannot hold come as bigint (senders may put them into a transaction's
 * times). The built-in parser reads all of it, and those integers, which anybody may place anywhere, as strings that are made integers
 * afterwards: a lossless parser takes ten to sixty times as long. Undefined when the text is not JSON.
 */
export function parseLossless(text: string): unknown {
  try {
    if (!LONG_NUMBER.test(text)) return JSON.parse(text);
    const quoted = quoteLongIntegers(text);
    const value: unknown = JSON.parse(quoted);
    return quoted === text ? value : unquoted(value);
  } catch {
    return undefined;
  }
}

/** The text with every integer outside of its strings that a double would round as a marked string. */
function quoteLongIntegers(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const begins = text.indexOf('"', at);
    const end = begins < 0 ? text.length : begins;
    const between = text.slice(at, end);
    parts.push(
      between.length < SHORTEST
        ? between
        : between.replace(LONG_INTEGERS, (integer, digits: string) =>
            digits.length > LONGEST || Number.isSafeInteger(Number(digits)) ? integer : `"${MARK}${integer}"`,
          ),
    );
    if (begins < 0) break;
    at = endOfString(text, begins);
    parts.push(text.slice(begins, at));
  }
  return parts.join('');
}

/** Where the string that begins at a quote is over; the end of the text when it never is. */
function endOfString(text: string, begins: number): number {
  for (let quote = text.indexOf('"', begins + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  return text.length;
}

/** A parsed value with its marked strings as integers, changed in place. */
function unquoted(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    const field = fields[key];
    if (typeof field === 'string' ? field.startsWith(MARK) : typeof field === 'object') fields[key] = unquoted(field);
  }
  return value;
}
