import type { JSX } from 'preact';
import { ActForm } from './act-form.tsx';
import type { LogoReviewScreen, SettingsScreen, Surroundings } from './model.ts';
import { Fact, Facts } from './parts.tsx';
import { useTexts } from './texts.ts';

interface Of {
  screen: SettingsScreen;
  place: Surroundings;
}

/** Moments of a payment that are shown, by the names of their scenes. */
const SCENES = ['pay', 'choose', 'paid', 'short'] as const;

/** What a gateway's pages look like, what becomes of its accent, and its logo. */
export function BrandingAside({ screen, place }: Of): JSX.Element {
  const t = useTexts();
  const { logo, name } = screen.branding;
  return (
    <section class="card" aria-labelledby="looks">
      <h2 id="looks">{t('settings.looks')}</h2>
      <Previews screen={screen} place={place} />
      <h3>{t('settings.logo')}</h3>
      {logo !== null && (
        <div class="logo-now">
          <img src={`${place.href}/settings/logo?v=${logo.slice(0, 16)}`} alt={t('settings.logo-of', { name })} width="64" height="64" />
          <ActForm place={place} act="logo-remove" fields={{ seen: logo }} proved look="small" label={t('settings.logo-remove')} />
        </div>
      )}
      <form class="form" method="post" action={`${place.href}/settings/logo`} enctype="multipart/form-data">
        <label class="field">
          <span>{t('settings.logo-file')}</span>
          <input type="file" name="logo" accept="image/png,image/webp" required />
          <span class="hint">{t('settings.logo-hint')}</span>
        </label>
        <button class="button" type="submit">
          {t('settings.logo-look')}
        </button>
      </form>
    </section>
  );
}

/** The checkout itself, drawn with what is filled in: the first moment is open, the others unfold. */
export function Previews({ screen: { branding }, place }: Of): JSX.Element {
  const t = useTexts();
  const { accents, draft } = branding;
  return (
    <div class="stack">
      {accents.map(({ scheme, accent, contrast, corrected }) => (
        <p class={corrected ? 'notice notice-warning' : 'notice notice-quiet'}>
          {corrected ? t(`settings.accent-${scheme}-corrected`, { contrast, accent }) : t(`settings.accent-${scheme}`, { contrast })}
        </p>
      ))}
      {SCENES.map((scene, at) => (
        <details class="preview" open={at === 0}>
          <summary>{t(`settings.scene-${scene}`)}</summary>
          <iframe
            title={t(`settings.scene-${scene}`)}
            src={`${place.href}/settings/preview?scene=${scene}${draft === '' ? '' : `&${draft}`}`}
            sandbox="allow-same-origin"
            loading="lazy"
          />
        </details>
      ))}
    </div>
  );
}

/** A logo as it was sent, and the proof that somebody wants it. */
export function LogoReview({ screen, place }: { screen: LogoReviewScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { type, width, height, bytes, image, seen } = screen;
  return (
    <section class="card card-act">
      <div class="logo-now">
        {seen !== null && <img src={`${place.href}/settings/logo?v=${seen.slice(0, 16)}`} alt={t('settings.logo-before')} width="64" height="64" />}
        <img src={`data:${type};base64,${image}`} alt={t('settings.logo-after')} width="64" height="64" />
      </div>
      <Facts>
        <Fact name={t('settings.logo-kind')}>{type === 'image/png' ? t('settings.logo-png') : t('settings.logo-webp')}</Fact>
        <Fact name={t('settings.logo-size')}>{t('settings.logo-sides', { width, height, bytes })}</Fact>
      </Facts>
      <ActForm place={place} act="logo-change" fields={{ image, seen: seen ?? undefined }} proved look="main" label={t('settings.logo-save')} />
      <a href={`${place.href}/settings`}>{t('settings.leave')}</a>
    </section>
  );
}
