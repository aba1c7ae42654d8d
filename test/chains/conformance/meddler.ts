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

/**
 * Stands between a reader and its node: passes everything on byte by byte until it is told to change the answers. Who logs in at
 * the node by its URL logs in here the same way.
 */
export async function startMeddler(target: string, protocol: Protocol, print: (reply: unknown) => string = JSON.stringify): Promise<Meddler> {
  let meddling: Meddling | null = null;
  const node = new URL(target);
  const login = node.username === '' ? '' : `${node.username}:${node.password}`;
  const plain = `${node.protocol}//${node.host}`;
  const headers = { 'content-type': 'application/json', ...(login === '' ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` }) };
  const server = createServer((request, response) => {
    void (async () => {
      const body = await textOf(request);
      const path = request.url ?? '/';
      const reply = await fetch(new URL(path, plain), {
        method: request.method ?? 'GET',
        headers,
        ...(request.method === 'GET' ? {} : { body }),
      });
      const text = await reply.text();
      const changed = meddling === null ? text : print(protocol({ path, body: body === '' ? null : JSON.parse(body) }, JSON.parse(text), meddling));
      response.writeHead(reply.status, { 'content-type': 'application/json' }).end(changed);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://${login === '' ? '' : `${login}@`}127.0.0.1:${(server.address() as AddressInfo).port}`,
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

/** What a meddling answers to have the node refuse the question; only over JSON-RPC. */
export interface Refusal {
  refusal: { code: number; message: string };
}

const isRefusal = (answer: unknown): answer is Refusal => typeof answer === 'object' && answer !== null && 'refusal' in answer;

/** JSON-RPC 2.0, single and in batches; a question the node refused is asked of the meddling without an answer. */
export const jsonRpc: Protocol = ({ body }, reply, meddling) => {
  const asked = new Map([body].flat().map((one) => [(one as JsonRpc).id, one as JsonRpc]));
  const change = (answer: unknown): unknown => {
    const { id, result } = answer as { id: unknown; result: unknown };
    const one = asked.get(id);
    if (one === undefined) return answer;
    const changed = meddling({ call: one.method, params: one.params, answer: result });
    if (isRefusal(changed)) return { jsonrpc: '2.0', id, error: changed.refusal };
    return changed === undefined && 'error' in (answer as object) ? answer : { jsonrpc: '2.0', id, result: changed ?? null };
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
