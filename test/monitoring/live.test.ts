import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { PrometheusPrograms } from '#ops/dev/services/prometheus.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { type Markets, openMarkets } from '#test/fixtures/markets.ts';
import { alertRules, namesIn, namesServed, panelQueries, recordingRules } from '#test/fixtures/monitoring.ts';
import type { RunningApi } from '#test/harness/deployables.ts';
import { OUTSIDER, aScene, type Scene } from '#test/journeys/scene.ts';
import { type RunningPrometheus, startPrometheus } from './prometheus.ts';

const programs = inject('prometheus');
/** Sources of prices: two agree, the third has gone mad. */
const SOURCES = ['kraken', 'bitstamp', 'binance'];

describe.skipIf(programs === null)('a real Prometheus beside a deployment that is used', () => {
  let scene: Scene;
  let worker: RunningApi;
  let markets: Markets;
  let prometheus: RunningPrometheus;

  beforeAll(async () => {
    const directory = join(inject('services').directory, 'prometheus');
    [scene, markets] = await Promise.all([aScene({ gateway: { screening: { enabled: true, credits: 100 } } }), openMarkets()]);
    markets.say({ ETH: '2000', USDT: '1', USDC: '1', EUR: '1.25' });
    const targets = { 'sluice-api': [scene.api.opsUrl], 'sluice-signer': [scene.signer.opsUrl], 'sluice-indexer': [scene.indexer.opsUrl] };
    prometheus = await startPrometheus(programs as PrometheusPrograms, directory, targets);
    // A second worker, which has the canary and asks public sources for prices.
    const canary = await scene.world.aGateway(scene.api);
    const keyFile = join(directory, 'canary-key');
    await writeFile(keyFile, canary.gateway.apiKey);
    worker = await scene.world.startApi({
      env: {
        SLUICE_ROLES: 'worker',
        SLUICE_CANARY_URL: scene.api.baseUrl,
        SLUICE_CANARY_KEY_FILE: keyFile,
        SLUICE_PRICE_SOURCE: 'http',
        SLUICE_PRICE_PROVIDERS: SOURCES.join(),
        SLUICE_PRICE_PROVIDER_URLS: SOURCES.map((name) => `${name}=${markets.url}/${name}`).join(),
        SLUICE_PRICE_POLL_SECONDS: '5',
      },
    });
    await prometheus.lookAt({ ...targets, 'sluice-api': [scene.api.opsUrl, worker.opsUrl] });
  });
  afterAll(async () => {
    await prometheus?.stop();
    await Promise.all([scene?.stop(), markets?.stop()]);
  });

  /** One payment with all that belongs to it, and a call with a wrong key. */
  const pay = async (): Promise<void> => {
    const payment = await scene.open('USDT', { amount: '25' });
    await scene.world.chain.pay(payment.address, scene.contract('USDT'), payment.rawAmount);
    expect(await scene.resting(payment.id)).toMatchObject({ status: 'SUCCESS' });
    await fetch(`${scene.api.baseUrl}/assets`, { headers: { 'x-api-key': 'sluice_wrong' } });
  };

  it('finds every metric that dashboards and rules name, in one process or the other', async () => {
    const served = await Promise.all([scene.api, worker, scene.indexer].map(async ({ opsUrl }) => (await fetch(`${opsUrl}/metrics`)).text()));
    const known = new Set([...namesServed(served.join('\n')), ...recordingRules().map(({ record }) => record)]);
    const asked = [...panelQueries(), ...recordingRules(), ...alertRules()].flatMap(({ expr }) => namesIn(expr));
    expect([...new Set(asked)].filter((name) => !known.has(name))).toEqual([]);
  });

  it('has data for every panel once payments and a cashout went through, and no rule of it is in trouble', { timeout: 400_000 }, async () => {
    await pay();
    await scene.balance('USDT', '20');
    const { id } = await scene.cashout('USDT', '20', OUTSIDER);
    await scene.settled(id as string);
    // What happens for the first time has no rate yet: it has to happen again under the eyes of Prometheus.
    let empty = panelQueries();
    await waitFor(
      async () => {
        const answers = await Promise.all(empty.map(async ({ expr }) => (await prometheus.query(expr)).some(({ value }) => value[1] !== 'NaN')));
        empty = empty.filter((_, at) => !answers[at]);
        if (empty.length === 0) return true;
        await pay();
        throw new Error(`no data for\n${empty.map(({ panel, expr }) => `${panel}: ${expr}`).join('\n')}`);
      },
      { what: 'data for every panel', timeoutMs: 240_000, everyMs: 1_000 },
    );
    expect(await prometheus.rulesInTrouble()).toEqual([]);
  });

  it('wakes nobody: all that fires is Watchdog', async () => {
    const firing = await prometheus.query('ALERTS{alertstate="firing"}');
    expect(firing.map(({ metric }) => metric.alertname)).toEqual(['Watchdog']);
  });
});
