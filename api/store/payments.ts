import { type Usd, formatAmount, parseTrusted } from '#shared/core/money.ts';
import { SentJson } from '#shared/core/sent-json.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { PaymentStatus } from '#state-machines/payment/machine.ts';
import { isExpected } from './mempool.ts';
import { type NewOffer, offerRows } from './payment-offers.ts';
import { tallied } from './tallies.ts';
import { noteTraces } from './traces.ts';
import { isOneOf } from './is-one-of.ts';

export type FeePayer = 'MERCHANT' | 'CUSTOMER' | 'PLATFORM';
export type DepositPath = 'standard' | 'late_confirmation' | 'late_capture' | 'manual_inquiry';

/** A payment as stored (see the comments in the schema); money in 18-place integers, `amount` as the merchant sent it. */
export interface Payment {
  id: string;
  gatewayId: string;
  status: PaymentStatus;
  checkoutMode: 'HOSTED' | 'API';
  type: 'DIRECT' | 'PAYLINK';
  paylinkId: string | null;
  openAmount: boolean;
  sandbox: boolean;
  currencyCode: string;
  amount: string;
  amountUsd: Usd;
  /** US dollars for one unit of the payment's currency at creation, with where and when it was taken; null for US dollars. */
  fiatRate: Usd | null;
  fiatSource: string | null;
  fiatAt: Date | null;
  minimumUsd: Usd | null;
  txFeePayer: FeePayer;
  commissionFeePayer: FeePayer;
  commissionBps: number;
  commissionMinimumUsd: Usd;
  /** Dollars or percent, by `toleranceKind`. */
  overTolerance: Usd;
  underTolerance: Usd;
  toleranceKind: 'ABSOLUTE' | 'PERCENTAGE';
  checkAmountDeviation: boolean;
  callbackUrl: string | null;
  callbackParams: SentJson | null;
  webhookUrl: string | null;
  webhookParams: SentJson | null;
  language: string | null;
  /** What is paid for, and the merchant's own number for it: text of theirs, which payers see. */
  title: string | null;
  reference: string | null;
  timeoutSeconds: number;
  graceSeconds: number;
  createdAt: Date;
  expiresAt: Date;
  selectedOfferId: string | null;
  isVerified: boolean;
  verifiedAt: Date | null;
  resolvedAt: Date | null;
  decidingDepositId: string | null;
  judgingOfferId: string | null;
  receivedAssetId: string | null;
  receivedAmount: bigint | null;
  receivedAmountUsd: Usd | null;
  expectedUsd: Usd | null;
  deviationUsd: Usd | null;
  depositPath: DepositPath | null;
  amlState: 'HELD' | 'RELEASED' | 'REFUNDED' | 'WITHHELD' | null;
}

/** What was decided about a new payment; everything else of a new payment is a default or a time the database gives. */
export type NewPayment = Pick<
  Payment,
  | 'id'
  | 'gatewayId'
  | 'checkoutMode'
  | 'type'
  | 'paylinkId'
  | 'openAmount'
  | 'sandbox'
  | 'currencyCode'
  | 'amount'
  | 'amountUsd'
  | 'fiatRate'
  | 'fiatSource'
  | 'fiatAt'
  | 'minimumUsd'
  | 'txFeePayer'
  | 'commissionFeePayer'
  | 'commissionBps'
  | 'commissionMinimumUsd'
  | 'overTolerance'
  | 'underTolerance'
  | 'toleranceKind'
  | 'checkAmountDeviation'
  | 'callbackUrl'
  | 'callbackParams'
  | 'webhookUrl'
  | 'webhookParams'
  | 'language'
  | 'title'
  | 'reference'
  | 'timeoutSeconds'
  | 'graceSeconds'
> & {
  /** The gateway's arrangement at creation, by which what the platform bears of it is billed. */
  billing: 'STANDARD' | 'MONTHLY' | 'PLATFORM';
};

/** A payment to be written, with its offers in listing order and the trace it is made in, if there is one. */
export interface PaymentToWrite {
  payment: NewPayment;
  offers: readonly NewOffer[];
  traceparent: string | undefined;
}

/**
 * Writes new PENDING payments, each with its offers, its first event and its documents as they were sent, by one statement, and returns them by
 * their ids; `expiresAt` saturates at the end of year 9999, whatever the timeout (contract 2.1).
 */
