import type { JSX } from 'preact';
import { formatCrypto } from './amounts.ts';
import { AssetLabel, NetworkLabel } from './asset-label.tsx';
import { coins, coinsInSentence } from './asset-name.ts';
import { Changing } from './changing.tsx';
import { CopyButton, Exact, Figure, PaymentIdFigure } from './figures.tsx';
import { Icon } from '#api/page/icons.tsx';
import { ContactLink, OutsideLink, ReturnLink, receiptHref } from './links.tsx';
import { sentence } from '#api/page/sentence.ts';
import { formatClock } from './times.ts';
import { networkOf, orderAmount, type View } from './view.ts';

/** S4, S4b and a deposit that came late: on its way, how far, and that nothing more is to be done. */
export function Seen({ view }: { view: View }): JSX.Element {
  const { snapshot, translate, state } = view;
  const seen = snapshot.pendingDeposit;
  return (
    <div class="outcome">
      {seen && <Confirmations view={view} confirmations={seen.confirmations} required={seen.required} />}
      {state === 'seen-late' && <p data-part="late">{translate('seen.late')}</p>}
      {state === 'seen-after' && <p data-part="late">{translate('seen.after')}</p>}
      <p>{translate('seen.close')}</p>
      {seen && (
        <dl class="figures">
          <Figure label={translate('seen.amount')} part="received">
            <Exact text={coins(formatCrypto(seen.amount), seen.assetSymbol)} kind="amount" /> <span>{networkOf(view, seen.network).displayName}</span>
          </Figure>
          <Transaction view={view} hash={seen.txHash} href={seen.explorerTxUrl} />
          <PaymentIdFigure view={view} />
        </dl>
      )}
      <div class="buttons">
        <ReturnLink view={view} />
      </div>
    </div>
  );
}

function Confirmations({ view, confirmations, required }: { view: View; confirmations: number; required: number | null }): JSX.Element {
  if (required === null)
    return (
      <div class="progress" data-part="confirmations">
        <p>
          <Changing text={view.translate('seen.progress-open', { count: confirmations })} />
        </p>
      </div>
    );
  const count = Math.min(confirmations, required);
  return (
    <div class="progress" data-part="confirmations">
      <p id="confirmations">
        <Changing text={view.translate('seen.progress', { count, required })} />
      </p>
      <progress max={required} value={count} aria-labelledby="confirmations" />
    </div>
  );
}

/** S5 and S6: paid, with the receipt and the way back. */
export function Accepted({ view }: { view: View }): JSX.Element {
  const { snapshot, translate, state } = view;
  const { paid, merchant } = snapshot;
  const leaving = view.returning !== null && view.returning !== 'stopped' ? view.returning : null;
  return (
    <div class="outcome">
      {state === 'acceptable' && paid?.requested && (
        <p data-part="difference">
          {translate('acceptable.body', {
            received: coinsInSentence(formatCrypto(paid.amount), paid.assetSymbol),
            requested: coinsInSentence(formatCrypto(paid.requested.amount), paid.requested.assetSymbol),
            merchant: merchant.name,
          })}
        </p>
      )}
      <Remarks view={view} />
      <dl class="figures">
        <Received view={view} />
      </dl>
      {leaving && (
        <p class="returning" role="timer" data-part="returning">
          <Changing text={translate('returning.soon', { seconds: leaving.secondsLeft, merchant: merchant.name })} />
        </p>
      )}
      <div class="buttons">
        <ReturnLink view={view} look="button button-main" now={leaving !== null} />
        {leaving && (
          <button type="button" class="button" data-part="stop-returning" onClick={() => view.actions?.stopReturning()}>
            {translate('returning.stay')}
          </button>
        )}
        <a class="button" href={receiptHref(view)} data-part="receipt">
          <Icon name="receipt" />
          {translate('receipt.link')}
        </a>
      </div>
      <details class="details" data-part="details">
        <summary>{translate('details.title')}</summary>
        <dl class="figures">
          <Requested view={view} />
          <DecidingTransaction view={view} />
          <PaymentIdFigure view={view} />
        </dl>
      </details>
    </div>
  );
}

