import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { formatFiat } from '#api/page/fiat.ts';
import { Icon } from '#api/page/icons.tsx';
import { QrCode } from '../../page/qr.tsx';
import { formatCrypto, inDollars, isZero, minimumInAsset, sumOf } from './amounts.ts';
import { NetworkLabel, ShortLabel } from './asset-label.tsx';
import { coins, coinsInSentence, networkName } from './asset-name.ts';
import { Changing } from './changing.tsx';
import { CoinMark } from './coin-mark.tsx';
import { Address, CopyRow, Exact } from './figures.tsx';
import { insteadOf, ownHref } from './links.tsx';
import { alternativePayload, qrPayload } from './payment-uri.ts';
import { sentence } from '#api/page/sentence.ts';
import type { Offer } from './snapshot.ts';
import { ENDING_MS } from './state.ts';
import { formatClock, formatRemaining } from './times.ts';
import { networkOf, offerName, type View } from './view.ts';
import { walletLinks } from './wallet-links.ts';

/** An offer with its address. */
type Watched = Offer & { depositAddress: string };

/** S3, S3b and S1o: how much of what, and where to; in the sandbox how much only, since there is no address (ux C13). */
export function Pay({ view, offer }: { view: View; offer: Offer }): JSX.Element | null {
  const { snapshot, translate } = view;
  if (offer.depositAddress === undefined) return null;
  const watched = { ...offer, depositAddress: offer.depositAddress };
  const { openAmount, isSandbox } = snapshot.payment;
  return (
    <div class="pay">
      <div class="box">
        {openAmount ? <AnyAmount view={view} offer={watched} /> : <ExactAmount view={view} offer={watched} />}
        {!isSandbox && (
          <div class="row">
            <div class="row-words">
              <p class="row-label">{sentence(translate, 'pay.address', { network: <NetworkLabel view={view} offer={offer} /> })}</p>
              <p dir="ltr" data-part="address">
                <Address address={watched.depositAddress} />
              </p>
            </div>
            <CopyRow view={view} target="address" text={watched.depositAddress} />
          </div>
        )}
      </div>
      {isSandbox ? (
        <p class="hint" data-part="qr-panel">
          {translate('test-mode.panel')}
        </p>
      ) : (
        <>
          <p class="only" data-part="network-warning">
            <Icon name="alert" />
            <span>{sentence(translate, 'pay.warning', { asset: <ShortLabel view={view} offer={offer} /> })}</span>
          </p>
          <Injected view={view} />
          <Code view={view} offer={watched} />
          <Wallets view={view} offer={watched} />
        </>
      )}
    </div>
  );
}

/** What is chosen, and the way back to the choice where there is one. */
export function Chosen({ view, offer }: { view: View; offer: Offer }): JSX.Element {
  return (
    <div class="chosen">
      <CoinMark offer={offer} network={networkOf(view, offer.assetNetwork)} />
      <p>
        <ShortLabel view={view} offer={offer} />
      </p>
      {view.snapshot.payment.offers.length > 1 && (
        <a
          class="change"
          href={ownHref(view, 'choose')}
          data-part="choose-again"
          onClick={view.actions ? insteadOf(() => view.actions?.choose(true)) : undefined}
        >
          {view.translate('choose.change')}
          <span class="hidden-visually"> {view.translate('choose.again')}</span>
        </a>
      )}
    </div>
  );
}

function ExactAmount({ view, offer }: { view: View; offer: Watched }): JSX.Element {
  return (
    <div class="row">
      <div class="row-words">
        <h2 class="row-label">{view.translate('pay.send')}</h2>
        <p class="send">
          <Exact text={coins(formatCrypto(offer.totalValue), offer.assetSymbol)} part="amount" kind="amount" />
        </p>
        <p class="row-label" data-part="sum">
          {sumLine(view, offer)}
        </p>
      </div>
      <CopyRow view={view} target="amount" text={offer.totalValue} />
    </div>
  );
}

/** How the amount came about: with the fees that the payer bears, else at which price. */
function sumLine({ translate, snapshot: { payment }, language }: View, offer: Offer): string {
  const dollars = (usd: string): string => formatFiat(usd, 'USD', language.tag);
  const [network, service] = [!isZero(offer.txFee), !isZero(offer.commissionFee)];
  if (!network && !service) return translate('details.rate-value', { symbol: offer.assetSymbol, price: dollars(offer.assetPriceUsd) });
  const values = { amount: dollars(payment.amountUsd), fee: dollars(inDollars(sumOf(offer.txFee, offer.commissionFee), offer.assetPriceUsd)) };
  return translate(network && service ? 'pay.sum-fees' : network ? 'pay.sum-network' : 'pay.sum-service', values);
}

function AnyAmount({ view, offer }: { view: View; offer: Watched }): JSX.Element {
  const { translate, snapshot, language } = view;
  const minimum = snapshot.payment.minAmountUsd;
  return (
    <div class="row">
      <p class="hint" data-part="rate">
        {minimum === undefined
          ? translate('open.rate-any')
          : translate('open.rate', {
              min: formatFiat(minimum, 'USD', language.tag),
              amount: coinsInSentence(formatCrypto(minimumInAsset(minimum, offer.assetPriceUsd, offer.assetDecimals)), offer.assetSymbol),
            })}
      </p>
    </div>
  );
}

