import type { PaymentScreen, Surroundings } from './model.ts';
import type { MessageKey, Translate } from './texts.ts';

type Step = PaymentScreen['explanation']['steps'][number];

/** Figures that sentences name. One that a step does not have reads `none`, which its sentence leaves out. */
export const SAID_FIGURES = [
  'accruedUsd',
  'acceptableDiffKind',
  'amount',
  'amountUsd',
  'asset',
  'claimedBy',
  'commission',
  'commissionBps',
  'commissionFee',
  'commissionFeePayer',
  'commissionMinimumUsd',
  'confirmations',
  'currencyCode',
  'decided',
  'depositAddress',
  'depositPath',
  'deviationUsd',
  'doubt',
  'dustFloor',
  'endedAt',
  'expectedAmount',
  'expectedAsset',
  'expectedPriceUsd',
  'expectedUsd',
  'expiresAt',
  'fiatAgeSeconds',
  'fiatRate',
  'fiatSource',
  'graceEndsAt',
  'gross',
  'height',
  'isSandbox',
  'judgedTogether',
  'lostAt',
  'marketPriceSource',
  'marketPriceUsd',
  'minAmountUsd',
  'net',
  'network',
  'networkFee',
  'networkFeePaidBefore',
  'overUsd',
  'patienceSeconds',
  'priceAgeSeconds',
  'priceSource',
  'priceUsd',
  'quoteDecimals',
  'receivedAmount',
  'receivedAmountUsd',
  'receivedUsd',
  'replacedBy',
  'requiredConfirmations',
  'requiredTag',
  'totalValue',
  'txFee',
  'txFeePayer',
  'txHash',
  'underUsd',
] as const;
const ABSENT = Object.fromEntries(SAID_FIGURES.map((name) => [name, 'none']));

/** A step of an explanation as a sentence in the reader's language, by its rule and figures; `text`, which is English, says the same. Pure. */
export function sayStep(t: Translate, { rule, figures, text }: Step, about: { status: string; networks: Surroundings['networks'] }): string {
  const { network } = figures;
  return (
    t(`explain.${rule}` as MessageKey, {
      ...ABSENT,
      ...figures,
      ...derived(figures),
      ...(network !== undefined && { network: about.networks[network] ?? network }),
      status: about.status,
    }) || text
  );
}

/** What is not a figure of its own, but read off figures. */
function derived({
  deviationUsd,
  txFee,
  commissionFee,
  underAcceptableDiff,
  overAcceptableDiff,
  requiredConfirmations,
  requiredTag,
}: Step['figures']): Record<string, string> {
  return {
    offUsd: deviationUsd?.replace('-', '') ?? 'none',
    side: !isOff(deviationUsd) ? 'none' : deviationUsd.startsWith('-') ? 'under' : 'over',
    withFees: isOff(txFee) || isOff(commissionFee) ? 'yes' : 'no',
    underTolerated: isPositive(underAcceptableDiff) ? underAcceptableDiff : 'none',
    overTolerated: isPositive(overAcceptableDiff) ? overAcceptableDiff : 'none',
    underPercent: isPositive(underAcceptableDiff) ? underAcceptableDiff : '0',
    overPercent: isPositive(overAcceptableDiff) ? overAcceptableDiff : '0',
    required: requiredConfirmations === undefined && requiredTag === undefined ? 'none' : 'some',
  };
}

function isOff(figure: string | undefined): figure is string {
  return figure !== undefined && /[1-9]/.test(figure);
}

function isPositive(figure: string | undefined): figure is string {
  return isOff(figure) && !figure.startsWith('-');
}
