import type { GatewaySettings } from '#api/deps.ts';
import { amount, formatAmount, formatCents, mulDiv, ONE, parseTrusted, type Usd } from '#shared/core/money.ts';
import { judgeDeposit, type Judgement } from '#state-machines/payment/judge-deposit.ts';

type Terms = Pick<GatewaySettings['settings'], 'checkAmountDeviation' | 'acceptableDiffKind' | 'underAcceptableDiff' | 'overAcceptableDiff'>;

/** What would become of a payment that somebody paid this much of, in US dollars. */
export interface ToleranceExample {
  received: string;
  verdict: Judgement['verdict'];
  /** Signed, in cents. */
  deviationUsd: string;
}

/** Hundredths of a percent of the price that examples are of. */
const SHARES = [9_500n, 9_900n, 9_940n, 9_990n, 10_000n, 10_060n, 10_100n, 10_500n];
const COIN = { id: 'example', assetId: 'example', priceUsd: amount<'usd'>(ONE), selectedAt: 0 };

/**
 * Judges amounts around a price as a deposit is judged: of a coin that is worth a dollar, in time and alone (contract 3.1, decisions 3). `own` is one more amount, in US
 * dollars. Smallest first. Pure.
 */
export function toleranceExamples(terms: Terms, { price, own }: { price: Usd; own: Usd | null }): ToleranceExample[] {
  const amounts = SHARES.map((share) => mulDiv(price, share, 10_000n, 'half-up'));
  if (own !== null && !amounts.includes(own)) amounts.push(own);
  return amounts.toSorted((a, b) => (a < b ? -1 : 1)).map((received) => exampleOf(terms, price, received));
}

function exampleOf(terms: Terms, price: Usd, received: bigint): ToleranceExample {
  const judged = judgeDeposit(
    {
      openAmount: false,
      minimumUsd: null,
      checkAmountDeviation: terms.checkAmountDeviation,
      tolerance: { kind: terms.acceptableDiffKind, over: parseTrusted(terms.overAcceptableDiff), under: parseTrusted(terms.underAcceptableDiff) },
      expiresAt: 2,
      expired: false,
      decided: false,
      selected: [{ ...COIN, totalValue: amount(price) }],
    },
    { assetId: COIN.assetId, received: amount(received), firstSeenAt: 1, confirmedAt: 1, marketPriceUsd: COIN.priceUsd, byInquiry: false },
  ) as Judgement;
  return { received: formatAmount(received), verdict: judged.verdict, deviationUsd: formatCents(judged.deviationUsd ?? amount<'usd'>(0n)) };
}
