import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One question put to a node, and what the node answered. */
export interface Exchange {
  /** JSON-RPC method or HTTP path. */
  call: string;
  params: unknown;
  answer: unknown;
}

/** What to answer instead. */
export type Meddling = (exchange: Exchange) => unknown;

/** How a family's protocol carries exchanges: changes the reply to one HTTP request, exchange by exchange. */
export type Protocol = (request: { path: string; body: unknown }, reply: unknown, meddling: Meddling) => unknown;

export interface Meddler {
  url: string;
  meddle(meddling: Meddling | null): void;
  stop(): Promise<void>;
}

/** Stands between a reader and its node: passes everything on byte by byte until it is told to change the answers. */
export async function startMeddler(target: string, protocol: Protocol): Promise<Meddler> {
  let meddling: Meddling | null = null;
  const server = createServer((request, response) => {
    void (async () => {
      const body = await textOf(request);
      const path = request.url ?? '/';
      const reply = await fetch(new URL(path, target), {
        method: request.method ?? 'GET',
        headers: { 'content-type': 'application/json' },
        ...(request.method === 'GET' ? {} : { body }),
      });
      const text = await reply.text();
      const changed = meddling === null ? text : JSON.stringify(protocol({ path, body: body === '' ? null : JSON.parse(body) }, JSON.parse(text), meddling));
      response.writeHead(reply.status, { 'content-type': 'application/json' }).end(changed);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    meddle(next) {
      meddling = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface JsonRpc {
  id: unknown;
  method: string;
  params: unknown;
}

/** JSON-RPC 2.0, single and in batches. */
export const jsonRpc: Protocol = ({ body }, reply, meddling) => {
  const asked = new Map([body].flat().map((one) => [(one as JsonRpc).id, one as JsonRpc]));
  const change = (answer: unknown): unknown => {
    const { id, result } = answer as { id: unknown; result: unknown };
    const one = asked.get(id);
    return one === undefined ? answer : { jsonrpc: '2.0', id, result: meddling({ call: one.method, params: one.params, answer: result }) ?? null };
  };
  return Array.isArray(reply) ? reply.map(change) : change(reply);
};

/** One question per HTTP request, named by its path. */
export const plainHttp: Protocol = ({ path, body }, reply, meddling) =>
  meddling({ call: path.replace(/^\//, '').replace(/\?.*/, ''), params: body, answer: reply });

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
