import type { components } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { findMonthPlace, listMonthSums, type MonthSum } from '#api/store/gateway-months.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { formatAmount } from '#shared/core/money.ts';

type Statement = components['schemas']['Statement'];
type StatementItem = Statement['items'][number];

/**
 * What a gateway had at the beginning of a month (UTC), what changed it and what it had at the end, for each asset. It is the sum of postings, kept by month:
 * it reads as much of a long history as of a short one, but for a few rows a month (decision 0055). Locks nothing.
 * @throws not_found for a month before the gateway was made, and for one that has not begun
 */
export async function readStatement(deps: Pick<Deps, 'db'>, { gateway, month }: { gateway: Gateway; month: string }): Promise<Statement> {
  const of = { gatewayId: gateway.id, month: `${month}-01` };
  const { place, sums } = await deps.db.snapshot(async (tx) => {
    return { place: await findMonthPlace(tx, of), sums: await listMonthSums(tx, of) };
  });
  if (place === undefined) throw new ServiceError('not_found');
  if (place.isAhead) throw new ServiceError('not_found', { message: `${month} has not begun, so there is no statement of it.` });
  if (place.isBefore) throw new ServiceError('not_found', { message: `The gateway did not exist in ${month}, so there is no statement of it.` });
  const assets = [...new Set(sums.map(({ assetId }) => assetId))];
  return {
    month,
    from: place.from.toISOString(),
    to: place.to.toISOString(),
    isOver: place.isOver,
    asOf: (place.isOver ? place.to : place.now).toISOString(),
    items: assets.map((assetId) => statementOf(sums.filter((one) => one.assetId === assetId))),
  };
}

const OWN = ['pending', 'available', 'heldPending', 'held', 'reserved', 'withheld', 'refunding', 'owed'] as const;

/** What each entry on an account of the deployment stands for, by kind of posting and account; all others are adjustments. */
const MEANINGS = {
  gross: [['credit', 'chain']],
  networkFees: [['credit', 'networkFee']],
  commissions: [['credit', 'commission']],
  borne: [['credit', 'platformExpense']],
  paidOut: [['settle', 'chain']],
  cashoutFees: [['settle', 'gas']],
  charged: [['charge', 'gas']],
  refunded: [['refund', 'chain']],
  commissionsReturned: [
    ['refund-order', 'commission'],
    ['refund-cancel', 'commission'],
  ],
  withheldPaid: [['withheld-pay', 'chain']],
} as const satisfies Record<string, readonly (readonly [string, string])[]>;
type Meaning = keyof typeof MEANINGS;

/**
 * One asset of a statement. Every transaction sums to zero, so what the gateway's accounts gained is what those of the deployment lost: the movements are
 * taken from these, the balances from the gateway's own, and that both agree is not arranged here. Pure.
 */
function statementOf(sums: readonly MonthSum[]): StatementItem {
  const [first] = sums as [MonthSum];
  const own = sums.filter(({ account }) => isOwn(account));
  const theirs = sums.filter(({ account }) => !isOwn(account));
  const told = (meaning: Meaning): readonly MonthSum[] => theirs.filter((sum) => means(meaning, sum));
  const gained = (meaning: Meaning): bigint => add(told(meaning).map(({ within }) => within));
  const count = (meaning: Meaning): number => told(meaning).reduce((total, { entries }) => total + entries, 0);
  const unnamed = theirs.filter((sum) => !(Object.keys(MEANINGS) as Meaning[]).some((meaning) => means(meaning, sum)));
  const opening = add(own.map(({ before }) => before));
  return {
    asset: first.assetSymbol,
    network: first.network,
    opening: formatAmount(opening),
    credits: {
      count: count('gross'),
      gross: formatAmount(-gained('gross')),
      networkFees: formatAmount(gained('networkFees')),
      commissions: formatAmount(gained('commissions')),
      feesBorne: formatAmount(-gained('borne')),
    },
    cashouts: { count: count('paidOut'), paid: formatAmount(gained('paidOut')), fees: formatAmount(gained('cashoutFees')) },
    charges: { count: count('charged'), amount: formatAmount(gained('charged')) },
    refunds: { count: count('refunded'), paid: formatAmount(gained('refunded')), commissionsReturned: formatAmount(-gained('commissionsReturned')) },
    withheldPaid: { count: count('withheldPaid'), amount: formatAmount(gained('withheldPaid')) },
    adjustments: formatAmount(-add(unnamed.map(({ within }) => within))),
    closing: formatAmount(opening + add(own.map(({ within }) => within))),
    accounts: Object.fromEntries(
      OWN.map((account) => [account, formatAmount(add(own.filter((one) => one.account === account).map(({ before, within }) => before + within)))]),
    ) as StatementItem['accounts'],
  };
}

function means(meaning: Meaning, { kind, account }: MonthSum): boolean {
  return MEANINGS[meaning].some(([ofKind, ofAccount]) => ofKind === kind && ofAccount === account);
}

function isOwn(account: string): boolean {
  return OWN.some((own) => own === account);
}

function add(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, one) => sum + one, 0n);
}
