import { setup } from 'xstate';
import type { EffectTable, EventOf, RecordMachine } from '../step.ts';

/** `amlState` of a payment (contract 2.7); NONE is what the contract omits: screening never flagged it. */
export const AML_STATES = ['NONE', 'HELD', 'RELEASED', 'REFUNDED', 'WITHHELD'] as const;
export type AmlState = (typeof AML_STATES)[number];
/**
 * `hold`: move what is left of it to the held pool. `clear`: move it back to the green one. `withhold`: take it out of the
 * pools for good. `order`: take it out of the held pool to be paid back. `pay`: it was. `giveBack`: it could not be.
 */
export const AML_EFFECTS = {
  /** Screening scored one of its deposits at or above the gateway's threshold. */
  FLAGGED: ['hold'],
  /** A cashout that drew from it settled. */
  DRAWN: [],
  OPERATOR_RELEASED: ['clear'],
  OPERATOR_WITHHELD: ['withhold'],
  REFUND_ORDERED: ['order'],
  REFUND_PAID: ['pay'],
  REFUND_FAILED: ['giveBack'],
} as const satisfies EffectTable;
export type AmlEvent = EventOf<typeof AML_EFFECTS>;

/** What the guards see; fields an event does not use keep their neutral value. */
export interface AmlFacts {
  /** A deposit of it has no verdict yet. */
  unscreened: boolean;
  /** A refund of it is on its way, another one than the event is about. */
  refunding: boolean;
  /** A cashout has drawn from it or has reserved some of it. */
  touched: boolean;
  /** Something of it is still in the held pool. */
  somethingHeld: boolean;
  /** All of it is screened and drawn, by cashouts that have settled. */
  spent: boolean;
}

/** Facts that satisfy no guard that lets something out; spread them and set what the event is about. */
export const NO_AML_FACTS: AmlFacts = { unscreened: true, refunding: true, touched: true, somethingHeld: true, spent: false };

const machine = setup({
  types: { context: {} as AmlFacts, events: {} as { type: AmlEvent } },
  guards: {
    screenedAndNoRefundUnderWay: ({ context }) => !context.unscreened && !context.refunding,
    noRefundUnderWay: ({ context }) => !context.refunding,
    screenedAndNothingDrawnOrReserved: ({ context }) => !context.unscreened && !context.refunding && !context.touched && context.somethingHeld,
    allDrawnBySettled: ({ context }) => context.spent && !context.refunding,
    nothingElseHeld: ({ context }) => !context.somethingHeld && !context.refunding,
  },
  actions: { hold() {}, clear() {}, withhold() {}, order() {}, pay() {}, giveBack() {} },
}).createMachine({
  id: 'aml',
  context: NO_AML_FACTS,
  initial: 'NONE',
  states: {
    NONE: { on: { FLAGGED: { target: 'HELD', actions: ['hold'] } } },
    HELD: {
      on: {
        // A further flagged deposit: what it credited is in the held pool already, because its payment is.
        FLAGGED: { target: 'HELD' },
        DRAWN: { guard: 'allDrawnBySettled', target: 'RELEASED' },
        // A payment is not cleared while a part of it is unscreened, nor while it is being refunded.
        OPERATOR_RELEASED: { guard: 'screenedAndNoRefundUnderWay', target: 'RELEASED', actions: ['clear'] },
        OPERATOR_WITHHELD: { guard: 'noRefundUnderWay', target: 'WITHHELD', actions: ['withhold'] },
        REFUND_ORDERED: { guard: 'screenedAndNothingDrawnOrReserved', target: 'HELD', actions: ['order'] },
        // What came in after the order was given is not part of it, and keeps the payment held; so does another asset's refund.
        REFUND_PAID: [
          { guard: 'nothingElseHeld', target: 'REFUNDED', actions: ['pay'] },
          { target: 'HELD', actions: ['pay'] },
        ],
        REFUND_FAILED: { target: 'HELD', actions: ['giveBack'] },
      },
    },
    RELEASED: { type: 'final' },
    REFUNDED: { type: 'final' },
    WITHHELD: { type: 'final' },
  },
});

/** What may become of a payment that screening flagged (decisions 10). Evaluated by `step` under the payment's lock. */
export const aml: RecordMachine<AmlState, AmlFacts, typeof AML_EFFECTS> = { machine, statuses: AML_STATES, effects: AML_EFFECTS };
