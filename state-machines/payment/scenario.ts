import { amount, basisPoints, type Coins, roundTo, usdToCoins } from '#shared/core/money.ts';
import type { Judgement } from './judge-deposit.ts';

/** What a sandbox payment can be made to go through (decisions 9). */
export const SCENARIOS = ['success', 'acceptable', 'underpaid', 'overpaid', 'wrong_asset', 'seen_then_confirmed', 'late_capture', 'expired'] as const;
export type Scenario = (typeof SCENARIOS)[number];
/** Those in which coins arrive. */
export type DepositScenario = Exclude<Scenario, 'expired'>;

/** What the default amount of a scenario depends on. */
export interface ScenarioTerms {
  /** Decimals of the asset that arrives. */
  decimals: number;
  /** Below this nothing is judged. */
  dustFloor: Coins;
  /** As many coins of the arriving asset as the payment asks for. */
  asked: Coins;
  /** The payment's own judgement of any amount of that asset. */
  judge(received: Coins): Judgement;
}

/** A tenth more or less than asked: what a payer who forgot a fee, or paid twice for it, sends. */
const CLEAR_BPS = 1_000;
const CENT = amount<'usd'>(10n ** 16n);

/**
 * How much a scenario sends unless an amount is given. The amount is proposed and then judged like any other, so a
 * scenario can promise no verdict that the payment's own settings do not give: without a deviation check every amount is
 * SUCCESS, and a wide enough tolerance accepts what is clearly short. Pure.
 * @returns undefined when no amount makes the scenario: nothing is tolerated, or everything below what is asked is dust
 */
export function scenarioAmount(scenario: DepositScenario, terms: ScenarioTerms): Coins | undefined {
  const { asked } = terms;
  if (scenario === 'acceptable') return mostDeviating(terms).find((coins) => terms.judge(coins).verdict === 'ACCEPTABLE');
  if (scenario === 'underpaid') {
    const lower = short(terms);
    return lower.find((coins) => terms.judge(coins).verdict === 'MISMATCH') ?? lower[0];
  }
  return scenario === 'overpaid' ? tooMuch(terms) : asked;
}

/** As little and as much as is tolerated, to the bound where the asset's decimals reach it. */
function mostDeviating(terms: ScenarioTerms): Coins[] {
  const { asked, decimals } = terms;
  const { underUsd, overUsd, priceUsd } = terms.judge(asked);
  const most = basisPoints(asked, 10_000 - CLEAR_BPS, 'down');
  const less = usdToCoins(underUsd, priceUsd, decimals, 'down');
  return payable(terms, [asked - (less < most ? less : most), asked + usdToCoins(overUsd, priceUsd, decimals, 'down')]);
}

/** Ever clearer shortfalls; a payment of a few cents needs a clear one to differ by a cent. */
function short(terms: ScenarioTerms): Coins[] {
  return payable(
    terms,
    [10_000 - CLEAR_BPS, 5_000, CLEAR_BPS, 10].map((bps) => basisPoints(terms.asked, bps, 'down')),
  );
}

/** Above what is tolerated, by a tenth of what is asked and at least by a cent. */
function tooMuch({ asked, decimals, judge }: ScenarioTerms): Coins {
  const { overUsd, expectedUsd, priceUsd } = judge(asked);
  const tenth = basisPoints(expectedUsd, CLEAR_BPS, 'up');
  const beyond = amount<'usd'>(overUsd + (tenth > CENT ? tenth : CENT));
  return amount(asked + usdToCoins(beyond, priceUsd, decimals, 'up'));
}

function payable({ asked, decimals, dustFloor }: ScenarioTerms, amounts: readonly bigint[]): Coins[] {
  return amounts.map((one) => roundTo(amount<'asset'>(one), decimals, 'down')).filter((one) => one > 0n && one >= dustFloor && one !== asked);
}
