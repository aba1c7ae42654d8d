import { amount, basisPoints, type Coins, roundTo, usdToCoins } from '#shared/core/money.ts';
import type { Judgement } from './judge-deposit.ts';

/** The scenarios that a sandbox payment can play (decisions 9). */
export const SCENARIOS = ['success', 'acceptable', 'underpaid', 'overpaid', 'wrong_asset', 'seen_then_confirmed', 'late_capture', 'expired'] as const;
export type Scenario = (typeof SCENARIOS)[number];
/** What a payment of the sandbox can still play: after its time what is late, and nothing once it came to rest. Pure. */
export function scenariosLeft({ status, overdue }: { status: string; overdue: boolean }): readonly Scenario[] {
  if (status === 'EXPIRED') return ['late_capture'];
  if (status !== 'PENDING') return [];
  return overdue ? ['late_capture', 'expired'] : SCENARIOS;
}

/** The scenarios in which coins arrive. */
export type DepositScenario = Exclude<Scenario, 'expired'>;

/** The facts that decide a scenario's default amount. */
export interface ScenarioTerms {
  /** Decimals of the asset that arrives. */
  decimals: number;
  /** Amounts below this are not judged. */
  dustFloor: Coins;
  /** The amount that the payment asks for, in coins of the arriving asset. */
  asked: Coins;
  /** Judges any amount of that asset as the payment would. */
  judge(received: Coins): Judgement;
}

/** A tenth more or less than asked, as a payer sends who forgot a fee, or paid it twice. */
const CLEAR_BPS = 1_000;
const CENT = amount<'usd'>(10n ** 16n);

/**
 * How much a scenario sends unless an amount is given. Pure.
 * The amount is proposed and then judged like any other, so a scenario cannot force a verdict against the payment's own settings: without a
 * deviation check every amount is SUCCESS, and a wide tolerance accepts a clear shortfall.
 * @returns undefined when no amount produces the scenario: nothing is tolerated, or everything below what is asked is dust
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

/** The least and the most that is tolerated, exactly at the bound where the asset's decimals allow it. */
function mostDeviating(terms: ScenarioTerms): Coins[] {
  const { asked, decimals } = terms;
  const { underUsd, overUsd, priceUsd } = terms.judge(asked);
  const most = basisPoints(asked, 10_000 - CLEAR_BPS, 'down');
  const less = usdToCoins(underUsd, priceUsd, decimals, 'down');
  return payable(terms, [asked - (less < most ? less : most), asked + usdToCoins(overUsd, priceUsd, decimals, 'down')]);
}

/** Increasing shortfalls, because a payment of a few cents needs a large one to differ by a cent. */
function short(terms: ScenarioTerms): Coins[] {
  return payable(
    terms,
    [10_000 - CLEAR_BPS, 5_000, CLEAR_BPS, 10].map((bps) => basisPoints(terms.asked, bps, 'down')),
  );
}

/** More than is tolerated, by a tenth of what is asked and by at least a cent. */
function tooMuch({ asked, decimals, judge }: ScenarioTerms): Coins {
  const { overUsd, expectedUsd, priceUsd } = judge(asked);
  const tenth = basisPoints(expectedUsd, CLEAR_BPS, 'up');
  const beyond = amount<'usd'>(overUsd + (tenth > CENT ? tenth : CENT));
  return amount(asked + usdToCoins(beyond, priceUsd, decimals, 'up'));
}

function payable({ asked, decimals, dustFloor }: ScenarioTerms, amounts: readonly bigint[]): Coins[] {
  return amounts.map((one) => roundTo(amount<'asset'>(one), decimals, 'down')).filter((one) => one > 0n && one >= dustFloor && one !== asked);
}
