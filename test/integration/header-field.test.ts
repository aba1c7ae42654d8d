import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { openEndpoints, openReader } from '#shared/chains/readers.ts';
import { readAcceptedHeaderFields } from '#shared/platform/accepted-header-fields.ts';
import { createIndexerMetrics } from '#shared/platform/metrics.ts';
import { openStreams } from '#shared/platform/redis-streams.ts';
import { type FollowedChain, followChain } from '#indexer/chain.ts';
import { aService, type Service } from '#test/contract/service.ts';
import { type FlawedRpc, startFlawedRpc } from '#test/fixtures/flawed-rpc.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';
import { TEST_PEOPLE, TEST_SECRETS } from '#test/harness/world.ts';

const FIELD = 'shinyRoot';
let service: Service;
let node: TestChain;
let rpc: FlawedRpc;
let indexer: FollowedChain;
const metrics = createIndexerMetrics('test');
const stops: (() => unknown)[] = [];

beforeAll(async () => {
  [service, node, rpc] = await Promise.all([aService(), aChain({ blockSeconds: 0 }), startFlawedRpc()]);
  stops.push(
    () => service.stop(),
    () => node.stop(),
    () => rpc.stop(),
  );
  rpc.target = node.url;
  rpc.flaw = 'unknown-field';
  const [stored] = [...service.deps.chains.values()];
  if (stored === undefined) throw new Error('no network');
  const config = { ...stored.config, rpcUrls: [rpc.url] };
  const { hash } = await node.node.call<{ hash: string }>('eth_getBlockByNumber', ['0x0', false]);
  const { sql, snapshot } = service.world.database.as('indexer');
  await service.world.database.sql`update networks set genesis_hash = ${hash} where id = ${stored.id}`;
  const streams = openStreams({ url: service.world.redis.url, key: TEST_SECRETS.SLUICE_STREAM_KEY, name: 'header-field', log: service.deps.log });
  stops.push(() => streams.close());
  indexer = followChain(
    {
      sql,
      snapshot,
      streams,
      log: service.deps.log,
      metrics,
      holder: randomUUID(),
      openReader: (network) =>
        openReader(
          network,
          openEndpoints(network, undefined, () => readAcceptedHeaderFields(sql, network.name)),
        ),
      monotonicMs: () => performance.now(),
    },
    config,
  );
  stops.push(() => indexer.stop());
});
afterAll(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const ask = (person: keyof typeof TEST_PEOPLE, path: string, body: object) =>
  service.ask('POST', `/operator/v1${path}`, { headers: { authorization: `Bearer ${TEST_PEOPLE[person]}` }, body });
const waits = async (): Promise<boolean> => (await metrics.scrape()).body.includes(`sluice_indexer_unknown_header_field{chain="ethereum",field="${FIELD}"} 1`);

describe('a header field that nobody knows', () => {
  it('stops the one network whose only endpoint has it, by name, until a second person accepts it', async () => {
    await waitFor(waits, { what: 'the metric to name the field', timeoutMs: 60_000 });
    await waitFor(async () => indexer.problem() !== null, { what: 'the network to be in trouble', timeoutMs: 60_000 });

    const proposed = await ask('anna', '/header-fields', { network: 'ethereum', field: FIELD, reason: 'the fork of this morning' });
    expect(proposed.status, proposed.text).toBe(202);
    const again = await ask('anna', `/proposals/${String(proposed.data.id)}/confirm`, {});
    expect(again.status).toBe(409);
    expect(await readAcceptedHeaderFields(service.deps.db.sql, 'ethereum')).toEqual(new Set());
    expect(await waits()).toBe(true);

    const confirmed = await ask('ben', `/proposals/${String(proposed.data.id)}/confirm`, {});
    expect(confirmed.status, confirmed.text).toBe(200);
    await waitFor(async () => !(await waits()), { what: 'headers to be believed', timeoutMs: 60_000 });
    const rows = await service.deps.db.sql`select field, accepted_by from accepted_header_fields`;
    expect(rows).toEqual([{ field: FIELD, acceptedBy: 'anna, ben' }]);
  });

  it.each([
    ['network', { network: 'nowhere', field: FIELD, reason: 'x' }],
    ['field', { network: 'ethereum', field: 'no field', reason: 'x' }],
    ['reason', { network: 'ethereum', field: FIELD }],
  ])('is not proposed without a sound %s', async (param, body) => {
    const answer = await ask('anna', '/header-fields', body);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.error?.message).toContain(param);
  });
});
