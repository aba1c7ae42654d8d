import { setup } from 'xstate';
import type { RecordMachine } from '../step.ts';

export const SETTLEMENT_STATUSES = ['PENDING_APPROVAL', 'UNDERFUNDED', 'WAITING_AML_CREDIT', 'REQUESTED', 'PROCESSING', 'SETTLED', 'REJECTED'] as const;
export type SettlementStatus = (typeof SETTLEMENT_STATUSES)[number];
export type SettlementEvent = 'APPROVED' | 'OPERATOR_REJECTED' | 'ACTIVATED' | 'SCREENED' | 'CANCELLED' | 'PARKING_EXPIRED' | 'DISPATCHED' | 'COMPLETED';
/**
 * `reserve`: claim the amount from the pool. `void`: give the claim back. `settle`: post it as paid, and mark payments
 * drawn from the held pool RELEASED. `dispatch`: queue it for sending. `mail`: tell the merchant it was rejected.
 */
export type SettlementEffect = 'reserve' | 'void' | 'settle' | 'dispatch' | 'mail';

/** What the guards of a settlement see; fields an event does not use keep their neutral value. */
export interface SettlementFacts {
  /** The routed pool covers the amount now, seen under its lock. */
  covered: boolean;
  /** `decide` asked for approval: above the cap, or the destination screen did not pass. */
  held: boolean;
  /** Every payout family of it failed for good, so nothing signed can still take effect (decisions 10). */
  failedForGood: boolean;
}

/** Facts that satisfy no guard; spread them and set what the event is about. */
export const NO_SETTLEMENT_FACTS: SettlementFacts = { covered: false, held: false, failedForGood: false };

const machine = setup({
  types: { context: {} as SettlementFacts, events: {} as { type: SettlementEvent } },
  guards: {
    poolCoversAndNoGateHit: ({ context }) => context.covered && !context.held,
    poolCoversButApprovalNeeded: ({ context }) => context.covered && context.held,
    poolStillShort: ({ context }) => !context.covered,
    payoutFailedForGood: ({ context }) => context.failedForGood,
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
export const settlement: RecordMachine<SettlementStatus, SettlementFacts, SettlementEvent, SettlementEffect> = { machine, statuses: SETTLEMENT_STATUSES };
