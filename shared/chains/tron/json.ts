import { isSafeNumber, parse } from 'lossless-json';

/** A number of sixteen digits or more, which a double may round; in any other text the built-in parser loses nothing. */
const LONG_NUMBER = /[[:,]\s*-?\d{16}/;

/**
 * Reads JSON without rounding: integers that a double cannot hold come as bigint (senders may put them into a transaction's
 * times). A lossless parser costs a hundred times the built-in one, so it only reads text that needs it. Undefined when the
 * text is not JSON.
 */
export function parseLossless(text: string): unknown {
  try {
    return LONG_NUMBER.test(text) ? parse(text, undefined, { parseNumber }) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseNumber(digits: string): number | bigint {
  return /^-?\d+$/.test(digits) && !isSafeNumber(digits) ? BigInt(digits) : Number(digits);
}
