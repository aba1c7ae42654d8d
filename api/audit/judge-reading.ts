/** What a comparison of the books with a chain found before, of one asset. */
export interface EarlierReading {
  height: number;
  /** Block of the first of an unbroken run of readings that miss coins; null while none are missing. */
  shortSince: number | null;
  /** How much may be missing because an operator accepted it. */
  accepted: bigint;
}

/**
 * `matches`: all is there, or more. `suspect`: coins are missing for the first time; blocks that were replaced, or a node that
 * lags, look the same. `short`: they are still missing at a later block, so they are gone.
 */
export type Verdict = 'matches' | 'suspect' | 'short';

/** Judges one more reading: what the chain says minus what the books say, at an applied block. Pure. */
export function judgeReading(
  earlier: EarlierReading | undefined,
  { height, difference }: { height: number; difference: bigint },
): { verdict: Verdict; shortSince: number | null } {
  if (-difference <= (earlier?.accepted ?? 0n)) return { verdict: 'matches', shortSince: null };
  const since = earlier?.shortSince ?? null;
  // After a rewind the later block may be a lower one; then everything begins anew.
  if (since === null || height < since) return { verdict: 'suspect', shortSince: height };
  return { verdict: height > since ? 'short' : 'suspect', shortSince: since };
}

/** A frozen scope and the asset found short. */
export interface Short {
  assetId: string;
  networkName: string;
  /** The coin the network's fees are paid in. */
  native: boolean;
}

/**
 * The smallest scopes that are safe: the asset alone where a token is missing; its network where the coin is that every
 * transaction spends, or where several assets are missing, which one token's contract does not explain.
 */
export function scopesOf(shorts: readonly Short[]): { scope: string; assetIds: string[] }[] {
  const byNetwork = new Map<string, Short[]>();
  for (const short of shorts) byNetwork.set(short.networkName, [...(byNetwork.get(short.networkName) ?? []), short]);
  return [...byNetwork].map(([networkName, missing]) => ({
    scope: missing.length > 1 || missing[0]?.native === true ? `network:${networkName}` : `asset:${missing[0]?.assetId}`,
    assetIds: missing.map((one) => one.assetId),
  }));
}
