import { SentJson } from '#shared/core/sent-json.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { sentMetadata } from './sent-json.ts';

/** A payment with every figure its judgement used, for a person who asks why. Money is exact decimal text. */
export interface PaymentDetail {
  id: string;
  gatewayId: string;
  status: string;
  checkoutMode: string;
  isSandbox: boolean;
  currencyCode: string;
  amount: string;
  amountUsd: string;
  txFeePayer: string;
  commissionFeePayer: string;
  overTolerance: string;
  underTolerance: string;
  toleranceKind: string;
  checkAmountDeviation: boolean;
  createdAt: Date;
  expiresAt: Date;
  graceSeconds: number;
  resolvedAt: Date | null;
  isVerified: boolean;
  verifiedAt: Date | null;
  selectedOfferId: string | null;
  judgingOfferId: string | null;
  decidingDepositId: string | null;
  receivedAssetSymbol: string | null;
  receivedAmount: string | null;
  receivedAmountUsd: string | null;
  expectedUsd: string | null;
  deviationUsd: string | null;
  depositPath: string | null;
  amlState: string | null;
  webhookUrl: string | null;
}

/** Reads one payment in full; locks nothing. */
export async function findPaymentDetail(sql: Reads, id: string): Promise<PaymentDetail | undefined> {
  const [row] = await sql<PaymentDetail[]>`
    select p.id, p.gateway_id, p.status, p.checkout_mode, p.sandbox as "isSandbox", p.currency_code, p.amount,
      trim_scale(p.amount_usd)::text as "amountUsd", p.tx_fee_payer, p.commission_fee_payer,
      trim_scale(p.over_tolerance)::text as "overTolerance", trim_scale(p.under_tolerance)::text as "underTolerance", p.tolerance_kind,
      p.check_amount_deviation, p.created_at, p.expires_at, p.grace_seconds,
      p.resolved_at, p.is_verified, p.verified_at, p.selected_offer_id,
      p.judging_offer_id, p.deciding_deposit_id, a.symbol as "receivedAssetSymbol",
      trim_scale(p.received_amount)::text as "receivedAmount", trim_scale(p.received_amount_usd)::text as "receivedAmountUsd",
      trim_scale(p.expected_usd)::text as "expectedUsd", trim_scale(p.deviation_usd)::text as "deviationUsd", p.deposit_path,
      p.aml_state, p.webhook_url
    from payments p left join assets a on a.id = p.received_asset_id where p.id = ${id}`;
  return row;
}

export interface OfferDetail {
  id: string;
  assetSymbol: string;
  network: string;
  priceUsd: string;
  priceSource: string;
  amount: string;
  txFee: string;
  commissionFee: string;
  totalValue: string;
  selectedAt: Date | null;
  /** Canonical address assigned on its network; null before a select, and until the network's indexer watches it: nobody may pass it on before (decisions 9). */
  address: string | null;
  addressAt: Date | null;
}

/** Reads a payment's offers with the address assigned on their network, in the order they are listed; locks nothing. */
export async function listOfferDetails(sql: Reads, paymentId: string): Promise<OfferDetail[]> {
  return sql<OfferDetail[]>`
    select o.id, a.symbol as "assetSymbol", n.name as network, trim_scale(o.price_usd)::text as "priceUsd", o.price_source,
      trim_scale(o.amount)::text as amount, trim_scale(o.tx_fee)::text as "txFee", trim_scale(o.commission_fee)::text as "commissionFee",
      trim_scale(o.total_value)::text as "totalValue", o.selected_at,
      case when w.acked_epoch is not null then d.address end as address, d.created_at as "addressAt"
    from payment_offers o join assets a on a.id = o.asset_id join networks n on n.id = a.network_id
      left join deposit_addresses d on d.payment_id = o.payment_id and d.network_id = n.id
      left join watches w on w.network_id = d.network_id and w.address = d.address
    where o.payment_id = ${paymentId} order by o.rank`;
}

export interface DepositDetail {
  id: string;
  network: string;
  assetSymbol: string;
  amount: string;
  txHash: string;
  sender: string;
  /** Everybody else whose coins it moved; null where there is nobody. */
  coSenders: string[] | null;
  /** Its coins were made in its block. */
  coinbase: boolean;
  height: number;
  blockTime: Date;
  state: string;
  path: string | null;
  usdPrice: string | null;
  firstSeenAt: Date;
  finalAt: Date | null;
}

/** Reads a payment's deposits, the first seen first; locks nothing. */
export async function listDepositDetails(sql: Reads, paymentId: string): Promise<DepositDetail[]> {
  return sql<DepositDetail[]>`
    select d.id, n.name as network, a.symbol as "assetSymbol", trim_scale(d.amount)::text as amount, d.txid as "txHash", d.sender, d.co_senders, d.coinbase, d.height,
      d.block_time, d.state, d.path, trim_scale(d.usd_price)::text as "usdPrice", d.first_seen_at, d.final_at
    from deposits d join networks n on n.id = d.network_id join assets a on a.id = d.asset_id
    where d.payment_id = ${paymentId} order by d.first_seen_at, d.height, d.position, d.ordinal`;
}

