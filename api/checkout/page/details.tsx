import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import { formatCrypto, isZero } from './amounts.ts';
import { coins } from './asset-name.ts';
import { Exact, Figure, PaymentIdFigure } from './figures.tsx';
import type { Offer } from './snapshot.ts';
import { orderAmount, type View } from './view.ts';

/** How the amount came about; fees only where there are any (ux C3). */
export function Details({ view }: { view: View }): JSX.Element {
  const { snapshot, translate, offer } = view;
  const { payment, merchant } = snapshot;
  const payers = [payment.txFeePayer, payment.commissionFeePayer];
  return (
    <details class="details" data-part="details">
      <summary>{translate('details.title')}</summary>
      <dl class="figures">
        {payment.title !== undefined && (
          <Figure label={translate('details.title-of')}>
            <bdi>{payment.title}</bdi>
          </Figure>
        )}
        {payment.reference !== undefined && (
          <Figure label={translate('details.reference')}>
            <bdi>{payment.reference}</bdi>
          </Figure>
        )}
        {!payment.openAmount && <Figure label={translate('details.amount')}>{orderAmount(view)}</Figure>}
        {offer && (
          <Figure label={translate('details.rate')}>
            {translate('details.rate-value', { symbol: offer.assetSymbol, price: formatFiat(offer.assetPriceUsd, 'USD', view.language.tag) })}
          </Figure>
        )}
        {offer && !payment.openAmount && <Sum view={view} offer={offer} />}
        <PaymentIdFigure view={view} />
      </dl>
      {payers.includes('PLATFORM') && !payers.includes('CUSTOMER') && (
        <p class="hint details-note">{translate('details.fees-covered', { merchant: merchant.name })}</p>
      )}
    </details>
  );
}

function Sum({ view, offer }: { view: View; offer: Offer }): JSX.Element {
  const { translate } = view;
  const lines = [
    { label: translate('details.network-fee'), amount: offer.txFee },
    { label: translate('details.service-fee'), amount: offer.commissionFee },
  ].filter(({ amount }) => !isZero(amount));
  const inCoins = (amount: string) => <Exact text={coins(formatCrypto(amount), offer.assetSymbol)} kind="amount" />;
  return (
    <>
      {lines.length > 0 && <Figure label={translate('details.coins')}>{inCoins(offer.amount)}</Figure>}
      {lines.map(({ label, amount }) => (
        <Figure label={label} key={label}>
          {inCoins(amount)}
        </Figure>
      ))}
      <Figure label={translate('details.total')}>{inCoins(offer.totalValue)}</Figure>
    </>
  );
}
