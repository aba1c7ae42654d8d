import type { JSX } from 'preact';
import { sentence } from '#api/page/sentence.ts';
import type { ProblemScreen, Surroundings } from './model.ts';
import { type Translate, useTexts } from './texts.ts';
import { wordFor } from './words.ts';

/** What a page about what went wrong is called. Pure. */
export function problemTitle(t: Translate, { problem }: ProblemScreen): string {
  return t(`problem.${problem}`);
}

/** What went wrong, what that means, and the way on. */
export function Problem({ screen, place }: { screen: ProblemScreen; place: Surroundings | null }): JSX.Element {
  const t = useTexts();
  return (
    <div class="card">
      {screen.problem === 'no-permission' && place !== null && (
        <p>
          {sentence(t, 'problem.your-role', {
            role: <strong>{wordFor(t, 'role', place.role)}</strong>,
            place: <strong>{place.name ?? t('ops.place')}</strong>,
          })}
        </p>
      )}
      <p>{t(`problem.${screen.problem}-text`)}</p>
      {screen.field !== null && (
        <p>
          <code>{screen.field}</code> {t('ops.refused-field')}
        </p>
      )}
      <p class="hint">{t('problem.request', { id: screen.requestId })}</p>
      <a class="button" href={place?.href ?? '/'}>
        {t('problem.beginning')}
      </a>
    </div>
  );
}
