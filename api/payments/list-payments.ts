import { createHash } from 'node:crypto';
import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import {
  countNarrowed,
  findLastLooked,
  findSought,
  listNarrowed,
  listReceived,
  type Narrowing,
  type Received,
  type Sought,
} from '#api/store/payment-search.ts';
import { countPayments, findPaymentPlace, listPaymentRows, type PaymentFilter, type Payment, type PaymentPlace } from '#api/store/payments.ts';
import { withParams } from '#api/store/sent-json.ts';
import { amountSpellings } from '#shared/core/amount-spellings.ts';
import { invalid } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { formatAmount, formatCents, parseAmount } from '#shared/core/money.ts';
import { badCursor, type Page, paginate, paginateLooked, type Pagination, readPage } from '#shared/platform/page.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { POLICY } from '#shared/core/policy.ts';
import { readTime } from '#shared/core/read-time.ts';
import { PAYMENT_STATUSES } from '#state-machines/payment/machine.ts';
import { namedView, shownUsd } from './view.ts';

/** The query as the contract file lets it through. */
export type ListPayments = {
  gateway: Gateway;
  /** Whether `q` may be what somebody remembers of a payment, its amount; a server that looks for an order number finds no others that cost as much. */
  byAmount?: boolean;
} & NonNullable<operations['listPayments']['parameters']['query']>;

/** What a simulated transaction is called; no chain has one like it. */
const SANDBOX_TXID = /^sandbox-[0-9a-f]{64}$/;

/**
 * Payments of this gateway, newest first, with what the merchant stored with them and what was received; `after` wins over `page`
 * (decisions 8, 9). Narrowed by what no index has, a page looks through so many rows and no more (decision 0065).
 * @throws validation_error for an unknown status, an unreadable time or amount, a limit or page below 1, or a cursor this gateway was never given
 */
export async function listPayments(deps: Deps, query: ListPayments): Promise<{ items: object[]; pagination: Pagination }> {
  const status = query.status === undefined ? null : PAYMENT_STATUSES.find((one) => one === query.status);
  if (status === undefined) throw invalid('status', `must be one of ${PAYMENT_STATUSES.join(', ')}`);
  const filter: PaymentFilter = {
    gatewayId: query.gateway.id,
    status,
    createdFrom: readTime('createdFrom', query.createdFrom),
    createdTo: readTime('createdTo', query.createdTo),
  };
  const narrowing = readNarrowing(query);
  const page = readPage(query);
  const after = page.afterId === null ? null : await findPaymentPlace(deps.db.sql, query.gateway.id, page.afterId);
  if (after === undefined) throw badCursor();
  const isNarrowed = query.q !== undefined || Object.values(narrowing).some((one) => one !== null);
  const read = isNarrowed
    ? narrowedPage(deps, { filter, narrowing, q: query.q, byAmount: query.byAmount === true, page, after })
    : countedPage(deps, { filter, page, after });
  const { shown, pagination } = await read;
  return { items: await shownPayments(deps.db.sql, shown), pagination };
}

/** Payments as the list shows them. Locks nothing. */
export async function shownPayments(sql: Reads, rows: readonly Payment[]): Promise<Record<string, unknown>[]> {
  const [payments, received] = await Promise.all([withParams(sql, rows), listReceived(sql, decidedOf(rows))]);
  return payments.map((payment) => summaryView(payment, received.get(payment.id)));
}

type Listed = { shown: readonly Payment[]; pagination: Pagination };

async function countedPage(deps: Deps, { filter, page, after }: { filter: PaymentFilter; page: Page; after: PaymentPlace | null }): Promise<Listed> {
  const { sql } = deps.db;
  const [rows, total] = await Promise.all([listPaymentRows(sql, { ...filter, limit: page.limit, offset: page.offset, after }), countPayments(sql, filter)]);
  return paginate(rows, page, total);
}

