import { describe, expect, test } from 'vitest';
import { NO_PAYOUT_FACTS, PAYOUT_STATUSES, type PayoutEvent, type PayoutStatus, payout } from '#state-machines/payout/machine.ts';
import { everyPath, outcome } from './paths.ts';

const EVENTS: PayoutEvent[] = ['SIGNED', 'SENT', 'SEEN', 'ORPHANED', 'BUMPED', 'CLOSED', 'EXPIRED', 'ABANDONED', 'FINAL_SUCCESS', 'FINAL_FAILURE', 'CANCELLED'];

const EDGES: Partial<Record<`${PayoutStatus} ${PayoutEvent}`, { to: PayoutStatus; effects: string[] }>> = {
  'PLANNED SIGNED': { to: 'SIGNED', effects: ['broadcast'] },
  'PLANNED CANCELLED': { to: 'CANCELLED', effects: ['free'] },
  'PLANNED CLOSED': { to: 'PLANNED', effects: [] },
  'SIGNED SENT': { to: 'BROADCAST', effects: [] },
  'SIGNED SEEN': { to: 'INCLUDED', effects: ['resume'] },
  'SIGNED BUMPED': { to: 'REPLACING', effects: [] },
  'SIGNED CLOSED': { to: 'REPLACING', effects: [] },
  'SIGNED EXPIRED': { to: 'REPLACING', effects: [] },
  'BROADCAST SEEN': { to: 'INCLUDED', effects: ['resume'] },
  'BROADCAST BUMPED': { to: 'REPLACING', effects: [] },
  'BROADCAST CLOSED': { to: 'REPLACING', effects: [] },
  'BROADCAST EXPIRED': { to: 'REPLACING', effects: [] },
  'REPLACING SIGNED': { to: 'SIGNED', effects: ['broadcast'] },
  'REPLACING SEEN': { to: 'INCLUDED', effects: ['resume'] },
  'REPLACING CLOSED': { to: 'REPLACING', effects: [] },
  'REPLACING ABANDONED': { to: 'FAILED', effects: ['free'] },
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

  test('can be cancelled only while no bytes exist, and ends only by what the chain made final, or once all its bytes are dead', () => {
    const paths = everyPath(payout, 'PLANNED', EVENTS, [NO_PAYOUT_FACTS]);
    expect(paths.filter((path) => path.endsWith('CANCELLED'))).toEqual(['PLANNED → CANCELLED']);
    for (const path of paths.filter((one) => /CONFIRMED|FAILED/.test(one))) expect(path).toMatch(/(INCLUDED → (CONFIRMED|FAILED)|REPLACING → FAILED)$/);
    expect(paths).toContain('PLANNED → SIGNED → BROADCAST → INCLUDED → CONFIRMED');
    expect(paths).toContain('PLANNED → SIGNED → INCLUDED → BROADCAST');
    expect(paths).toContain('PLANNED → SIGNED → REPLACING → INCLUDED → CONFIRMED');
  });

  test('never comes back to where it may be cancelled, however its bytes were replaced', () => {
    for (const path of everyPath(payout, 'PLANNED', EVENTS, [NO_PAYOUT_FACTS])) expect(path.lastIndexOf('PLANNED')).toBe(0);
    for (const status of PAYOUT_STATUSES.filter((one) => one !== 'PLANNED')) {
      for (const event of EVENTS) expect(['PLANNED', 'CANCELLED']).not.toContain(outcome(payout, status, event, NO_PAYOUT_FACTS)?.to);
    }
  });
});
