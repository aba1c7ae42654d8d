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

it('is not asked while it is heard beside other answers, and takes no answer that took long', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance', 'Date'] });
  let asked = 0;
  const sql = Object.assign(async () => {
    asked += 1;
    return [{ ms: Date.now() }];
  }, {}) as unknown as Reads;
  const clock = await followDatabaseClock(sql, pino({ level: 'silent' }));
  // A statement and the part of it that says what is asked.
  const once = asked;
  for (let seconds = 0; seconds < 60; seconds += 10) {
    await vi.advanceTimersByTimeAsync(10_000);
    clock.hear(Date.now() + 1_000, performance.now());
  }
  expect([asked, clock.now() - Date.now()]).toEqual([once, 1_000]);
  clock.hear(Date.now() + 9_000, performance.now() - 600);
  expect(clock.now() - Date.now()).toBe(1_000);
  await vi.advanceTimersByTimeAsync(35_000);
  expect([asked, clock.now() - Date.now()]).toEqual([2 * once, 0]);
  clock.stop();
  vi.useRealTimers();
});
