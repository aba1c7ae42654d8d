import { setup } from 'xstate';
import type { EffectTable, EventOf, RecordMachine } from '../step.ts';

export const PAYOUT_STATUSES = ['PLANNED', 'SIGNED', 'BROADCAST', 'REPLACING', 'INCLUDED', 'CONFIRMED', 'FAILED', 'CANCELLED'] as const;
export type PayoutStatus = (typeof PAYOUT_STATUSES)[number];
/**
 * `broadcast`: hand the stored bytes to the network (again). `resume`: let what waited for its coins or its gas go on. `complete`:
 * book what it moved and cost. `fail`: book what it cost and decide about a new payout. `free`: give back the outputs it holds.
 */
export const PAYOUT_EFFECTS = {
  SIGNED: ['broadcast'],
  SENT: [],
  SEEN: ['resume'],
  ORPHANED: ['broadcast'],
  /** The same transfer is to be offered at a higher fee, under the same nonce or with the same anchor. */
  BUMPED: [],
  /** Bytes that pay no recipient are to use its nonce or anchor up, because the transfer cannot be sent any more. */
  CLOSED: [],
  /** Its bytes are proven dead: too old for the chain to take them ever again, or a final transaction that the books had lost has used their nonce or anchor. */
  EXPIRED: [],
  /** All its bytes are proven dead, and no others will follow: the network has long refused them, its cashout was rejected, or what the books had lost displaced it. */
  ABANDONED: ['free'],
  FINAL_SUCCESS: ['complete'],
  FINAL_FAILURE: ['fail'],
  CANCELLED: ['free'],
} as const satisfies EffectTable;
export type PayoutEvent = EventOf<typeof PAYOUT_EFFECTS>;
/** A payout has no guards: what the chain says is in the event itself. */
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
        // Harmless only here: no bytes exist yet.
        CANCELLED: { target: 'CANCELLED', actions: ['free'] },
        // It holds a nonce that everything behind it waits for, so it cannot just be given up.
        CLOSED: { target: 'PLANNED' },
      },
    },
    // Bytes are stored, so from here on only the chain decides what became of them.
    SIGNED: {
      on: {
        SENT: { target: 'BROADCAST' },
        // The broadcast reached the network although its answer never reached us.
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
    // Bytes exist, and further bytes of the same payout are to be signed. Never back to PLANNED: what was sent once may be
    // found in a block at any time, and can never be cancelled.
    REPLACING: {
      on: {
        SIGNED: { target: 'SIGNED', actions: ['broadcast'] },
        SEEN: { target: 'INCLUDED', actions: ['resume'] },
        CLOSED: { target: 'REPLACING' },
        // Where bytes expire; under a nonce or an anchor it is closed instead, unless something else has used that. Costs nothing, so there is nothing to book.
        ABANDONED: { target: 'FAILED', actions: ['free'] },
      },
    },
    INCLUDED: {
      on: {
        // Its block was replaced: the bytes that exist are sent again.
        ORPHANED: { target: 'BROADCAST', actions: ['broadcast'] },
        // Judged by the effect on chain at finality, not by the transaction's status alone.
        FINAL_SUCCESS: { target: 'CONFIRMED', actions: ['complete'] },
        FINAL_FAILURE: { target: 'FAILED', actions: ['fail'] },
      },
    },
    CONFIRMED: { type: 'final' },
    FAILED: { type: 'final' },
    CANCELLED: { type: 'final' },
  },
});

/** What one payout, a set of mutually exclusive transactions, may become (architecture 4). Evaluated by `step` under the row's lock. */
export const payout: RecordMachine<PayoutStatus, PayoutFacts, typeof PAYOUT_EFFECTS> = { machine, statuses: PAYOUT_STATUSES, effects: PAYOUT_EFFECTS };
