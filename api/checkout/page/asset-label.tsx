import type { JSX } from 'preact';
import { assetName, networkName, standardOf } from './asset-name.ts';
import { sentence } from '#api/page/sentence.ts';
import type { Offer } from './snapshot.ts';
import { networkOf, type View } from './view.ts';

/** What is named: an offer, or what was paid. */
type Named = Pick<Offer, 'assetSymbol' | 'assetType' | 'assetNetwork'>;

/** `assetName` for the eye: the standard's own name stays on one line. */
export function AssetLabel({ view, offer }: { view: View; offer: Named }): JSX.Element {
  const { translate, language } = view;
  const network = networkOf(view, offer.assetNetwork);
  const standard = standardOf(offer.assetType);
  if (standard === null) return <bdi dir={language.direction}>{assetName(translate, offer, network)}</bdi>;
  const values = { symbol: offer.assetSymbol, network: network.displayName };
  return <bdi dir={language.direction}>{sentence(translate, 'asset.token', { standard: <Unbroken text={standard} /> }, values)}</bdi>;
}

/** Coin and network without the standard, where that stands beside it: `USDT on TRON`. */
export function ShortLabel({ view, offer }: { view: View; offer: Offer }): JSX.Element {
  const { displayName, family } = networkOf(view, offer.assetNetwork);
  return (
    <bdi dir={view.language.direction}>
      {view.translate(family === 'bitcoin' ? 'asset.own-chain' : 'asset.coin', { symbol: offer.assetSymbol, network: displayName })}
    </bdi>
  );
}

/** `networkName` for the eye. */
export function NetworkLabel({ view, offer }: { view: View; offer: Omit<Named, 'assetSymbol'> }): JSX.Element {
  const { translate, language } = view;
  const network = networkOf(view, offer.assetNetwork);
  const standard = standardOf(offer.assetType);
  return (
    <bdi dir={language.direction} class="network">
      {standard === null
        ? networkName(translate, offer.assetType, network)
        : sentence(translate, 'network.token', { standard: <Unbroken text={standard} /> }, { network: network.displayName })}
    </bdi>
  );
}

function Unbroken({ text }: { text: string }): JSX.Element {
  return (
    <bdi dir="ltr" class="unbroken">
      {text}
    </bdi>
  );
}
