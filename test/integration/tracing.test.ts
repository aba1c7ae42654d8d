import { randomUUID } from 'node:crypto';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChainConsumer } from '#api/consumers/chain-events.ts';
import type { Deps } from '#api/deps.ts';
import { work } from '#api/jobs/all-work.ts';
import { type Jobs, startJobs } from '#api/jobs/start.ts';
import { openSigners, startSigner } from '#api/signer/start.ts';
import { seedWallets } from '#api/treasury/wallets.ts';
import { followChain } from '#indexer/chain.ts';
import { type Merchant, merchant, operator } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { openPayer } from '#shared/chains/payers.ts';
import { openEndpoints, openReader } from '#shared/chains/readers.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { createIndexerMetrics } from '#shared/platform/metrics.ts';
import { indexerChannel, openStreams, WORKER_CHANNEL } from '#shared/platform/redis-streams.ts';
import { startTracing } from '#shared/platform/tracing-export.ts';
import { listen } from '#test/contract/service.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';
import { type InProcess, inProcess } from '#test/harness/in-process.ts';
import { TEST_SECRETS, TEST_SEED } from '#test/harness/world.ts';

const spans = new InMemorySpanExporter();
const stops: (() => Promise<void>)[] = [];
let world: InProcess;
let chain: TestChain;
let shop: Merchant;
let receiver: WebhookReceiver;

/** The api in all of its roles and an indexer, all in this process, so that one exporter sees every span. */
beforeAll(async () => {
  const tracing = await startTracing({ service: 'sluice-test', version: '1' }, [new SimpleSpanProcessor(spans)]);
  stops.push(() => tracing.stop());
  [world, chain, receiver] = await Promise.all([inProcess(), aChain({ blockSeconds: 0 }), startWebhookReceiver({ port: 0 })]);
  stops.push(async () => void (await Promise.all([receiver.stop(), chain.stop(), world.stop()])));
  const [name, stored] = [...world.deps.chains][0] as [string, NonNullable<ReturnType<Deps['chains']['get']>>];
  const config = { ...stored.config, rpcUrls: [chain.url] };
  const genesis = await chain.node.call<{ hash: string }>('eth_getBlockByNumber', ['0x0', false]);
  await world.database.sql`update networks set genesis_hash = ${genesis.hash} where id = ${stored.id}`;
  const { log } = world.deps;
  const streams = openStreams({ url: world.redis.url, key: TEST_SECRETS.SLUICE_STREAM_KEY, name: 'tracing', log });
  stops.push(() => streams.close());
  let jobs: Jobs | undefined;
  const deps: Deps = {
    ...world.deps,
    chains: new Map([[name, { ...stored, config, reader: openReader(config), payer: openPayer(config) }]]),
    wake: () => jobs?.wake(),
    nudgeIndexer: (network) => streams.nudge(indexerChannel(network)),
  };
  await seedWallets(deps);
  const indexer = followChain(
    {
      sql: world.database.as('indexer').sql,
      snapshot: world.database.as('indexer').snapshot,
      streams,
      log,
      metrics: createIndexerMetrics('test'),
      holder: randomUUID(),
      openReader: (network) => openReader(network, openEndpoints(network)),
      monotonicMs: () => performance.now(),
    },
    config,
  );
  stops.push(() => indexer.stop());
  const worker: Deps = { ...deps, db: world.database.as('worker') };
  const consumer = startChainConsumer(worker, streams, randomUUID());
  stops.push(() => consumer.stop());
  const alone: Deps = { ...deps, db: world.database.as('signer') };
  const [signer, started, http] = [
    startSigner(alone, openSigners(alone, TEST_SEED)),
    await startJobs(worker, work),
    await listen({ ...deps, db: world.database.as('http') }),
  ];
  jobs = started;
  stops.push(
    () => started.stop(),
    () => signer.stop(),
    () => http.close(),
    async () => streams.onNudge(WORKER_CHANNEL, () => jobs?.wake())(),
  );
  await chain.payAndMine(config.wallets.hot.address, null, 10n ** 18n);
  const made = await operator(`${http.origin}/operator/v1`, TEST_SECRETS.SLUICE_OPERATOR_TOKEN).must('POST', '/gateways', {
    body: { name: 'Traced', apiAllowlist: ['127.0.0.1'], cashout: { enabled: true, allowlist: ['127.0.0.1'] } },
  });
  const { gateway, ...keys } = made as { gateway: { id: string }; apiKey: string; cashoutSigningSecret: string; webhookSecret: string };
  shop = merchant(`${http.origin}/api/v1`, { id: gateway.id, ...keys });
});
afterAll(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** The span that a span is the child of, and its, up to the first; by name. */
function ancestors(span: ReadableSpan): string[] {
  const parent = spans.getFinishedSpans().find((one) => one.spanContext().spanId === span.parentSpanContext?.spanId);
  return parent === undefined ? [] : [parent.name, ...ancestors(parent)];
}

const traceOf = async (id: string): Promise<string> => {
  const [row] = await world.database.sql<{ trace: string }[]>`select trace_context as trace from trace_contexts where subject_id = ${id}`;
  return row?.trace.split('-')[1] as string;
};

const inTrace = (traceId: string): ReadableSpan[] => spans.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId);

