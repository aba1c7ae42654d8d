import type { JSX } from 'preact';
import { ownHref } from './links.tsx';
import type { Scenario } from './snapshot.ts';
import type { CheckoutState } from './state.ts';
import type { View } from './view.ts';

/** What every form of the page posts beside its own fields. */
export function PageFields({ view, action }: { view: View; action: 'select' | 'simulate' }): JSX.Element {
  return (
    <>
      <input type="hidden" name="action" value={action} />
      {view.languageAsked && <input type="hidden" name="lang" value={view.language.tag} />}
    </>
  );
}

/** For browsers that run no program: the page as it is now. */
export function Refresh({ view }: { view: View }): JSX.Element | null {
  if (view.actions) return null;
  return (
    <p class="without-program" data-part="refresh">
      {view.translate('refresh.hint')}{' '}
      <a class="button" href={ownHref(view)}>
        {view.translate('refresh.link')}
      </a>
    </p>
  );
}

/** Asks once more for the address of `offerId`. */
export function RetrySelect({ view, offerId }: { view: View; offerId: string }): JSX.Element {
  return (
    <form
      method="post"
      action={view.path}
      data-part="retry"
      onSubmit={(event) => {
        if (view.actions === null) return;
        event.preventDefault();
        view.actions.select(offerId);
      }}
    >
      <PageFields view={view} action="select" />
      <input type="hidden" name="offerId" value={offerId} />
      <button type="submit" class="button button-main">
        {view.translate('preparing.retry')}
      </button>
    </form>
  );
}

const SCENARIOS: readonly Scenario[] = ['success', 'acceptable', 'underpaid', 'overpaid', 'wrong_asset', 'seen_then_confirmed', 'expired', 'late_capture'];

/** Which simulated events the service would take in a state. Pure. */
export function scenariosFor(state: CheckoutState): readonly Scenario[] {
  switch (state) {
    case 'choose':
    case 'preparing':
    case 'pay':
    case 'ending':
    case 'open':
      return SCENARIOS;
    case 'seen':
    case 'seen-late':
    case 'seen-after':
      return ['seen_then_confirmed'];
    case 'checking':
      return ['expired', 'late_capture'];
    case 'expired-grace':
      return ['late_capture'];
    default:
      return [];
  }
}

/** What may be made to happen to a payment without real money (ux C13). */
export function Sandbox({ view }: { view: View }): JSX.Element | null {
  const scenarios = view.snapshot.payment.isSandbox ? scenariosFor(view.state) : [];
  if (scenarios.length === 0) return null;
  return (
    <form
      class="sandbox"
      method="post"
      action={view.path}
      data-part="sandbox"
      onSubmit={(event) => {
        if (view.actions === null) return;
        event.preventDefault();
        const scenario = scenarios.find((name) => name === (event.submitter as HTMLButtonElement | null)?.value);
        if (scenario !== undefined) view.actions.simulate(scenario);
      }}
    >
      <PageFields view={view} action="simulate" />
      <h2>{view.translate('sandbox.title')}</h2>
      <div class="buttons">
        {scenarios.map((scenario) => (
          <button type="submit" class="button button-small" name="scenario" value={scenario} key={scenario}>
            {view.translate(`sandbox.${scenario}`)}
          </button>
        ))}
      </div>
    </form>
  );
}
