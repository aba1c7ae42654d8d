import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedWebhook {
  at: string;
  headers: Record<string, string | string[] | undefined>;
  /** The body as received, byte for byte. */
  body: string;
}

export interface WebhookAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
  /** Milliseconds before answering. */
  delayMs?: number;
}

export interface WebhookReceiver {
  url: string;
  /** Answers the list of everything received, newest last. */
  logUrl: string;
  received: ReceivedWebhook[];
  /** Decides the answers from now on; undefined drops the connection without one. */
  answerWith(decide: (webhook: ReceivedWebhook) => WebhookAnswer | undefined): void;
  stop(): Promise<void>;
}

export interface WebhookReceiverOptions {
  port?: number;
  onWebhook?(webhook: ReceivedWebhook): void;
  /** HTML of further pages by path; undefined for a path it does not know. */
  pages?(path: string): Promise<string | undefined>;
}

const KEEP = 1_000;

/** A merchant's webhook endpoint: POST /webhook is recorded and answered 200, GET /received lists what came. */
export async function startWebhookReceiver(options: WebhookReceiverOptions = {}): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  let decide: (webhook: ReceivedWebhook) => WebhookAnswer | undefined = () => ({ status: 200 });
  const page = async (path: string): Promise<{ status: number; html: string }> => {
    try {
      const html = await options.pages?.(path);
      return html === undefined ? { status: 404, html: 'not found' } : { status: 200, html };
    } catch {
      return { status: 502, html: 'the node does not answer' };
    }
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = new URL(request.url ?? '/', 'http://localhost').pathname;
      if (request.method === 'GET' && path === '/received') {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(received));
      } else if (request.method === 'POST' && path.startsWith('/webhook')) {
        const webhook = { at: new Date().toISOString(), headers: request.headers, body: Buffer.concat(chunks).toString('utf8') };
        received.push(webhook);
        if (received.length > KEEP) received.shift();
        options.onWebhook?.(webhook);
        const answer = decide(webhook);
        if (answer === undefined) request.destroy();
        else setTimeout(() => response.writeHead(answer.status, answer.headers).end(answer.body ?? ''), answer.delayMs ?? 0);
      } else if (path === '/thanks') {
        response.writeHead(200, { 'content-type': 'text/plain' }).end('Thank you.\n');
      } else {
        void page(path).then(({ status, html }) => response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(html));
      }
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/webhook`,
    logUrl: `${origin}/received`,
    received,
    answerWith: (next) => {
      decide = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
