import type { JSX } from 'preact';
import { sentence } from '#api/page/sentence.ts';
import type { EntryScreen } from './model.ts';
import { Code } from './once.tsx';
import { PasskeyProblem } from './passkey-problem.tsx';
import { ProviderSignIn } from './provider.tsx';
import { Role } from './parts.tsx';
import { useTexts } from './texts.ts';

/** Pages by which somebody comes in: with a passkey, by an invitation, to one of their places. */
export function Entry({ screen, person }: { screen: EntryScreen; person: string | null }): JSX.Element {
  const t = useTexts();
  switch (screen.kind) {
    case 'sign-in':
      return (
        <>
          <form class="card" method="post" action="/sign-in" data-passkey="get">
            <p>{t('entry.passkey')}</p>
            <Passkey label={t('entry.sign-in-passkey')} />
            <p class="hint">{t('entry.no-passkey')}</p>
          </form>
          {screen.provider !== null && <ProviderSignIn name={screen.provider} />}
          <details class="card">
            <summary>{t('entry.by-authenticator')}</summary>
            <form method="post" action="/sign-in/mail">
              <label class="field">
                <span>{t('entry.email')}</span>
                <input name="email" type="email" autocomplete="email" maxLength={254} required />
              </label>
              <button class="button" type="submit">
                {t('entry.mail-link')}
              </button>
            </form>
          </details>
        </>
      );
    case 'link-sent':
      return (
        <div class="card">
          <p>{t('entry.link-sent')}</p>
          <p class="hint">{t('entry.link-sent-hint')}</p>
          <a class="button" href="/sign-in">
            {t('entry.back')}
          </a>
        </div>
      );
    case 'link':
      return (
        <form class="card" method="post" action={screen.action}>
          <p>{sentence(t, 'entry.sign-in-as', { email: <strong>{screen.email}</strong> })}</p>
          <Code label={t('code.label')} />
          <button class="button button-main" type="submit">
            {t('entry.sign-in')}
          </button>
        </form>
      );
    case 'invitation':
      if (screen.by !== 'passkey')
        return (
          <form class="card" method="post" action={screen.action}>
            <Invited screen={screen} />
            {screen.by === 'session' ? (
              <button class="button button-main" type="submit">
                {t('entry.accept')}
              </button>
            ) : (
              <>
                <p>{t('entry.known-already')}</p>
                <a class="button button-main" href="/sign-in">
                  {t('entry.sign-in')}
                </a>
              </>
            )}
          </form>
        );
      return (
        <form class="card" method="post" action={screen.action} data-passkey="create">
          {screen.role === null ? <p>{sentence(t, 'entry.recover', { email: <strong>{screen.email}</strong> })}</p> : <Invited screen={screen} />}
          <Passkey label={screen.role === null ? t('entry.make-passkey') : t('entry.accept-passkey')} />
          <p class="hint">{t('entry.no-password')}</p>
        </form>
      );
    case 'places':
      return screen.places.length === 0 ? (
        <p class="card">{t('entry.no-places', { person: person ?? '' })}</p>
      ) : (
        <ul class="places">
          {screen.places.map(({ href, name, role }) => (
            <li class="card">
              <h2>
                <a href={href}>{name ?? t('entry.this-deployment')}</a>
              </h2>
              <p class="hint">{sentence(t, 'entry.your-role', { role: <Role name={role} /> })}</p>
            </li>
          ))}
        </ul>
      );
  }
}

/** Who becomes what, and where. */
function Invited({ screen: { email, role, place } }: { screen: Extract<EntryScreen, { kind: 'invitation' }> }): JSX.Element {
  const t = useTexts();
  const elements = { email: <strong>{email}</strong>, role: <strong>{role !== null && <Role name={role} />}</strong> };
  return (
    <p>{place === null ? sentence(t, 'entry.invited-deployment', elements) : sentence(t, 'entry.invited', { ...elements, place: <strong>{place}</strong> })}</p>
  );
}

function Passkey({ label }: { label: string }): JSX.Element {
  const t = useTexts();
  return (
    <>
      <input type="hidden" name="credential" />
      <button class="button button-main" type="submit">
        {label}
      </button>
      <PasskeyProblem />
      <noscript>
        <p class="notice notice-warning">{t('passkey.needs-scripts')}</p>
      </noscript>
    </>
  );
}
