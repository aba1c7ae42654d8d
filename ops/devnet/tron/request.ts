import { parse, parseNumberAndBigInt, stringify } from 'lossless-json';
import { type Hex, parseAddress } from './bytes.ts';
import type { Request } from './node.ts';
import type { Json } from './print.ts';

/** Reads the query of a GET or the body of a POST; an empty body asks for nothing. @throws Error when the body is no JSON object */
export function readRequest(query: URLSearchParams, text: string): Request {
  const body = text.trim() === '' ? Object.fromEntries(query) : readBody(text);
  const visible = body.visible === true || body.visible === 'true';
  const field = (name: string): string => (body[name] === undefined || body[name] === null ? '' : String(body[name]));
  return {
    visible,
    body: { ...body, visible },
    text: field,
    int: (name) => {
      const value = field(name);
      if (value === '') return 0n;
      if (!/^-?\d+$/.test(value)) throw new Error(`class java.lang.NumberFormatException : For input string: "${value}"`);
      return BigInt(value);
    },
    address: (name) => readAddress(field(name), visible),
  };
}

/** JSON with every integer as it is, however large; as text when a client asks for `int64_as_string`. */
export function writeJson(value: unknown, asText: boolean): string {
  return stringify(asText ? integersAsText(value) : value) ?? 'null';
}

function readBody(text: string): Json {
  const body = parse(text, undefined, parseNumberAndBigInt);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Error('class java.lang.ClassCastException : not a JSON object');
  return body as Json;
}

/** Base58 where `visible`, hex otherwise; a 20-byte hex address is none. */
function readAddress(text: string, visible: boolean): Hex {
  const address = visible === text.startsWith('T') ? parseAddress(text) : null;
  if (address === null)
    throw new Error(
      visible
        ? 'class java.lang.IllegalArgumentException : Invalid address'
        : `class org.tron.core.services.http.JsonFormat$ParseException : INVALID hex String`,
    );
  return address;
}

function integersAsText(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}`;
  if (Array.isArray(value)) return value.map(integersAsText);
  if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, integersAsText(inner)]));
  return value;
}
