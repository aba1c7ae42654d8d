import { expect, it } from 'vitest';
import { aLine, isKept, type Line, noteComing, noteHad, turnsUntil } from '#api/jobs/line.ts';

/** One in which somebody comes back, and both have kept lanes. */
function lineOf(hadMs: { asks: number; comesBack: number }, laterMs = 0): Line {
  const line = aLine();
  noteHad(line, 'asks', hadMs.asks, 0);
  noteHad(line, 'comesBack', hadMs.comesBack, laterMs);
  noteComing(line, 'comesBack', laterMs + 1_000, laterMs);
  return line;
}

it('keeps the last lane for one who has had less than half as much, so that it is not idle where all have about as much waiting', () => {
  expect(isKept(1, lineOf({ asks: 30_000, comesBack: 20_000 }), 'asks', 0)).toBe(false);
  expect(isKept(1, lineOf({ asks: 30_000, comesBack: 10_000 }), 'asks', 0)).toBe(true);
  expect(isKept(1, lineOf({ asks: 1_000, comesBack: 20 }), 'asks', 0)).toBe(false);
});

it('knows for some minutes who has had a lane, so that many who each keep one for long are not taken for those who had none', () => {
  const laterMs = 150_000;
  expect(isKept(1, lineOf({ asks: 9_900, comesBack: 2_000 }, laterMs), 'asks', laterMs)).toBe(true);
});

it('keeps the last lane for nobody of whom none has looked for longer than those who come back do, since their webhooks are gone', () => {
  const line = aLine();
  noteHad(line, 'asks', 30_000, 0);
  noteComing(line, 'comesBack', 600_000, 0);
  expect([isKept(1, line, 'asks', 74_000), turnsUntil(line, 'asks', 74_000)]).toEqual([true, 2]);
  expect([isKept(1, line, 'asks', 76_000), turnsUntil(line, 'asks', 76_000)]).toEqual([false, 1]);
  noteComing(line, 'comesBack', 601_000, 77_000);
  expect(isKept(1, line, 'asks', 150_000)).toBe(true);
});
