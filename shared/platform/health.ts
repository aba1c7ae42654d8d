import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Logger } from './logger.ts';
import type { Scrape } from './metrics.ts';

const CHECK_DEADLINE_MS = 2_000;

/** Says what is wrong with one dependency, or null when it is well. */
export type HealthCheck = () => string | null | Promise<string | null>;

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
      const ready = Object.values(checks).every((problem) => problem === null);
      sendJson(response, ready ? 200 : 503, {
        status: ready ? 'ready' : 'not ready',
        checks: Object.fromEntries(Object.entries(checks).map(([name, problem]) => [name, problem ?? 'ok'])),
      });
    },
    '/metrics': async (response) => {
      const { contentType, body } = await options.scrape();
      response.writeHead(200, { 'content-type': contentType }).end(body);
    },
  };
  const server = createServer((request, response) => {
    const route = routes[new URL(request.url ?? '/', 'http://localhost').pathname];
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

async function runChecks(checks: Readonly<Record<string, HealthCheck>>): Promise<Record<string, string | null>> {
  const results = await Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await withDeadline(check)] as const));
  return Object.fromEntries(results);
}

async function withDeadline(check: HealthCheck): Promise<string | null> {
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
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }).end(JSON.stringify(body));
}
