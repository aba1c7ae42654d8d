import { readFileSync } from 'node:fs';
import { RpcRefused } from '#shared/chains/rpc.ts';
import type { BitcoinNode } from '#ops/dev/services/bitcoin-node.ts';

/** True where the tests run on a real bitcoind, which has no control and words of its own. */
export const ON_REAL_NODE = Boolean(process.env.BITCOIND_BIN);

/** A reply of Bitcoin Core, recorded on regtest. */
export function recorded<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../fixtures/chain/bitcoin-core-31.99-regtest/${name}.json`, import.meta.url), 'utf8')) as T;
}

/** The whole HTTP answer to one body, as it is written. */
export async function post(url: string, body: unknown, options: { path?: string; authorization?: string } = {}): Promise<{ status: number; text: string }> {
  const { origin, username, password } = new URL(url);
  const authorization = options.authorization ?? `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const response = await fetch(`${origin}${options.path ?? '/'}`, {
    method: 'POST',
    headers: { authorization },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

/** The result of one call as plain JSON, where amounts are numbers. */
export async function askPlain<T = unknown>(url: string, method: string, params: unknown = []): Promise<T> {
  const { text } = await post(url, { jsonrpc: '2.0', id: 1, method, params });
  const { result, error } = JSON.parse(text) as { result: T; error?: { message: string } };
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}

/** Code and words of a call that is refused. */
export async function refusalOf(node: BitcoinNode, method: string, params: readonly unknown[]): Promise<{ code: number; message: string }> {
  try {
    await node.call(method, params);
  } catch (error) {
    if (error instanceof RpcRefused) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error(`${method} was not refused`);
}
