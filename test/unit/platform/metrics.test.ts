import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLogger } from '#shared/platform/logger.ts';
import { countRpc, createApiMetrics, createIndexerMetrics } from '#shared/platform/metrics.ts';

/** Everything written in a folder except generated types. */
function sourcesOf(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts') && !name.startsWith('contract'));
  return files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
}

const namesOf = (metrics: object): string[] => Object.keys(metrics).filter((name) => name !== 'scrape' && !name.startsWith('rpc'));

const namesOfRpc = (metrics: object): string[] => Object.keys(metrics).filter((name) => name.startsWith('rpc'));

describe('a metric that is defined is also fed', () => {
  const api = sourcesOf('api');
  const indexer = sourcesOf('indexer');
  const use = (name: string): RegExp => new RegExp(`metrics\\??\\.${name}\\b`);

  it.each(namesOf(createApiMetrics('test')))('%s, by the api', (name) => {
    expect(api).toMatch(use(name));
  });

  it.each(namesOf(createIndexerMetrics('test')))('%s, by the indexer', (name) => {
    expect(indexer).toMatch(use(name));
  });

  it.each([
    ['api', api],
    ['indexer', indexer],
  ])('those of RPC endpoints, by the %s', (_process, sources) => {
    expect(sources).toContain('countRpc(metrics, ');
  });

  it.each(namesOfRpc(createApiMetrics('test')))('%s, whenever an endpoint is asked', (name) => {
    const touched: string[] = [];
    const fake = new Proxy(
      {},
      {
        get: (_, metric) => ({ inc: () => touched.push(String(metric)), observe: () => touched.push(String(metric)), set: () => touched.push(String(metric)) }),
      },
    );
    const log = createLogger({ component: 'test', level: 'silent' });
    const observer = countRpc(fake as Parameters<typeof countRpc>[0], 'ethereum', log);
    observer.request({ method: 'eth_chainId', provider: 'node.example', result: 'ok', seconds: 1 });
    observer.endpoint({ provider: 'node.example', state: 'well', height: 1, lastTrouble: null, foreign: null });
    expect(touched).toContain(name);
  });
});
