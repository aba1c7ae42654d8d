import type { JSX } from 'preact';
import { formatCrypto } from './amounts.ts';
import { coins, networkName } from './asset-name.ts';
import { Exact, Figure } from './figures.tsx';
import { Frame } from './frame.tsx';
import { OutsideLink, ownHref } from './links.tsx';
import { type CheckoutProps, initialProps, type ReceiptModel } from './model.ts';
import { formatClock } from './times.ts';
import { headingOf, networkOf, orderAmount, paidAmount, type View, viewOf } from './view.ts';

/** The day and the time of a moment, also when it is today: a receipt is read later. */
const LONG_AGO = 0;

/** What was paid, to whom, with what and when: a page to print or to keep, which needs no program. */
export function Receipt({ model }: { model: ReceiptModel }): JSX.Element | null {
  const view = receiptView(model);
  const { snapshot, translate } = view;
  const { payment, paid, merchant } = snapshot;
  if (paid === null) return null;
  return (
    <Frame frame={{ ...model, path: `${model.path}/receipt` }} translate={translate} merchant={merchant} testMode={payment.isSandbox}>
      <main class="card receipt" data-state="receipt">
        <p class="for">{translate('receipt.link')}</p>
        <h1 id="title" tabIndex={-1}>
          {headingOf(view)}
        </h1>
        <dl class="figures">
          <Figure label={translate('details.amount')} part="paid-amount">
            {paidAmount(view) ?? orderAmount(view)}
          </Figure>
          <Figure label={translate('receipt.paid-to')}>
            <bdi>{merchant.name}</bdi> {merchant.host !== null && <span>{merchant.host}</span>}
          </Figure>
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
          <Figure label={translate('receipt.coins')}>
            <Exact text={coins(formatCrypto(paid.amount), paid.assetSymbol)} kind="amount" />
          </Figure>
          <Figure label={translate('receipt.network')}>{networkName(translate, paid.assetType, networkOf(view, paid.network))}</Figure>
          <Figure label={translate('receipt.time')}>{formatClock(Date.parse(paid.at), view.language.tag, view.timeZone, { now: LONG_AGO })}</Figure>
          {paid.block !== null && (
            <Figure label={translate('receipt.block')}>
              <Exact text={String(paid.block)} kind="amount" />
            </Figure>
          )}
          {payment.txHash !== undefined && (
            <Figure label={translate('result.transaction')} part="transaction">
              <Exact text={payment.txHash} kind="code" />
              <Explorer view={view} />
            </Figure>
          )}
          <Figure label={translate('details.payment-id')}>
            <Exact text={payment.id} kind="code" part="payment-id" />
          </Figure>
        </dl>
        <p class="buttons no-print">
          <a class="button" href={ownHref(view)} data-part="back">
            {translate('receipt.back')}
          </a>
        </p>
      </main>
    </Frame>
  );
}

/** The document's title: what a browser offers as the name of a saved page. Pure. */
export function receiptTitle(model: ReceiptModel): string {
  const view = receiptView(model);
  return view.translate('page.title', { title: view.translate('receipt.link'), merchant: view.snapshot.merchant.name });
}

function receiptView(model: ReceiptModel): View {
  const props: CheckoutProps = initialProps({ ...model, choosing: false, problem: null, socketUrl: '' });
  return viewOf(props);
}

function Explorer({ view }: { view: View }): JSX.Element | null {
  const { explorerTxUrl, isSandbox } = view.snapshot.payment;
  if (explorerTxUrl === undefined || explorerTxUrl === '' || isSandbox) return null;
  return (
    <OutsideLink view={view} href={explorerTxUrl} look="no-print">
      {view.translate('result.view')}
    </OutsideLink>
  );
}
