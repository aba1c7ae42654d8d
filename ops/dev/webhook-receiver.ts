import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { shopPage } from './shop-pages.ts';

export interface ReceivedWebhook {
  /** Grows with every webhook, also over restarts of the receiver: microseconds since 1970, pulled apart. */
  seq: number;
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
  /** Answers the list of everything received, newest last; with `?after=<seq>` what came after that. */
  logUrl: string;
  received: ReceivedWebhook[];
  /** Decides the answers from now on; undefined drops the connection without one. */
  answerWith(decide: (webhook: ReceivedWebhook) => WebhookAnswer | undefined): void;
  stop(): Promise<void>;
}

export interface WebhookReceiverOptions {
  port?: number;
  onWebhook?(webhook: ReceivedWebhook): void;
  /** Further pages by path; undefined for a path it does not know. */
  pages?(path: string): Promise<{ status: number; html: string } | undefined>;
}

const KEEP = 1_000;

/** Pages show what came from a chain or in an address: they may be read, and nothing in them may run or tell others of them. */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** A merchant's server: POST /webhook is recorded and answered 200, GET /received lists what came, and payers find its pages (shop-pages.ts). */
export async function startWebhookReceiver(options: WebhookReceiverOptions = {}): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  let seq = 0;
  let decide: (webhook: ReceivedWebhook) => WebhookAnswer | undefined = () => ({ status: 200 });
  const page = async (path: string): Promise<{ status: number; html: string }> => {
    try {
      return (await options.pages?.(path)) ?? { status: 404, html: 'not found' };
    } catch {
      return { status: 502, html: 'the node does not answer' };
    }
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
      const shop = shopPage(path, query);
      if (request.method === 'GET' && path === '/received') {
        const after = Number(query.get('after') ?? 0);
        const listed = received.filter((webhook) => webhook.seq > after);
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(listed));
      } else if (request.method === 'POST' && path.startsWith('/webhook')) {
        seq = Math.max(seq + 1, Date.now() * 1_000);
        const webhook = { seq, at: new Date().toISOString(), headers: request.headers, body: Buffer.concat(chunks).toString('utf8') };
        received.push(webhook);
        if (received.length > KEEP) received.shift();
        options.onWebhook?.(webhook);
        const answer = decide(webhook);
        if (answer === undefined) request.socket.destroy();
        else setTimeout(() => response.writeHead(answer.status, answer.headers).end(answer.body ?? ''), answer.delayMs ?? 0);
      } else if (shop !== undefined) {
        response.writeHead(200, { ...PAGE_HEADERS, 'content-type': shop.type }).end(shop.body);
      } else {
        void page(path).then(({ status, html }) => response.writeHead(status, PAGE_HEADERS).end(html));
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
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
