import { setup } from 'xstate';
import type { EffectTable, EventOf, RecordMachine } from '../step.ts';

export const PAYOUT_STATUSES = ['PLANNED', 'SIGNED', 'BROADCAST', 'REPLACING', 'INCLUDED', 'CONFIRMED', 'FAILED', 'CANCELLED'] as const;
export type PayoutStatus = (typeof PAYOUT_STATUSES)[number];
/**
 * `broadcast`: send the stored bytes to the network (again). `resume`: let what waited for its coins or gas continue. `complete`: book what it
 * moved and cost. `fail`: book what it cost and decide about a new payout. `free`: release the outputs it holds.
 */
export const PAYOUT_EFFECTS = {
  SIGNED: ['broadcast'],
  SENT: [],
  SEEN: ['resume'],
  ORPHANED: ['broadcast'],
  /** The same transfer will be signed again at a higher fee, with the same nonce or anchor. */
  BUMPED: [],
  /** The transfer can no longer be sent, so bytes that pay no recipient will use up its nonce or anchor. */
  CLOSED: [],
  /** Its bytes are proven dead: they are too old for the chain, or a final transaction that the books had lost used their nonce or anchor. */
  EXPIRED: [],
  /**
   * All its bytes are proven dead and there will be no others: the network has long refused them, its cashout was rejected, or a transaction that
   * the books had lost displaced it.
   */
  ABANDONED: ['free'],
  FINAL_SUCCESS: ['complete'],
  FINAL_FAILURE: ['fail'],
  CANCELLED: ['free'],
} as const satisfies EffectTable;
export type PayoutEvent = EventOf<typeof PAYOUT_EFFECTS>;
/** A payout has no guards, because the event itself carries what the chain says. */
export type PayoutFacts = Record<never, never>;

export const NO_PAYOUT_FACTS: PayoutFacts = {};

const machine = setup({
  types: { context: {} as PayoutFacts, events: {} as { type: PayoutEvent } },
  actions: { broadcast() {}, resume() {}, complete() {}, fail() {}, free() {} },
}).createMachine({
  id: 'payout',
  context: NO_PAYOUT_FACTS,
  initial: 'PLANNED',
  states: {
    PLANNED: {
      on: {
        SIGNED: { target: 'SIGNED', actions: ['broadcast'] },
        // Safe only here, where no bytes exist yet.
        CANCELLED: { target: 'CANCELLED', actions: ['free'] },
        // It holds a nonce that the payouts behind it wait for, so it cannot just be cancelled.
        CLOSED: { target: 'PLANNED' },
      },
    },
    // Bytes are stored, so from here on only the chain decides the outcome.
    SIGNED: {
      on: {
        SENT: { target: 'BROADCAST' },
        // The broadcast reached the network, but its answer did not reach us.
        SEEN: { target: 'INCLUDED', actions: ['resume'] },
        BUMPED: { target: 'REPLACING' },
        CLOSED: { target: 'REPLACING' },
        EXPIRED: { target: 'REPLACING' },
      },
    },
    BROADCAST: {
      on: {
        SEEN: { target: 'INCLUDED', actions: ['resume'] },
        BUMPED: { target: 'REPLACING' },
        CLOSED: { target: 'REPLACING' },
        EXPIRED: { target: 'REPLACING' },
      },
    },
    // Bytes exist, and further bytes of the same payout will be signed. It never returns to PLANNED, because bytes that were sent once may be mined
    // at any time and cannot be cancelled.
    REPLACING: {
      on: {
        SIGNED: { target: 'SIGNED', actions: ['broadcast'] },
        SEEN: { target: 'INCLUDED', actions: ['resume'] },
        CLOSED: { target: 'REPLACING' },
        // Only where bytes expire; with a nonce or an anchor the payout is closed instead, unless something else has used that. It costs nothing,
        // so nothing is booked.
        ABANDONED: { target: 'FAILED', actions: ['free'] },
      },
    },
    INCLUDED: {
      on: {
        // Its block was replaced, so the existing bytes are sent again.
        ORPHANED: { target: 'BROADCAST', actions: ['broadcast'] },
        // Judged at finality by the effect on chain, not only by the transaction's status.
        FINAL_SUCCESS: { target: 'CONFIRMED', actions: ['complete'] },
        FINAL_FAILURE: { target: 'FAILED', actions: ['fail'] },
      },
    },
    CONFIRMED: { type: 'final' },
    FAILED: { type: 'final' },
    CANCELLED: { type: 'final' },
  },
});

/** The statuses of one payout, a set of mutually exclusive transactions (architecture 4). `step` evaluates it under the row's lock. */
export const payout: RecordMachine<PayoutStatus, PayoutFacts, typeof PAYOUT_EFFECTS> = { machine, statuses: PAYOUT_STATUSES, effects: PAYOUT_EFFECTS };
