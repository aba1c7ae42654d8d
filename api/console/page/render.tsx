import type { JSX } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { Balances } from './balances.tsx';
import { Credits, Ledger } from './books.tsx';
import { Cashout, Cashouts, cashoutTitle } from './cashouts.tsx';
import { Entry } from './entry.tsx';
import { Frame } from './frame.tsx';
import type { PageModel, PlaceScreen, Screen, Surroundings } from './model.ts';
import { Payment, paymentTitle } from './payment.tsx';
import { Payments } from './payments.tsx';
import { Problem, problemTitle } from './problem.tsx';
import { Home } from './home.tsx';
import { Keys } from './keys.tsx';
import { NewCashout, ReviewCashout } from './new-cashout.tsx';
import { Once } from './once.tsx';
import { isOperatorScreen, OperatorContent, operatorTitle } from './operator-pages.tsx';
import { Profile } from './profile.tsx';
import { ProviderLeave } from './provider.tsx';
import { Requests } from './requests.tsx';
import { ScreeningBalance } from './screening-balance.tsx';
import { sectionTitle } from './sections.ts';
import { Texts, type Translate, translator } from './texts.ts';
import { Reports } from './reports.tsx';
import { ShownOnce } from './shown-once.tsx';
import { Sandbox } from './sandbox.tsx';
import { Statement } from './statement.tsx';
import { Allowlists } from './allowlists.tsx';
import { Addresses } from './addresses.tsx';
import { GatewayMade } from './ops-gateway-acts.tsx';
import { Policies } from './policies.tsx';
import { LogoReview } from './branding.tsx';
import { Settings } from './settings.tsx';
import { Team } from './team.tsx';
import { Webhooks } from './webhooks.tsx';

/** Pages that have their heading among what is beside it. */
const HEADED: readonly Screen['kind'][] = ['payment', 'cashout', 'ops-payment', 'ops-cashout', 'ops-network', 'ops-gateway'];

/** A whole HTML document, complete without a program but for passkeys, without script or style of its own. Pure. */
export function renderConsole(page: PageModel): string {
  const { assets, language, place, screen, follows, notice } = page;
  const t = translator(language);
  const title = titleOf(page, t);
  const document = (
    <html lang={language.tag} dir={language.direction}>
      <head>
        <meta charset="utf-8" />
        <title>{[title, place !== null && (place.name ?? t('ops.place')), 'Sluice'].filter(Boolean).join(' · ')}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href={assets.icon} />
        <link rel="stylesheet" href={assets.style} />
        <script type="module" src={assets.script} />
      </head>
      <body class="console">
        <Texts.Provider value={t}>
          <Frame page={page}>
            <main id="content" class={widthOf(page)} data-screen={screen.kind} data-follow={follows?.path} data-mark={follows?.mark}>
              {!HEADED.includes(screen.kind) && <h1>{title}</h1>}
              {notice !== null && (
                <p class="notice notice-error" role="alert">
                  {notice}
                </p>
              )}
              <Content page={page} />
            </main>
            {follows !== null && <p class="hidden-visually" role="status" data-changed={t('frame.changed')} />}
          </Frame>
        </Texts.Provider>
      </body>
    </html>
  );
  return `<!doctype html>${renderToString(document)}`;
}

function widthOf({ place, screen }: PageModel): string {
  if (place !== null) return 'sheet sheet-place';
  return screen.kind === 'profile' ? 'sheet sheet-wide' : 'sheet';
}

