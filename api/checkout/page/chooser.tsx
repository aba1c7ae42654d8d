import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { formatFiat } from '#api/page/fiat.ts';
import { AssetLabel } from './asset-label.tsx';
import { bySize, inDollars } from './amounts.ts';
import { CoinMark } from './coin-mark.tsx';
import { PageFields } from './forms.tsx';
import { insteadOf, ownHref } from './links.tsx';
import { sentence } from '#api/page/sentence.ts';
import type { Offer } from './snapshot.ts';
import { networkOf, offerName, type View } from './view.ts';

/** From how many ways on there is a field to look for one. */
const MANY = 7;

/** An offer with what payers compare: dollars in all (null where the payer decides the amount), and seconds (null where nobody can say). */
interface Way {
  offer: Offer;
  usd: string | null;
  seconds: number | null;
}

/** The ways to pay, the cheapest first; those that cost the same, and all of an open amount, in the merchant's order. Pure. */
export function waysOf(view: View): Way[] {
  const { offers, openAmount } = view.snapshot.payment;
  const ways = offers.map((offer) => ({
    offer,
    usd: openAmount ? null : inDollars(offer.totalValue, offer.assetPriceUsd),
    seconds: networkOf(view, offer.assetNetwork).expectedSeconds,
  }));
  return openAmount ? ways : ways.sort((a, b) => bySize(a.usd ?? '0', b.usd ?? '0'));
}

/** S1: which coin, on which network; nothing is chosen for the payer unless there is one way only (ux C1). */
export function Chooser({ view }: { view: View }): JSX.Element {
  const { translate } = view;
  const ways = waysOf(view);
  const only = ways.length === 1 ? ways[0] : undefined;
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
      {only ? <OnlyWay view={view} way={only} /> : <Ways view={view} ways={ways} />}
      <div class="chooser-end">
        <button type="submit" class="button button-main">
          {only ? (
            <span>{sentence(translate, 'choose.continue-with', { asset: <AssetLabel view={view} offer={only.offer} /> })}</span>
          ) : (
            translate('choose.continue')
          )}
        </button>
      </div>
      {view.choosing && view.offer && (
        <a class="quiet" href={ownHref(view)} data-part="choose-back" onClick={view.actions ? insteadOf(() => view.actions?.choose(false)) : undefined}>
          {translate('choose.back')}
        </a>
      )}
    </form>
  );
}

function OnlyWay({ view, way }: { view: View; way: Way }): JSX.Element {
  return (
    <>
      <input type="hidden" name="offerId" value={way.offer.id} />
      <p class="way way-only">
        <WayFace view={view} way={way} />
      </p>
    </>
  );
}

function Ways({ view, ways }: { view: View; ways: Way[] }): JSX.Element {
  const { payment } = view.snapshot;
  const [sought, seek] = useState('');
  const found = (offer: Offer): boolean => offerName(view, offer).toLowerCase().includes(sought.trim().toLowerCase());
  const isAnyFound = ways.some(({ offer }) => found(offer));
  return (
    <fieldset class="ways">
      <legend>
        <h2>{view.translate('choose.title')}</h2>
        <span class="hint">{view.translate('choose.hint')}</span>
      </legend>
      {ways.length >= MANY && (
        <label class="seek needs-program">
          <span class="hidden-visually">{view.translate('choose.search')}</span>
          <input
            type="search"
            placeholder={view.translate('choose.search')}
            autocomplete="off"
            data-part="seek"
            onInput={(event) => seek(event.currentTarget.value)}
          />
        </label>
      )}
      {ways.map((way) => (
        <label class="way" key={way.offer.id} hidden={!found(way.offer)}>
          <input type="radio" name="offerId" value={way.offer.id} required defaultChecked={way.offer.id === payment.selectedOfferId} />
          <WayFace view={view} way={way} chips={chipsOf(way, ways)} />
        </label>
      ))}
      {!isAnyFound && <p class="hint">{view.translate('choose.none-found')}</p>}
    </fieldset>
  );
}

/** What sets one way apart from all others; nothing where several share it. */
function chipsOf(way: Way, ways: readonly Way[]): ('choose.cheapest' | 'choose.fastest')[] {
  const others = ways.filter((one) => one !== way);
  const isCheapest = way.usd !== null && others.every(({ usd }) => usd !== null && bySize(way.usd ?? '0', usd) < 0);
  const isFastest = way.seconds !== null && others.every(({ seconds }) => seconds === null || seconds > (way.seconds ?? 0));
  return [...(isCheapest ? (['choose.cheapest'] as const) : []), ...(isFastest ? (['choose.fastest'] as const) : [])];
}

function WayFace({ view, way: { offer, usd, seconds }, chips = [] }: { view: View; way: Way; chips?: ReturnType<typeof chipsOf> }): JSX.Element {
  const { translate, language } = view;
  const facts = [
    ...(usd === null ? [] : [translate('choose.about', { amount: formatFiat(usd, 'USD', language.tag) })]),
    ...(seconds === null ? [] : [seconds < 60 ? translate('choose.under-a-minute') : translate('choose.minutes', { count: Math.round(seconds / 60) })]),
  ];
  return (
    <>
      <CoinMark offer={offer} network={networkOf(view, offer.assetNetwork)} />
      <span class="way-words">
        <span class="way-name">
          <AssetLabel view={view} offer={offer} />
        </span>
        <span class="way-facts">
          {facts.length > 0 && <span>{facts.join(' · ')}</span>}
          {chips.map((chip) => (
            <span class="chip" key={chip}>
              {translate(chip)}
            </span>
          ))}
        </span>
      </span>
    </>
  );
}
