import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { formatFiat } from '#api/page/fiat.ts';
import { formatCrypto, minimumInAsset } from './amounts.ts';
import { AssetLabel, NetworkLabel } from './asset-label.tsx';
import { coins, networkName } from './asset-name.ts';
import { Changing } from './changing.tsx';
import { Address, CopyButton, Exact } from './figures.tsx';
import { Icon } from '#api/page/icons.tsx';
import { insteadOf, ownHref } from './links.tsx';
import { alternativePayload, qrPayload } from './payment-uri.ts';
import { QrCode } from '../../page/qr.tsx';
import { sentence } from '#api/page/sentence.ts';
import type { Offer } from './snapshot.ts';
import { ENDING_MS } from './state.ts';
import { formatClock, formatRemaining } from './times.ts';
import { networkOf, offerName, type View } from './view.ts';
import { walletLinks } from './wallet-links.ts';

/** An offer with its address. */
type Watched = Offer & { depositAddress: string };

/** S3, S3b and S1o: how much of what, where to, until when. */
export function Pay({ view, offer }: { view: View; offer: Offer }): JSX.Element | null {
  const { snapshot, translate } = view;
  if (offer.depositAddress === undefined) return null;
  const watched = { ...offer, depositAddress: offer.depositAddress };
  const { openAmount, isSandbox } = snapshot.payment;
  return (
    <div class="pay">
      <div class="pay-what">
        {openAmount ? <AnyAmount view={view} offer={watched} /> : <ExactAmount view={view} offer={watched} />}
        <p class="notice notice-warning" data-part="network-warning">
          <Icon name="alert" />
          <span>{sentence(translate, 'pay.warning', { asset: <AssetLabel view={view} offer={offer} /> })}</span>
        </p>
      </div>
      <Code view={view} offer={watched} />
      <div class="pay-where">
        <h3>{translate('address.label')}</h3>
        <p class="address-box" data-part="address">
          <Address address={watched.depositAddress} />
        </p>
        <CopyButton view={view} target="address" text={watched.depositAddress} />
        <Wallets view={view} offer={watched} />
        {!openAmount && !isSandbox && <p class="hint">{translate('pay.exchange', { amount: coins(formatCrypto(offer.totalValue), offer.assetSymbol) })}</p>}
      </div>
      <Timer view={view} />
    </div>
  );
}

function ExactAmount({ view, offer }: { view: View; offer: Watched }): JSX.Element {
  const amount = coins(formatCrypto(offer.totalValue), offer.assetSymbol);
  return (
    <>
      <h2 class="send">
        {sentence(view.translate, 'pay.send', {
          amount: <Exact text={amount} part="amount" kind="amount" />,
          network: <NetworkLabel view={view} offer={offer} />,
        })}
      </h2>
      <CopyButton view={view} target="amount" text={offer.totalValue} />
    </>
  );
}

function AnyAmount({ view, offer }: { view: View; offer: Watched }): JSX.Element {
  const { translate, snapshot, language } = view;
  const minimum = snapshot.payment.minAmountUsd;
  return (
    <>
      <h2 class="send">{sentence(translate, 'pay.send-open', { network: <NetworkLabel view={view} offer={offer} /> }, { symbol: offer.assetSymbol })}</h2>
      <p data-part="rate">
        {minimum === undefined
          ? translate('open.rate-any')
          : translate('open.rate', {
              min: formatFiat(minimum, 'USD', language.tag),
              amount: coins(formatCrypto(minimumInAsset(minimum, offer.assetPriceUsd, offer.assetDecimals)), offer.assetSymbol),
            })}
      </p>
    </>
  );
}

/** Back to the chooser, where there is a choice. */
export function ChooseAgain({ view }: { view: View }): JSX.Element | null {
  if (view.snapshot.payment.offers.length < 2) return null;
  return (
    <a class="quiet" href={ownHref(view, 'choose')} data-part="choose-again" onClick={view.actions ? insteadOf(() => view.actions?.choose(true)) : undefined}>
      {view.translate('choose.again')}
    </a>
  );
}

/** The code, or what stands for it where nothing can be sent (ux C13). */
function Code({ view, offer }: { view: View; offer: Watched }): JSX.Element {
  const { snapshot, translate } = view;
  const { openAmount, isSandbox } = snapshot.payment;
  if (isSandbox)
    return (
      <p class="pay-code code-panel" data-part="qr-panel">
        <Icon name="flask" />
        {translate('test-mode.panel')}
      </p>
    );
  const network = networkOf(view, offer.assetNetwork);
  const options = { openAmount, qrMode: snapshot.qrMode };
  const label = codeLabel(view, offer);
  const other = alternativePayload(offer, network, options);
  const note = <p class="hint">{translate('qr.with-amount-note')}</p>;
  return (
    <div class="pay-code">
      <p class="hint">{translate(openAmount ? 'pay.how-open' : 'pay.how')}</p>
      <div class="code" data-part="qr">
        <SteadyCode payload={qrPayload(offer, network, options) ?? offer.depositAddress} label={label} />
      </div>
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

function Wallets({ view, offer }: { view: View; offer: Watched }): JSX.Element | null {
  const { payment, merchant } = view.snapshot;
  const links = payment.isSandbox ? [] : walletLinks(offer, networkOf(view, offer.assetNetwork), { openAmount: payment.openAmount, merchant: merchant.name });
  if (links.length === 0) return null;
  return (
    <div class="wallets" data-part="wallets">
      <h3>{view.translate('wallet.title')}</h3>
      <div class="buttons">
        {links.map(({ name, href }) => (
          <a class="button button-small" href={href} rel="noreferrer noopener" key={href}>
            <Icon name="wallet" />
            {name === null ? view.translate('wallet.any') : view.translate('wallet.open', { wallet: name })}
          </a>
        ))}
      </div>
    </div>
  );
}

/** Until when, as a time of day first; silent by itself, the notices of the last minutes are spoken elsewhere (ux 3). */
function Timer({ view }: { view: View }): JSX.Element {
  const { snapshot, translate, now, language, timeZone, state } = view;
  const { openAmount } = snapshot.payment;
  const expiresAt = Date.parse(snapshot.payment.expiresAt);
  const ending = state === 'ending' || (openAmount && expiresAt - now <= ENDING_MS);
  return (
    <div class={ending ? 'timer timer-ending' : 'timer'}>
      <p role="timer" data-part="timer">
        <Icon name="clock" />
        <span>{translate(openAmount ? 'timer.open' : 'timer.held', { time: formatClock(expiresAt, language.tag, timeZone, { now }) })}</span>{' '}
        <span class="time-left">
          <Changing text={formatRemaining(expiresAt - now, translate)} />
        </span>
      </p>
      {ending && <p data-part="ending">{translate(openAmount ? 'timer.ending-open' : 'timer.ending')}</p>}
    </div>
  );
}
