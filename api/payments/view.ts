import type { Chain, Deps } from '#api/deps.ts';
import { type DepositAddress, listDepositAddresses } from '#api/store/deposit-addresses.ts';
import { listPaymentDeposits, type PaymentDeposit } from '#api/store/payment-deposits.ts';
import { listOffers, type Offer } from '#api/store/payment-offers.ts';
import type { Payment } from '#api/store/payments.ts';
import { listSandboxDeposits } from '#api/store/sandbox-deposits.ts';
import { withParams } from '#api/store/sent-json.ts';
import { sharedReads } from '#api/store/shared-reads.ts';
import { Invariant } from '#shared/core/errors.ts';
import { formatAmount, formatCents } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { loadPublicPayment } from './load.ts';
import { notePaymentOpened } from './note-opened.ts';
import { publicUrl } from './urls.ts';

/** The rows that a payment's public object is built from. */
export interface PaymentParts {
  payment: Payment;
  offers: readonly Offer[];
  addresses: readonly DepositAddress[];
  deposits: readonly PaymentDeposit[];
}

/** Reads the public payment object (contract 2.3). @throws not_found, forbidden */
export async function publicPayment(deps: Deps, call: { paymentId: string; clientIp: string }): Promise<object> {
  const payment = await loadPublicPayment(deps, call);
  notePaymentOpened(deps, payment.id);
  return paymentView(deps, await readParts(deps, payment));
}

/** Reads the status-only object (contract 2.6). @throws not_found, forbidden */
export async function statusOnly(deps: Deps, call: { paymentId: string; clientIp: string }): Promise<object> {
  return statusView(await loadPublicPayment(deps, call));
}

/** Reads the rows that a payment's views are built from; through `sql` when the caller wants one snapshot, else together with who asks in the same moment. Locks nothing. */
export async function readParts(deps: Pick<Deps, 'db'>, payment: Payment, sql?: Reads): Promise<PaymentParts> {
  return sql === undefined ? readPartsTogether(deps, payment) : readPartsAlone(sql, payment);
}

async function readPartsTogether({ db }: Pick<Deps, 'db'>, payment: Payment): Promise<PaymentParts> {
  const reads = sharedReads(db);
  const [offers, addresses, deposits, whole] = await Promise.all([
    reads.offers(payment.id),
    reads.addresses(payment.id),
    reads.deposits(payment),
    reads.withParams(payment),
  ]);
  return { payment: whole, offers, addresses, deposits };
}

async function readPartsAlone(sql: Reads, payment: Payment): Promise<PaymentParts> {
  const [offers, addresses, deposits, [whole = payment]] = await Promise.all([
    listOffers(sql, payment.id),
    listDepositAddresses(sql, payment.id),
    (payment.sandbox ? listSandboxDeposits : listPaymentDeposits)(sql, payment.id),
    withParams(sql, [payment]),
  ]);
  return { payment: whole, offers, addresses, deposits };
}

/** The four fields a status poll needs (contract 2.6). */
export function statusView(payment: Payment): object {
  return {
    paymentUid: payment.id,
    status: payment.status,
    isVerified: payment.isVerified,
    verifiedAt: payment.verifiedAt?.toISOString() ?? null,
  };
}

/** Turns a payment into its public object. Fields about what was received appear once a deposit has decided (contract 2.3, decisions 9). Pure. */
export function paymentView(deps: Pick<Deps, 'config' | 'chains'>, parts: PaymentParts): object {
  const { payment, offers } = parts;
  const deciding = decidingDeposit(parts);
  return {
    id: payment.id,
    status: payment.status,
    checkoutMode: payment.checkoutMode,
    amount: payment.amount,
    amountUsd: shownUsd(payment),
    currencyCode: payment.currencyCode,
    timeoutSeconds: payment.timeoutSeconds,
    createdAt: payment.createdAt.toISOString(),
    expiresAt: payment.expiresAt.toISOString(),
    offers: offers.map((offer) => offerView(deps, parts, offer)),
    openAmount: payment.openAmount,
    ...(payment.minimumUsd !== null && { minAmountUsd: formatAmount(payment.minimumUsd) }),
    isSandbox: payment.sandbox,
    language: payment.language,
    ...namedView(payment),
    txFeePayer: payment.txFeePayer,
    commissionFeePayer: payment.commissionFeePayer,
    selectedOfferId: payment.selectedOfferId,
    ...(deciding !== undefined && {
      paidAssetId: deciding.assetId,
      paidAssetSymbol: deciding.symbol,
      txHash: deciding.txid,
      receivedAmount: formatAmount(payment.receivedAmount ?? deciding.amount),
      explorerTxUrl: explorerTxUrl(deps, deciding.networkName, deciding.txid),
    }),
  };
}

