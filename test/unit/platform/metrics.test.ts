import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLogger } from '#shared/platform/logger.ts';
import { commonMetrics, countRpc, gaugeChains, gaugeConnections, timeDatabase } from '#shared/platform/common-metrics.ts';
import { createRegistry } from '#shared/platform/metric-registry.ts';
import { createApiMetrics, createIndexerMetrics } from '#shared/platform/metrics.ts';

/** Everything written in a folder except generated types. */
function sourcesOf(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts') && !name.startsWith('contract'));
  return files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
}

const common = commonMetrics(createRegistry({ component: 'api', version: 'test', commit: 'test' }));
const namesOf = (metrics: object): string[] => Object.keys(metrics).filter((name) => !(name in common));

describe('a metric that is defined is also fed', () => {
  const api = sourcesOf('api');
  const indexer = sourcesOf('indexer');
  const use = (name: string): RegExp => new RegExp(`metrics\\??\\.${name}\\b`);

  it.each(namesOf(createApiMetrics('test')))('%s, by the api', (name) => {
    expect(api.match(use(name))?.[0]).toBeDefined();
  });

  it.each(namesOf(createIndexerMetrics('test')))('%s, by the indexer', (name) => {
    expect(indexer.match(use(name))?.[0]).toBeDefined();
  });

  it.each([
    ['api', api],
    ['indexer', indexer],
  ])('those of both, by the %s', (_process, sources) => {
    for (const feeding of ['countRpc(metrics, ', 'gaugeChains(', 'timeDatabase(metrics)', 'gaugeConnections(metrics, '])
      expect(sources.includes(feeding), feeding).toBe(true);
  });

  it.each(Object.keys(common).filter((name) => name.startsWith('rpc')))('%s, whenever an endpoint is asked', (name) => {
    const touched: string[] = [];
    const fake = new Proxy(
      {},
      {
        get(_, metric) {
          const touch = () => touched.push(String(metric));
          return metric === 'onScrape' ? () => undefined : { inc: touch, observe: touch, set: touch };
        },
      },
    );
    const log = createLogger({ component: 'test', level: 'silent' });
    const observer = countRpc(fake as Parameters<typeof countRpc>[0], 'ethereum', log);
    observer.request({ method: 'eth_chainId', provider: 'node.example', result: 'ok', seconds: 1 });
    observer.endpoint({ provider: 'node.example', state: 'well', height: 1, lastTrouble: null, foreign: null });
    expect(touched).toContain(name);
  });
});

/** What dashboards and alerts of every deployment are written by (ux 5): name, labels. */
const PROMISED = {
  api: `sluice_http_request_duration_seconds{method,route,status} sluice_http_requests_in_flight sluice_api_errors_total{route,code} sluice_rate_limited_total{route}
    sluice_auth_failures_total{reason} sluice_idempotency_total{endpoint,result} sluice_ws_connections sluice_ws_closed_total{reason}
    sluice_checkout_fallback_polls_total sluice_address_assign_duration_seconds{chain,result} sluice_payments_created_total{mode,kind,sandbox}
    sluice_payments_resolved_total{status,deposit_path,sandbox} sluice_payments_overdue sluice_payment_confirmed_to_resolved_seconds{chain}
    sluice_payment_seen_to_resolved_seconds{chain} sluice_webhook_attempts_total{result,attempt} sluice_webhook_first_attempt_delay_seconds
    sluice_webhook_delivered_after_seconds sluice_webhook_exhausted_total sluice_settlement_transitions_total{from,to,route} sluice_settlements_open{status}
    sluice_settlement_oldest_age_seconds{chain,status} sluice_settlement_dispatch_overdue_seconds{chain} sluice_settlement_broadcast_to_settled_seconds{chain}
    sluice_totp_checks_total{result} sluice_aml_screens_total{provider,result} sluice_aml_screen_duration_seconds{provider} sluice_aml_gateways_without_credit
    sluice_price_timestamp_seconds{asset} sluice_price_fetch_errors_total{source} sluice_jobs{queue,state} sluice_job_oldest_due_age_seconds{queue}
    sluice_jobs_processed_total{queue,result} sluice_job_duration_seconds{queue} sluice_ledger_imbalance{asset} sluice_ledger_check_timestamp_seconds
    sluice_treasury_onchain_balance{chain,asset,wallet} sluice_liabilities{chain,asset,pool} sluice_wallet_gas_runway_transfers{chain,wallet}
    sluice_canary_last_success_timestamp_seconds sluice_deposits_total{chain,match}`,
  indexer: `sluice_indexer_head_block{chain} sluice_indexer_processed_block{chain} sluice_indexer_processed_block_timestamp_seconds{chain}
    sluice_indexer_block_processing_seconds{chain} sluice_indexer_block_arrival_seconds{chain} sluice_indexer_reorg_depth_blocks{chain}
    sluice_indexer_leader{chain} sluice_indexer_watched_addresses{chain} sluice_indexer_backfill_remaining_blocks{chain}`,
  both: `sluice_db_pool_connections{state} sluice_db_query_duration_seconds{op} sluice_rpc_requests_total{chain,provider,method,result}
    sluice_rpc_request_duration_seconds{chain,provider,method} sluice_rpc_head_block{chain,provider} sluice_chain_stall_threshold_seconds{chain}
    sluice_chain_confirmations_required{chain} sluice_chain_expected_confirmation_seconds{chain}`,
};

