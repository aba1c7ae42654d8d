import { setup } from 'xstate';
import { type Coins, zero } from '#shared/core/money.ts';
import type { PayoutStatus } from '../payout/machine.ts';
import type { EffectTable, EventOf, RecordMachine } from '../step.ts';

export const SETTLEMENT_STATUSES = ['PENDING_APPROVAL', 'UNDERFUNDED', 'WAITING_AML_CREDIT', 'REQUESTED', 'PROCESSING', 'SETTLED', 'REJECTED'] as const;
export type SettlementStatus = (typeof SETTLEMENT_STATUSES)[number];
/**
 * `reserve`: claim the amount from the pool. `void`: give the claim back. `settle`: post it as paid, and mark payments
 * drawn from the held pool RELEASED. `dispatch`: queue it for sending. `mail`: tell the merchant it was rejected.
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

/** What the guards of a settlement see; fields an event does not use keep their neutral value. */
export interface SettlementFacts {
  /** What it takes out of its pool. */
  amount: Coins;
  /** What the routed pool holds for it, seen under its lock; null while no pool is settled. */
  available: Coins | null;
  /** Why `decide` asked for approval: above the cap, or the destination screen did not pass; null when nothing asks for it. */
  holdReason: string | null;
  /** Where each payout of it stands, under their locks; `closing`: bytes that pay no recipient are to use its nonce up. */
  payouts: readonly { status: PayoutStatus; closing: boolean }[];
}

/** Facts that satisfy no guard; spread them and set what the event is about. */
export const NO_SETTLEMENT_FACTS: SettlementFacts = { amount: zero, available: null, holdReason: null, payouts: [{ status: 'SIGNED', closing: false }] };

/** Whether the routed pool covers the amount now. */
function covers({ amount, available }: SettlementFacts): boolean {
  return available !== null && available >= amount;
}

/** Whether nothing of a payout can still take effect: it ended without paying, or nothing of it was ever signed and nothing will be (decisions 10). */
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
  // Where a settlement starts is decided by `decide` when it is created: REQUESTED, PENDING_APPROVAL or one of the parked two.
  initial: 'REQUESTED',
  states: {
    // Claimed, waiting for a person.
    PENDING_APPROVAL: {
      on: {
        APPROVED: { target: 'REQUESTED', actions: ['dispatch'] },
        OPERATOR_REJECTED: { target: 'REJECTED', actions: ['void'] },
      },
    },
    // Parked: nothing is claimed, so leaving it for REJECTED releases nothing.
    UNDERFUNDED: {
      on: {
        // The minute check and the retry call ask the same question; a pool that is still short is a conflict, not an edge.
        ACTIVATED: [
          { guard: 'poolCoversAndNoGateHit', target: 'REQUESTED', actions: ['reserve', 'dispatch'] },
          { guard: 'poolCoversButApprovalNeeded', target: 'PENDING_APPROVAL', actions: ['reserve'] },
        ],
        CANCELLED: { target: 'REJECTED' },
        PARKING_EXPIRED: { target: 'REJECTED', actions: ['mail'] },
      },
    },
    // Parked until the destination can be screened. Once it is, every other gate still applies, the pool included.
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
    // Claimed and queued; no bytes are signed yet, because signing and DISPATCHED are one transaction.
    REQUESTED: {
      on: {
        DISPATCHED: { target: 'PROCESSING' },
        OPERATOR_REJECTED: { target: 'REJECTED', actions: ['void'] },
      },
    },
    // Signed bytes exist: only the chain, or proof that they can never take effect, ends it.
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

/** What a settlement may become (contract 3.2). Evaluated by `step` under the row's lock. */
export const settlement: RecordMachine<SettlementStatus, SettlementFacts, typeof SETTLEMENT_EFFECTS> = {
  machine,
  statuses: SETTLEMENT_STATUSES,
  effects: SETTLEMENT_EFFECTS,
};
