import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';
import { RPC, RpcError } from './refusal.ts';

/** One call as it came: version 2.0 when it says so, 1.x otherwise. */
export interface Call {
  method: string;
  params: unknown[] | Record<string, unknown>;
  id: unknown;
  modern: boolean;
  /** Asks for no answer: 2.0 without an id. */
  notification: boolean;
}

/** JSON in which no number is rounded. @throws SyntaxError */
export function readJson(text: string): unknown {
  return parse(text);
}

export function writeJson(value: unknown): string {
  return stringify(value) ?? 'null';
}

/** Satoshis as bitcoind prints them: a number of whole coins with exactly eight decimals. */
export function coins(satoshis: bigint): LosslessNumber {
  const [sign, size] = satoshis < 0n ? ['-', -satoshis] : ['', satoshis];
  return new LosslessNumber(`${sign}${size / 100_000_000n}.${(size % 100_000_000n).toString().padStart(8, '0')}`);
}

/** What kind of JSON a value is, in bitcoind's words. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (isLosslessNumber(value) || typeof value === 'number') return 'number';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return Array.isArray(value) ? 'array' : 'object';
}

/** The arguments of a call by name; an argument that is null is not given. */
export interface Arguments {
  has(name: string): boolean;
  text(name: string, fallback?: string): string;
  int(name: string, fallback?: number): number;
  bool(name: string, fallback: boolean): boolean;
  /** A verbosity: a number, or a boolean for 0 and 1. */
  level(name: string, fallback: number): number;
  /** Satoshis from an amount in coins, as a number or a text. */
  amount(name: string, fallback?: bigint): bigint;
  list(name: string): unknown[];
  object(name: string): Record<string, unknown>;
  raw(name: string): unknown;
}

/**
 * Matches what a client sent with the names a method knows; `a|b` is one argument with two names.
 * @throws RpcError for names nobody knows and too many positions
 */
export function argumentsOf(method: string, names: readonly string[], params: Call['params']): Arguments {
  const usage = `${method}${names.map((name) => ` "${name.split('|')[0]}"`).join('')}\n`;
  const given = new Map<string, unknown>();
  if (Array.isArray(params)) {
    if (params.length > names.length) throw new RpcError(RPC.misc, usage);
    for (const [at, value] of params.entries()) given.set(names[at]?.split('|')[0] ?? '', value);
  } else {
    for (const [key, value] of Object.entries(params)) {
      const name = names.find((each) => each.split('|').includes(key));
      if (name === undefined) throw new RpcError(RPC.invalidParameter, `Unknown named parameter ${key}`);
      given.set(name.split('|')[0] ?? '', value);
    }
  }
  const value = (name: string): unknown => given.get(name) ?? undefined;
  const wrong = (name: string, expected: string): RpcError => {
    const position = names.findIndex((each) => each.split('|')[0] === name) + 1;
    const words = `JSON value of type ${kindOf(value(name))} is not of expected type ${expected}`;
    return new RpcError(RPC.type, `Wrong type passed:\n{\n    "Position ${position} (${name})": "${words}"\n}`);
  };
  const need = <T>(name: string, fallback: T | undefined, read: (value: unknown) => T | null, expected: string): T => {
    const found = value(name);
    if (found === undefined) {
      if (fallback !== undefined) return fallback;
      throw new RpcError(RPC.misc, usage);
    }
    const result = read(found);
    if (result === null) throw wrong(name, expected);
    return result;
  };
  const int = (name: string, fallback?: number): number => need(name, fallback, integer, 'number');
  return {
    has: (name) => value(name) !== undefined,
    text: (name, fallback) => need(name, fallback, (found) => (typeof found === 'string' ? found : null), 'string'),
    int,
    bool: (name, fallback) => need(name, fallback, (found) => (typeof found === 'boolean' ? found : null), 'bool'),
    level: (name, fallback) => {
      const found = value(name);
      return typeof found === 'boolean' ? Number(found) : int(name, fallback);
    },
    amount: (name, fallback) => need(name, fallback, satoshisOf, 'number'),
    list: (name) => need(name, undefined, (found) => (Array.isArray(found) ? found : null), 'array'),
    object: (name) => need(name, undefined, (found) => (kindOf(found) === 'object' ? (found as Record<string, unknown>) : null), 'object'),
    raw: value,
  };
}

function integer(value: unknown): number | null {
  if (!isLosslessNumber(value)) return null;
  const number = Number(value.value);
  if (!Number.isInteger(number)) throw new RpcError(RPC.misc, 'JSON integer out of range');
  return number;
}

/** Satoshis of an amount written in coins; null when it is neither a number nor a text. @throws RpcError when it is no amount */
export function satoshisOf(value: unknown): bigint | null {
  const text = isLosslessNumber(value) ? value.value : typeof value === 'string' ? value : null;
  if (text === null) return null;
  const plain = /e/i.test(text) ? Number(text).toFixed(8) : text;
  const parts = /^(-?)(\d+)(?:\.(\d{1,8})0*)?$/.exec(plain);
  if (parts === null) throw new RpcError(RPC.type, 'Invalid amount');
  const [, sign, whole = '0', rest = ''] = parts;
  const satoshis = BigInt(whole) * 100_000_000n + BigInt(rest.padEnd(8, '0'));
  if (sign === '-' && satoshis > 0n) throw new RpcError(RPC.type, 'Amount out of range');
  return satoshis;
}
