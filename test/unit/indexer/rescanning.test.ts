import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { IndexerDeps, Life } from '#indexer/life.ts';
import { serveRescans } from '#indexer/rescan.ts';
import type { OpenRescan } from '#indexer/truth.ts';
import { createWake } from '#indexer/wake.ts';
import { createWatchlist } from '#indexer/watchlist.ts';

it('goes on with other rescans while one fails in a way that nobody foresaw, and says why in its row', async () => {
  const open: OpenRescan[] = [
    { id: 'broken', nextHeight: 1, toHeight: 1, cause: 'operator' },
    { id: 'whole', nextHeight: 2, toHeight: 2, cause: 'operator' },
  ];
  const problems: unknown[] = [];
  const sent: string[] = [];
  const abort = new AbortController();
  const sql = async (strings: TemplateStringsArray, ...values: unknown[]): Promise<unknown[]> => {
    const text = strings.join('?');
    if (text.includes('from rescans')) return open.filter(({ id }) => !(values[1] as string[]).includes(id)).slice(0, 1);
    if (text.includes('set problem')) problems.push(values[0]);
    return [];
  };
  const block = { height: 2, hash: '0xb2', parentHash: '0xb1', time: 2 };
  const life = {
    network: { name: 'local' },
    networkId: '',
    epoch: 1,
    watchlist: createWatchlist(),
    left: { following: null, rescanning: null },
    leaseUntilMs: Number.POSITIVE_INFINITY,
    rescanOpen: true,
    rescanWake: createWake(),
    reader: {
      range: async (from: number) => {
        if (from === 1) throw new Error('nobody foresaw this');
        return { parentHash: '0xb1', last: block, contents: [{ block, transfers: [], sent: [] }] };
      },
    },
  } as unknown as Life;
  const streams = {
    append: async (_stream: string, payload: string) => {
      sent.push(payload);
      open.splice(1);
      return '1-0';
    },
  };
  let nowMs = 0;
  // Rests are over soon: each look finds a later time.
  const monotonicMs = (): number => (nowMs += 400);
  const deps = { log: pino({ level: 'silent' }), holder: '', monotonicMs, sql, streams } as unknown as IndexerDeps;
  const serving = serveRescans(deps, life, () => undefined, abort.signal);
  await expect.poll(() => sent.length).toBe(1);
  await expect.poll(() => problems.length).toBeGreaterThan(0);
  expect(problems[0]).toBe('nobody foresaw this');
  abort.abort();
  await serving;
});
