import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openConsumerLeases } from '#api/consumers/consumer-leases.ts';
import type { Reads } from '#shared/platform/postgres.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A database that gives every lease that no transaction leans on, and answers nothing while it is down. */
function aDatabase() {
  const state = { leaned: new Set<string>(), isDown: false, asked: 0 };
  const sql = async (_: TemplateStringsArray, ...values: unknown[]) => {
    state.asked += 1;
    if (state.isDown) throw new Error('the line is down');
    const networks = values.find((value): value is string[] => Array.isArray(value) && value.length > 0) ?? [];
    return [{ held: networks.filter((id) => !state.leaned.has(id)).map((networkId) => ({ networkId, fence: 1 })), absent: [] }];
  };
  return { state, leases: openConsumerLeases(sql as unknown as Reads, ['busy', 'quiet'], 'api:1') };
}

describe('leases of the streams of blocks', () => {
  it('of a network that is busy all the time are renewed between its transactions, whoever asked for others last', async () => {
    const { state, leases } = aDatabase();
    for (let step = 0; step < 200; step++) {
      state.leaned.add('busy');
      // Of a network that this process lacks somebody asks often, and always in the middle of a transaction of the busy one.
      state.leaned.add('quiet');
      if (step > 0) await leases.fence('quiet');
      state.leaned.delete('busy');
      expect(await leases.fence('busy'), `after ${step} transactions`).toBe(1);
      vi.advanceTimersByTime(450);
    }
    expect(state.asked).toBeLessThan(100);
  });

  it('are renewed by the transactions that lean on them where those come often, and are not asked for then', async () => {
    const { state, leases } = aDatabase();
    for (const id of ['busy', 'quiet']) expect(await leases.fence(id)).toBe(1);
    const asked = state.asked;
    let renewed = 0;
    for (let second = 0; second < 60; second++) {
      vi.advanceTimersByTime(1_000);
      expect(await leases.fence('busy')).toBe(1);
      const renewal = leases.renewal('busy');
      if (renewal === undefined) continue;
      renewed += 1;
      renewal.kept();
    }
    expect([state.asked - asked, renewed]).toEqual([0, 20]);
    // One that has not committed, or came after the lease was given up, renews nothing.
    vi.advanceTimersByTime(3_000);
    const late = leases.renewal('busy');
    await leases.release('busy');
    late?.kept();
    state.isDown = true;
    vi.advanceTimersByTime(15_000);
    await expect(leases.fence('busy')).rejects.toThrow('the line is down');
  });

  it('go on while they have not run out, though they could not be renewed; and end then', async () => {
    const { state, leases } = aDatabase();
    expect(await leases.fence('busy')).toBe(1);
    state.isDown = true;
    for (let seconds = 1; seconds < 15; seconds++) {
      vi.advanceTimersByTime(1_000);
      expect(await leases.fence('busy'), `after ${seconds} s`).toBe(1);
    }
    vi.advanceTimersByTime(3_000);
    await expect(leases.fence('busy')).rejects.toThrow('the line is down');
  });
});
