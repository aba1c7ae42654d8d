/** A payment that somebody could have made, and what became of it. */
export interface PlannedPayment {
  order: string;
  customer: string;
  /** US dollars. */
  amount: string;
  /** Which of the networks it is paid on, counted from 0. */
  network: number;
  /** `left`: made, and its coin chosen, and never paid. */
  outcome: 'paid' | 'short' | 'over' | 'left' | 'unopened';
}

/** What happens on one day. */
export interface PlannedDay {
  payments: readonly PlannedPayment[];
  /** The network on which the shop cashes out half of what it has; null on most days. */
  cashout: number | null;
}

/** Every so many days the shop cashes out, on one network after the other. */
const CASHOUT_EVERY = 4;

/**
 * What happens on a day, the same in every history: three to six orders, more of them at the end of the week, most of them paid. Pure.
 * @param day counted from 0
 */
export function planDay(day: number, networks: number): PlannedDay {
  const chance = chances(day);
  const count = 3 + (day % 7 > 3 ? 1 : 0) + Math.floor(chance() * 3);
  return {
    payments: Array.from({ length: count }, (_, index): PlannedPayment => {
      const roll = chance();
      return {
        order: `B-${2_000 + day * 10 + index}`,
        customer: `c_${100 + Math.floor(chance() * 60)}`,
        amount: (5 + Math.floor(chance() ** 2 * 24_500) / 100).toFixed(2),
        network: Math.floor(chance() * networks),
        outcome: roll < 0.72 ? 'paid' : roll < 0.78 ? 'short' : roll < 0.82 ? 'over' : roll < 0.92 ? 'left' : 'unopened',
      };
    }),
    cashout: day % CASHOUT_EVERY === CASHOUT_EVERY - 1 ? Math.floor(day / CASHOUT_EVERY) % networks : null,
  };
}

/** Numbers from 0 to 1 that look like chance and are the same every time (xorshift). Pure but for its own place. */
function chances(seed: number): () => number {
  let state = (seed + 1) * 2_654_435_761;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