async function narrowedPage(
  deps: Deps,
  {
    filter,
    narrowing,
    q,
    byAmount,
    page,
    after,
  }: { filter: PaymentFilter; narrowing: Narrowing; q: string | undefined; byAmount: boolean; page: Page; after: PaymentPlace | null },
): Promise<Listed> {
  const { sql } = deps.db;
  const window = POLICY.listLookedThrough;
  const behind = async (place: PaymentPlace | null) => {
    const amounts = byAmount && q !== undefined ? amountSpellings(q) : [];
    const ids = q === undefined ? null : await findSought(sql, { ...soughtOf(deps, filter.gatewayId, q), amounts, after: place, window });
    return { ...filter, narrowing, ids, after: place, window };
  };
  const first = await behind(null);
  const here = after === null ? first : await behind(after);
  const [rows, counted] = await Promise.all([listNarrowed(sql, { ...here, limit: page.limit, offset: page.offset }), countNarrowed(sql, first)]);
  const lastLooked = rows.length > page.limit ? undefined : await findLastLooked(sql, here);
  return paginateLooked(rows, page, { ...counted, lastLooked });
}

/** Every form in which what somebody looks for may be written down here; the text itself never goes to the database. */
function soughtOf(deps: Pick<Deps, 'chains'>, gatewayId: string, q: string): Omit<Sought, 'amounts'> {
  const codecs = [...deps.chains.values()].map(({ codec }) => codec);
  const canonical = (parsed: ReturnType<(typeof codecs)[number]['parse']>[]): string[] => [
    ...new Set(parsed.flatMap((one) => (one.ok ? [one.canonical] : []))),
  ];
  const txids = canonical(codecs.map((codec) => codec.parseTxid(q)));
  return {
    gatewayId,
    id: isUuid(q) ? q : null,
    digest: createHash('sha256').update(q, 'utf8').digest('hex').slice(0, 32),
    txids: SANDBOX_TXID.test(q) ? [...txids, q] : txids,
    addresses: canonical(codecs.map((codec) => codec.parse(q))),
  };
}

function readNarrowing(query: ListPayments): Narrowing {
  return {
    asset: query.asset ?? null,
    network: query.network ?? null,
    sandbox: query.sandbox ?? null,
    verified: query.verified ?? null,
    path: query.path ?? null,
    amlState: query.amlState ?? null,
    amountUsdFrom: query.amountUsdFrom === undefined ? null : parseAmount(query.amountUsdFrom, 'amountUsdFrom'),
    amountUsdTo: query.amountUsdTo === undefined ? null : parseAmount(query.amountUsdTo, 'amountUsdTo'),
  };
}

function decidedOf(payments: readonly Payment[]): string[] {
  return payments.flatMap(({ id, decidingDepositId }) => (decidingDepositId === null ? [] : [id]));
}

/** One line of the list. An open amount shows the amount filled in; what was received is absent until a deposit decides, as on verify. Pure. */
function summaryView(payment: Payment, received: Received | undefined): Record<string, unknown> {
  return {
    paymentUid: payment.id,
    status: payment.status,
    checkoutMode: payment.checkoutMode,
    type: payment.type,
    paylinkId: payment.paylinkId,
    amount: payment.amount,
    amountUsd: shownUsd(payment),
    currencyCode: payment.currencyCode,
    createdAt: payment.createdAt.toISOString(),
    expiresAt: payment.expiresAt.toISOString(),
    resolvedAt: payment.resolvedAt?.toISOString() ?? null,
    isVerified: payment.isVerified,
    verifiedAt: payment.verifiedAt?.toISOString() ?? null,
    isSandbox: payment.sandbox,
    openAmount: payment.openAmount,
    callbackParams: payment.callbackParams,
    webhookParams: payment.webhookParams,
    ...namedView(payment),
    ...(received !== undefined && {
      receivedAssetSymbol: received.symbol,
      network: received.networkName,
      txHash: received.txid,
      ...(payment.receivedAmount !== null && { receivedAmount: formatAmount(payment.receivedAmount) }),
      ...(payment.receivedAmountUsd !== null && { receivedAmountUsd: formatCents(payment.receivedAmountUsd) }),
      ...(payment.depositPath !== null && { depositPath: payment.depositPath }),
      ...(received.credit !== null && {
        txFee: formatAmount(received.credit.networkFee),
        commissionFee: formatAmount(received.credit.commission),
        net: formatAmount(received.credit.net),
      }),
    }),
    ...(payment.amlState !== null && { amlState: payment.amlState }),
  };
}
