import type { JSX } from 'preact';
import { AssetLabel } from './asset-label.tsx';
import { coins } from './asset-name.ts';
import { formatCrypto } from './amounts.ts';
import { UNTRANSLATED } from './figures.tsx';
import { PageFields } from './forms.tsx';
import { CoinDisc } from '#api/page/icons.tsx';
import { insteadOf, ownHref } from './links.tsx';
import { sentence } from '#api/page/sentence.ts';
import type { Offer } from './snapshot.ts';
import type { View } from './view.ts';

/** S1: which coin, on which network; nothing is chosen for the payer unless there is one way only (ux C1). */
export function Chooser({ view }: { view: View }): JSX.Element {
  const { snapshot, translate } = view;
  const [first, ...others] = snapshot.payment.offers;
  const only = others.length === 0 ? first : undefined;
  return (
    <form
      class="chooser"
      method="post"
      action={view.path}
      data-part="chooser"
      onSubmit={(event) => {
        if (view.actions === null) return;
        event.preventDefault();
        const offerId = new FormData(event.currentTarget).get('offerId');
        if (typeof offerId === 'string') view.actions.select(offerId);
      }}
    >
      <PageFields view={view} action="select" />
      {only ? <OnlyWay view={view} offer={only} /> : <Ways view={view} />}
      <button type="submit" class="button button-main">
        {only ? <span>{sentence(translate, 'choose.continue-with', { asset: <AssetLabel view={view} offer={only} /> })}</span> : translate('choose.continue')}
      </button>
      {view.choosing && view.offer && (
        <a class="quiet" href={ownHref(view)} data-part="choose-back" onClick={view.actions ? insteadOf(() => view.actions?.choose(false)) : undefined}>
          {translate('choose.back')}
        </a>
      )}
    </form>
  );
}

function OnlyWay({ view, offer }: { view: View; offer: Offer }): JSX.Element {
  return (
    <>
      <input type="hidden" name="offerId" value={offer.id} />
      <p class="way way-only">
        <WayFace view={view} offer={offer} />
      </p>
    </>
  );
}

function Ways({ view }: { view: View }): JSX.Element {
  const { payment } = view.snapshot;
  return (
    <fieldset class="ways">
      <legend>
        <h2>{view.translate('choose.title')}</h2>
        <span class="hint">{view.translate('choose.hint')}</span>
      </legend>
      {payment.offers.map((offer) => (
        <label class="way" key={offer.id}>
          <input type="radio" name="offerId" value={offer.id} required defaultChecked={offer.id === payment.selectedOfferId} />
          <WayFace view={view} offer={offer} />
        </label>
      ))}
    </fieldset>
  );
}

function WayFace({ view, offer }: { view: View; offer: Offer }): JSX.Element {
  return (
    <>
      <CoinDisc assetSymbol={offer.assetSymbol} />
      <span class="way-name">
        <AssetLabel view={view} offer={offer} />
      </span>
      {!view.snapshot.payment.openAmount && (
        <bdi dir="ltr" {...UNTRANSLATED} class="way-amount">
          {coins(formatCrypto(offer.totalValue), offer.assetSymbol)}
        </bdi>
      )}
    </>
  );
}
