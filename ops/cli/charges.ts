import { table } from './format.ts';

/** What a destination made a cashout cost beyond what was locked, as the operator API shows it. */
export interface Charge {
  settlementId: string;
  cause: 'units' | 'failed';
  assetSymbol: string;
  amount: string;
  nativeAsset: string;
  nativeAmount: string;
  at: string;
}

const CAUSES = { units: 'more gas than was quoted', failed: 'mined, and moved nothing' } as const;

/** Charges as a table for people. */
export function describeCharges(charges: readonly Charge[]): string {
  const rows = charges.map((one) => [
    one.settlementId,
    CAUSES[one.cause],
    `${one.amount} ${one.assetSymbol}`,
    `${one.nativeAmount} ${one.nativeAsset}`,
    one.at,
  ]);
  return table(['charged to the balance for', 'because', 'amount', 'fee', 'at'], rows);
}
