import type { components } from '#api/contract/types.ts';
import type { LanguageChoice, PageLanguage } from '#api/page/catalogue.ts';
import type { PolicyBook, PolicyTrial } from '#shared/core/written-policies.ts';
import type { OperatorScreen } from './operator-model.ts';
import type { OperatorSection } from './operator-sections.ts';
import type { Section } from './sections.ts';
import type { Echoed, ListScreen, PaymentScreen } from './shared-screens.ts';

export type { Echoed, ListScreen, PaymentScreen };

type Schemas = components['schemas'];

/** What browsers load beside a page. */
export interface ConsoleAssets {
  script: string;
  style: string;
  icon: string;
}

/** Somewhere a person may do something. */
export interface Place {
  /** Beginning of the path of all its pages. */
  href: string;
  /** Null for the deployment itself. */
  name: string | null;
  role: string;
}

/** The gateway, or the deployment, that a page belongs to, and what whoever reads it may do there. */
export interface Surroundings {
  /** Beginning of the path of all its pages. */
  href: string;
  /** Null for the deployment itself. */
  name: string | null;
  role: string;
  /** What people call each network, by its name in this deployment. */
  networks: Readonly<Record<string, string>>;
  permissions: readonly string[];
  /** The part that the page belongs to; null for none of them. */
  section: Section | OperatorSection | null;
}

export type PaymentsScreen = ListScreen<Schemas['PaymentSummary']> & { kind: 'payments' };
export type CashoutsScreen = ListScreen<Schemas['Settlement']> & { kind: 'cashouts' };
export type CreditsScreen = ListScreen<Schemas['Credit']> & { kind: 'credits' };
export type LedgerScreen = ListScreen<Schemas['LedgerEntry']> & { kind: 'ledger' };
export type WebhooksScreen = ListScreen<Schemas['GatewayWebhook']> & { kind: 'webhooks' };
export type RequestsScreen = ListScreen<Schemas['Request']> & { kind: 'requests' };
/** What somebody who approves a cashout has to see beside what it is. */
export interface ApprovalCard {
  /** How many people have to approve it. */
  people: number;
  /** Place of the policy that asks for them, counted from 1. */
  policy: number | null;
  approved: { email: string; at: string }[];
  /** What whoever looks did already, after which they cannot approve it. */
  own: 'created' | 'key' | 'approved' | null;
  /** The person who created it; null when a key did. */
  createdBy: string | null;
  /** The key that did, by its name or its id, and who made that, where anybody in the console did; null for a person's, and where it is not known. */
  key: { name: string; maker: string | null } | null;
  amountUsd: string | null;
  capUsd: string | null;
  /** Null for a destination that was never paid nor entered by hand. */
  knownForDays: number | null;
  riskScore: number | null;
  /** Another entry of the address book that begins and ends as the destination does. */
  like: { label: string; address: string } | null;
  delaySeconds: number;
}

export interface CashoutScreen {
  kind: 'cashout';
  item: Schemas['Settlement'];
  /** Null unless it waits for people. */
  approval: ApprovalCard | null;
  echoed: Echoed[];
}
export interface BalancesScreen {
  kind: 'balances';
  items: Schemas['BalanceItem'][];
}

/** The first page of a gateway: its last two weeks, without simulated payments. */
export interface HomeScreen {
  kind: 'home';
  /** UTC days, oldest first, each with US dollars as money. */
  days: { day: string; created: number; paid: number; usd: string }[];
  /** How far payments came, from created to paid. */
  steps: { step: 'created' | 'opened' | 'chosen' | 'seen' | 'paid'; count: number }[];
  /** What waits for somebody, with where it is. */
  needs: { path: string; what: 'approval' | 'balance' | 'credit' | 'webhooks'; count: number }[];
  receivedUsd: string;
}

/** What somebody fills in to ask for a cashout, by the names of its form. */
export type CashoutFields = Readonly<Partial<Record<'assetId' | 'amount' | 'address' | 'label', string>>>;

