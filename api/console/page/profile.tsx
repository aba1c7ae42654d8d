import type { JSX } from 'preact';
import type { ProfileScreen } from './model.ts';
import { Moment } from './parts.tsx';

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
                <form method="post" action="/profile/passkeys/remove">
                  <button class="button button-small" type="submit" name="id" value={id} aria-label={`Remove the passkey made ${createdAt.slice(0, 16)}`}>
                    Remove
                  </button>
                </form>
              )}
            </li>
          ))}
        </ul>
        <form method="post" action="/profile/passkeys" data-passkey="add">
          <input type="hidden" name="credential" />
          <input type="hidden" name="proof" />
          <button class="button" type="submit">
            Add a passkey
          </button>
          <p class="notice notice-error" role="alert" hidden data-part="passkey-problem" />
        </form>
      </section>
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
