import { UsageError } from './command.ts';

/** Settings that are whole numbers; every other number-like value is money and stays text. */
const INTEGERS = new Set([
  'commissionBps',
  'lateCaptureGraceSeconds',
  'maturitySeconds',
  'inquiryAttempts',
  'parkedCap',
  'dispatchDelaySeconds',
  'credits',
  'threshold',
  'timeoutSeconds',
]);
/** Settings that are lists, written with commas. */
const LISTS = new Set(['assetIds', 'apiAllowlist', 'allowlist']);

/**
 * Turns `field=value` arguments into a body for the operator API: dots descend (`cashout.enabled=true`), lists are
 * written with commas, `null` brings back the default.
 * @throws UsageError naming the argument that is not one
 */
export function readFields(args: readonly string[]): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const arg of args) {
    const at = arg.indexOf('=');
    const path = arg.slice(0, Math.max(at, 0)).split('.');
    if (at < 1 || path.some((step) => !/^[A-Za-z]+$/.test(step))) throw new UsageError(`"${arg}" is not field=value`);
    let place = body;
    for (const step of path.slice(0, -1)) {
      const inner = Object.hasOwn(place, step) ? place[step] : {};
      if (typeof inner !== 'object' || inner === null) throw new UsageError(`"${arg}": ${step} was already given a value`);
      place[step] = inner;
      place = inner as Record<string, unknown>;
    }
    const field = path.at(-1) as string;
    place[field] = readValue(field, arg.slice(at + 1));
  }
  return body;
}

function readValue(field: string, text: string): unknown {
  if (text === 'null') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  if (LISTS.has(field))
    return text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '');
  if (INTEGERS.has(field)) {
    if (!/^-?\d+$/.test(text)) throw new UsageError(`${field} must be a whole number, not "${text}"`);
    return Number(text);
  }
  return text;
}
