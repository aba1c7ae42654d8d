import { describe, expect, test } from 'vitest';
import { NO_PAYOUT_FACTS, PAYOUT_STATUSES, type PayoutEvent, type PayoutStatus, payout } from '#state-machines/payout/machine.ts';
import { everyPath, outcome } from './paths.ts';

const EVENTS: PayoutEvent[] = ['SIGNED', 'SENT', 'SEEN', 'ORPHANED', 'FINAL_SUCCESS', 'FINAL_FAILURE', 'CANCELLED'];

const EDGES: Partial<Record<`${PayoutStatus} ${PayoutEvent}`, { to: PayoutStatus; effects: string[] }>> = {
  'PLANNED SIGNED': { to: 'SIGNED', effects: ['broadcast'] },
  'PLANNED CANCELLED': { to: 'CANCELLED', effects: [] },
  'SIGNED SENT': { to: 'BROADCAST', effects: [] },
  'SIGNED SEEN': { to: 'INCLUDED', effects: [] },
  'BROADCAST SEEN': { to: 'INCLUDED', effects: [] },
  'INCLUDED ORPHANED': { to: 'BROADCAST', effects: ['broadcast'] },
  'INCLUDED FINAL_SUCCESS': { to: 'CONFIRMED', effects: ['complete'] },
  'INCLUDED FINAL_FAILURE': { to: 'FAILED', effects: ['fail'] },
};

describe('a payout', () => {
  test.each(PAYOUT_STATUSES.flatMap((from) => EVENTS.map((event) => ({ from, event }))))(
    'in $from does with $event what the design says',
    ({ from, event }) => {
      expect(outcome(payout, from, event, NO_PAYOUT_FACTS)).toEqual(EDGES[`${from} ${event}`]);
    },
  );

  test('can be cancelled only while no bytes exist, and ends only by what the chain made final', () => {
    const paths = everyPath(payout, 'PLANNED', EVENTS, [NO_PAYOUT_FACTS]);
    expect(paths.filter((path) => path.endsWith('CANCELLED'))).toEqual(['PLANNED → CANCELLED']);
    for (const path of paths.filter((one) => /CONFIRMED|FAILED/.test(one))) expect(path).toMatch(/INCLUDED → (CONFIRMED|FAILED)$/);
    expect(paths).toContain('PLANNED → SIGNED → BROADCAST → INCLUDED → CONFIRMED');
    expect(paths).toContain('PLANNED → SIGNED → INCLUDED → BROADCAST');
    expect(paths).toHaveLength(11);
  });
});