/** S7 and S8: the heading says the difference; here is what happens to the money. */
export function Mismatch({ view }: { view: View }): JSX.Element {
  const { snapshot, translate } = view;
  const { paid, merchant } = snapshot;
  return (
    <div class="outcome">
      {paid && (
        <p data-part="money">
          {translate('mismatch.money', { received: coinsInSentence(formatCrypto(paid.amount), paid.assetSymbol), merchant: merchant.name })}
        </p>
      )}
      <p class="notice notice-warning" data-part="advice">
        <Icon name="alert" />
        <span>{translate('mismatch.body', { merchant: merchant.name })}</span>
      </p>
      <Remarks view={view} />
      <dl class="figures">
        <Requested view={view} />
        <Received view={view} />
        <DecidingTransaction view={view} />
        <PaymentIdFigure view={view} />
      </dl>
      <div class="buttons">
        <ContactLink view={view} text="contact.now" look="button button-main" />
        <ReturnLink view={view} />
      </div>
    </div>
  );
}

/** What S9 and S12 add. */
function Remarks({ view }: { view: View }): JSX.Element | null {
  const { snapshot, translate } = view;
  const { paid } = snapshot;
  return (
    <>
      {paid?.otherCoin && (
        <p data-part="other-coin">
          {sentence(translate, 'result.other-coin', { paid: <AssetLabel view={view} offer={{ ...paid, assetNetwork: paid.network }} /> })}
        </p>
      )}
      {snapshot.lateCapture && <p data-part="reopened">{translate('result.reopened')}</p>}
    </>
  );
}

function Received({ view }: { view: View }): JSX.Element | null {
  const { paid } = view.snapshot;
  if (paid === null) return null;
  return (
    <Figure label={view.translate('result.received')} part="received">
      <Exact text={coins(formatCrypto(paid.amount), paid.assetSymbol)} kind="amount" />{' '}
      <span>
        <NetworkLabel view={view} offer={{ ...paid, assetNetwork: paid.network }} />
      </span>
    </Figure>
  );
}

function DecidingTransaction({ view }: { view: View }): JSX.Element | null {
  const { payment } = view.snapshot;
  return payment.txHash === undefined ? null : <Transaction view={view} hash={payment.txHash} href={payment.explorerTxUrl} />;
}

function Requested({ view }: { view: View }): JSX.Element | null {
  const { payment, paid } = view.snapshot;
  const order = orderAmount(view);
  if (payment.openAmount)
    return order === null ? null : (
      <Figure label={view.translate('result.minimum')} part="requested">
        {order}
      </Figure>
    );
  const requested = paid?.requested;
  return (
    <Figure label={view.translate('result.requested')} part="requested">
      {requested ? <Exact text={coins(formatCrypto(requested.amount), requested.assetSymbol)} kind="amount" /> : order} {requested && <span>{order}</span>}
    </Figure>
  );
}

/** A transaction that the payer can look at where everybody can, and tell others of; the sandbox's are on no network. */
function Transaction({ view, hash, href }: { view: View; hash: string; href: string | undefined }): JSX.Element {
  const isPublic = href !== undefined && href !== '' && !view.snapshot.payment.isSandbox;
  return (
    <Figure label={view.translate('result.transaction')} part="transaction">
      <Exact text={hash} kind="code" />
      <CopyButton view={view} target="transaction" text={hash} />
      {isPublic && (
        <OutsideLink view={view} href={href}>
          {view.translate('result.view')}
        </OutsideLink>
      )}
    </Figure>
  );
}

/** The deadline passed and nothing was seen; the networks' indexers are asked before that is final (decisions 4). */
export function Checking({ view }: { view: View }): JSX.Element {
  return (
    <div class="outcome">
      <p>{view.translate('checking.body')}</p>
      <dl class="figures">
        <PaymentIdFigure view={view} />
      </dl>
      <div class="buttons">
        <ReturnLink view={view} />
      </div>
    </div>
  );
}

/** S10 and S11: those who have not paid and those who have are told apart (ux C9). */
export function Expired({ view }: { view: View }): JSX.Element {
  const { snapshot, translate, state, language, timeZone, now } = view;
  const merchant = snapshot.merchant.name;
  const time = formatClock(Date.parse(snapshot.graceEndsAt), language.tag, timeZone, { now });
  return (
    <div class="outcome">
      {state === 'expired-grace' ? (
        <div class="cases">
          <section>
            <h2>{translate('expired-grace.unpaid-title')}</h2>
            <p>{translate('expired-grace.unpaid', { merchant })}</p>
          </section>
          <section>
            <h2>{translate('expired-grace.sent-title')}</h2>
            <p>{translate('expired-grace.sent', { time })}</p>
          </section>
        </div>
      ) : (
        <p>{translate('expired.body', { merchant })}</p>
      )}
      <dl class="figures">
        <PaymentIdFigure view={view} />
      </dl>
      <div class="buttons">
        <ReturnLink view={view} look="button button-main" />
        {state === 'expired' && <ContactLink view={view} text="contact.now" look="button" />}
      </div>
    </div>
  );
}