/** One line of a settlement's history. */
export interface EventDetail {
  event: string;
  from: string | null;
  to: string;
  facts: Record<string, unknown>;
  actor: string;
  at: Date;
}

/** Reads the history of a settlement, oldest first; locks nothing. */
export async function listSettlementEventDetails(sql: Reads, id: string): Promise<EventDetail[]> {
  return sql<EventDetail[]>`
    select event, from_status as "from", to_status as "to", facts, actor, at from settlement_events where settlement_id = ${id} order by id`;
}

export interface CreditDetail {
  pool: string;
  /** none, waiting, clean or flagged. */
  screening: string;
  riskScore: number | null;
  /** Null while its pool can draw it; else withheld, refunding or refunded. */
  taken: string | null;
  assetSymbol: string;
  gross: string;
  networkFee: string;
  commission: string;
  net: string;
  remaining: string;
  creditedAt: Date;
  maturesAt: Date;
  maturedAt: Date | null;
}

/** Reads what a payment credited to its gateway; locks nothing. */
export async function listCreditDetails(sql: Reads, paymentId: string): Promise<CreditDetail[]> {
  return sql<CreditDetail[]>`
    select c.pool, c.screening, c.screening_score as "riskScore", c.taken, a.symbol as "assetSymbol", trim_scale(c.gross)::text as gross, trim_scale(c.network_fee)::text as "networkFee",
      trim_scale(c.commission)::text as commission, trim_scale(c.net)::text as net, trim_scale(c.remaining)::text as remaining,
      c.credited_at, c.matures_at, c.matured_at
    from credits c join assets a on a.id = c.asset_id where c.payment_id = ${paymentId} order by c.credited_at, c.id`;
}

export interface SettlementDetail {
  id: string;
  gatewayId: string;
  status: string;
  assetSymbol: string;
  network: string;
  address: string;
  amount: string;
  requestedRoute: string;
  pool: string | null;
  feeLocked: string | null;
  netAmount: string | null;
  receivedAmount: string | null;
  txHash: string | null;
  metadata: SentJson | null;
  holdReason: string | null;
  waitReason: string | null;
  createdAt: Date;
  dispatchAt: Date | null;
  expiresAt: Date | null;
  settledAt: Date | null;
}

/** Reads one settlement in full; locks nothing. */
export async function findSettlementDetail(sql: Reads, id: string): Promise<SettlementDetail | undefined> {
  const [row] = await sql<(Omit<SettlementDetail, 'metadata'> & { metadata: string | null })[]>`
    select s.id, s.gateway_id, s.status, a.symbol as "assetSymbol", n.name as network, s.address, s.amount_text as amount,
      s.requested_route, s.pool, trim_scale(s.fee_locked)::text as "feeLocked", trim_scale(s.net_amount)::text as "netAmount",
      trim_scale(s.received_amount)::text as "receivedAmount", s.txid as "txHash", ${sentMetadata(sql)} as metadata, s.hold_reason, s.wait_reason,
      s.created_at, s.dispatch_at, s.expires_at, s.settled_at
    from settlements s join assets a on a.id = s.asset_id join networks n on n.id = s.network_id where s.id = ${id}`;
  return row && { ...row, metadata: row.metadata === null ? null : new SentJson(row.metadata) };
}

export interface PayoutDetail {
  id: string;
  purpose: string;
  family: number;
  status: string;
  nonce: number | null;
  txHash: string | null;
  /** The block that holds it; null while none does. */
  height: number | null;
  failure: string | null;
  createdAt: Date;
  finalAt: Date | null;
  /** Every signed attempt, in order: what replaced what, and until when it could be taken. */
  attempts: AttemptDetail[];
}

export interface AttemptDetail {
  number: number;
  /** transfer or close. */
  kind: string;
  txHash: string;
  /** The most it can cost, native units. */
  rawFeeLimit: string;
  signedAt: string;
  /** Null where bytes never expire. */
  expiresAt: string | null;
}

/** Reads the payouts that carry a settlement out, sweeps and top-ups made for it included, oldest first; locks nothing. */
export async function listPayoutDetails(sql: Reads, settlementId: string): Promise<PayoutDetail[]> {
  return sql<PayoutDetail[]>`
    select p.id, p.purpose, p.family, p.status, p.nonce, p.txid as "txHash",
      (select max(g.height) from sightings g where g.network_id = p.network_id and g.txid = p.txid and g.canonical) as height, p.failure, p.created_at, p.final_at,
      coalesce((
        select jsonb_agg(jsonb_build_object('number', t.number, 'kind', t.kind, 'txHash', t.txid, 'rawFeeLimit', t.fee_limit::text, 'signedAt', t.created_at,
          'expiresAt', t.expires_at) order by t.number)
        from payout_attempts t where t.payout_id = p.id), '[]') as attempts
    from payouts p where p.settlement_id = ${settlementId} order by p.created_at, p.id`;
}
