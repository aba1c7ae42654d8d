import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort, waitFor } from '#ops/dev/services/wait.ts';
import { withSpan } from '#shared/platform/tracing.ts';
import { openTracing } from '#shared/platform/tracing-export.ts';
import { aWorld, type World } from '#test/harness/world.ts';

interface ResourceSpans {
  resource: { attributes: { key: string; value: { stringValue?: string } }[] };
  scopeSpans: { spans: { traceId: string; name: string }[] }[];
}

const received: ResourceSpans[] = [];
let collector: Server;
let endpoint: string;
let world: World;
beforeAll(async () => {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url === '/v1/traces') received.push(...(JSON.parse(Buffer.concat(chunks).toString()) as { resourceSpans: ResourceSpans[] }).resourceSpans);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  world = await aWorld({ blockSeconds: 1 });
});
afterAll(async () => {
  await world.stop({ audit: false });
  collector.closeAllConnections();
  collector.close();
});

/** The spans of a service that have reached the collector. */
const spansOf = (service: string) =>
  received
    .filter(({ resource }) => resource.attributes.some(({ key, value }) => key === 'service.name' && value.stringValue === service))
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));

describe('a collector of traces', () => {
  it('gets the spans of both processes, the last ones as they stop, and their log lines name the trace', async () => {
    // Batches leave every minute: whatever has arrived was sent by stopping.
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '60000' };
    const api = await world.startApi({ env });
    const indexer = await world.startIndexer({ env });
    await fetch(`${api.baseUrl}/assets`);
    await waitFor(async () => /^sluice_indexer_processed_block\{chain="ethereum"\} [1-9]/m.test(await (await fetch(`${indexer.opsUrl}/metrics`)).text()), {
      what: 'a block to be read',
      everyMs: 200,
    });
    await Promise.all([api.stop(), indexer.stop()]);
    const line = api.lines.map((text) => JSON.parse(text) as { msg: string; route?: string; traceId?: string }).find(({ msg }) => msg === 'request');
    expect(line).toMatchObject({ route: '/api/v1/assets', traceId: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(spansOf('sluice-api')).toContainEqual(expect.objectContaining({ name: 'GET /api/v1/assets', traceId: line?.traceId }));
    expect(spansOf('sluice-indexer').map(({ name }) => name)).toContainEqual(expect.stringMatching(/^indexer\.(block|range)$/));
  });

  it.each([
    ['is away', false],
    ['never answers', true],
  ])('that %s costs its traces and nothing else: stopping does not wait until it is given up, and one warning tells of it', async (_how, listens) => {
    const lines: { msg: string }[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as { msg: string }) });
    let heard = 0;
    const silent = createServer(() => {
      heard += 1;
    });
    const port = await freePort();
    if (listens) await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve));
    // OpenTelemetry's exporter reads its address and its patience from the environment of the process.
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${port}`);
    vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '4000');
    const tracing = await openTracing({ service: 'sluice-api', version: '1', log }, process.env);
    vi.unstubAllEnvs();
    for (let count = 0; count < 3; count++) expect(await withSpan('work', {}, async () => 'done')).toBe('done');
    await tracing?.stop();
    expect(heard).toBe(listens ? 1 : 0);
    expect(lines.length).toBeLessThanOrEqual(listens ? 0 : 1);
    silent.closeAllConnections();
    silent.close();
    await waitFor(() => lines.length === 1, { what: 'the warning' });
    expect(lines[0]?.msg).toContain('the collector takes no traces');
  });

  it('is not looked for unless it is named', async () => {
    const traced = { service: 'sluice-api', version: '1', log: pino({ level: 'silent' }) };
    expect(await openTracing(traced, {})).toBeUndefined();
    expect(await openTracing(traced, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
  });
});
