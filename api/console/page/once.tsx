import type { JSX } from 'preact';
import { QrCode } from '../../page/qr.tsx';
import type { OnceScreen } from './model.ts';
import { useTexts } from './texts.ts';

/** What a person has to put away now, as it is shown once. */
export function Once({ screen }: { screen: OnceScreen }): JSX.Element {
  const t = useTexts();
  if (screen.kind === 'authenticator')
    return (
      <form class="card" method="post" action="/profile/authenticator/start">
        <p>{t('once.scan')}</p>
        <QrCode payload={screen.url} label={t('once.qr')} />
        <p class="secret" data-part="secret">
          {(screen.secret.match(/.{1,4}/g) ?? []).map((group) => (
            <span>{group}</span>
          ))}
        </p>
        <Code label={t('once.digits')} />
        <button class="button button-main" type="submit">
          {t('once.use')}
        </button>
      </form>
    );
  return (
    <section class="card">
      <p>{t('once.codes')}</p>
      <ol class="paper-codes" data-part="recovery-codes">
        {screen.codes.map((code) => (
          <li>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <a class="button button-main" href="/profile">
        {t('once.have-them')}
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