export async function insertPayments(tx: Tx, made: readonly PaymentToWrite[]): Promise<Map<string, Payment>> {
  const payments = made.map(({ payment }) => payment);
  const offers = made.flatMap((one) => offerRows(one.payment.id, one.offers));
  const named = payments.filter(({ title, reference }) => (title ?? reference) !== null);
  const sent = payments.flatMap(({ id, callbackParams, webhookParams }) =>
    Object.entries({ callbackParams, webhookParams }).flatMap(([field, document]) => (document === null ? [] : [{ id, field, text: document.text }])),
  );
  // The values go as documents whose rows the server makes: a parameter for each would cost more than the statement. Eight thousand years are past the
  // saturation point and still within what timestamptz can hold.
  const rows = await tx<Record<string, unknown>[]>`
    with made as (
      insert into payments (
        id, gateway_id, billing, status, checkout_mode, type, paylink_id, open_amount, sandbox, currency_code, amount, amount_usd, fiat_rate, fiat_source,
        fiat_at, minimum_usd, tx_fee_payer, commission_fee_payer, commission_bps, commission_minimum_usd, over_tolerance, under_tolerance, tolerance_kind,
        check_amount_deviation, callback_url, callback_params, webhook_url, webhook_params, language, timeout_seconds, grace_seconds,
        created_at, expires_at)
      select
        id, gateway_id, billing, status, checkout_mode, type, paylink_id, open_amount, sandbox, currency_code, amount, amount_usd, fiat_rate, fiat_source,
        fiat_at, minimum_usd, tx_fee_payer, commission_fee_payer, commission_bps, commission_minimum_usd, over_tolerance, under_tolerance, tolerance_kind,
        check_amount_deviation, callback_url, callback_params, webhook_url, webhook_params, language, timeout_seconds, grace_seconds,
        sluice_now(), least(sluice_now() + make_interval(secs => least(timeout_seconds, 253402300800)), '9999-12-31T23:59:59Z')
      from jsonb_populate_recordset(null::payments, ${JSON.stringify(payments.map(columnsOf))}::text::jsonb)
      returning *),
    named as (
      insert into payment_names (payment_id, title, reference)
      select * from unnest(${named.map(({ id }) => id)}::uuid[], ${named.map(({ title }) => title)}::text[], ${named.map(({ reference }) => reference)}::text[])),
    offers as (
      insert into payment_offers (id, payment_id, asset_id, rank, price_usd, price_source, price_at, amount, tx_fee, commission_fee, total_value, network_fee)
      select id, payment_id, asset_id, rank, price_usd, price_source, price_at, amount, tx_fee, commission_fee, total_value, network_fee
      from jsonb_populate_recordset(null::payment_offers, ${JSON.stringify(offers)}::text::jsonb)),
    event as (
      insert into payment_events (payment_id, event, from_status, to_status, facts, actor)
      select id, 'CREATED', null, 'PENDING', '{}', 'merchant' from made),
    sent as (
      insert into sent_json (owner, field, document)
      select * from unnest(${sent.map(({ id }) => id)}::uuid[], ${sent.map(({ field }) => field)}::text[], ${sent.map(({ text }) => text)}::text[]))
    select * from made`;
  await noteTraces(
    tx,
    made.map(({ payment, traceparent }) => ({ subjectId: payment.id, traceparent })),
  );
  const byId = new Map(payments.map((payment) => [payment.id, payment]));
  return new Map(
    rows.map((row) => {
      const { title, reference } = byId.get(row.id as string) as NewPayment;
      return [row.id as string, paymentFromRow({ ...row, title, reference })];
    }),
  );
}

/** What a new payment's row is made of, by its columns. */
function columnsOf(payment: NewPayment): Record<string, unknown> {
  return {
    id: payment.id,
    gateway_id: payment.gatewayId,
    billing: payment.billing,
    status: 'PENDING',
    checkout_mode: payment.checkoutMode,
    type: payment.type,
    paylink_id: payment.paylinkId,
    open_amount: payment.openAmount,
    sandbox: payment.sandbox,
    currency_code: payment.currencyCode,
    amount: payment.amount,
    amount_usd: formatAmount(payment.amountUsd),
    fiat_rate: payment.fiatRate === null ? null : formatAmount(payment.fiatRate),
    fiat_source: payment.fiatSource,
    fiat_at: payment.fiatAt,
    minimum_usd: payment.minimumUsd === null ? null : formatAmount(payment.minimumUsd),
    tx_fee_payer: payment.txFeePayer,
    commission_fee_payer: payment.commissionFeePayer,
    commission_bps: payment.commissionBps,
    commission_minimum_usd: formatAmount(payment.commissionMinimumUsd),
    over_tolerance: formatAmount(payment.overTolerance),
    under_tolerance: formatAmount(payment.underTolerance),
    tolerance_kind: payment.toleranceKind,
    check_amount_deviation: payment.checkAmountDeviation,
    callback_url: payment.callbackUrl,
    callback_params: payment.callbackParams?.value(),
    webhook_url: payment.webhookUrl,
    webhook_params: payment.webhookParams?.value(),
    language: payment.language,
    timeout_seconds: payment.timeoutSeconds,
    grace_seconds: payment.graceSeconds,
  };
}

