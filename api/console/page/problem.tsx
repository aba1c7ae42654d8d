import type { JSX } from 'preact';
import type { ProblemKind, ProblemScreen, Surroundings } from './model.ts';

const PROBLEMS: Readonly<Record<ProblemKind, { title: string; text: string }>> = {
  'not-found': { title: 'There is nothing here', text: 'The address is wrong, or what was here is gone, or it is not yours to see.' },
  'link-gone': {
    title: 'This link does not work',
    text: 'It was used, a newer one took its place, or it is older than 24 hours. Ask whoever invited you for another one.',
  },
  'no-permission': { title: 'Not part of your role', text: 'Whoever owns this gateway can give you another role.' },
  refused: { title: 'That was refused', text: 'Nothing was changed. Open the page again and try once more.' },
  busy: { title: 'Too many attempts', text: 'Wait a minute, then try again.' },
  unavailable: { title: 'That did not work', text: 'Something is wrong on our side. Try again in a moment.' },
};

export function problemTitle({ problem }: ProblemScreen): string {
  return PROBLEMS[problem].title;
}

/** What went wrong, what that means, and the way on. */
export function Problem({ screen, place }: { screen: ProblemScreen; place: Surroundings | null }): JSX.Element {
  return (
    <div class="card">
      {screen.problem === 'no-permission' && place !== null && (
        <p>
          You are <strong>{place.role}</strong> of <strong>{place.name}</strong>, and that role does not look at this.
        </p>
      )}
      <p>{PROBLEMS[screen.problem].text}</p>
      <p class="hint">Request {screen.requestId}</p>
      <a class="button" href={place?.href ?? '/'}>
        To the beginning
      </a>
    </div>
  );
}
