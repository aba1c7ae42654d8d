import type { ComponentChildren, JSX } from 'preact';
import type { Surroundings } from './model.ts';
import { useTexts } from './texts.ts';

// What forms of operators are put together from.

interface Folded {
  title: string;
  /** What comes of it. */
  means: string;
  children: ComponentChildren;
}

export function Folded({ title, means, children }: Folded): JSX.Element {
  return (
    <details class="fold">
      <summary>{title}</summary>
      <p class="hint">{means}</p>
      {children}
    </details>
  );
}

export function Reason(): JSX.Element {
  const t = useTexts();
  return (
    <label class="field">
      <span>{t('ops-act.reason')}</span>
      <input name="reason" required maxLength={500} autocomplete="off" />
      <span class="hint">{t('ops-act.reason-hint')}</span>
    </label>
  );
}

export function Text({
  name,
  title,
  hint,
  required = true,
  value,
}: {
  name: string;
  title: string;
  hint?: string;
  required?: boolean;
  value?: string | undefined;
}): JSX.Element {
  return (
    <label class="field">
      <span>{title}</span>
      <input name={name} required={required} value={value} maxLength={320} autocomplete="off" spellcheck={false} />
      {hint !== undefined && <span class="hint">{hint}</span>}
    </label>
  );
}

export function Box({ name, title, checked = false }: { name: string; title: string; checked?: boolean }): JSX.Element {
  return (
    <label class="check">
      <input type="checkbox" name={name} value="on" checked={checked} />
      <span>{title}</span>
    </label>
  );
}

/** What belongs together in a long form. */
export function Part({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <fieldset class="part">
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

export interface Of {
  place: Surroundings;
}

export function may({ permissions }: Surroundings, permission: string): boolean {
  return permissions.includes(permission);
}
