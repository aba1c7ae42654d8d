import { setup } from 'xstate';
import { type Coins, zero } from '#shared/core/money.ts';
import type { PayoutStatus } from '../payout/machine.ts';
import type { EffectTable, EventOf, RecordMachine } from '../step.ts';

export const SETTLEMENT_STATUSES = ['PENDING_APPROVAL', 'UNDERFUNDED', 'WAITING_AML_CREDIT', 'REQUESTED', 'PROCESSING', 'SETTLED', 'REJECTED'] as const;
export type SettlementStatus = (typeof SETTLEMENT_STATUSES)[number];
/**
 * `reserve`: claim the amount from the pool. `void`: give the claim back. `settle`: post it as paid, and mark payments drawn from the held pool
 * RELEASED. `dispatch`: queue it for sending. `mail`: tell the merchant that it was rejected.
 */
export const SETTLEMENT_EFFECTS = {
  APPROVED: ['dispatch'],
  OPERATOR_REJECTED: ['void'],
  ACTIVATED: ['reserve', 'dispatch'],
  SCREENED: ['reserve', 'dispatch'],
  CANCELLED: [],
  PARKING_EXPIRED: ['mail'],
  DISPATCHED: [],
  COMPLETED: ['settle'],
} as const satisfies EffectTable;
export type SettlementEvent = EventOf<typeof SETTLEMENT_EFFECTS>;

/** The facts that the guards of a settlement see. A field that an event does not use keeps its neutral value. */
export interface SettlementFacts {
  /** The amount that it takes out of its pool. */
  amount: Coins;
  /** The amount that the chosen pool holds for it, read under the pool's lock; null while no pool is chosen. */
  available: Coins | null;
  /** Why `decide` asked for approval: above the cap, or the destination's screen did not pass; null when no approval is needed. */
  holdReason: string | null;
  /** The state of each of its payouts, read under their locks. `closing`: bytes that pay no recipient will use up the payout's nonce. */
  payouts: readonly { status: PayoutStatus; closing: boolean }[];
}

/** Facts that satisfy no guard. Spread them and set the facts of the event. */
export const NO_SETTLEMENT_FACTS: SettlementFacts = { amount: zero, available: null, holdReason: null, payouts: [{ status: 'SIGNED', closing: false }] };

/** Whether the chosen pool covers the amount now. */
function covers({ amount, available }: SettlementFacts): boolean {
  return available !== null && available >= amount;
}

/** Whether nothing of a payout can still take effect: it ended without paying, or nothing of it was or will be signed (decisions 10). */
function isOver({ status, closing }: SettlementFacts['payouts'][number]): boolean {
  return status === 'FAILED' || status === 'CANCELLED' || (status === 'PLANNED' && closing);
}

const machine = setup({
  types: { context: {} as SettlementFacts, events: {} as { type: SettlementEvent } },
  guards: {
    poolCoversAndNoGateHit: ({ context }) => covers(context) && context.holdReason === null,
    poolCoversButApprovalNeeded: ({ context }) => covers(context) && context.holdReason !== null,
    poolStillShort: ({ context }) => !covers(context),
    payoutFailedForGood: ({ context }) => context.payouts.every(isOver),
  },
  actions: { reserve() {}, void() {}, settle() {}, dispatch() {}, mail() {} },
}).createMachine({
  id: 'settlement',
  context: NO_SETTLEMENT_FACTS,
  // `decide` chooses the first status when a settlement is created: REQUESTED, PENDING_APPROVAL or one of the two parked ones.
  initial: 'REQUESTED',
  states: {
    // Claimed, waiting for a person.
    PENDING_APPROVAL: {
      on: {
        APPROVED: { target: 'REQUESTED', actions: ['dispatch'] },
        OPERATOR_REJECTED: { target: 'REJECTED', actions: ['void'] },
      },
    },
    // Parked: nothing is claimed, so rejecting it gives nothing back.
    UNDERFUNDED: {
      on: {
        // The minute check and the retry call use the same guard. If the pool is still short, the event is a conflict and not a transition.
        ACTIVATED: [
          { guard: 'poolCoversAndNoGateHit', target: 'REQUESTED', actions: ['reserve', 'dispatch'] },
          { guard: 'poolCoversButApprovalNeeded', target: 'PENDING_APPROVAL', actions: ['reserve'] },
        ],
        CANCELLED: { target: 'REJECTED' },
        PARKING_EXPIRED: { target: 'REJECTED', actions: ['mail'] },
      },
    },
    // Parked until the destination can be screened. After that every other gate still applies, the pool included.
    WAITING_AML_CREDIT: {
      on: {
        SCREENED: [
          { guard: 'poolCoversAndNoGateHit', target: 'REQUESTED', actions: ['reserve', 'dispatch'] },
          { guard: 'poolCoversButApprovalNeeded', target: 'PENDING_APPROVAL', actions: ['reserve'] },
          { guard: 'poolStillShort', target: 'UNDERFUNDED' },
        ],
        CANCELLED: { target: 'REJECTED' },
        PARKING_EXPIRED: { target: 'REJECTED', actions: ['mail'] },
      },
    },
    // Claimed and queued. No bytes are signed yet, because signing and DISPATCHED are one transaction.
    REQUESTED: {
      on: {
        DISPATCHED: { target: 'PROCESSING' },
        OPERATOR_REJECTED: { target: 'REJECTED', actions: ['void'] },
      },
    },
    // Signed bytes exist. Only the chain ends it, or proof that they can never take effect.
    PROCESSING: {
      on: {
        COMPLETED: { target: 'SETTLED', actions: ['settle'] },
        OPERATOR_REJECTED: { guard: 'payoutFailedForGood', target: 'REJECTED', actions: ['void'] },
      },
    },
    SETTLED: { type: 'final' },
    REJECTED: { type: 'final' },
  },
});

/** The statuses of a settlement (contract 3.2). `step` evaluates it under the row's lock. */
export const settlement: RecordMachine<SettlementStatus, SettlementFacts, typeof SETTLEMENT_EFFECTS> = {
  machine,
  statuses: SETTLEMENT_STATUSES,
  effects: SETTLEMENT_EFFECTS,
};
