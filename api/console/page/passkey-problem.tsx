import type { JSX } from 'preact';
import { useTexts } from './texts.ts';

/** Where the program says why a passkey was not taken, in the words that are written beside it for it. */
export function PasskeyProblem(): JSX.Element {
  const t = useTexts();
  return (
    <p
      class="notice notice-error"
      role="alert"
      hidden
      data-part="passkey-problem"
      data-busy={t('passkey.busy')}
      data-too-old={t('passkey.too-old')}
      data-has-one={t('passkey.has-one')}
      data-confirm={t('passkey.confirm')}
      data-none-given={t('passkey.none-given')}
      data-failed={t('passkey.failed')}
    />
  );
}
