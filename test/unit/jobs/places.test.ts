import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openPlaces } from '#api/jobs/places.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Places, and runs in them that end when they are told. */
function aStage(all: number) {
  const places = openPlaces(all);
  const ends: (() => void)[] = [];
  const fill = (count: number): void => {
    for (let i = 0; i < count; i++) void places.run(() => new Promise((end) => ends.push(end)));
  };
  /** Ends one, the oldest unless another is named by how many began before it. */
  const end = async (older = 0): Promise<void> => {
    ends.splice(older, 1)[0]?.();
    await vi.advanceTimersByTimeAsync(0);
  };
  /** Whether somebody who waits is through. */
  const waiting = (many: number): { through: boolean } => {
    const one = { through: false };
    void places.untilFree(many, 50).then(() => {
      one.through = true;
    });
    return one;
  };
  return { places, fill, end, waiting };
}

it('are free until runs have them, and again once those end', async () => {
  const { places, fill, end } = aStage(3);
  fill(2);
  expect(places.free()).toBe(1);
  await end();
  expect(places.free()).toBe(2);
});

it('are waited for until as many are free as are wanted', async () => {
  const { fill, end, waiting } = aStage(3);
  fill(3);
  const one = waiting(2);
  await end();
  expect(one.through).toBe(false);
  await end();
  expect(one.through).toBe(true);
});

it('are waited for no longer than that where one is free', async () => {
  const { fill, end, waiting } = aStage(3);
  fill(3);
  await end();
  const one = waiting(2);
  await vi.advanceTimersByTimeAsync(49);
  expect(one.through).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(one.through).toBe(true);
});

it('of which none is free in time are waited for until one is', async () => {
  const { fill, end, waiting } = aStage(3);
  fill(3);
  const one = waiting(2);
  await vi.advanceTimersByTimeAsync(500);
  expect(one.through).toBe(false);
  await end();
  expect(one.through).toBe(true);
});

it('are waited for without those of runs that go on and on, so that the others are used as soon as they are free', async () => {
  const { fill, end, waiting } = aStage(6);
  fill(4);
  await vi.advanceTimersByTimeAsync(51);
  fill(2);
  const one = waiting(4);
  await end(4);
  expect(one.through).toBe(false);
  await end(4);
  expect(one.through).toBe(true);
});

it('all of which have run on and on are waited for until one is free', async () => {
  const { fill, end, waiting } = aStage(2);
  fill(2);
  await vi.advanceTimersByTimeAsync(51);
  const one = waiting(2);
  await vi.advanceTimersByTimeAsync(0);
  expect(one.through).toBe(false);
  await end();
  expect(one.through).toBe(true);
});

it('that are closed are waited for by nobody, and end with what runs', async () => {
  const { places, fill, end, waiting } = aStage(1);
  fill(1);
  const one = waiting(1);
  let closed = false;
  void places.close().then(() => {
    closed = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  expect([one.through, closed]).toEqual([true, false]);
  await end();
  expect(closed).toBe(true);
});
