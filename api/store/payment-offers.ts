import type { AssetType, Family } from '#shared/core/assets.ts';
import { type Coins, type Usd, formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { isOneOf } from './is-one-of.ts';

/** Source of a price that the merchant named for the asset (contract 2.1). */
export const MERCHANT_PRICE = 'merchant';

/** An offer with the asset and network it is in. */
export interface Offer {
  id: string;
  paymentId: string;
  assetId: string;
  priceUsd: Usd;
  priceSource: string;
  /** When the price was taken; null for a price the merchant gave. */
  priceAt: Date | null;
  amount: Coins;
  txFee: Coins;
  commissionFee: Coins;
  totalValue: Coins;
  /** Network fee locked at creation, whoever bears it. */
  networkFee: Coins;
  selectedAt: Date | null;
  symbol: string;
  type: AssetType;
  contract: string | null;
  decimals: number;
  networkId: string;
  networkName: string;
  /** Ticker of the network's native coin. */
  networkSymbol: string;
  /** True while an operator paused new addresses on the network. */
  networkPaused: boolean;
  /** True while the asset is stopped because its issuer does not let our wallets move it. */
  issuerStopped: boolean;
  /** True for a native coin while no endpoint of its network shows what contracts pass on, and nobody accepted that (decision 0042). */
  unwatchable: boolean;
  family: Family;
}

export type NewOffer = Pick<
  Offer,
  'id' | 'assetId' | 'priceUsd' | 'priceSource' | 'priceAt' | 'amount' | 'txFee' | 'commissionFee' | 'totalValue' | 'networkFee'
>;

/** The rows of a payment's offers, in the order in which they are listed. */
export function offerRows(paymentId: string, offers: readonly NewOffer[]): Record<string, unknown>[] {
  return offers.map((offer, rank) => ({
    id: offer.id,
    payment_id: paymentId,
    asset_id: offer.assetId,
    rank,
    price_usd: formatAmount(offer.priceUsd),
    price_source: offer.priceSource,
    price_at: offer.priceAt,
    amount: formatAmount(offer.amount),
    tx_fee: formatAmount(offer.txFee),
    commission_fee: formatAmount(offer.commissionFee),
    total_value: formatAmount(offer.totalValue),
    network_fee: formatAmount(offer.networkFee),
  }));
}

/** A payment's offers in listing order; locks nothing. */
export function listOffers(sql: Reads, paymentId: string): Promise<Offer[]> {
  return listOffersOf(sql, [paymentId]);
}

/** The offers of several payments, those of each in listing order; locks nothing. */
export async function listOffersOf(sql: Reads, paymentIds: readonly string[]): Promise<Offer[]> {
  const rows = await sql<Record<string, unknown>[]>`
    select o.id, o.payment_id, o.asset_id, o.price_usd, o.price_source, o.price_at, o.amount,
      o.tx_fee, o.commission_fee, o.total_value, o.network_fee, o.selected_at,
      a.symbol, a.type, a.contract, a.decimals, n.id as "networkId", n.name as "networkName", n.native_symbol as "networkSymbol", n.paused_at is not null as "networkPaused", n.family,
      a.contract is null and n.traces_missing_since is not null as "unwatchable",
      exists (select 1 from issuer_refusals r where r.asset_id = a.id and r.stopped_at is not null) as "issuerStopped"
    from payment_offers o join assets a on a.id = o.asset_id join networks n on n.id = a.network_id
    where o.payment_id ${isOneOf(sql, paymentIds)} order by o.rank`;
  return rows.map((row) => ({
    ...(row as unknown as Offer),
    priceUsd: parseTrusted<'usd'>(row.priceUsd as string),
    amount: parseTrusted<'asset'>(row.amount as string),
    txFee: parseTrusted<'asset'>(row.txFee as string),
    commissionFee: parseTrusted<'asset'>(row.commissionFee as string),
    totalValue: parseTrusted<'asset'>(row.totalValue as string),
    networkFee: parseTrusted<'asset'>(row.networkFee as string),
  }));
}

/** Notes that an offer was selected now, and is the one that was last; the caller holds the payment's lock. */
export async function markSelected(tx: Tx, paymentId: string, offerId: string): Promise<void> {
  await tx`
    with selected as (update payment_offers set selected_at = sluice_now() where id = ${offerId})
    update payments set selected_offer_id = ${offerId} where id = ${paymentId}`;
}
