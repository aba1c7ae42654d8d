import type { JSX } from 'preact';
import { QrCode } from '../../page/qr.tsx';
import type { OnceScreen } from './model.ts';

/** What a person has to put away now, as it is shown once. */
export function Once({ screen }: { screen: OnceScreen }): JSX.Element {
  if (screen.kind === 'authenticator')
    return (
      <form class="card" method="post" action="/profile/authenticator/start">
        <p>Scan this with your authenticator app, or type the letters into it. They are shown this once.</p>
        <QrCode payload={screen.url} label="QR code for an authenticator app" />
        <p class="secret" data-part="secret">
          {(screen.secret.match(/.{1,4}/g) ?? []).map((group) => (
            <span>{group}</span>
          ))}
        </p>
        <Code label="Six digits that it shows now" />
        <button class="button button-main" type="submit">
          Use it
        </button>
      </form>
    );
  return (
    <section class="card">
      <p>Each of these stands in for a code of your authenticator, once. Print them or write them down, away from your phone: they are shown this once.</p>
      <ol class="paper-codes" data-part="recovery-codes">
        {screen.codes.map((code) => (
          <li>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <a class="button button-main" href="/profile">
        I have them
      </a>
    </section>
  );
}

/** Where a code is typed in; also one from paper. */
export function Code({ label }: { label: string }): JSX.Element {
  return (
    <label class="field">
      <span>{label}</span>
      <input name="code" autocomplete="one-time-code" inputmode="text" maxLength={40} required spellcheck={false} />
    </label>
  );
}
