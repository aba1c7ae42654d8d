import type { JSX } from 'preact';
import { sentence } from '#api/page/sentence.ts';
import type { ProfileScreen } from './model.ts';
import { Code } from './once.tsx';
import { Moment } from './parts.tsx';
import { PasskeyProblem } from './passkey-problem.tsx';
import { ProviderCard } from './provider.tsx';
import { useTexts } from './texts.ts';

/** What stands behind a change of how somebody signs in: a passkey they have, or a code where they have an authenticator. */
function Proof({ has }: { has: boolean }): JSX.Element {
  const t = useTexts();
  return (
    <>
      <input type="hidden" name="proof" />
      {has && (
        <details>
          <summary>{t('profile.no-passkey-here')}</summary>
          <label class="field">
            <span>{t('code.label')}</span>
            <input name="code" autocomplete="one-time-code" maxLength={40} spellcheck={false} />
          </label>
        </details>
      )}
    </>
  );
}

function Authenticator({ of: { since, codesLeft, waits } }: { of: ProfileScreen['authenticator'] }): JSX.Element {
  const t = useTexts();
  return (
    <section class="card" aria-labelledby="authenticator">
      <h2 id="authenticator">{t('profile.authenticator')}</h2>
      {since === null ? (
        <p>{t('profile.authenticator-none')}</p>
      ) : (
        <p data-part="authenticator">{sentence(t, 'profile.authenticator-since', { moment: <Moment at={since} /> }, { count: codesLeft })}</p>
      )}
      {waits && (
        <form method="post" action="/profile/authenticator/start">
          <Code label={t('profile.authenticator-begun')} />
          <button class="button" type="submit">
            {t('once.use')}
          </button>
        </form>
      )}
      <form method="post" action="/profile/authenticator" data-passkey="prove">
        <Proof has={since !== null} />
        <button class="button" type="submit">
          {since === null ? t('profile.authenticator-set-up') : t('profile.authenticator-another')}
        </button>
        <PasskeyProblem />
      </form>
      {since !== null && (
        <form method="post" action="/profile/authenticator/remove" data-passkey="prove">
          <Proof has />
          <button class="button button-small" type="submit">
            {t('profile.authenticator-remove')}
          </button>
          <PasskeyProblem />
        </form>
      )}
    </section>
  );
}

/** What a person is mailed about one gateway. */
function Notifications({ of: { gatewayId, name, kinds } }: { of: ProfileScreen['notifications'][number] }): JSX.Element {
  const t = useTexts();
  return (
    <section class="card" aria-labelledby={`mail-${gatewayId}`}>
      <h2 id={`mail-${gatewayId}`}>{t('notifications.title', { name })}</h2>
      <form class="form" method="post" action="/profile/notifications">
        <input type="hidden" name="gateway" value={gatewayId} />
        <fieldset class="choices">
          <legend class="hint">{t('notifications.about')}</legend>
          {kinds.map(({ kind, on }) => (
            <label class="check">
              <input type="checkbox" name={`tell:${kind}`} value="on" checked={on} />
              <span>{t(`notifications.${kind}`)}</span>
            </label>
          ))}
        </fieldset>
        <button class="button" type="submit">
          {t('notifications.save')}
        </button>
      </form>
    </section>
  );
}

/** What a person signs in with, and where they are signed in. */
export function Profile({ screen, person }: { screen: ProfileScreen; person: string }): JSX.Element {
  const t = useTexts();
  return (
    <>
      <p>{person}</p>
      <section class="card" aria-labelledby="passkeys">
        <h2 id="passkeys">{t('profile.passkeys')}</h2>
        <ul class="rows" data-part="passkeys">
          {screen.passkeys.map(({ id, createdAt, usedAt, only }) => (
            <li>
              <div>
                <p>{sentence(t, 'profile.made', { moment: <Moment at={createdAt} /> })}</p>
                <p class="hint">{usedAt === null ? t('profile.not-used') : sentence(t, 'profile.used-last', { moment: <Moment at={usedAt} /> })}</p>
              </div>
              {only ? (
                <span class="hint">{t('profile.only-one')}</span>
              ) : (
                <form method="post" action="/profile/passkeys/remove" data-passkey="prove">
                  <input type="hidden" name="id" value={id} />
                  <button class="button button-small" type="submit" aria-label={t('profile.remove-passkey', { moment: createdAt.slice(0, 16) })}>
                    {t('profile.remove')}
                  </button>
                  <Proof has={screen.authenticator.since !== null} />
                  <PasskeyProblem />
                </form>
              )}
            </li>
          ))}
        </ul>
        <form method="post" action="/profile/passkeys" data-passkey="add">
          <input type="hidden" name="credential" />
          <Proof has={screen.authenticator.since !== null} />
          <button class="button" type="submit">
            {t('profile.add-passkey')}
          </button>
          <PasskeyProblem />
        </form>
      </section>
      <Authenticator of={screen.authenticator} />
      {screen.provider !== null && <ProviderCard of={screen.provider} proof={<Proof has={screen.authenticator.since !== null} />} />}
      {screen.notifications.map((one) => (
        <Notifications of={one} />
      ))}
      <section class="card" aria-labelledby="sessions">
        <h2 id="sessions">{t('profile.sessions')}</h2>
        <ul class="rows" data-part="sessions">
          {screen.sessions.map(({ id, browser, address, createdAt, seenAt, here }) => (
            <li>
              <div>
                <p>{here ? t('profile.this-browser') : browser || t('profile.unknown-browser')}</p>
                <p class="hint">{sentence(t, 'profile.session', { since: <Moment at={createdAt} />, seen: <Moment at={seenAt} /> }, { address })}</p>
              </div>
              {!here && (
                <form method="post" action="/profile/sessions/revoke">
                  <button
                    class="button button-small"
                    type="submit"
                    name="id"
                    value={id}
                    aria-label={t('profile.end-session', { address, moment: createdAt.slice(0, 16) })}
                  >
                    {t('frame.sign-out')}
                  </button>
                </form>
              )}
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}
