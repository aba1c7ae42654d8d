import type { JSX } from 'preact';
import type { EntryScreen } from './model.ts';
import { Code } from './once.tsx';

/** Pages by which somebody comes in: with a passkey, by an invitation, to one of their places. */
export function Entry({ screen, person }: { screen: EntryScreen; person: string | null }): JSX.Element {
  switch (screen.kind) {
    case 'sign-in':
      return (
        <>
          <form class="card" method="post" action="/sign-in" data-passkey="get">
            <p>Use the passkey of this device, of your phone, or of a security key.</p>
            <Passkey label="Sign in with a passkey" />
            <p class="hint">New here, or no passkey left? Whoever looks after this deployment can send you a link.</p>
          </form>
          <details class="card">
            <summary>I have an authenticator, and no passkey here</summary>
            <form method="post" action="/sign-in/mail">
              <label class="field">
                <span>Your e-mail address</span>
                <input name="email" type="email" autocomplete="email" maxLength={254} required />
              </label>
              <button class="button" type="submit">
                Mail me a link
              </button>
            </form>
          </details>
        </>
      );
    case 'link-sent':
      return (
        <div class="card">
          <p>If that is the address of somebody with an authenticator, a link is on its way. It works once, within 15 minutes, together with a code.</p>
          <p class="hint">Nothing comes? Look where unwanted mail goes, and wait a moment before you ask again.</p>
          <a class="button" href="/sign-in">
            Back
          </a>
        </div>
      );
    case 'link':
      return (
        <form class="card" method="post" action={screen.action}>
          <p>
            Sign in as <strong>{screen.email}</strong>.
          </p>
          <Code label="Six digits of your authenticator, or a code from paper" />
          <button class="button button-main" type="submit">
            Sign in
          </button>
        </form>
      );
    case 'invitation':
      if (screen.by !== 'passkey')
        return (
          <form class="card" method="post" action={screen.action}>
            <p>
              <strong>{screen.email}</strong> becomes <strong>{screen.role}</strong> of <strong>{screen.place ?? 'this deployment'}</strong>.
            </p>
            {screen.by === 'session' ? (
              <button class="button button-main" type="submit">
                Accept
              </button>
            ) : (
              <>
                <p>This address has a passkey already. Sign in with it, then open the link again.</p>
                <a class="button button-main" href="/sign-in">
                  Sign in
                </a>
              </>
            )}
          </form>
        );
      return (
        <form class="card" method="post" action={screen.action} data-passkey="create">
          {screen.role === null ? (
            <p>
              Make a new passkey for <strong>{screen.email}</strong>. Every passkey and every session that you had ends with it.
            </p>
          ) : (
            <p>
              <strong>{screen.email}</strong> becomes <strong>{screen.role}</strong> of <strong>{screen.place ?? 'this deployment'}</strong>.
            </p>
          )}
          <Passkey label={screen.role === null ? 'Make a passkey' : 'Accept and make a passkey'} />
          <p class="hint">There is no password. A passkey stays on your devices, and works on this site alone.</p>
        </form>
      );
    case 'places':
      return screen.places.length === 0 ? (
        <p class="card">Nobody has invited {person} anywhere, or you were removed. An owner of a gateway can invite you.</p>
      ) : (
        <ul class="places">
          {screen.places.map(({ href, name, role }) => (
            <li class="card">
              <h2>{href === null ? (name ?? 'This deployment') : <a href={href}>{name}</a>}</h2>
              <p class="hint">
                You are {role} here{href === null ? '. What operators do is on the command line for now.' : '.'}
              </p>
            </li>
          ))}
        </ul>
      );
  }
}

function Passkey({ label }: { label: string }): JSX.Element {
  return (
    <>
      <input type="hidden" name="credential" />
      <button class="button button-main" type="submit">
        {label}
      </button>
      <p class="notice notice-error" role="alert" hidden data-part="passkey-problem" />
      <noscript>
        <p class="notice notice-warning">Passkeys need scripts: allow them for this site.</p>
      </noscript>
    </>
  );
}