/** What it is for and the merchant's number for it, where they were named. Pure. */
export function namedView({ title, reference }: Pick<Payment, 'title' | 'reference'>): { title?: string; reference?: string } {
  return { ...(title !== null && { title }), ...(reference !== null && { reference }) };
}

/** A payment's dollar value, in cents; plain 0 while an open amount is not known (contract 2.7). */
export function shownUsd({ openAmount, amountUsd }: Pick<Payment, 'openAmount' | 'amountUsd'>): string {
  return openAmount && amountUsd === 0n ? '0' : formatCents(amountUsd);
}

/**
 * Turns an offer into its contract form. The deposit address appears once the offer is selected and the network's indexer watches the address
 * (contract 2.4, decisions 9). Pure.
 */
export function offerView(
  deps: Pick<Deps, 'config' | 'chains'>,
  { payment, addresses }: Pick<PaymentParts, 'addresses'> & { payment: Pick<Payment, 'id' | 'sandbox'> },
  offer: Offer,
): object {
  const address = offer.selectedAt === null ? undefined : shownAddress(deps, payment, addresses, offer);
  const logos = `${publicUrl(deps.config)}/logos`;
  return {
    id: offer.id,
    assetId: offer.assetId,
    assetSymbol: offer.symbol,
    assetNetwork: offer.networkName,
    assetLogoUrl: `${logos}/${encodeURIComponent(offer.symbol)}.svg`,
    networkLogoUrl: `${logos}/${encodeURIComponent(offer.networkName)}.svg`,
    assetPriceUsd: formatAmount(offer.priceUsd),
    amount: formatAmount(offer.amount),
    txFee: formatAmount(offer.txFee),
    commissionFee: formatAmount(offer.commissionFee),
    totalValue: formatAmount(offer.totalValue),
    ...(address !== undefined && { depositAddress: address }),
    assetDecimals: offer.decimals,
    assetType: offer.type,
    networkId: offer.networkId,
    contractAddress: offer.contract === null ? null : displayAddress(deps, offer.networkName, offer.contract),
  };
}

/**
 * The address that a payer of this offer sends to, in the form people see; undefined until an address is watched.
 * @throws Invariant when the stored address is not ours, see `assertDerived`
 */
export function shownAddress(
  deps: Pick<Deps, 'chains'>,
  payment: Pick<Payment, 'id' | 'sandbox'>,
  addresses: readonly DepositAddress[],
  offer: Offer,
): string | undefined {
  if (payment.sandbox) return `sandbox-${payment.id}`;
  const address = addresses.find((one) => one.networkId === offer.networkId && one.watched);
  const chain = deps.chains.get(offer.networkName);
  if (address === undefined || chain === undefined) return undefined;
  assertDerived(chain, address);
  return chain.codec.display(address.address);
}

/**
 * Checks that an address is the one its index derives. Otherwise a thief who can write one row could send payers elsewhere. @throws Invariant when
 * it is not
 */
export function assertDerived(chain: Chain, { address, derivationIndex, paymentId }: DepositAddress): void {
  if (address !== chain.deriver.depositAddress(derivationIndex))
    throw new Invariant(`the stored address of payment ${paymentId} is not the one its index derives`);
}

/** The deposit that decided the payment; undefined until one did. */
export function decidingDeposit({ payment, deposits }: Pick<PaymentParts, 'payment' | 'deposits'>): PaymentDeposit | undefined {
  return payment.decidingDepositId === null ? undefined : deposits.find((deposit) => deposit.id === payment.decidingDepositId);
}

/** Link to a transaction on the network's block explorer. */
export function explorerTxUrl(deps: Pick<Deps, 'chains'>, networkName: string, txid: string): string {
  return deps.chains.get(networkName)?.config.explorerTxUrl.replace('{txHash}', txid) ?? '';
}

function displayAddress(deps: Pick<Deps, 'chains'>, networkName: string, canonical: string): string {
  return deps.chains.get(networkName)?.codec.display(canonical) ?? canonical;
}
