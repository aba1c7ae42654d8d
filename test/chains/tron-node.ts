import { randomBytes } from 'node:crypto';
import { TronWeb } from 'tronweb';
import { TRON_FAUCET } from '#ops/devnet/tron/demo.ts';
import { type RunningTronNode, startTronNode, type TronNodeOptions } from '#ops/devnet/tron/start.ts';

/** Any JSON a node answers with. */
export type Answer = Record<string, unknown>;

/** A local node with an unmodified tronweb in front of it, signing for the faucet. */
export interface NodeWithWeb extends RunningTronNode {
  web: TronWeb;
  /** A POST to any path, answered as the node wrote it. */
  ask<T = Answer>(path: string, body?: unknown): Promise<T>;
  /** A GET, the query in the path. */
  get<T = Answer>(path: string): Promise<T>;
}

export async function openNode(options: TronNodeOptions = {}): Promise<NodeWithWeb> {
  return withWeb(await startTronNode(options));
}

export function withWeb(node: RunningTronNode): NodeWithWeb {
  const web = new TronWeb({ fullHost: node.url, privateKey: TRON_FAUCET.privateKey });
  const read = async <T>(path: string, init?: RequestInit): Promise<T> => (await fetch(`${node.url}/${path}`, init)).json() as Promise<T>;
  return {
    ...node,
    web,
    ask: (path, body) => read(path, { method: 'POST', ...(body !== undefined && { body: JSON.stringify(body) }) }),
    get: (path) => read(path),
  };
}

/** A key nobody used before, with its addresses. */
export function newAccount(): { privateKey: string; base58: string; hex: string } {
  const privateKey = randomBytes(32).toString('hex');
  const base58 = TronWeb.address.fromPrivateKey(privateKey) as string;
  return { privateKey, base58, hex: TronWeb.address.toHex(base58).toLowerCase() };
}

/** Text of a hex message, as nodes write them. */
export function messageOf(answer: Answer): string {
  return Buffer.from(String(answer.message), 'hex').toString('utf8');
}
