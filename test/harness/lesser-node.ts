import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What an EVM node may lack. */
export const LACKS = ['block receipts', 'access lists', 'state overrides', 'traces'] as const;
/** Some take overrides of calls and not of estimates. */
export type Lack = (typeof LACKS)[number] | 'overrides of estimates';

/** A proxy in front of an EVM node that refuses what it is said to lack, as nodes do that never had it. */
export interface LesserNode {
  url: string;
  /** The node behind it, which may be named when that is known. */
  target: string;
  /** What it lacks from now on. */
  lacks: readonly Lack[];
  /** Methods that were refused, in order. */
  refused: string[];
  stop(): Promise<void>;
}

interface Asked {
  id: unknown;
  method: string;
  params?: unknown[];
}

const UNKNOWN_METHOD = { code: -32_601, message: 'the method does not exist/is not available' };
/** geth's words to more parameters than a method takes. */
const TOO_MANY = { code: -32_602, message: 'too many arguments, want at most 2' };

/** Starts one before `target`. */
export async function startLesserNode(target: string, lacking: readonly Lack[]): Promise<LesserNode> {
  const node: LesserNode = { url: '', target, lacks: lacking, refused: [], stop: () => Promise.resolve() };
  const { refused } = node;
  const refusalOf = ({ method, params = [] }: Asked): typeof UNKNOWN_METHOD | null => {
    const { lacks } = node;
    if (lacks.includes('block receipts') && method === 'eth_getBlockReceipts') return UNKNOWN_METHOD;
    if (lacks.includes('access lists') && method === 'eth_createAccessList') return UNKNOWN_METHOD;
    if (lacks.includes('traces') && /^(debug|trace|ots)_/.test(method)) return UNKNOWN_METHOD;
    if (lacks.includes('overrides of estimates') && method === 'eth_estimateGas' && params.length > 2) return TOO_MANY;
    return lacks.includes('state overrides') && /^eth_(call|estimateGas)$/.test(method) && params.length > 2 ? TOO_MANY : null;
  };
  const answer = async (asked: readonly Asked[]): Promise<unknown[]> => {
    const refusals = asked.flatMap((one) => {
      const error = refusalOf(one);
      if (error === null) return [];
      refused.push(one.method);
      return [{ jsonrpc: '2.0', id: one.id, error }];
    });
    const rest = asked.filter((one) => refusalOf(one) === null);
    if (rest.length === 0) return refusals;
    const reply = await fetch(node.target, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(rest) });
    return [...((await reply.json()) as unknown[]), ...refusals];
  };
  const server = createServer((request, response) => {
    void (async () => {
      const body = JSON.parse(await textOf(request)) as Asked | Asked[];
      const answers = await answer([body].flat());
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(node, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
