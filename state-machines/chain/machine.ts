import { assign, fromCallback, fromPromise, setup } from 'xstate';
import { Invariant } from '#shared/core/errors.ts';

export const CHAIN_STATES = ['connecting', 'backfilling', 'tailing', 'rewinding', 'stalled', 'stopped'] as const;
export type ChainState = (typeof CHAIN_STATES)[number];

/** Wait after the first failure; doubled after each further one without progress in between. */
export const BACKOFF_FIRST_MS = 1_000;
/** Longest wait, so that an endpoint that comes back is used again within a minute. */
export const BACKOFF_LONGEST_MS = 60_000;

export interface ChainContext {
  network: string;
  /** Fencing number of this life of the indexer; null before the first connection. */
  epoch: number | null;
  /** Failures since the last message was published. */
  failures: number;
  /** Why it stands still or had to start again; null while it works. */
  reason: string | null;
}

export type ChainEvent =
  /** From `scan`: everything below final is published; from here on it reads block by block. */
  | { type: 'CAUGHT_UP' }
  /** From `scan`: the head is further away than the unfinal window, so reading ranges is cheaper again. */
  | { type: 'FELL_BEHIND' }
  /** From `publish`: a message was appended, so earlier failures no longer count. */
  | { type: 'PUBLISHED' }
  /** From any child, or from a watcher of rewind requests: start again from the consumer's tip. */
  | { type: 'REWIND'; reason: string }
  /** From any child: it cannot go on, or is unsure. */
  | { type: 'FAILED'; reason: string }
  | { type: 'STOP' };

/** The result of `connect` and `rewind`, which hold the lease under a new epoch and know the consumer's tip. */
export interface Joined {
  epoch: number;
}

const joining = () => fromPromise<Joined, { network: string }>(() => Promise.reject(new Invariant('the indexer supplies this actor')));
const child = () =>
  fromCallback<ChainEvent, { network: string; epoch: number }>(() => {
    throw new Invariant('the indexer supplies this actor');
  });

const network = ({ context }: { context: ChainContext }) => ({ network: context.network });
const life = ({ context }: { context: ChainContext }) => ({ network: context.network, epoch: context.epoch ?? 0 });

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * The states, back-offs and children of one indexer (architecture 3.1).
 * It holds no truth: after a kill at any point the next life starts from the consumer's tip, under a new epoch that fences off whatever a stopped
 * child may still send.
 * The indexer supplies the actors with `chain.provide({ actors })`:
 * - `connect`: check the genesis hash, take the lease with a new epoch, read the tip, load the watch set.
 * - `rewind`: take a new epoch and read the tip again; the watch set stays.
 * - `head`, `scan`, `publish`: live for one epoch; `mempool` only while tailing. They share state through the indexer's closures and send the
 * machine only the events above.
 */
export const chain = setup({
  types: { context: {} as ChainContext, events: {} as ChainEvent, input: {} as { network: string } },
  actors: { connect: joining(), rewind: joining(), head: child(), scan: child(), mempool: child(), publish: child() },
  delays: {
    backoff: ({ context }) => Math.min(BACKOFF_LONGEST_MS, BACKOFF_FIRST_MS * 2 ** Math.min(16, Math.max(0, context.failures - 1))),
  },
  actions: {
    rememberFailure: assign(({ context, event }) => ({
      failures: context.failures + 1,
      reason: 'reason' in event ? event.reason : 'error' in event ? reasonOf(event.error) : context.reason,
    })),
    rememberReason: assign(({ event, context }) => ({ reason: 'reason' in event ? event.reason : context.reason })),
    forgetFailures: assign({ failures: 0, reason: null }),
  },
}).createMachine({
  id: 'chain',
  context: ({ input }) => ({ network: input.network, epoch: null, failures: 0, reason: null }),
  initial: 'connecting',
  on: { STOP: { target: '.stopped' } },
  states: {
    connecting: {
      invoke: {
        id: 'connect',
        src: 'connect',
        input: network,
        onDone: { target: 'following', actions: assign({ epoch: ({ event }) => event.output.epoch }) },
        // No endpoint answers, the genesis hash is another chain's, or another indexer holds the lease.
        onError: { target: 'stalled', actions: 'rememberFailure' },
      },
    },
    // One life: the children live exactly as long as their epoch.
    following: {
      invoke: [
        { id: 'publish', src: 'publish', input: life, onError: { target: 'stalled', actions: 'rememberFailure' } },
        { id: 'head', src: 'head', input: life, onError: { target: 'stalled', actions: 'rememberFailure' } },
        { id: 'scan', src: 'scan', input: life, onError: { target: 'stalled', actions: 'rememberFailure' } },
      ],
      on: {
        PUBLISHED: { actions: 'forgetFailures' },
        REWIND: { target: 'rewinding', actions: 'rememberReason' },
        // What is unsure is never published. Standing still is noticed; a guess is not.
        FAILED: { target: 'stalled', actions: 'rememberFailure' },
      },
      initial: 'backfilling',
      states: {
        backfilling: { on: { CAUGHT_UP: { target: 'tailing' } } },
        tailing: {
          // The mempool only gives hints. The chain is followed without it, so its failure is not a failure of the chain.
          invoke: { id: 'mempool', src: 'mempool', input: life, onError: {} },
          on: { FELL_BEHIND: { target: 'backfilling' } },
        },
      },
    },
    rewinding: {
      invoke: {
        id: 'rewind',
        src: 'rewind',
        input: network,
        onDone: { target: 'following', actions: assign({ epoch: ({ event }) => event.output.epoch }) },
        onError: { target: 'stalled', actions: 'rememberFailure' },
      },
    },
    // Nothing is read or published. A lost lease and a failing endpoint look the same from here: wait, then join again.
    stalled: { after: { backoff: { target: 'connecting' } } },
    stopped: { type: 'final' },
  },
});

/** The state for metrics and `/readyz`, without the state that groups backfilling and tailing. */
export function chainState(value: string | Record<string, unknown>): ChainState {
  const leaf = typeof value === 'string' ? value : value.following;
  const state = CHAIN_STATES.find((name) => name === leaf);
  if (state === undefined) throw new Invariant('the chain machine is in a state that has no name');
  return state;
}
