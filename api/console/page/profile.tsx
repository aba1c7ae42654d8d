import type { JSX } from 'preact';
import type { ProfileScreen } from './model.ts';
import { Code } from './once.tsx';
import { Moment } from './parts.tsx';

/** What stands behind a change of how somebody signs in: a passkey they have, or a code where they have an authenticator. */
function Proof({ has }: { has: boolean }): JSX.Element {
  return (
    <>
      <input type="hidden" name="proof" />
      {has && (
        <details>
          <summary>None of my passkeys is here</summary>
          <label class="field">
            <span>Six digits of your authenticator, or a code from paper</span>
            <input name="code" autocomplete="one-time-code" maxLength={40} spellcheck={false} />
          </label>
        </details>
      )}
    </>
  );
}

function Authenticator({ of: { since, codesLeft, waits } }: { of: ProfileScreen['authenticator'] }): JSX.Element {
  return (
    <section class="card" aria-labelledby="authenticator">
      <h2 id="authenticator">Authenticator</h2>
      {since === null ? (
        <p>
          For a browser without a passkey of yours: a mailed link and the six digits of an app sign you in. You get ten codes for the day your phone is gone.
        </p>
      ) : (
        <p data-part="authenticator">
          In use since <Moment at={since} />, with {codesLeft === 1 ? 'one code' : `${codesLeft} codes`} on paper left.
        </p>
      )}
      {waits && (
        <form method="post" action="/profile/authenticator/start">
          <Code label="You began to set one up: six digits that it shows now" />
          <button class="button" type="submit">
            Use it
          </button>
        </form>
      )}
      <form method="post" action="/profile/authenticator" data-passkey="prove">
        <Proof has={since !== null} />
        <button class="button" type="submit">
          {since === null ? 'Set up an authenticator' : 'Set up another one, with new codes'}
        </button>
        <p class="notice notice-error" role="alert" hidden data-part="passkey-problem" />
      </form>
      {since !== null && (
        <form method="post" action="/profile/authenticator/remove" data-passkey="prove">
          <Proof has />
          <button class="button button-small" type="submit">
            Remove the authenticator
          </button>
          <p class="notice notice-error" role="alert" hidden data-part="passkey-problem" />
        </form>
      )}
    </section>
  );
}

/** What a person signs in with, and where they are signed in. */
export function Profile({ screen, person }: { screen: ProfileScreen; person: string }): JSX.Element {
  return (
    <>
      <p>{person}</p>
      <section class="card" aria-labelledby="passkeys">
        <h2 id="passkeys">Passkeys</h2>
        <ul class="rows" data-part="passkeys">
          {screen.passkeys.map(({ id, createdAt, usedAt, only }) => (
            <li>
              <div>
                <p>
                  Made <Moment at={createdAt} />
                </p>
                <p class="hint">
                  {usedAt === null ? (
                    'Not used to sign in yet'
                  ) : (
                    <>
                      Used last <Moment at={usedAt} />
                    </>
                  )}
                </p>
              </div>
              {only ? (
                <span class="hint">Your only one</span>
              ) : (
                <form method="post" action="/profile/passkeys/remove" data-passkey="prove">
                  <input type="hidden" name="id" value={id} />
                  <button class="button button-small" type="submit" aria-label={`Remove the passkey made ${createdAt.slice(0, 16)}`}>
                    Remove
                  </button>
                  <Proof has={screen.authenticator.since !== null} />
                  <p class="notice notice-error" role="alert" hidden data-part="passkey-problem" />
                </form>
              )}
            </li>
          ))}
        </ul>
        <form method="post" action="/profile/passkeys" data-passkey="add">
          <input type="hidden" name="credential" />
          <Proof has={screen.authenticator.since !== null} />
          <button class="button" type="submit">
            Add a passkey
          </button>
          <p class="notice notice-error" role="alert" hidden data-part="passkey-problem" />
        </form>
      </section>
      <Authenticator of={screen.authenticator} />
      <section class="card" aria-labelledby="sessions">
        <h2 id="sessions">Where you are signed in</h2>
        <ul class="rows" data-part="sessions">
          {screen.sessions.map(({ id, browser, address, createdAt, seenAt, here }) => (
            <li>
              <div>
                <p>{here ? 'This browser' : browser || 'A browser that does not say what it is'}</p>
                <p class="hint">
                  From {address}, since <Moment at={createdAt} />, seen <Moment at={seenAt} />
                </p>
              </div>
              {!here && (
                <form method="post" action="/profile/sessions/revoke">
                  <button
                    class="button button-small"
                    type="submit"
                    name="id"
                    value={id}
                    aria-label={`Sign out the browser from ${address}, since ${createdAt.slice(0, 16)}`}
                  >
                    Sign out
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