describe('the metrics endpoint', () => {
  it.each([
    ['api', createApiMetrics('test')],
    ['indexer', createIndexerMetrics('test')],
  ] as const)('of the %s has every name and label that monitoring is written by', (process, metrics) => {
    const defined = (Object.values(metrics) as { name?: string; labelNames?: string[] }[])
      .filter(({ labelNames }) => labelNames !== undefined)
      .map(({ name, labelNames = [] }) => (labelNames.length === 0 ? name : `${name}{${labelNames.join(',')}}`));
    expect(defined).toEqual(expect.arrayContaining(`${PROMISED[process]} ${PROMISED.both}`.split(/\s+/)));
  });

  it('says what runs, built from what', async () => {
    expect((await createIndexerMetrics('1.2.3', { commit: 'abc' }).scrape()).body).toContain(
      'sluice_build_info{version="1.2.3",commit="abc",component="indexer"} 1',
    );
  });

  it('begins at 0 what an alert watches, since the first of a counter that was absent goes unseen', async () => {
    const api = (await createApiMetrics('test', { chains: ['tron'] }).scrape()).body;
    for (const line of [
      'sluice_deposits_total{chain="tron",match="unmatched"} 0',
      'sluice_webhook_exhausted_total 0',
      'sluice_totp_checks_total{result="wrong"} 0',
      'sluice_messages_applied_total{chain="tron",result="forged"} 0',
      'sluice_second_opinions_total{chain="tron",result="disputed"} 0',
      'sluice_payment_confirmed_to_resolved_seconds_count{chain="tron"} 0',
      'sluice_reconciliation_timestamp_seconds{chain="tron"} 0',
    ])
      expect(api).toContain(line);
    expect((await createIndexerMetrics('test', { chains: ['tron'] }).scrape()).body).toContain('sluice_indexer_reorg_depth_blocks_count{chain="tron"} 0');
  });

  it('has no canary until there is one: an absent gauge wakes nobody', async () => {
    const metrics = createApiMetrics('test');
    expect((await metrics.scrape()).body).not.toMatch(/^sluice_canary/m);
    metrics.canaryLastSuccess.set(0);
    expect((await metrics.scrape()).body).toMatch(/^sluice_canary_last_success_timestamp_seconds 0$/m);
  });

  it('shows an endpoint for as long as it is asked: what a process saw long ago keeps nobody asleep, and wakes nobody', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const metrics = createApiMetrics('test');
    const { endpoint } = countRpc(metrics, 'tron', createLogger({ component: 'test', level: 'silent' }));
    const saw = (provider: string, state: string): void => endpoint({ provider, state, height: 1, lastTrouble: null, foreign: null });
    const shown = async (): Promise<string[]> => {
      const { body } = await metrics.scrape();
      return [...body.matchAll(/^sluice_rpc_endpoint_state\{chain="tron",provider="(\w+)",state="(\w+)"\} 1$/gm)].map(
        ([, provider, state]) => `${provider} ${state}`,
      );
    };
    saw('left', 'well');
    saw('broken', 'failing');
    saw('other', 'foreign');
    saw('asked', 'well');
    vi.advanceTimersByTime(200_000);
    saw('asked', 'well');
    expect(await shown()).toEqual(['left well', 'broken failing', 'other foreign', 'asked well']);
    vi.advanceTimersByTime(200_000);
    expect(await shown()).toEqual(['other foreign', 'asked well']);
    saw('left', 'failing');
    expect(await shown()).toEqual(['other foreign', 'asked well', 'left failing']);
  });

  it('shows connections as they are when it is asked, statements by kind, and what networks are configured as', async () => {
    const metrics = createApiMetrics('test');
    let waiting = 1;
    gaugeConnections(metrics, () => ({ active: 2, idle: 3, waiting }));
    timeDatabase(metrics)('select', 0.2);
    gaugeChains(metrics, [{ chain: 'tron', stallSeconds: 60, confirmationsRequired: 20, expectedSeconds: 57 }]);
    waiting = 4;
    const { body } = await metrics.scrape();
    for (const line of [
      'sluice_db_pool_connections{state="waiting"} 4',
      'sluice_db_pool_connections{state="active"} 2',
      'sluice_db_query_duration_seconds_bucket{le="0.25",op="select"} 1',
      'sluice_chain_stall_threshold_seconds{chain="tron"} 60',
      'sluice_chain_confirmations_required{chain="tron"} 20',
      'sluice_chain_expected_confirmation_seconds{chain="tron"} 57',
    ])
      expect(body).toContain(line);
  });
});

describe('how late the event loop is', () => {
  const lagsIn = (body: string): Map<string, number> =>
    new Map([...body.matchAll(/^nodejs_eventloop_lag_(\w+)_seconds (\S+)$/gm)].map(([, end, value]) => [end as string, Number(value)]));

  it('is told under the names that every service in Node has, as 0 before anything was seen, and then without the interval of looking', async () => {
    const { scrape } = createRegistry({ component: 'api', version: 'test', commit: 'test' });
    const first = lagsIn((await scrape()).body);
    expect([...first.keys()].sort()).toEqual(['max', 'mean', 'min', 'p50', 'p90', 'p99', 'stddev']);
    expect(new Set(first.values())).toEqual(new Set([0]));
    let seen = first;
    const lookAfterAStall = async (): Promise<number | undefined> => {
      // Who holds up everything for a third of a second is seen to have done so, once the clock has struck before and after.
      const until = performance.now() + 333;
      while (performance.now() < until);
      await new Promise((resolve) => setTimeout(resolve, 1));
      seen = lagsIn((await scrape()).body);
      return seen.get('max');
    };
    await expect.poll(lookAfterAStall, { interval: 500 }).toBeGreaterThan(0.1);
    for (const [end, value] of seen) expect(value, end).toBeGreaterThanOrEqual(0);
    expect(seen.get('min')).toBeLessThanOrEqual(seen.get('max') as number);
  });
});
