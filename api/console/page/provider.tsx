import type { JSX } from 'preact';
import { sentence } from '#api/page/sentence.ts';
import type { ProfileScreen, ProviderScreen } from './model.ts';
import { Moment } from './parts.tsx';
import { PasskeyProblem } from './passkey-problem.tsx';
import { useTexts } from './texts.ts';

/** The way in by an identity provider, beside passkeys. */
export function ProviderSignIn({ name }: { name: string }): JSX.Element {
  const t = useTexts();
  return (
    <p class="card">
      <a class="button" href="/sign-in/provider">
        {t('provider.sign-in', { name })}
      </a>
    </p>
  );
}

/** Where a person goes on to the provider that is to sign them in; a form cannot lead to another site. */
export function ProviderLeave({ screen: { url, name } }: { screen: ProviderScreen }): JSX.Element {
  const t = useTexts();
  return (
    <div class="card">
      <p>{t('provider.leave', { name })}</p>
      <a class="button button-main" href={url}>
        {t('provider.go-on', { name })}
      </a>
    </div>
  );
}

/** Whether the provider signs a person in, and how that is changed. */
export function ProviderCard({
  of: { name, since },
  proof,
}: {
  of: NonNullable<ProfileScreen['provider']>;
  /** What stands behind the change. */
  proof: JSX.Element;
}): JSX.Element {
  const t = useTexts();
  return (
    <section class="card" aria-labelledby="provider">
      <h2 id="provider">{name}</h2>
      <p data-part="provider">
        {since === null ? t('provider.not-connected', { name }) : sentence(t, 'provider.connected', { since: <Moment at={since} /> }, { name })}
      </p>
      <form method="post" action={since === null ? '/profile/provider' : '/profile/provider/remove'} data-passkey="prove">
        {proof}
        <button class="button" type="submit">
          {since === null ? t('provider.connect', { name }) : t('provider.disconnect', { name })}
        </button>
        <PasskeyProblem />
      </form>
    </section>
  );
}
