import { pino } from 'pino';
import { expect, it } from 'vitest';
import { followHead } from '#indexer/head.ts';
import type { IndexerDeps, Life } from '#indexer/life.ts';
import { createWake } from '#indexer/wake.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { ChainUnavailable, type Head } from '#shared/chains/chain.ts';
import { createIndexerMetrics } from '#shared/platform/metrics.ts';

const HEAD = { latest: { height: 1, hash: '0x01' } } as Head;
const unknown = (...fields: string[]) => Promise.reject(new ChainUnavailable('a field that nobody knows', { unknownFields: fields }));

/** Follows the head in one life after the other, each until it is done. */
function follower() {
  const metrics = createIndexerMetrics('test');
  const deps = { metrics, log: pino({ level: 'silent' }), monotonicMs: () => 0 } as unknown as IndexerDeps;
  const shown = async (): Promise<string[]> =>
    [...(await metrics.scrape()).body.matchAll(/^sluice_indexer_unknown_header_field\{chain="ethereum",field="(.*)"\} /gm)].map(([, field]) => field as string);
  const live = async (head: () => Promise<Head>, done: () => Promise<boolean>): Promise<void> => {
    const over = new AbortController();
    const trail = { last: () => undefined };
    const life = { network: { name: 'ethereum', blockSeconds: 1 }, reader: { head }, trail, scanWake: createWake() } as unknown as Life;
    const following = followHead(deps, life, () => undefined, over.signal);
    await waitFor(done, { what: 'the life to be done' });
    over.abort();
    await following.catch(() => undefined);
  };
  return { shown, live };
}

it('a network that waited for an unknown field of headers in an earlier life is shown to wait for none once its head is told', async () => {
  const { shown, live } = follower();
  await live(
    () => unknown('shinyRoot'),
    async () => (await shown()).includes('shinyRoot'),
  );
  let told = 0;
  await live(
    async () => {
      told += 1;
      return HEAD;
    },
    async () => told > 1,
  );
  expect(await shown()).toEqual([]);
});

it('a node that names other fields with each answer makes no list without end, and what it shows are names', async () => {
  const { shown, live } = follower();
  let answers = 0;
  await live(
    () => unknown(...Array.from({ length: 1_000 }, (_, at) => `field${++answers}of${at}`)),
    async () => answers >= 3_000,
  );
  expect((await shown()).length).toBeLessThan(10);
  await live(
    () => unknown('x'.repeat(10_000), 'no name'),
    async () => (await shown()).join() === 'other',
  );
});