/** Reads one payment by id; locks nothing. */
export async function findPayment(sql: Reads, id: string): Promise<Payment | undefined> {
  const [payment] = await findPayments(sql, [id]);
  return payment;
}

/** Reads payments by their ids, in any order; locks nothing. */
export async function findPayments(sql: Reads, ids: readonly string[]): Promise<Payment[]> {
  const rows = await sql<Record<string, unknown>[]>`
    select p.*, n.title, n.reference from payments p left join payment_names n on n.payment_id = p.id where p.id ${isOneOf(sql, ids)}`;
  return rows.map(paymentFromRow);
}

/** The `webhookUrl` of the newest payment of a gateway that has one, among its newest `lookedAt`; undefined without one. Reads payments_gateway; locks nothing. */
export async function findNewestWebhookUrl(sql: Reads, gatewayId: string, lookedAt: number): Promise<string | undefined> {
  const [row] = await sql<{ webhookUrl: string }[]>`
    select webhook_url from (
      select webhook_url, created_at, id from payments where gateway_id = ${gatewayId} order by created_at desc, id desc limit ${lookedAt}) newest
    where webhook_url is not null order by created_at desc, id desc limit 1`;
  return row?.webhookUrl;
}

/** Reads one payment and locks its row until commit, with the service time of the transaction and whether its deadline has passed by it. */
export async function lockPayment(tx: Tx, id: string): Promise<(Payment & { overdue: boolean; now: Date }) | undefined> {
  const [row] = await tx<Record<string, unknown>[]>`
    select p.*, n.title, n.reference, p.expires_at <= sluice_now() as overdue, sluice_now() as now
    from payments p left join payment_names n on n.payment_id = p.id where p.id = ${id} for update of p`;
  return row && { ...paymentFromRow(row), overdue: row.overdue as boolean, now: row.now as Date };
}

/** Whether a payment is PENDING and its deadline ahead, by service time; locks nothing. */
export async function isPaymentOpen(sql: Reads, id: string): Promise<boolean> {
  const rows = await sql`select 1 from payments where id = ${id} and status = 'PENDING' and expires_at > sluice_now()`;
  return rows.length === 1;
}

/** Marks a payment as verified and returns it; the first time stands. For resting payments only. Locks the row for the statement. */
export async function markVerified(sql: Reads, paymentId: string): Promise<Payment> {
  const [row] = await sql<Record<string, unknown>[]>`
    update payments set is_verified = true, verified_at = coalesce(verified_at, sluice_now()) where id = ${paymentId}
    returning *, (select n.title from payment_names n where n.payment_id = payments.id) as title,
      (select n.reference from payment_names n where n.payment_id = payments.id) as reference`;
  return paymentFromRow(row as Record<string, unknown>);
}

/**
 * Whether a payment may expire: its deadline has passed, nothing that may pay it is on its way, and every network that
 * has an address of it was read past the deadline (or `patienceSeconds` have passed since). Reads what is committed
 * (decisions 4); locks nothing.
 */
export async function readExpiryFacts(sql: Reads, paymentId: string, patienceSeconds: number): Promise<{ overdue: boolean; unpaid: boolean }> {
  const [row] = await sql<{ overdue: boolean; unpaid: boolean }[]>`
    select p.expires_at <= sluice_now() as overdue, ${unpaid(sql, patienceSeconds)} as unpaid from payments p where p.id = ${paymentId}`;
  return row ?? { overdue: false, unpaid: false };
}

/**
 * Locks up to `limit` payments that may expire now, but for those in `except` and those another transaction holds, and returns what their machine
 * asks about. It is read again once they are locked: a deposit may have been noticed in between, and no more can be.
 */