export interface NewCashoutScreen {
  kind: 'new-cashout';
  /** Whether the gateway may cash out at all. */
  enabled: boolean;
  /** What there is to cash out. */
  assets: Pick<Schemas['BalanceItem'], 'assetId' | 'symbol' | 'networkName' | 'totalAvailable'>[];
  /** Destinations that are offered. */
  book: { label: string; address: string }[];
  fields: CashoutFields;
}

export interface ReviewCashoutScreen {
  kind: 'review-cashout';
  review: {
    assetName: string;
    network: string;
    amount: string;
    amountUsd: string | null;
    address: string;
    feeLocked: string;
    netAmount: string;
    /** Whether anything is left to send behind the fee. */
    sufficient: boolean;
    available: string;
    covered: boolean;
    people: number;
    refusedBy: number | null;
    known: { label: string; lastUsedAt: string | null } | null;
    like: { label: string; address: string } | null;
  };
  fields: CashoutFields;
}

/** What an act comes to that is shown once. */
export type ShownOnceScreen =
  | { kind: 'webhook-tested'; result: Schemas['WebhookTest'] }
  | { kind: 'webhooks-resent'; resent: number }
  | { kind: 'inquired'; paymentUid: string; result: Schemas['InquiryResult'] }
  | { kind: 'new-key'; apiKey: string }
  | { kind: 'new-secret'; secret: string; overlapSeconds: number }
  | { kind: 'new-link'; email: string; link: string };

/** A gateway's keys and the state of its secrets. */
export interface KeysScreen extends ListScreen<Schemas['ApiKey']> {
  kind: 'keys';
  /** Service time. */
  now: string;
  /** What a new key may be given. */
  grantable: readonly string[];
  secrets: { id: string; kind: 'webhook' | 'cashout' | 'totp'; createdAt: string; expiresAt: string | null }[];
}

/** Where test payments are made. */
export interface SandboxScreen {
  kind: 'sandbox';
  /** Codes of what a payment may be asked for in. */
  currencies: readonly string[];
}

/** Columns that a kind of export may have, each with whether the reader chose it. */
export interface ExportColumns {
  kind: Schemas['Export']['kind'];
  columns: readonly { name: string; on: boolean }[];
}

/** Files that were asked for, and the months there are statements of. */
export interface ReportsScreen extends ListScreen<Schemas['Export']> {
  kind: 'reports';
  /** Newest first, as `2026-11`; none for whoever may not look at the books. */
  months: readonly string[];
  /** Files that the reader may want of each month; a format for those they do. */
  monthly: readonly (ExportColumns & { format: Schemas['Export']['format'] | null })[];
  /** What the reader may ask for now, with the columns that they chose last. */
  choices: readonly ExportColumns[];
}

export interface StatementScreen {
  kind: 'statement';
  statement: Schemas['Statement'];
}

/** Who may do what at a gateway. */
export interface TeamScreen extends ListScreen<{ email: string; role: string | null; state: 'member' | 'invited' | 'recovering'; since: string }> {
  kind: 'team';
  /** What somebody may be invited as. */
  roles: readonly string[];
  /** People who may invite. */
  owners: number;
  /** Changes that another owner has to confirm; without a role somebody is removed, and a stale one can only be declined. */
  waiting: { id: string; email: string; role: string | null; by: string; own: boolean; at: string; stale: boolean }[];
}

/** What a gateway has left to screen with. */
export type ScreeningScreen = Schemas['GatewayScreening'] & {
  kind: 'screening';
  /** Who asked for more, which nobody gave since. */
  asked: { by: string; at: string } | null;
  /** Cashouts that wait for credit. */
  parked: number;
};

/** From where a gateway's servers may call. */
export interface AllowlistsScreen {
  kind: 'allowlists';
  lists: Record<'api' | 'cashout', Schemas['AllowlistEntry'][]>;
  refused: Schemas['RefusedRequests'][];
  /** Where whoever looks comes from. */
  you: string;
  filter: Readonly<Record<string, string>>;
}

