import { ChainUnavailable } from '#shared/chains/chain.ts';
import type { Child } from './life.ts';
import { createPatience } from './patience.ts';
import { createWake } from './wake.ts';

/** Polls per block: often enough that a quarter of a block time is the most a deposit waits for this. */
const POLLS_PER_BLOCK = 4;
const SHORTEST_POLL_MS = 100;
const LONGEST_POLL_MS = 3_000;

/** Keeps `life.head` fresh by asking the node again and again; gives up after a while without an answer. */
export const followHead: Child = async (deps, life, _tell, signal) => {
  const pollMs = Math.min(LONGEST_POLL_MS, Math.max(SHORTEST_POLL_MS, (life.network.blockSeconds * 1_000) / POLLS_PER_BLOCK));
  const chain = life.network.name;
  const patience = createPatience(deps);
  const never = createWake();
  while (!signal.aborted) {
    const askedAtMs = deps.monotonicMs();
    let waitMs = pollMs;
    try {
      const head = await life.reader.head();
      patience.reset();
      const news = head.latest.hash !== life.head?.latest.hash;
      life.head = { ...head, askedAtMs, changedAtMs: news ? askedAtMs : (life.head?.changedAtMs ?? askedAtMs) };
      deps.metrics.headBlock.set({ chain }, head.latest.height);
      // The same head asked for later is news too: it says that what was published is still the head.
      if (news || life.trail.last()?.hash === head.latest.hash) life.scanWake.ring();
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      waitMs = patience.next(error);
    }
    await never.wait(waitMs, signal);
  }
};