/** What pays from an account that somebody else keeps have to see to, in three steps. */
export function FromExchange({ view, offer }: { view: View; offer: Offer }): JSX.Element {
  const { translate } = view;
  return (
    <details class="details" data-part="exchange">
      <summary>{translate('exchange.title')}</summary>
      <ol class="steps">
        <li>{sentence(translate, 'exchange.network', { network: <NetworkLabel view={view} offer={offer} /> }, { symbol: offer.assetSymbol })}</li>
        <li>{translate('exchange.amount', { amount: coinsInSentence(formatCrypto(offer.totalValue), offer.assetSymbol) })}</li>
        <li>{translate('exchange.memo')}</li>
      </ol>
    </details>
  );
}

function Code({ view, offer }: { view: View; offer: Watched }): JSX.Element {
  const { snapshot, translate } = view;
  const { openAmount } = snapshot.payment;
  const network = networkOf(view, offer.assetNetwork);
  const options = { openAmount, qrMode: snapshot.qrMode };
  const label = codeLabel(view, offer);
  const other = alternativePayload(offer, network, options);
  const note = <p class="hint">{translate('qr.with-amount-note')}</p>;
  return (
    <div class="pay-code">
      <div class="code" data-part="qr">
        <SteadyCode payload={qrPayload(offer, network, options) ?? offer.depositAddress} label={label} />
      </div>
      <p class="hint">{translate('pay.scan')}</p>
      {other !== null && snapshot.qrMode === 'URI' && !openAmount && note}
      {other !== null && (
        <details class="other-code" data-part="uri-toggle">
          <summary>{translate(snapshot.qrMode === 'URI' ? 'qr.address-only' : 'qr.with-amount')}</summary>
          <div class="code" data-part="qr-other">
            <SteadyCode payload={other} label={label} />
          </div>
          {snapshot.qrMode === 'SAFE' && note}
        </details>
      )}
    </div>
  );
}

/** Drawn again only for another payload: the page itself is drawn every second. */
function SteadyCode({ payload, label }: { payload: string; label: string }): JSX.Element {
  return useMemo(() => <QrCode payload={payload} label={label} />, [payload, label]);
}

function codeLabel(view: View, offer: Watched): string {
  const ending = offer.depositAddress.slice(-5);
  if (view.snapshot.payment.openAmount) return view.translate('qr.label-address', { asset: offerName(view, offer), ending });
  const network = networkName(view.translate, offer.assetType, networkOf(view, offer.assetNetwork));
  return view.translate('qr.label', { amount: coins(formatCrypto(offer.totalValue), offer.assetSymbol), network, ending });
}

/** The wallets of this browser, one press from having the exact transfer in their window. */
function Injected({ view }: { view: View }): JSX.Element | null {
  const { wallets, walletAsked, translate, actions } = view;
  if (walletAsked === 'sent')
    return (
      <p class="notice notice-quiet" data-part="wallet-sent">
        {translate('wallet.sent')}
      </p>
    );
  if (wallets.length === 0) return null;
  return (
    <div class="injected" data-part="injected">
      {wallets.map(({ id, name }, index) => (
        <button
          type="button"
          class={index === 0 ? 'button button-main' : 'button'}
          key={id}
          aria-disabled={walletAsked === 'asking' ? 'true' : undefined}
          onClick={() => actions?.payWith(id)}
        >
          <Icon name="wallet" />
          <Changing
            text={
              walletAsked === 'asking' ? translate('wallet.asking') : name === null ? translate('wallet.pay-any') : translate('wallet.pay', { wallet: name })
            }
          />
        </button>
      ))}
    </div>
  );
}

/** For devices that are touched: nobody scans the code of the phone in their hand. */
function Wallets({ view, offer }: { view: View; offer: Watched }): JSX.Element | null {
  const { payment, merchant } = view.snapshot;
  const links = walletLinks(offer, networkOf(view, offer.assetNetwork), { openAmount: payment.openAmount, merchant: merchant.name });
  if (links.length === 0) return null;
  return (
    <div class="wallets" data-part="wallets">
      {links.map(({ name, href }, index) => (
        <a class={index === 0 && view.wallets.length === 0 ? 'button button-main' : 'button'} href={href} rel="noreferrer noopener" key={href}>
          <Icon name="wallet" />
          {name === null ? view.translate('wallet.any') : view.translate('wallet.open', { wallet: name })}
        </a>
      ))}
    </div>
  );
}

/** True within the last five minutes of a deadline that is shown. Pure. */
export function isEnding({ snapshot, now, state }: View): boolean {
  return state === 'ending' || (state === 'open' && Date.parse(snapshot.payment.expiresAt) - now <= ENDING_MS);
}

/** How long, and until when; silent by itself, the notices of the last minutes are spoken elsewhere (ux 3). */
export function Timer({ view }: { view: View }): JSX.Element {
  const { snapshot, translate, now, language, timeZone } = view;
  const { openAmount } = snapshot.payment;
  const expiresAt = Date.parse(snapshot.payment.expiresAt);
  const left = Math.max(0, expiresAt - now);
  const time = formatClock(expiresAt, language.tag, timeZone, { now });
  if (!isEnding(view))
    return (
      <p class="timer" role="timer" data-part="timer">
        <span class="time-left">
          <Changing text={formatRemaining(left, translate)} />
        </span>{' '}
        <span>{translate('timer.until', { time })}</span>
      </p>
    );
  return (
    <p class="timer" role="timer" data-part="timer">
      <Changing text={translate(openAmount ? 'timer.ending-open' : 'timer.ending', { left: formatRemaining(left, translate), time })} look="time-left" />
    </p>
  );
}
