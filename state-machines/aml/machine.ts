import { setup } from 'xstate';
import type { EffectTable, EventOf, RecordMachine } from '../step.ts';

/** `amlState` of a payment (contract 2.7). The contract omits NONE: screening never flagged the payment. */
export const AML_STATES = ['NONE', 'HELD', 'RELEASED', 'REFUNDED', 'WITHHELD'] as const;
export type AmlState = (typeof AML_STATES)[number];
/**
 * `hold`: move what is left of it to the held pool. `clear`: move it back to the green pool. `withhold`: take it out of the pools for good.
 * `order`: take it out of the held pool to be paid back. `pay`: it was paid back. `giveBack`: it could not be paid back.
 */
export const AML_EFFECTS = {
  /** Screening scored one of its deposits at or above the gateway's threshold. */
  FLAGGED: ['hold'],
  /** A cashout that drew from the payment settled. */
  DRAWN: [],
  OPERATOR_RELEASED: ['clear'],
  OPERATOR_WITHHELD: ['withhold'],
  REFUND_ORDERED: ['order'],
  REFUND_PAID: ['pay'],
  REFUND_FAILED: ['giveBack'],
} as const satisfies EffectTable;
export type AmlEvent = EventOf<typeof AML_EFFECTS>;

/** The facts that the guards see. A field that an event does not use keeps its neutral value. */
export interface AmlFacts {
  /** Whether one of its deposits has no verdict yet. */
  unscreened: boolean;
  /** Whether another refund of it than the event's is on its way. */
  refunding: boolean;
  /** Whether a cashout has drawn from it or has reserved some of it. */
  touched: boolean;
  /** Whether some of it is still in the held pool. */
  somethingHeld: boolean;
  /** Whether all of it is screened, and drawn by cashouts that have settled. */
  spent: boolean;
}

/** Facts that satisfy no guard that lets coins out. Spread them and set the facts of the event. */
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
        // A further flagged deposit. Its credit is in the held pool already, because its payment is held.
        FLAGGED: { target: 'HELD' },
        DRAWN: { guard: 'allDrawnBySettled', target: 'RELEASED' },
        // A payment is not cleared while part of it is unscreened, or while it is being refunded.
        OPERATOR_RELEASED: { guard: 'screenedAndNoRefundUnderWay', target: 'RELEASED', actions: ['clear'] },
        OPERATOR_WITHHELD: { guard: 'noRefundUnderWay', target: 'WITHHELD', actions: ['withhold'] },
        REFUND_ORDERED: { guard: 'screenedAndNothingDrawnOrReserved', target: 'HELD', actions: ['order'] },
        // Coins that came after the refund was ordered are not part of it, and keep the payment held; so does a refund of another asset.
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

/** The states of a payment that screening flagged (decisions 10). `step` evaluates it under the payment's lock. */
export const aml: RecordMachine<AmlState, AmlFacts, typeof AML_EFFECTS> = { machine, statuses: AML_STATES, effects: AML_EFFECTS };
