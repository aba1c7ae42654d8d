import type { JSX } from 'preact';
import { Changing } from './changing.tsx';
import { Chooser } from './chooser.tsx';
import { Details } from './details.tsx';
import { PaymentIdFigure } from './figures.tsx';
import { Refresh, RetrySelect, Sandbox } from './forms.tsx';
import { Frame } from './frame.tsx';
import { Icon, type IconName } from '#api/page/icons.tsx';
import { ContactLink, ReturnLink } from './links.tsx';
import type { CheckoutProps, Problem } from './model.ts';
import { Accepted, Checking, Expired, Mismatch, Seen } from './outcome.tsx';
import { Chosen, FromExchange, isEnding, Pay, Timer } from './pay.tsx';
import type { PublicPayment } from './snapshot.ts';
import { type CheckoutState, isResting } from './state.ts';
import { amountInHeading, headingOf, type View, viewOf } from './view.ts';

/** After how long S2 says that it takes longer, and offers to try again (ux S2), milliseconds. */
const SLOW_MS = 5_000;
const RETRY_MS = 30_000;

/** What each state is recognised by at a glance, beside its words. */
const SIGNS: Partial<Record<CheckoutState, IconName>> = {
  checking: 'search',
  seen: 'arriving',
  'seen-late': 'arriving',
  'seen-after': 'arriving',
  success: 'check',
  acceptable: 'check',
  under: 'alert',
  over: 'alert',
  mismatch: 'alert',
  'expired-grace': 'clock',
  expired: 'clock',
};

/** States whose main button leads to the merchant's help already. */
const HELPED: readonly CheckoutState[] = ['under', 'over', 'mismatch', 'expired'];

/** States that show an address. */
const ADDRESSED: readonly CheckoutState[] = ['pay', 'ending', 'open'];

/** States in which the payer may change the choice: one whose address does not come must not be the end. */
const CHOSEN: readonly CheckoutState[] = ['preparing', ...ADDRESSED];

/** From how many characters on a heading's amount gets smaller letters, so as to stay on one line. */
const LONG_AMOUNT = 12;

/** States whose content has its own way back to the merchant. */
const PAYABLE: readonly CheckoutState[] = ['choose', 'preparing', 'pay', 'ending', 'open'];

/** Everything inside `#checkout`: what a payer sees of a payment in any state. The same props give the same page. */
export function Checkout(props: CheckoutProps): JSX.Element {
  const view = viewOf(props);
  const { snapshot, translate, state, offer } = view;
  const { payment } = snapshot;
  const sign = SIGNS[state];
  const amount = amountInHeading(view);
  return (
    <Frame
      frame={props}
      translate={translate}
      merchant={snapshot.merchant}
      alive={props.actions !== null}
      testMode={payment.isSandbox}
      query={props.choosing ? 'choose' : ''}
      onLanguage={props.actions ? (tag) => props.actions?.changeLanguage(tag) : undefined}
    >
      <main class="card card-payment" data-state={state}>
        <div class="regions">
          <div aria-live="polite" class="region" data-part="connection">
            {props.connectionLost && <p class="notice notice-quiet">{translate('connection.lost')}</p>}
          </div>
          <div role="alert" class="region" data-part="problem">
            {props.problem && (
              <p class="notice notice-error">
                <Changing text={problemText(view, props.problem)} />
              </p>
            )}
          </div>
        </div>
        <div class="summary">
          {sign && (
            <span class="sign">
              <Icon name={sign} />
            </span>
          )}
          <Named payment={payment} />
          <h1
            id="title"
            tabIndex={-1}
            class={amount === null ? undefined : `h1-amount${amount.length > LONG_AMOUNT ? ' h1-long' : ''}`}
            aria-label={amount === null ? undefined : headingOf(view)}
          >
            <Changing text={amount ?? headingOf(view)} />
          </h1>
          {offer && CHOSEN.includes(state) && <Chosen view={view} offer={offer} />}
        </div>
        <div class="action">
          <Sandbox view={view} />
          <Body view={view} />
          {!isResting(state) && <Refresh view={view} />}
        </div>
        {PAYABLE.includes(state) && (
          <div class="more">
            {offer && ADDRESSED.includes(state) && !payment.openAmount && !payment.isSandbox && <FromExchange view={view} offer={offer} />}
            <Details view={view} />
          </div>
        )}
        <div class={isInBar(state) ? `bar${isEnding(view) ? ' bar-ending' : ''}` : 'hidden-visually'} data-part="bar">
          <p role="status" class="status" data-part="status">
            <Changing text={statusOf(view)} />
          </p>
          {ADDRESSED.includes(state) && <Timer view={view} />}
        </div>
      </main>
      <footer class="foot">
        {PAYABLE.includes(state) && <ReturnLink view={view} look="quiet" />}
        {!HELPED.includes(state) && <ContactLink view={view} text="contact.link" />}
      </footer>
      <p aria-live="polite" class="hidden-visually" data-part="spoken">
        <Changing text={props.spoken} />
      </p>
    </Frame>
  );
}

