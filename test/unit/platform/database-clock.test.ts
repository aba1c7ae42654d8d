import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { followDatabaseClock } from '#shared/platform/database-clock.ts';
import type { Reads } from '#shared/platform/postgres.ts';

it('tells the time of the database, whatever the host believes and however it is set meanwhile', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const real = Date.now();
  const sql = (async () => [{ ms: real }]) as unknown as Reads;
  const host = vi.spyOn(Date, 'now').mockReturnValue(real + 600_000);
  try {
    const clock = await followDatabaseClock(sql, log);
    expect(Math.abs(clock.now() - real)).toBeLessThan(1_000);
    host.mockReturnValue(real - 3_600_000);
    expect(Math.abs(clock.now() - real)).toBeLessThan(1_000);
    clock.stop();
    expect(JSON.parse(lines.join(''))).toMatchObject({ hostAheadSeconds: 600 });
  } finally {
    host.mockRestore();
  }
});