/** What owners set, by the names of its fields. */
export type SettingName =
  | 'checkAmountDeviation'
  | 'acceptableDiffKind'
  | 'underAcceptableDiff'
  | 'overAcceptableDiff'
  | 'txFeePayer'
  | 'commissionFeePayer'
  | 'timeoutMinutes'
  | 'graceMinutes'
  | 'callbackUrl'
  | 'contactEmail'
  | 'displayName'
  | 'accentColor'
  | 'theme'
  | 'supportUrl'
  | 'qrMode'
  | 'strictSignatures';

/** One setting that is to become something else. */
export interface ChangedSetting {
  name: SettingName;
  /** As forms write it; nothing is what the contract says. */
  from: string;
  to: string;
  /** What whoever asked saw, where it is not what is there now. */
  seen: string | null;
}

/** What an amount would be judged to be. */
export interface ToleranceRow {
  received: string;
  deviationUsd: string;
  verdict: string;
  /** What it is judged to be as things are, where something is to change. */
  now: string | null;
}

/** What owners set of their gateway. */
export interface SettingsScreen {
  kind: 'settings';
  billing: 'STANDARD' | 'MONTHLY' | 'PLATFORM';
  /** Every setting as its form writes it, with what was filled in. */
  values: Readonly<Record<SettingName, string>>;
  /** As they are. */
  current: Readonly<Record<SettingName, string>>;
  /** Names of those that the billing arrangement overrides. */
  overridden: readonly SettingName[];
  /** What is to be saved, once somebody asked to; null before. */
  review: { changes: readonly ChangedSetting[]; change: string } | null;
  /** What is wrong with what was filled in: the setting, where it is one, and why. */
  problem: { name: SettingName | null; text: string } | null;
  branding: {
    /** As payers read it. */
    name: string;
    /** What becomes of the accent in each scheme; none without one. */
    accents: readonly { scheme: 'light' | 'dark'; accent: string; contrast: number; corrected: boolean }[];
    /** Hash of the uploaded one. */
    logo: string | null;
    /** The query that previews are asked for with. */
    draft: string;
  };
  examples: { price: string; own: string; rows: readonly ToleranceRow[] };
  /** What only the operator sets, as it is. */
  operator: {
    commissionBps: number;
    commissionMinUsd: string;
    maturitySeconds: number;
    screening: { enabled: boolean; threshold: number };
    cashout: { enabled: boolean; parkingEnabled: boolean; dispatchDelaySeconds: number; dailyCapUsd: string | null };
    openAmount: { enabled: boolean; minAmountUsd: string };
    inquiryAttempts: number;
  };
}

/** A logo that somebody sent, before it is anybody's. */
export interface LogoReviewScreen {
  kind: 'logo-review';
  type: 'image/png' | 'image/webp';
  width: number;
  height: number;
  bytes: number;
  /** In base64. */
  image: string;
  /** Hash of the one that is shown now. */
  seen: string | null;
}

/** Destinations of a gateway. */
export interface AddressesScreen extends ListScreen<Schemas['BookAddress']> {
  kind: 'addresses';
}

/** What a gateway asks of its cashouts, and what somebody is about to ask. */
export interface PoliciesScreen {
  kind: 'policies';
  inForce: PolicyBook;
  /** What somebody is changing; null where the page only shows. */
  draft: PolicyBook | null;
  /** What waits for another owner. */
  waiting: { version: number; by: string; own: boolean; book: PolicyBook } | null;
  /** Of the draft, or else of what waits. */
  trial: PolicyTrial | null;
  owners: number;
  approvers: number;
  /** Keys that may approve, which keep more than one person from being asked for. */
  approvingKeys: readonly string[];
  assets: readonly { id: string; symbol: string; network: string }[];
  most: { policies: number; people: number };
  history: readonly {
    version: number;
    state: 'proposed' | 'in_force' | 'replaced' | 'declined';
    by: string;
    decidedBy: string | null;
    at: string;
    book: PolicyBook;
  }[];
}