async function anAddress(): Promise<{ id: string; address: string; rawAmount: bigint }> {
  const created = await shop.must('POST', '/payments', { body: { currencyCode: 'USD', amount: '20', checkoutMode: 'API', webhookUrl: receiver.url } });
  const { id, offers } = created.payment as { id: string; offers: { id: string; assetSymbol: string; totalValue: string }[] };
  const offer = offers.find(({ assetSymbol }) => assetSymbol === 'ETH') as (typeof offers)[number];
  const selected = await shop.must('POST', `/public/payments/${id}/offers/${offer.id}/select`);
  return { id, address: String(selected.depositAddress), rawAmount: toUnits(parseTrusted(offer.totalValue), 18) as bigint };
}

describe('one trace', () => {
  it('leads from the creation of each payment of a block through that block and the stream to its webhook', async () => {
    const payments = [await anAddress(), await anAddress()];
    for (const { address, rawAmount } of payments) await chain.pay(address, null, rawAmount);
    await chain.mine(3);
    const delivered = `select count(*)::int as count from webhook_events where state = 'delivered'`;
    await waitFor(async () => (await world.database.sql.unsafe(delivered))[0]?.count === 2, { what: 'both webhooks', everyMs: 100 });
    const traces = await Promise.all(payments.map(({ id }) => traceOf(id)));
    expect(new Set(traces).size).toBe(2);
    for (const trace of traces) {
      const names = await waitFor(
        async () => {
          const found = inTrace(trace).map((span) => span.name);
          return found.includes('webhook.deliver') ? found : undefined;
        },
        { what: 'the span of the webhook', everyMs: 100 },
      );
      expect(names).toEqual(expect.arrayContaining(['POST /api/v1/payments', 'createPayment', 'indexer.block', 'payment.credit', 'webhook.deliver']));
    }
    // The message of a block is part of one of them: there every step is the child of the one before.
    const webhooks = traces.flatMap((trace) => inTrace(trace).filter((span) => span.name === 'webhook.deliver'));
    expect(webhooks.map(ancestors)).toContainEqual(['payment.credit', 'ingest.apply', 'indexer.block', 'createPayment', 'POST /api/v1/payments']);
  });

  it('leads from the creation of a cashout through its dispatch, its signature and its broadcast to SETTLED', async () => {
    await waitFor(
      async () => {
        const { items } = (await shop.signed('GET', '/merchant/settlements/balances')).data as { items: { symbol: string; totalAvailable: string }[] };
        return items.some((one) => one.symbol === 'ETH' && Number(one.totalAvailable) > 0);
      },
      { what: 'a balance', everyMs: 100 },
    );
    const answer = await shop.signed('POST', '/merchant/settlements', {
      idempotencyKey: randomUUID(),
      body: { assetId: world.assets.ETH?.id, amount: '0.002', address: '0x00000000000000000000000000000000cafe0001' },
    });
    expect(answer.success, answer.text).toBe(true);
    const id = String(answer.data.id);
    await waitFor(
      async () => {
        await chain.mine(1);
        const [row] = await world.database.sql<{ status: string }[]>`select status from settlements where id = ${id}`;
        return row?.status === 'SETTLED';
      },
      { what: 'the cashout to be settled', timeoutMs: 40_000, everyMs: 250 },
    );
    const names = inTrace(await traceOf(id)).map((span) => span.name);
    expect(names).toEqual(expect.arrayContaining(['createSettlement', 'settlement.dispatch', 'payout.sign', 'payout.broadcast', 'payout.final']));
  });

  it('holds ids, heights and slugs, and nothing that anybody sent', () => {
    const attributes = spans.getFinishedSpans().flatMap((span) => Object.keys(span.attributes));
    expect([...new Set(attributes)].filter((name) => name !== 'error.code').sort()).toEqual([
      'from',
      'height',
      'network',
      'payment',
      'payout',
      'ref',
      'requestId',
      'route',
      'to',
    ]);
  });
});
