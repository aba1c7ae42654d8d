import type { SettlementQuote } from '#api/store/settlement-fees.ts';
import type { Bound } from '#shared/chains/chain.ts';
import { POLICY } from '#shared/core/policy.ts';

/** What the bytes that pay a cashout may take: for native coins the quoted units; for tokens as many more as the recipient's balance can explain. */
export function boundTo(quoted: SettlementQuote | undefined, contract: string | null): Bound | undefined {
  if (quoted?.units === undefined) return quoted;
  return { ...quoted, mostUnits: contract === null ? quoted.units : quoted.units * BigInt(POLICY.tokenUnitsTimesQuoted) };
}
