import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import { visibleText } from '#shared/core/visible-text.ts';
import { ActForm } from './act-form.tsx';
import type { NewCashoutScreen, ReviewCashoutScreen, Surroundings } from './model.ts';
import { Address, Coins, Fact, Facts, less, Moment, networkTitle } from './parts.tsx';
import { sentence } from '#api/page/sentence.ts';
import { useTexts } from './texts.ts';

/** The first step of a cashout: which coins, how many, and where to. */
export function NewCashout({ screen, place }: { screen: NewCashoutScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { enabled, assets, book, fields } = screen;
  if (!enabled || assets.length === 0)
    return (
      <section class="card empty">
        <h2>{enabled ? t('new-cashout.empty-title') : t('new-cashout.disabled-title')}</h2>
        <p>{enabled ? t('new-cashout.empty') : t('new-cashout.disabled')}</p>
        <a class="button" href={`${place.href}/balances`}>
          {t('section.balances')}
        </a>
      </section>
    );
  return (
    <form class="card form" method="post" action={`${place.href}/cashouts/review`}>
      <fieldset class="choices">
        <legend>{t('new-cashout.coin')}</legend>
        {assets.map(({ assetId, symbol, networkName, totalAvailable }, at) => (
          <label class="choice">
            <input type="radio" name="assetId" value={assetId} required checked={fields.assetId === assetId || (fields.assetId === undefined && at === 0)} />
            <span>
              {symbol} <span class="hint">{networkTitle(place, networkName)}</span>
            </span>
            <span class="figure">{totalAvailable}</span>
          </label>
        ))}
      </fieldset>
      <label class="field">
        <span>{t('cashouts.amount')}</span>
        <input name="amount" inputMode="decimal" autocomplete="off" maxLength={80} required value={fields.amount} placeholder="100.00" />
        <span class="hint">{t('new-cashout.amount-hint')}</span>
      </label>
      <button class="button button-small" type="submit" formmethod="get" formaction={`${place.href}/cashouts/new`} formnovalidate name="max" value="1">
        {t('new-cashout.max')}
      </button>
      <label class="field">
        <span>{t('cashouts.destination')}</span>
        <input class="code" name="address" autocomplete="off" spellcheck={false} maxLength={200} required value={fields.address} list="book" />
        <span class="hint">{t('new-cashout.address-hint')}</span>
      </label>
      <label class="field">
        <span>{t('new-cashout.label')}</span>
        <input name="label" maxLength={255} autocomplete="off" value={fields.label} />
        <span class="hint">{t('new-cashout.label-hint')}</span>
      </label>
      <datalist id="book">
        {book.map(({ label, address }) => (
          <option value={address}>{label}</option>
        ))}
      </datalist>
      <button class="button button-main" type="submit">
        {t('new-cashout.review')}
      </button>
    </form>
  );
}

/** The last step: everything that will happen, what is unusual about it, and the proof that somebody wants it. */
export function ReviewCashout({ screen, place }: { screen: ReviewCashoutScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { review, fields } = screen;
  return (
    <>
      {review.like !== null && (
        <p class="notice notice-error" role="alert">
          {sentence(t, 'review-cashout.like', { address: <code>{review.like.address}</code> }, { label: visibleText(review.like.label) })}
        </p>
      )}
      {!review.sufficient && <p class="notice notice-error">{t('review-cashout.fee-too-high')}</p>}
      {!review.covered && <p class="notice">{t('review-cashout.short', { available: `${review.available} ${review.assetName}` })}</p>}
      <section class="card">
        <Facts>
          <Fact name={t('cashouts.amount')} strong>
            <Coins amount={review.amount} asset={review.assetName} />
            {review.amountUsd !== null && <span class="hint below">{formatFiat(review.amountUsd, 'USD', 'en')}</span>}
          </Fact>
          <Fact name={t('review-cashout.fee')}>
            <span class="figure">{less(review.feeLocked)}</span>
          </Fact>
          <Fact name={t('review-cashout.arrives')} strong>
            <Coins amount={review.netAmount} asset={review.assetName} />
          </Fact>
          <Fact name={t('parts.network')}>{networkTitle(place, review.network)}</Fact>
          <Fact name={t('cashouts.destination')}>
            <Address text={review.address} />
          </Fact>
          <Fact name={t('review-cashout.known')}>
            {review.known === null ? (
              <strong class="warning">{t('review-cashout.first-time')}</strong>
            ) : review.known.lastUsedAt === null ? (
              t('review-cashout.never-paid', { label: review.known.label })
            ) : (
              sentence(t, 'review-cashout.paid-before', { moment: <Moment at={review.known.lastUsedAt} show="day" /> }, { label: review.known.label })
            )}
          </Fact>
          <Fact name={t('review-cashout.then')}>
            {review.refusedBy !== null
              ? t('review-cashout.refused', { number: review.refusedBy })
              : review.people > 0
                ? t('review-cashout.waits', { people: review.people })
                : t('review-cashout.goes')}
          </Fact>
        </Facts>
        <ActForm place={place} act="settlement-create" fields={fields} proved look="main" label={t('review-cashout.confirm')} />
        <form method="get" action={`${place.href}/cashouts/new`}>
          {Object.entries(fields).map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          <button class="button button-small" type="submit">
            {t('review-cashout.back')}
          </button>
        </form>
      </section>
    </>
  );
}
