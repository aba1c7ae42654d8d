/** Coins on their way to a deposit address, in one transaction. */
export interface ExpectedCoins {
  /** What names the transfer within its transaction. */
  key: string;
  /** Where to, and of what: coins of another address or asset are other coins. */
  to: string;
  rawAmount: bigint;
}

/** A transaction as the node tells of it. Times are Unix milliseconds of service time. */
export interface ToldTransaction {
  txid: string;
  firstSeenAt: number;
  /** Outputs it would spend. */
  spends: readonly string[];
  coins: readonly ExpectedCoins[];
}

export type WaitingState = 'waiting' | 'mined' | 'replaced' | 'gone';

/** A transaction as the books remember it. */
export interface KnownTransaction extends Omit<ToldTransaction, 'coins'> {
  state: WaitingState;
  coins: readonly (ExpectedCoins & { firstSeenAt: number })[];
}

/** What a snapshot makes of what was known. */
export interface Followed {
  /** Everything that waits now, with since when its coins count as seen. */
  waiting: KnownTransaction[];
  /** What waited until now or vanished before, and by what it was replaced if that is known. */
  ended: { txid: string; replacedBy: string | null }[];
}

/**
 * Compares what waited with what waits now; pure. Of two transactions that spend one output only one can be mined, so a waiting
 * one replaces what it shares an output with. Its coins count from when they were first seen themselves, or earlier where it
 * replaced a transaction that brought at least as much to the same address (decision 0017): a higher fee is no new payment.
 * `known` holds at least whatever waited, and whatever shares an output or its id with what is told.
 */
export function followReplacements(known: readonly KnownTransaction[], told: readonly ToldTransaction[]): Followed {
  const byId = new Map(known.map((one) => [one.txid, one]));
  const present = new Set(told.map((one) => one.txid));
  const spenders = new Map<string, KnownTransaction[]>();
  for (const one of known) {
    if (present.has(one.txid) || one.state === 'mined') continue;
    for (const output of one.spends) spenders.set(output, [...(spenders.get(output) ?? []), one]);
  }
  const replacements = new Map<string, string>();
  const waiting = told.map((one): KnownTransaction => {
    const before = byId.get(one.txid);
    const replaced = new Set(one.spends.flatMap((output) => spenders.get(output) ?? []));
    // Two may share what one spent before; the name of either says enough.
    for (const { txid } of replaced) if (one.txid < (replacements.get(txid) ?? '~')) replacements.set(txid, one.txid);
    const firstSeenAt = Math.min(one.firstSeenAt, before?.firstSeenAt ?? one.firstSeenAt);
    const coins = one.coins.map((coin) => {
      const own = before?.coins.find((each) => each.key === coin.key)?.firstSeenAt ?? firstSeenAt;
      const inherited = [...replaced].filter((former) => bringsAsMuch(former, one, coin.to)).map((former) => seenFirst(former, coin.to));
      return { ...coin, firstSeenAt: Math.min(firstSeenAt, own, ...inherited) };
    });
    return { txid: one.txid, spends: one.spends, firstSeenAt, state: 'waiting', coins };
  });
  const ended = known.flatMap(({ txid, state }) => {
    const replacedBy = replacements.get(txid) ?? null;
    const ends = !present.has(txid) && (state === 'waiting' || (state === 'gone' && replacedBy !== null));
    return ends ? [{ txid, replacedBy }] : [];
  });
  return { waiting, ended };
}

function bringsAsMuch(former: Pick<ToldTransaction, 'coins'>, now: Pick<ToldTransaction, 'coins'>, to: string): boolean {
  const before = sumTo(former, to);
  return before > 0n && before >= sumTo(now, to);
}

function sumTo({ coins }: Pick<ToldTransaction, 'coins'>, to: string): bigint {
  return coins.reduce((sum, coin) => (coin.to === to ? sum + coin.rawAmount : sum), 0n);
}

function seenFirst({ coins }: KnownTransaction, to: string): number {
  return Math.min(...coins.filter((coin) => coin.to === to).map((coin) => coin.firstSeenAt));
}
