import type { CoreCall } from './bitcoin-purse.ts';

/** Asks a node of Bitcoin Core's kind, logged in by its URL; only for tests, where amounts of a few coins fit a number. */
export function coreCall(url: string): CoreCall {
  const { protocol, host, username, password } = new URL(url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return async <T>(method: string, params: unknown[] = []): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(`${protocol}//${host}/`, { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body });
    const { result, error } = (await response.json()) as { result: T; error?: { code: number; message: string } };
    if (error !== undefined && error !== null) throw new Error(`${method}: ${error.message} (${error.code})`);
    return result;
  };
}

/** Prints a reply as a node does: amounts with eight decimals. A `NumberText` inside is printed as it is. */
export function printCore(reply: unknown, key = ''): string {
  if (Array.isArray(reply)) return `[${reply.map((one) => printCore(one)).join(',')}]`;
  if (typeof reply === 'number' && (key === 'value' || key === 'fee')) return reply.toFixed(8);
  if (typeof reply !== 'object' || reply === null) return JSON.stringify(reply);
  if (isText(reply)) return reply.numberText;
  const entries = Object.entries(reply).filter(([, value]) => value !== undefined);
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${printCore(value, name)}`).join(',')}}`;
}

/** A number as somebody might print it. */
export interface NumberText {
  numberText: string;
}

const isText = (value: object): value is NumberText => 'numberText' in value;