/** What a new gateway begins with, shown once. */
export interface GatewayMadeScreen {
  kind: 'gateway-made';
  id: string;
  name: string;
  apiKey: string;
  cashoutSigningSecret: string;
  webhookSecret: string;
  owner: string;
  link: string;
  /** What its server may ask for: payments of an amount, or of any; cashouts, and from an address that was named. */
  may: { fixedAmounts: boolean; openAmounts: boolean; cashouts: boolean; allowlisted: boolean };
}

/** Pages of a gateway. */
export type PlaceScreen =
  | AddressesScreen
  | AllowlistsScreen
  | GatewayMadeScreen
  | PoliciesScreen
  | SettingsScreen
  | LogoReviewScreen
  | NewCashoutScreen
  | ReviewCashoutScreen
  | ShownOnceScreen
  | KeysScreen
  | ReportsScreen
  | SandboxScreen
  | StatementScreen
  | TeamScreen
  | HomeScreen
  | PaymentsScreen
  | PaymentScreen
  | BalancesScreen
  | CreditsScreen
  | LedgerScreen
  | CashoutsScreen
  | CashoutScreen
  | WebhooksScreen
  | RequestsScreen
  | ScreeningScreen;

/** Pages by which a person comes in. */
export type EntryScreen =
  | { kind: 'sign-in'; provider: string | null }
  | { kind: 'link-sent' }
  | { kind: 'link'; action: string; email: string }
  | { kind: 'invitation'; action: string; email: string; place: string | null; role: string | null; by: 'passkey' | 'session' | 'sign-in' }
  | { kind: 'places'; places: Place[] };

export interface ProfileScreen {
  kind: 'profile';
  /** What may be mailed of each gateway, and what is. */
  notifications: { gatewayId: string; name: string; kinds: { kind: 'approval' | 'parked' | 'rejected' | 'held' | 'webhook' | 'credits'; on: boolean }[] }[];
  /** Since when it counts, and what of it is left to do. */
  authenticator: { since: string | null; codesLeft: number; waits: boolean };
  /** The identity provider by its name, and since when it signs this person in; null where there is none. */
  provider: { name: string; since: string | null } | null;
  passkeys: { id: string; createdAt: string; usedAt: string | null; only: boolean }[];
  sessions: { id: string; browser: string; address: string; createdAt: string; seenAt: string; here: boolean }[];
}

/** What is shown once: a new authenticator, or its codes on paper. */
export type OnceScreen = { kind: 'authenticator'; secret: string; url: string } | { kind: 'recovery-codes'; codes: string[] };

/** Where somebody goes on to the provider that is to sign them in. */
export interface ProviderScreen {
  kind: 'provider-leave';
  url: string;
  name: string;
}

export interface ProblemScreen {
  kind: 'problem';
  problem: ProblemKind;
  /** The field of the query that cannot be read; null where it was none. */
  field: string | null;
  requestId: string;
}

export type Screen = ProviderScreen | EntryScreen | ProfileScreen | OnceScreen | PlaceScreen | OperatorScreen | ProblemScreen;

export type ProblemKind = 'not-found' | 'link-gone' | 'no-permission' | 'refused' | 'busy' | 'unavailable';

export interface PageModel {
  language: PageLanguage;
  languages: readonly LanguageChoice[];
  assets: ConsoleAssets;
  /** E-mail address of whoever is signed in. */
  person: string | null;
  /** The gateway, or the deployment, whose page it is; null for pages of the person and of strangers. */
  place: Surroundings | null;
  screen: Screen;
  /** Where changes of what it shows are told, and the mark of what it was drawn of; null for a page that shows nothing that changes by itself. */
  follows: { path: string; mark: string } | null;
  /** What went wrong with what was asked for last, in one sentence of the page's language. */
  notice: string | null;
}
