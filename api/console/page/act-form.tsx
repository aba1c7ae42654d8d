import type { ComponentChildren, JSX } from 'preact';
import type { Surroundings } from './model.ts';
import { PasskeyProblem } from './passkey-problem.tsx';
import { useTexts } from './texts.ts';

interface ActFormProps {
  place: Pick<Surroundings, 'href'>;
  /** As the path of its form names it. */
  act: string;
  /** What the form sends without asking. */
  fields?: Readonly<Record<string, string | undefined>>;
  /** Whether it takes a passkey or a code, and not only a session. */
  proved?: boolean;
  look?: 'main' | 'small' | 'plain';
  /** What stands on its button. */
  label: string;
  children?: ComponentChildren;
}

const LOOKS = { main: 'button button-main', small: 'button button-small', plain: 'button' } as const;

/** A form that has something done at a gateway: at once, or with a passkey or a code that is asked for when it is sent. */
export function ActForm({ place, act, fields = {}, proved = false, look = 'plain', label, children }: ActFormProps): JSX.Element {
  const t = useTexts();
  return (
    <form class="act" method="post" action={`${place.href}/acts/${act}`} {...(proved && { 'data-passkey': 'prove' })}>
      {Object.entries(fields).map(([name, value]) => value !== undefined && <input type="hidden" name={name} value={value} />)}
      {children}
      {proved && <input type="hidden" name="proof" />}
      <button class={LOOKS[look]} type="submit">
        {label}
      </button>
      {proved && <PasskeyProblem />}
      {proved && (
        <details class="act-code">
          <summary>{t('act.without-passkey')}</summary>
          <label class="field">
            <span>{t('act.code')}</span>
            <input name="code" autocomplete="one-time-code" maxLength={40} spellcheck={false} />
          </label>
        </details>
      )}
    </form>
  );
}