export async function lockExpirable(
  tx: Tx,
  { limit, except, patienceSeconds }: { limit: number; except: readonly string[]; patienceSeconds: number },
): Promise<{ id: string; overdue: boolean; unpaid: boolean }[]> {
  const found = await tx<{ id: string }[]>`
    select p.id from payments p
    where p.status = 'PENDING' and p.expires_at <= sluice_now() and ${unpaid(tx, patienceSeconds)}
      ${except.length === 0 ? tx`` : tx`and p.id <> all(${[...except]}::uuid[])`}
    order by p.expires_at limit ${limit} for update skip locked`;
  return tx<{ id: string; overdue: boolean; unpaid: boolean }[]>`
    select p.id, p.expires_at <= sluice_now() as overdue, ${unpaid(tx, patienceSeconds)} as unpaid
    from payments p where p.id = any(${found.map((row) => row.id)}::uuid[]) order by p.expires_at`;
}

/** Whether any open payment's deadline has passed, whatever is on its way to it; a condition. */
export function isAnyOverdue(sql: Reads): ReturnType<Reads> {
  return sql`exists (select 1 from payments where status = 'PENDING' and expires_at <= sluice_now())`;
}

/** Counts payments that are still open `lateSeconds` after their deadline with nothing on its way to them; locks nothing. */
export async function countOverduePayments(sql: Reads, lateSeconds: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count from payments p
    where p.status = 'PENDING' and p.expires_at < sluice_now() - make_interval(secs => ${lateSeconds}) and not ${isOnItsWay(sql)}`;
  return row?.count ?? 0;
}

/** Whether a deposit that may pay it, real or simulated, was first seen before its deadline and is not final yet, or waits to be mined. */
function isOnItsWay(sql: Reads) {
  return sql`(
    ${isExpected(sql)}
    or exists (select 1 from deposits d where d.payment_id = p.id and d.state = 'seen' and d.first_seen_at < p.expires_at)
    or exists (select 1 from sandbox_deposits s where s.payment_id = p.id and s.state = 'seen' and s.first_seen_at < p.expires_at))`;
}

function unpaid(sql: Reads, patienceSeconds: number) {
  return sql`(
    not ${isOnItsWay(sql)}
    and (
      sluice_now() >= p.expires_at + make_interval(secs => ${patienceSeconds})
      or not exists (
        select 1 from deposit_addresses a where a.payment_id = p.id and not exists (
          select 1 from indexer_leases l join chain_tips t on t.network_id = l.network_id
          where l.network_id = a.network_id and l.caught_up_at >= p.expires_at and t.height >= l.published_height))))`;
}

/** What a payment is for, beside its row; by the key of its table. */
export function namesOf(sql: Reads, id: ReturnType<Reads>): ReturnType<Reads> {
  return sql`(select n.title from payment_names n where n.payment_id = ${id}) as title, (select n.reference from payment_names n where n.payment_id = ${id}) as reference`;
}

/** Turns a row of `payments`, as `select *` gives it, into a payment; its names are null where they were not asked for. */
export function paymentFromRow(row: Record<string, unknown>): Payment {
  const text = (name: string): string | null => (row[name] as string | null) ?? null;
  const money = (name: string): Usd | null => {
    const value = text(name);
    return value === null ? null : parseTrusted<'usd'>(value);
  };
  return {
    id: row.id as string,
    gatewayId: row.gatewayId as string,
    status: row.status as PaymentStatus,
    checkoutMode: row.checkoutMode as Payment['checkoutMode'],
    type: row.type as Payment['type'],
    paylinkId: text('paylinkId'),
    openAmount: row.openAmount as boolean,
    sandbox: row.sandbox as boolean,
    currencyCode: row.currencyCode as string,
    amount: row.amount as string,
    amountUsd: money('amountUsd') as Usd,
    fiatRate: money('fiatRate'),
    fiatSource: text('fiatSource'),
    fiatAt: row.fiatAt as Date | null,
    minimumUsd: money('minimumUsd'),
    txFeePayer: row.txFeePayer as FeePayer,
    commissionFeePayer: row.commissionFeePayer as FeePayer,
    commissionBps: row.commissionBps as number,
    commissionMinimumUsd: money('commissionMinimumUsd') as Usd,
    overTolerance: money('overTolerance') as Usd,
    underTolerance: money('underTolerance') as Usd,
    toleranceKind: row.toleranceKind as Payment['toleranceKind'],
    checkAmountDeviation: row.checkAmountDeviation as boolean,
    callbackUrl: text('callbackUrl'),
    callbackParams: sentOf(row.callbackParams),
    webhookUrl: text('webhookUrl'),
    webhookParams: sentOf(row.webhookParams),
    language: text('language'),
    title: text('title'),
    reference: text('reference'),
    timeoutSeconds: row.timeoutSeconds as number,
    graceSeconds: row.graceSeconds as number,
    createdAt: row.createdAt as Date,
    expiresAt: row.expiresAt as Date,
    selectedOfferId: text('selectedOfferId'),
    isVerified: row.isVerified as boolean,
    verifiedAt: row.verifiedAt as Date | null,
    resolvedAt: row.resolvedAt as Date | null,
    decidingDepositId: text('decidingDepositId'),
    judgingOfferId: text('judgingOfferId'),
    receivedAssetId: text('receivedAssetId'),
    receivedAmount: money('receivedAmount'),
    receivedAmountUsd: money('receivedAmountUsd'),
    expectedUsd: money('expectedUsd'),
    deviationUsd: money('deviationUsd'),
    depositPath: row.depositPath as DepositPath | null,
    amlState: row.amlState as Payment['amlState'],
  };
}

/** What jsonb kept of a document. */
function sentOf(value: unknown): SentJson | null {
  return value === null ? null : SentJson.of(value);
}

export interface PaymentEventRow {
  event: string;
  fromStatus: string | null;
  toStatus: string;
  /** What the guards saw, and for a deposit the figures of its judgement. */
  facts: Record<string, unknown>;
  actor: string;
  at: Date;
}

/** A payment's history, oldest first; locks nothing. */
export async function listPaymentEvents(sql: Reads, paymentId: string): Promise<PaymentEventRow[]> {
  return sql<PaymentEventRow[]>`
    select event, from_status, to_status, facts, actor, at from payment_events where payment_id = ${paymentId} order by id`;
}

/** Which payments of a gateway a list holds. */
export interface PaymentFilter {
  gatewayId: string;
  status: PaymentStatus | null;
  /** Created at this moment or later. */
  createdFrom: Date | null;
  /** Created before this moment. */
  createdTo: Date | null;
}

/** A payment's place in its gateway's list; the time as text, because a Date would cut its microseconds. */
export interface PaymentPlace {
  id: string;
  createdAt: string;
}

export interface PaymentPage extends PaymentFilter {
  limit: number;
  offset: number;
  /** Place of the last payment already seen; null starts at `offset`. */
  after: PaymentPlace | null;
}

/** Finds the place of one of the gateway's own payments in its list; locks nothing. */
export async function findPaymentPlace(sql: Reads, gatewayId: string, id: string): Promise<PaymentPlace | undefined> {
  const [row] = await sql<PaymentPlace[]>`select id, created_at::text from payments where id = ${id} and gateway_id = ${gatewayId}`;
  return row;
}

/** Lists a gateway's payments newest first, one more than `limit` so that the caller sees whether there are more; locks nothing. */
export async function listPaymentRows(sql: Reads, page: PaymentPage): Promise<Payment[]> {
  const behind = page.after === null ? sql`` : sql`and (created_at, id) < (${page.after.createdAt}::text::timestamptz, ${page.after.id}::uuid)`;
  const rows = await sql<Record<string, unknown>[]>`
    select *, ${namesOf(sql, sql`payments.id`)} from payments where ${matchingPayments(sql, page)} ${behind}
    order by created_at desc, id desc limit ${page.limit + 1} offset ${page.offset}`;
  return rows.map(paymentFromRow);
}

/** Counts the payments a list holds on all its pages; those of a time are counted one by one. Locks nothing. */
export async function countPayments(sql: Reads, filter: PaymentFilter): Promise<number> {
  const [row] = await (filter.createdFrom === null && filter.createdTo === null
    ? sql<{ total: number }[]>`select ${tallied(sql, 'payments', filter)} as total`
    : sql<{ total: number }[]>`select count(*) as total from payments where ${matchingPayments(sql, filter)}`);
  return row?.total ?? 0;
}

/** What the indexes of a gateway's payments are by. A condition that does not apply is left out rather than made true by a null, so that each combination finds its own. */
export function matchingPayments(sql: Reads, { gatewayId, status, createdFrom, createdTo }: PaymentFilter) {
  return sql`gateway_id = ${gatewayId}
    ${status === null ? sql`` : sql`and status = ${status}`}
    ${createdFrom === null ? sql`` : sql`and created_at >= ${createdFrom}`}
    ${createdTo === null ? sql`` : sql`and created_at < ${createdTo}`}`;
}
