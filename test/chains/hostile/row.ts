/** What the books must say of one deposit. */
export interface Arrived {
  symbol: string;
  kind: 'native' | 'internal' | 'token';
  ordinal: number;
  rawAmount: bigint;
}

/** One thing somebody may try, or that happened to others. */
export interface Row<Bench> {
  name: string;
  /** Which attack, accident or peculiarity of the chain it is. */
  reason: string;
  /** Puts it on the chain, aimed at the address `to` of a payment that waits; answers the id of a transaction to look up alone, if there is one. */
  make(bench: Bench, to: string): Promise<string | undefined>;
  /** Every deposit that comes of it; nothing when it is left out. */
  gets?: readonly Arrived[];
  /** What comes of it is too little to be credited. */
  dust?: true;
  /** What comes of it is not to be credited for a long time yet. */
  early?: true;
}

const arrival =
  (kind: Arrived['kind']) =>
  (symbol: string, rawAmount: bigint, ordinal: number): Arrived => ({ symbol, kind, ordinal, rawAmount });

export const coins = (symbol: string, rawAmount: bigint): Arrived => ({ symbol, kind: 'native', ordinal: 0, rawAmount });
export const passed = arrival('internal');
export const tokens = arrival('token');