/** What is paid for, in the merchant's words: text, set apart from the direction of the page. */
function Named({ payment: { title, reference } }: { payment: PublicPayment }): JSX.Element | null {
  const named = [reference, title].filter((text) => text !== undefined);
  if (named.length === 0) return null;
  return (
    <p class="for" data-part="for">
      {named.map((text, index) => [index > 0 ? ' · ' : null, <bdi>{text}</bdi>])}
    </p>
  );
}

/** The document's title, which follows the state: it is what a payer sees of the page in another tab. Pure. */
export function titleOf(props: CheckoutProps): string {
  const view = viewOf(props);
  return view.translate('page.title', { title: headingOf(view), merchant: view.snapshot.merchant.name });
}

function Body({ view }: { view: View }): JSX.Element | null {
  const { state, offer } = view;
  switch (state) {
    case 'choose':
      return <Chooser view={view} />;
    case 'not-payable':
      return <NotPayable view={view} />;
    case 'preparing':
      return <Preparing view={view} />;
    case 'pay':
    case 'ending':
    case 'open':
      return offer && <Pay view={view} offer={offer} key={offer.id} />;
    case 'checking':
      return <Checking view={view} />;
    case 'seen':
    case 'seen-late':
    case 'seen-after':
      return <Seen view={view} />;
    case 'expired-grace':
    case 'expired':
      return <Expired view={view} />;
    case 'success':
    case 'acceptable':
      return <Accepted view={view} />;
    default:
      return <Mismatch view={view} />;
  }
}

/** S2. Without a program nobody counts the seconds, so the ways on are there at once. */
function Preparing({ view }: { view: View }): JSX.Element {
  const { offer, selecting } = view;
  const retry = offer && (selecting === null || selecting.elapsedMs >= RETRY_MS);
  return (
    <div class="preparing">
      <span class="spinner" aria-hidden="true" />
      {retry && (
        <div class={view.actions === null ? 'without-program' : undefined}>
          <RetrySelect view={view} offerId={offer.id} />
        </div>
      )}
    </div>
  );
}

/** E3. */
function NotPayable({ view }: { view: View }): JSX.Element {
  return (
    <div class="outcome">
      <p>{view.translate('not-payable.body', { merchant: view.snapshot.merchant.name })}</p>
      <dl class="figures">
        <PaymentIdFigure view={view} />
      </dl>
      <div class="buttons">
        <ReturnLink view={view} look="button button-main" />
      </div>
    </div>
  );
}

/** What the one status region says: nothing of waiting before there is an address (ux C5), and nothing that ticks. */
function statusOf(view: View): string {
  const { state, translate, selecting } = view;
  switch (state) {
    case 'choose':
      return '';
    case 'preparing':
      return translate(selecting && selecting.elapsedMs >= SLOW_MS ? 'preparing.slow' : 'preparing.title');
    case 'pay':
    case 'ending':
    case 'open':
      return translate('status.waiting');
    case 'checking':
      return translate('status.checking');
    default:
      return headingOf(view);
  }
}

/** Where the heading says the same, the status is for those who hear the page. */
function isInBar(state: CheckoutState): boolean {
  return state === 'checking' || CHOSEN.includes(state);
}

function problemText({ translate }: View, { kind, retryAfterSeconds }: Problem): string {
  if (kind === 'busy' && retryAfterSeconds !== undefined) return translate('problem.busy-seconds', { seconds: retryAfterSeconds });
  return translate(`problem.${kind}`);
}