function titleOf({ screen, place }: PageModel, t: Translate): string {
  if (isOperatorScreen(screen)) return operatorTitle(screen, t, place?.networks ?? {});
  switch (screen.kind) {
    case 'sign-in':
      return t('title.sign-in');
    case 'link-sent':
      return t('title.link-sent');
    case 'link':
      return t('title.link');
    case 'authenticator':
      return t('title.authenticator');
    case 'recovery-codes':
      return t('title.recovery-codes');
    case 'provider-leave':
      return t('provider.leave-title');
    case 'invitation':
      return screen.role === null ? t('title.welcome-back') : t('title.invited');
    case 'places':
      return t('title.places');
    case 'profile':
      return t('title.profile');
    case 'payment':
      return paymentTitle(t, screen);
    case 'cashout':
      return cashoutTitle(screen);
    case 'statement':
      return t('statement.title', { month: screen.statement.month });
    case 'new-cashout':
      return t('new-cashout.title');
    case 'review-cashout':
      return t('review-cashout.title');
    case 'webhook-tested':
      return t('webhook-tested.title');
    case 'webhooks-resent':
      return t('webhooks-resent.title');
    case 'inquired':
      return t('inquired.title');
    case 'new-key':
      return t('shown-once.key-title');
    case 'new-secret':
      return t('shown-once.secret-title');
    case 'new-link':
      return t('shown-once.link-title');
    case 'logo-review':
      return t('settings.logo-review');
    case 'gateway-made':
      return t('ops-act.made-title');
    case 'problem':
      return problemTitle(t, screen);
    default:
      return sectionTitle(t, screen.kind);
  }
}

function Content({ page: { screen, place, person, language } }: { page: PageModel }): JSX.Element {
  if (isOperatorScreen(screen)) return <OperatorContent screen={screen} place={surroundings(place)} />;
  switch (screen.kind) {
    case 'profile':
      return <Profile screen={screen} person={person ?? ''} />;
    case 'problem':
      return <Problem screen={screen} place={place} />;
    case 'provider-leave':
      return <ProviderLeave screen={screen} />;
    case 'authenticator':
    case 'recovery-codes':
      return <Once screen={screen} />;
    case 'sign-in':
    case 'link-sent':
    case 'link':
    case 'invitation':
    case 'places':
      return <Entry screen={screen} person={person} />;
    default:
      return <PlaceContent screen={screen} place={surroundings(place)} language={language.tag} />;
  }
}

function PlaceContent({ screen, place, language }: { screen: PlaceScreen; place: Surroundings; language: string }): JSX.Element {
  switch (screen.kind) {
    case 'home':
      return <Home screen={screen} place={place} />;
    case 'payments':
      return <Payments screen={screen} place={place} />;
    case 'payment':
      return <Payment screen={screen} place={place} />;
    case 'balances':
      return <Balances screen={screen} place={place} />;
    case 'credits':
      return <Credits screen={screen} place={place} />;
    case 'ledger':
      return <Ledger screen={screen} place={place} />;
    case 'new-cashout':
      return <NewCashout screen={screen} place={place} />;
    case 'review-cashout':
      return <ReviewCashout screen={screen} place={place} />;
    case 'reports':
      return <Reports screen={screen} place={place} language={language} />;
    case 'statement':
      return <Statement screen={screen} place={place} />;
    case 'sandbox':
      return <Sandbox screen={screen} place={place} />;
    case 'keys':
      return <Keys screen={screen} place={place} />;
    case 'addresses':
      return <Addresses screen={screen} place={place} />;
    case 'allowlists':
      return <Allowlists screen={screen} place={place} />;
    case 'gateway-made':
      return <GatewayMade screen={screen} place={place} />;
    case 'policies':
      return <Policies screen={screen} place={place} />;
    case 'logo-review':
      return <LogoReview screen={screen} place={place} />;
    case 'settings':
      return <Settings screen={screen} place={place} />;
    case 'team':
      return <Team screen={screen} place={place} />;
    case 'webhook-tested':
    case 'webhooks-resent':
    case 'inquired':
    case 'new-key':
    case 'new-secret':
    case 'new-link':
      return <ShownOnce screen={screen} place={place} />;
    case 'cashouts':
      return <Cashouts screen={screen} place={place} />;
    case 'cashout':
      return <Cashout screen={screen} place={place} />;
    case 'webhooks':
      return <Webhooks screen={screen} place={place} />;
    case 'screening':
      return <ScreeningBalance screen={screen} place={place} />;
    case 'requests':
      return <Requests screen={screen} place={place} />;
  }
}

/** @throws Error for a gateway's page without its gateway */
function surroundings(place: Surroundings | null): Surroundings {
  if (place === null) throw new Error('a page of a gateway is drawn without its gateway');
  return place;
}
