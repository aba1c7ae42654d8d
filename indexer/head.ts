import { ChainUnavailable } from '#shared/chains/chain.ts';
import type { Child } from './life.ts';
import { createPatience } from './patience.ts';
import { showUnknownFields } from './unknown-fields.ts';
import { createWake } from './wake.ts';

/** Polls per block: often enough that a quarter of a block time is the most a deposit waits for this. */
const POLLS_PER_BLOCK = 4;
const SHORTEST_POLL_MS = 100;
const LONGEST_POLL_MS = 3_000;
const SHORTEST_PAUSE_MS = 10;

/** Keeps `life.head` fresh by asking the node again and again, and at once when it says that its head moved; gives up after a while without an answer. */
export const followHead: Child = async (deps, life, _tell, signal) => {
  const pollMs = Math.min(LONGEST_POLL_MS, Math.max(SHORTEST_POLL_MS, (life.network.blockSeconds * 1_000) / POLLS_PER_BLOCK));
  const chain = life.network.name;
  const unknown = deps.metrics.unknownHeaderField;
  const patience = createPatience(deps);
  const [bell, never] = [createWake(), createWake()];
  const stopHearing = deps.hearHeads?.(life.network, (announced) => {
    bell.ring();
    if (announced === undefined) return;
    life.announced = announced;
    life.scanWake.ring();
  });
  try {
    while (!signal.aborted) {
      const askedAtMs = deps.monotonicMs();
      try {
        const head = await life.reader.head();
        patience.reset();
        await showUnknownFields(unknown, chain, []);
        const news = head.latest.hash !== life.head?.latest.hash;
        life.head = { ...head, askedAtMs, changedAtMs: news ? askedAtMs : (life.head?.changedAtMs ?? askedAtMs) };
        deps.metrics.headBlock.set({ chain }, head.latest.height);
        // The same head asked for later is news too: it says that what was published is still the head.
        if (news || life.trail.last()?.hash === head.latest.hash) life.scanWake.ring();
        // However often it is rung, by whomever.
        await never.wait(SHORTEST_PAUSE_MS, signal);
        await bell.wait(pollMs, signal);
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        await showUnknownFields(unknown, chain, error.unknownFields);
        await never.wait(patience.next(error), signal);
      }
    }
  } finally {
    stopHearing?.();
  }
};
