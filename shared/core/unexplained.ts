/** What a balance says beside the movements that were seen; chain units. */
export type Explanation =
  /** Every unit is accounted for. */
  | { is: 'explained' }
  /** More is there than was ever seen to come. */
  | { is: 'unexplained'; rawAmount: bigint }
  /** Less is there than should be: coins left, or were taken as fees, unseen. */
  | { is: 'missing'; rawAmount: bigint };

/** Compares what an address holds with what seen movements leave it; pure. */
export function explainBalance(actual: bigint, seen: bigint): Explanation {
  if (actual === seen) return { is: 'explained' };
  return actual > seen ? { is: 'unexplained', rawAmount: actual - seen } : { is: 'missing', rawAmount: seen - actual };
}

/** Two blocks between which something came: after `clean` everything was explained, after `dirty` it was not. */
export interface Window {
  clean: number;
  dirty: number;
}

/** The block whose balance halves the window; undefined when it is down to one block. */
export function nextProbe({ clean, dirty }: Window): number | undefined {
  return dirty - clean <= 1 ? undefined : clean + Math.floor((dirty - clean) / 2);
}

/** The half in which what is first unexplained came, given what the balance said after block `probe`. */
export function narrow(window: Window, probe: number, said: Explanation): Window {
  return said.is === 'unexplained' ? { ...window, dirty: probe } : { ...window, clean: probe };
}
