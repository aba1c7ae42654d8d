import { describe, expect, test } from 'vitest';
import { amount } from '#shared/core/money.ts';
import { PAYOUT_STATUSES } from '#state-machines/payout/machine.ts';
import { SETTLEMENT_STATUSES, type SettlementEvent, type SettlementFacts, type SettlementStatus, settlement } from '#state-machines/settlement/machine.ts';
import { everyPath, type Outcome, outcome } from './paths.ts';

const EVENTS: SettlementEvent[] = ['APPROVED', 'OPERATOR_REJECTED', 'ACTIVATED', 'SCREENED', 'CANCELLED', 'PARKING_EXPIRED', 'DISPATCHED', 'COMPLETED'];
const POOLS: Pick<SettlementFacts, 'amount' | 'available'>[] = [
  { amount: amount(5n), available: null },
  { amount: amount(5n), available: amount(4n) },
  { amount: amount(5n), available: amount(5n) },
];
const PAYOUTS: SettlementFacts['payouts'][] = [
  [],
  [
    { status: 'FAILED', closing: false },
    { status: 'CANCELLED', closing: false },
  ],
  [{ status: 'PLANNED', closing: true }],
  [{ status: 'PLANNED', closing: false }],
  ...PAYOUT_STATUSES.filter((status) => !['PLANNED', 'FAILED', 'CANCELLED'].includes(status)).map((status) => [
    { status: 'FAILED' as const, closing: false },
    { status, closing: true },
  ]),
];
const FACTS: SettlementFacts[] = POOLS.flatMap((pool) =>
  [null, 'approval_cap'].flatMap((holdReason) => PAYOUTS.map((payouts) => ({ ...pool, holdReason, payouts }))),
);
const isCovered = ({ available }: SettlementFacts): boolean => available === 5n;
/** Nothing of any payout of it can take effect any more: the first three of the list. */
const isOver = ({ payouts }: SettlementFacts): boolean => PAYOUTS.slice(0, 3).includes(payouts);

/** Contract 3.2, row by row; the first four rows create and are `decide`'s. */
function contract(from: SettlementStatus, event: SettlementEvent, facts: SettlementFacts): Outcome {
  const parked = from === 'UNDERFUNDED' || from === 'WAITING_AML_CREDIT';
  switch (event) {
    case 'APPROVED':
      return from === 'PENDING_APPROVAL' ? { to: 'REQUESTED', effects: ['dispatch'] } : undefined;
    case 'OPERATOR_REJECTED':
      if (from === 'PENDING_APPROVAL' || from === 'REQUESTED') return { to: 'REJECTED', effects: ['void'] };
      return from === 'PROCESSING' && isOver(facts) ? { to: 'REJECTED', effects: ['void'] } : undefined;
    case 'ACTIVATED':
      return from === 'UNDERFUNDED' && isCovered(facts) ? claimed(facts) : undefined;
    case 'SCREENED':
      if (from !== 'WAITING_AML_CREDIT') return undefined;
      return isCovered(facts) ? claimed(facts) : { to: 'UNDERFUNDED', effects: [] };
    case 'CANCELLED':
      return parked ? { to: 'REJECTED', effects: [] } : undefined;
    case 'PARKING_EXPIRED':
      return parked ? { to: 'REJECTED', effects: ['mail'] } : undefined;
    case 'DISPATCHED':
      return from === 'REQUESTED' ? { to: 'PROCESSING', effects: [] } : undefined;
    case 'COMPLETED':
      return from === 'PROCESSING' ? { to: 'SETTLED', effects: ['settle'] } : undefined;
  }
}

function claimed(facts: SettlementFacts): Outcome {
  return facts.holdReason !== null ? { to: 'PENDING_APPROVAL', effects: ['reserve'] } : { to: 'REQUESTED', effects: ['reserve', 'dispatch'] };
}

/** The ends of every claimed settlement. */
const FROM_REQUESTED = ['', ' → PROCESSING', ' → PROCESSING → REJECTED', ' → PROCESSING → SETTLED', ' → REJECTED'].map((rest) => `REQUESTED${rest}`);
const FROM_APPROVAL = ['PENDING_APPROVAL', 'PENDING_APPROVAL → REJECTED', ...FROM_REQUESTED.map((rest) => `PENDING_APPROVAL → ${rest}`)];
const FROM_UNDERFUNDED = ['UNDERFUNDED', 'UNDERFUNDED → REJECTED', ...[...FROM_REQUESTED, ...FROM_APPROVAL].map((rest) => `UNDERFUNDED → ${rest}`)];
const FROM_WAITING = [
  'WAITING_AML_CREDIT',
  'WAITING_AML_CREDIT → REJECTED',
  ...[...FROM_REQUESTED, ...FROM_APPROVAL, ...FROM_UNDERFUNDED].map((rest) => `WAITING_AML_CREDIT → ${rest}`),
];

describe('a settlement', () => {
  test.each(SETTLEMENT_STATUSES.flatMap((from) => EVENTS.map((event) => ({ from, event }))))(
    'in $from does with $event what the contract says under all facts, and nothing else',
    ({ from, event }) => {
      for (const facts of FACTS) expect({ facts, outcome: outcome(settlement, from, event, facts) }).toEqual({ facts, outcome: contract(from, event, facts) });
    },
  );

  test.each([
    ['REQUESTED' as const, FROM_REQUESTED],
    ['PENDING_APPROVAL' as const, FROM_APPROVAL],
    ['UNDERFUNDED' as const, FROM_UNDERFUNDED],
    ['WAITING_AML_CREDIT' as const, FROM_WAITING],
  ])('created as %s goes every way the contract draws and no other', (start, paths) => {
    expect(everyPath(settlement, start, EVENTS, FACTS)).toEqual([...paths].sort());
  });

  test('reserves exactly once on every way from parked, and gives back or pays exactly what it reserved', () => {
    for (const path of [...FROM_WAITING, ...FROM_UNDERFUNDED]) {
      const statuses = path.split(' → ') as SettlementStatus[];
      let reserved = 0;
      for (const [i, to] of statuses.entries()) {
        const from = statuses[i - 1];
        if (from === undefined) continue;
        const effects = EVENTS.flatMap((event) => FACTS.map((facts) => outcome(settlement, from, event, facts))).find((one) => one?.to === to)?.effects ?? [];
        if (effects.includes('reserve')) reserved += 1;
        if (effects.includes('void') || effects.includes('settle')) reserved -= 1;
      }
      const claims = (['REQUESTED', 'PENDING_APPROVAL', 'PROCESSING'] as string[]).includes(statuses.at(-1) ?? '');
      expect({ path, reserved }).toEqual({ path, reserved: claims ? 1 : 0 });
    }
  });
});
