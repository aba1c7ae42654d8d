import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { IndexerDeps, Life } from '#indexer/life.ts';
import { createLogReading } from '#indexer/log-reading.ts';
import { ChainUnavailable, type RangeContent } from '#shared/chains/chain.ts';

/** The shortcut before two providers that answer so many blocks at most, and the clock that it looks at. */
function reading(answered: number) {
  const clock = { ms: 0 };
  const life = {
    network: { name: 'local', catchUpByLogs: true },
    networkId: '',
    watchlist: {},
    reader: {
      rangeByLogs: async (from: number, to: number): Promise<RangeContent> => {
        if (to - from + 1 > answered) throw new ChainUnavailable('the provider answers fewer blocks');
        return { parentHash: '0x', last: { height: to, hash: '0x', parentHash: '0x', time: 0 }, contents: [] };
      },
    },
  } as unknown as Life;
  // Both questions that it asks of the database.
  const sql = async () => [{ suffice: true, contract: '0x01' }];
  const deps = { sql, log: pino({ level: 'silent' }), monotonicMs: () => clock.ms } as unknown as IndexerDeps;
  return { clock, logs: createLogReading(deps, life) };
}

const FAR_BEHIND = 1_000_000;

describe('reading by logs', () => {
  /** Reads as the scan does, until the shortcut is not offered or has been asked often; the ranges that were answered. */
  async function readOn({ logs }: ReturnType<typeof reading>, rounds: number): Promise<number[]> {
    const answered: number[] = [];
    for (let round = 0; round < rounds && (await logs.offers(FAR_BEHIND)); round++) {
      const blocks = logs.most();
      if ((await logs.read(1, blocks, 1)) !== undefined) answered.push(blocks);
    }
    return answered;
  }

  it('asks for as much as the providers answer', async () => {
    const answered = await readOn(reading(400), 50);
    expect(answered.length).toBeGreaterThan(20);
    expect(Math.min(...answered)).toBeGreaterThanOrEqual(100);
  });

  it('is left for a minute where the providers answer so few blocks that it is no shortcut', async () => {
    const few = reading(1);
    expect(await readOn(few, 1_000)).toEqual([]);
    few.clock.ms += 59_000;
    expect(await few.logs.offers(FAR_BEHIND)).toBe(false);
    few.clock.ms += 2_000;
    expect(await few.logs.offers(FAR_BEHIND)).toBe(true);
  });
});
