/** So many blocks after one that held something of ours, the next one's transactions are asked for with the rest of it: one round trip less, should they be needed. */
const BLOCKS_AFTER_A_HIT = 16;

/** What was asked for of a block, by its hash. */
export interface Foreseen<Answers> {
  answers: Promise<Answers>;
  /** Its transactions, which only a block that holds something needs; absent where they were not asked for. */
  bodies?: Promise<unknown> | undefined;
}

/** Asks for a block that a node announced before anybody needs it (decisions 0052 and 0110). */
export interface Foresight<Answers> {
  /** Begins to ask for it; of the last one alone something is kept. */
  foresee(hash: string): void;
  /** What came of that, once; where it failed, or was for another block, it is asked for now. Transactions that failed are for whoever needs them to ask for. */
  take(hash: string): Foreseen<Answers>;
  /** Hears of each block that was read by itself whether it held something. */
  heard(hit: boolean): void;
}

/** `ask` asks for what every block needs. A failure is heard by whoever takes it, and may be taken by nobody. */
export function openForesight<Answers>(ask: (hash: string) => Promise<Answers>, askForBodies: (hash: string) => Promise<unknown>): Foresight<Answers> {
  let foreseen: (Foreseen<Answers> & { hash: string }) | undefined;
  /** Blocks since one held something. */
  let sinceHit = Number.POSITIVE_INFINITY;
  return {
    foresee(hash) {
      const answers = ask(hash);
      const bodies = sinceHit < BLOCKS_AFTER_A_HIT ? askForBodies(hash) : undefined;
      for (const asked of [answers, bodies]) asked?.catch(() => undefined);
      foreseen = { hash, answers, bodies };
    },
    take(hash) {
      const before = foreseen;
      foreseen = undefined;
      if (before?.hash !== hash) return { answers: ask(hash) };
      return { answers: before.answers.catch(() => ask(hash)), bodies: before.bodies };
    },
    heard(hit) {
      sinceHit = hit ? 0 : sinceHit + 1;
    },
  };
}
