import type { JSX } from 'preact';
import { formatCrypto } from './amounts.ts';
import { NetworkLabel } from './asset-label.tsx';
import { coins } from './asset-name.ts';
import { Exact, Figure } from './figures.tsx';
import { Frame } from './frame.tsx';
import { OutsideLink, ownHref, receiptHref } from './links.tsx';
import type { MessageKey } from './messages.ts';
import { type CheckoutProps, initialProps, type MailOutcome, type ReceiptModel } from './model.ts';
import { paidAt } from './receipt-text.ts';
import { headingOf, orderAmount, paidAmount, type View, viewOf } from './view.ts';

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
          <Figure label={translate('receipt.network')}>
            <NetworkLabel view={view} offer={{ ...paid, assetNetwork: paid.network }} />
          </Figure>
          <Figure label={translate('receipt.time')}>{paidAt(view, paid.at)}</Figure>
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
        {model.mail !== null && <ByMail view={view} mail={model.mail} />}
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

/** A receipt's text for a mail is drawn from the same. Pure. */
export function receiptView(model: Omit<ReceiptModel, 'kind' | 'assets' | 'mail'>): View {
  const props: CheckoutProps = initialProps({ ...model, choosing: false, problem: null, socketUrl: '' });
  return viewOf(props);
}

const OUTCOMES: Record<MailOutcome, MessageKey> = {
  sent: 'receipt.mail-sent',
  often: 'receipt.mail-often',
  invalid: 'receipt.mail-invalid',
  busy: 'problem.busy',
  unavailable: 'receipt.mail-unavailable',
};

/** Mails the receipt to an address that the payer types. */
function ByMail({ view, mail }: { view: View; mail: NonNullable<ReceiptModel['mail']> }): JSX.Element {
  const { translate } = view;
  const { outcome, typed } = mail;
  const isError = outcome !== null && outcome !== 'sent';
  return (
    <form class="by-mail no-print" method="post" action={receiptHref(view)} data-part="by-mail">
      {view.languageAsked && <input type="hidden" name="lang" value={view.language.tag} />}
      <label for="email">{translate('receipt.mail-label')}</label>
      <div class="by-mail-row">
        <input
          id="email"
          name="email"
          type="email"
          required
          maxLength={254}
          autocomplete="email"
          dir="ltr"
          value={typed}
          aria-invalid={outcome === 'invalid' ? 'true' : undefined}
          aria-describedby="email-hint"
        />
        <button type="submit" class="button">
          {translate('receipt.mail-send')}
        </button>
      </div>
      <p
        id="email-hint"
        class={outcome === null ? 'hint' : `notice ${isError ? 'notice-error' : 'notice-quiet'}`}
        role={outcome === null ? undefined : isError ? 'alert' : 'status'}
      >
        {translate(outcome === null ? 'receipt.mail-hint' : OUTCOMES[outcome])}
      </p>
    </form>
  );
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
