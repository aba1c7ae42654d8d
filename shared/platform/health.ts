import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Logger } from './logger.ts';
import type { Scrape } from './metric-registry.ts';

const CHECK_DEADLINE_MS = 2_000;
const REQUEST_TIMEOUT_MS = 10_000;
/** What a browser is told that ends up here: this is data, not to be kept, guessed at, framed or run. */
const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

/** What is wrong with one dependency, or null when it is well; `well` says something about one that is, undefined that there is nothing to tell. */
export type Health = string | null | undefined | { well: string };
export type HealthCheck = () => Health | Promise<Health>;

export interface HealthServer {
  /** `http://host:port` it really listens on. */
  origin: string;
  /** From here on `/readyz` answers 503, so that nobody sends new work. */
  drain(): void;
  close(): Promise<void>;
}

/**
 * Serves `/healthz` (this process runs, nothing more), `/readyz` (every dependency with its reason; 503 while one is
 * unwell) and `/metrics` on a port of its own (operability 6). A failing dependency never fails `/healthz`: restarting
 * the process would not bring a node back.
 */
export async function startHealthServer(
  log: Logger,
  options: { host: string; port: number; checks: Readonly<Record<string, HealthCheck>>; scrape: () => Promise<Scrape> },
): Promise<HealthServer> {
  let draining = false;
  const routes: Record<string, (response: ServerResponse) => Promise<void>> = {
    '/healthz': async (response) => sendJson(response, 200, { status: 'ok' }),
    '/readyz': async (response) => {
      const checks = await runChecks(options.checks);
      if (draining) checks.process = 'shutting down';
      const ready = Object.values(checks).every((health) => typeof health !== 'string');
      sendJson(response, ready ? 200 : 503, {
        status: ready ? 'ready' : 'not ready',
        checks: Object.fromEntries(Object.entries(checks).map(([name, health]) => [name, typeof health === 'string' ? health : (health?.well ?? 'ok')])),
      });
    },
    '/metrics': async (response) => {
      const { contentType, body } = await options.scrape();
      response.writeHead(200, { 'content-type': contentType }).end(body);
    },
  };
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const route = routes[pathOf(request.url ?? '/')];
    const answer = route === undefined || request.method !== 'GET' ? Promise.resolve(sendJson(response, 404, { status: 'not found' })) : route(response);
    answer.catch((error: unknown) => {
      log.error({ err: error }, 'health endpoint failed');
      if (!response.headersSent) sendJson(response, 500, { status: 'error' });
    });
  });
  await listen(server, options.port, options.host);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  const origin = `http://${options.host}:${port}`;
  log.info({ origin }, 'health and metrics');
  return {
    origin,
    drain: () => {
      draining = true;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const BASE = 'http://localhost';

/** The path that is asked for. What is no URL, such as `//`, is asked for by strangers and slips of the keyboard, and is none of the paths here. */
function pathOf(target: string): string {
  return URL.canParse(target, BASE) ? new URL(target, BASE).pathname : target;
}

async function runChecks(checks: Readonly<Record<string, HealthCheck>>): Promise<Record<string, Health>> {
  const results = await Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await withDeadline(check)] as const));
  return Object.fromEntries(results.filter(([, health]) => health !== undefined));
}

async function withDeadline(check: HealthCheck): Promise<Health> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer within ${CHECK_DEADLINE_MS} ms`), CHECK_DEADLINE_MS);
  });
  try {
    return await Promise.race([Promise.resolve().then(check), late]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}
