import type { LanguageChoice, PageLanguage } from '#api/page/catalogue.ts';
import type { Scenario, Snapshot } from './snapshot.ts';

/** Something that went wrong with what the payer asked for; the page shows it as an alert. */
export type ProblemKind = 'wallet-failed' | 'wallet-network' | 'choose-failed' | 'choose-first' | 'address-slow' | 'simulate-failed' | 'busy' | 'unavailable';

export interface Problem {
  kind: ProblemKind;
  /** After a 429. */
  retryAfterSeconds?: number;
}

/** Where the page's parts are, all on the checkout's own host. */
export interface PageAssets {
  /** Path of the browser's program; null serves a page without one. */
  script: string | null;
  style: string;
  icon: string;
}

/** What surrounds every page. */
export interface PageFrame {
  language: PageLanguage;
  languages: readonly LanguageChoice[];
  /** True when `?lang` chose the language: links and forms then keep it. */
  languageAsked: boolean;
  assets: PageAssets;
  /** Path of the page: `/p/7d9f…`. */
  path: string;
}

/** What the server puts into a payment's page, and the browser goes on with. */
export interface PaymentModel extends PageFrame {
  kind: 'payment';
  snapshot: Snapshot;
  /** True with `?choose`: the chooser, although an offer was chosen. */
  choosing: boolean;
  problem: Problem | null;
  /** Absolute ws: or wss: address of the payment's socket. */
  socketUrl: string;
}

/** E1, E2, E5, E6, and a request that another site's page made: nothing of a payment is known, or nothing may be said. */
export type ErrorKind = 'not-found' | 'api-mode' | 'busy' | 'unavailable' | 'refused';

export interface ErrorModel extends PageFrame {
  kind: 'error';
  error: ErrorKind;
  /** After a 429 or 503. */
  retryAfterSeconds?: number;
}

/** What became of the wish to have a receipt mailed. */
export type MailOutcome = 'sent' | 'often' | 'invalid' | 'busy' | 'unavailable';

/** What was paid, to be kept; only of a payment that was accepted. */
export interface ReceiptModel extends PageFrame {
  kind: 'receipt';
  snapshot: Snapshot;
  /** The form that mails it, with what became of it the last time; null where no mail is sent. */
  mail: { outcome: MailOutcome | null; typed: string } | null;
}

export type PageModel = PaymentModel | ReceiptModel | ErrorModel;

/** What is read back from the page by the browser: a payment's model as JSON in `data-page` of `#checkout`. */
export type HydrationData = Omit<PaymentModel, 'kind' | 'assets'>;

/** What copy buttons copy. */
export type CopyTarget = 'amount' | 'address' | 'payment-id' | 'transaction';

/** A select that is under way in this browser. */
export interface Selecting {
  offerId: string;
  /** For how long, in milliseconds: after 5 s the page says so, after 30 s it offers to try again (ux S2). */
  elapsedMs: number;
}

/** A wallet in the payer's own browser, that can be asked to send. */
export interface InjectedWallet {
  id: string;
  /** Its own word, on one short line; null for one that has none. */
  name: string | null;
}

/** What a wallet was asked for: it has its window open, or it said that it sent. */
export type WalletAsked = 'asking' | 'sent';

/** The return to the merchant that is about to happen, or was stopped. */
export type Returning = { secondsLeft: number } | 'stopped';

/** What a browser's program does when the payer acts; a page without it has forms and links that do the same. */
export interface CheckoutActions {
  select(offerId: string): void;
  /** Shows the chooser (true), or goes back to the chosen offer. */
  choose(choosing: boolean): void;
  simulate(scenario: Scenario): void;
  copy(target: CopyTarget, text: string): void;
  /** Has a wallet of this browser send what is to be paid. */
  payWith(walletId: string): void;
  stopReturning(): void;
  changeLanguage(tag: string): void;
}

/** All that the page's content depends on; the server and the browser's first drawing use `initialProps`. */
export interface CheckoutProps extends Omit<PageFrame, 'assets'> {
  snapshot: Snapshot;
  /** Service time, milliseconds. */
  now: number;
  choosing: boolean;
  problem: Problem | null;
  /** IANA name; undefined is the browser's own. */
  timeZone: string | undefined;
  /** Null on the server and in the browser's first drawing: buttons that need a program are not shown. */
  actions: CheckoutActions | null;
  selecting: Selecting | null;
  /** What was copied last, for a moment. */
  copied: CopyTarget | null;
  /** E4. */
  connectionLost: boolean;
  returning: Returning | null;
  /** None on the server, and without a program. */
  wallets: readonly InjectedWallet[];
  walletAsked: WalletAsked | null;
  /** What the polite region says: time notices, `Amount copied` (ux 3). */
  spoken: string;
}

/** The props of the first drawing, the same on both sides so that hydration finds what the server wrote. Pure. */
export function initialProps(data: HydrationData): CheckoutProps {
  return {
    language: data.language,
    languages: data.languages,
    languageAsked: data.languageAsked,
    path: data.path,
    snapshot: data.snapshot,
    now: Date.parse(data.snapshot.serverTime),
    choosing: data.choosing,
    problem: data.problem,
    timeZone: 'UTC',
    actions: null,
    selecting: null,
    copied: null,
    connectionLost: false,
    returning: null,
    wallets: [],
    walletAsked: null,
    spoken: '',
  };
}
