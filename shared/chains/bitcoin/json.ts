/**
 * A number with a fraction or an exponent as the value of a key. Outside of strings nothing else looks like it; inside of one
 * the quotes around the key would have a backslash before them.
 */
const FRACTION = /("[A-Za-z_]\w*"\s*:\s*)(-?\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+))/g;
const DECIMAL = /^(-?)(\d{1,17})(?:\.(\d{1,24}))?(?:[eE]([-+]?\d{1,2}))?$/;
const COIN_DECIMALS = 8;

/**
 * Reads JSON without ever making a double of an amount: numbers with a fraction come as the text they were written in, whole
 * ones as numbers. Throws SyntaxError when the text is not JSON.
 */
export function parseExact(text: string): unknown {
  return JSON.parse(text.replace(FRACTION, '$1"$2"'));
}

/** Satoshis of an amount of bitcoin as `parseExact` gives it; undefined when it is none, or not a whole number of them. */
export function satoshisOf(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) * 10n ** 8n : undefined;
  const [, sign, whole, fraction = '', exponent = '0'] = (typeof value === 'string' && DECIMAL.exec(value)) || [];
  if (whole === undefined) return undefined;
  const shift = COIN_DECIMALS + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  const scale = 10n ** BigInt(Math.abs(shift));
  if (shift < 0 && digits % scale !== 0n) return undefined;
  const satoshis = shift < 0 ? digits / scale : digits * scale;
  return sign === '-' ? -satoshis : satoshis;
}
