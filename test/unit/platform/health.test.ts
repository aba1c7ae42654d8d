import { request } from 'node:http';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { type HealthCheck, type HealthServer, startHealthServer } from '#shared/platform/health.ts';
import { createApiMetrics, createIndexerMetrics } from '#shared/platform/metrics.ts';

let server: HealthServer | undefined;
afterEach(() => server?.close());

async function serving(checks: Record<string, HealthCheck>): Promise<(path: string) => Promise<{ status: number; body: unknown }>> {
  const metrics = createApiMetrics('1.2.3');
  const started = await startHealthServer(pino({ level: 'silent' }), { host: '127.0.0.1', port: 0, checks, scrape: metrics.scrape });
  server = started;
  return async (path) => {
    const response = await fetch(`${started.origin}${path}`);
    const text = await response.text();
    return { status: response.status, body: path === '/metrics' ? text : JSON.parse(text) };
  };
}

describe('the operations port', () => {
  it('is ready when every dependency is well', async () => {
    const get = await serving({ postgres: () => null, redis: async () => null });
    expect(await get('/readyz')).toEqual({ status: 200, body: { status: 'ready', checks: { postgres: 'ok', redis: 'ok' } } });
  });

  it('names each dependency that is not, and stays alive', async () => {
    const get = await serving({
      postgres: () => {
        throw new Error('connection refused');
      },
      'chain:ethereum': () => 'the node has not answered for 9 s',
      redis: () => null,
    });
    expect(await get('/readyz')).toEqual({
      status: 503,
      body: { status: 'not ready', checks: { postgres: 'connection refused', 'chain:ethereum': 'the node has not answered for 9 s', redis: 'ok' } },
    });
    expect((await get('/healthz')).status).toBe(200);
  });

  it('answers in time when a dependency does not', async () => {
    const get = await serving({ postgres: () => new Promise(() => undefined) });
    expect(await get('/readyz')).toMatchObject({ status: 503, body: { checks: { postgres: 'no answer within 2000 ms' } } });
  });

  it('is not ready while it shuts down', async () => {
    const get = await serving({});
    server?.drain();
    expect((await get('/readyz')).status).toBe(503);
    expect((await get('/healthz')).status).toBe(200);
  });

  it('serves metrics, and nothing else', async () => {
    const get = await serving({});
    expect((await get('/metrics')).body).toContain('sluice_build_info{version="1.2.3",commit="unknown",component="api"} 1');
    expect((await get('/secrets')).status).toBe(404);
  });

  it.each(['//', '//[', '///healthz'])('does not end for anybody who asks for %s', async (path) => {
    const get = await serving({});
    const { hostname, port } = new URL((server as HealthServer).origin);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request({ hostname, port, path }, (response) => resolve(response.resume().statusCode))
        .once('error', reject)
        .end();
    });
    expect(status).toBe(404);
    expect((await get('/healthz')).status).toBe(200);
  });

  it.each(['/healthz', '/readyz', '/metrics', '/nothing'])('tells a browser that %s is data: not to be kept, guessed at, framed or run', async (path) => {
    await serving({});
    const { headers } = await fetch(`${server?.origin}${path}`);
    expect(
      Object.fromEntries(['cache-control', 'x-content-type-options', 'content-security-policy', 'referrer-policy'].map((name) => [name, headers.get(name)])),
    ).toEqual({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
    });
  });
});

describe('metric names', () => {
  it.each([
    ['api', createApiMetrics],
    ['indexer', createIndexerMetrics],
  ])('of the %s: a counter ends in _total and nothing else does', async (_component, create) => {
    const { body } = await create('1').scrape();
    const types = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => ({ name: name as string, counter: type === 'counter' }));
    expect(types.length).toBeGreaterThan(20);
    for (const { name, counter } of types) expect(`${name} ${counter}`).toBe(`${name} ${name.endsWith('_total')}`);
  });
});
