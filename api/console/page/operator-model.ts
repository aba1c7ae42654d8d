import type { components } from '#api/contract/operator-types.ts';
import type { ListScreen, PaymentScreen } from './shared-screens.ts';

type Schemas = components['schemas'];

/** What calls of gateways' names are written as, by their ids. */
export type GatewayNames = Readonly<Record<string, string>>;

/** A list of the whole deployment: rows tell their gateway by its id. */
export type DeploymentList<Row> = ListScreen<Row> & { gateways: GatewayNames };

/** Why an operator has to look: each is a page that lists what it is about. */
export type NeedKind =
  | 'frozen'
  | 'halted'
  | 'signer'
  | 'comparing'
  | 'unknown-outgoing'
  | 'unattended'
  | 'behind'
  | 'paused'
  | 'held'
  | 'proposed'
  | 'waiting-approval'
  | 'underfunded'
  | 'waiting-screening'
  | 'credit-asked'
  | 'dead-jobs'
  | 'unallocated'
  | 'unexplained'
  | 'prices'
  | 'books'
  | 'canary';

export interface Need {
  kind: NeedKind;
  /** How many; of what is not counted further, with `more`. */
  count: number;
  more: boolean;
  /** Behind the operators' own path. */
  path: string;
}

/** How one network is followed, in figures that are kept. */
export interface ChainLine {
  name: string;
  head: number | null;
  applied: number | null;
  final: number | null;
  appliedAt: string | null;
  caughtUpAt: string | null;
  pausedAt: string | null;
  /** Whether some indexer holds its lease. */
  led: boolean;
}

export interface OverviewScreen {
  kind: 'ops-overview';
  /** Service time at which it was read. */
  now: string;
  needs: Need[];
  chains: ChainLine[];
  freezes: Schemas['Freezes'];
  /** The check that was found clean the longest ago, of those that are kept; null before the first audit. */
  audited: { oldest: string; checks: number } | null;
  prices: { mode: string; count: number; unusable: string[]; oldestSeconds: number | null };
  canary: { attemptedAt: string; succeededAt: string | null; problem: string | null } | null;
  /** When the work that has been due the longest was due; null while nothing is. */
  oldestDue: string | null;
}

export interface OpsSearchScreen {
  kind: 'ops-search';
  q: string;
  hits: (Schemas['SearchAnswer']['items'][number] & { path: string | null })[];
  more: boolean;
}

export interface OpsPaymentRow {
  id: string;
  gatewayId: string;
  status: string;
  currencyCode: string;
  amount: string;
  receivedAmount: string | null;
  receivedAssetSymbol: string | null;
  isSandbox: boolean;
  amlState: string | null;
  createdAt: string;
}
export type OpsPaymentsScreen = DeploymentList<OpsPaymentRow> & { kind: 'ops-payments' };

/** What screening or an operator made of something, with what they saw. */
export interface HistoryLine {
  event: string;
  from: string | null;
  to: string;
  facts: Record<string, unknown>;
  actor: string;
  at: string;
}

export interface CreditLine {
  pool: string;
  screening: string;
  riskScore: number | null;
  taken: string | null;
  assetSymbol: string;
  net: string;
  remaining: string;
  creditedAt: string;
}

export interface DepositLine {
  id: string;
  network: string;
  assetSymbol: string;
  amount: string;
  txHash: string;
  sender: string;
  height: number;
  state: string;
  path: string | null;
  usdPrice: string | null;
  firstSeenAt: string;
  finalAt: string | null;
}

export interface OpsPaymentScreen {
  kind: 'ops-payment';
  /** The same that its merchant sees. */
  payment: PaymentScreen;
  gateway: { id: string; name: string };
  amlState: string | null;
  deposits: DepositLine[];
  credits: CreditLine[];
  aml: { events: HistoryLine[]; refunds: Schemas['AmlRefund'][] };
  /** Coins that did not follow it into its pool. */
  misplaced: Schemas['MisplacedCoins'][];
}

export interface OpsDepositRow {
  id: string;
  paymentId: string | null;
  gatewayId: string | null;
  state: string;
  network: string;
  assetSymbol: string;
  amount: string;
  txHash: string | null;
  /** Where coins lie that no transfer explains. */
  address?: string;
  seenAt: string;
}
export type OpsDepositsScreen = DeploymentList<OpsDepositRow> & { kind: 'ops-deposits' };

export interface OpsCashoutRow {
  id: string;
  gatewayId: string;
  status: string;
  assetSymbol: string;
  network: string;
  address: string;
  amount: string;
  holdReason: string | null;
  waitReason: string | null;
  createdAt: string;
  settledAt: string | null;
}
export type OpsCashoutsScreen = DeploymentList<OpsCashoutRow> & { kind: 'ops-cashouts' };

export interface PayoutLine {
  id: string;
  purpose: string;
  family: number;
  status: string;
  txHash: string | null;
  height: number | null;
  failure: string | null;
  createdAt: string;
  finalAt: string | null;
  attempts: { number: number; kind: string; txHash: string; signedAt: string; expiresAt: string | null }[];
}

export interface OpsCashoutScreen {
  kind: 'ops-cashout';
  gateway: { id: string; name: string };
  item: OpsCashoutRow & {
    requestedRoute: string;
    pool: string | null;
    feeLocked: string | null;
    netAmount: string | null;
    receivedAmount: string | null;
    txHash: string | null;
    dispatchAt: string | null;
    expiresAt: string | null;
  };
  metadata: { key: string; value: string }[];
  fee: Schemas['SettlementFee'] | null;
  charges: Schemas['Charge'][];
  events: HistoryLine[];
  payouts: PayoutLine[];
  /** How far its network is; null where nothing was applied yet. */
  chain: { tip: number; final: number } | null;
}

export interface OutgoingScreen {
  kind: 'ops-outgoing';
  items: Schemas['UnknownOutgoing'][];
}

export interface QueueRow extends OpsPaymentRow {
  credits: CreditLine[];
  events: HistoryLine[];
}
export type ScreeningScreen = DeploymentList<QueueRow> & {
  kind: 'ops-screening';
  proposals: Schemas['Proposal'][];
  moreProposals: boolean /** Address of whoever looks. */;
  you: string;
};

export interface NetworksScreen {
  kind: 'ops-networks';
  now: string;
  items: (ChainLine & {
    family: string;
    chainId: string;
    nativeSymbol: string;
    epoch: number;
    warnings: string[];
    leaders: { login: string; since: string }[];
  })[];
}

export interface NetworkScreen {
  kind: 'ops-network';
  now: string;
  item: NetworksScreen['items'][number];
  rescans: Schemas['Rescan'][];
}

export type JobsScreen = DeploymentList<Schemas['Job']> & {
  kind: 'ops-jobs';
  /** How many of each kind failed and can be run again, and how many of them one act takes. */
  failed: { topic: string; failed: number }[];
  most: number;
};

export interface MoneyScreen {
  kind: 'ops-money';
  positions: {
    assetId: string;
    symbol: string;
    network: string;
    held: string;
    green: string;
    heldPool: string;
    unallocated: string;
    difference: string | null;
    accepted: string | null;
    height: number | null;
    readAt: string | null;
  }[];
  checks: { check: string; wholeAt: string }[];
  freezes: Schemas['Freezes'];
}
export type OpsInvoicesScreen = { kind: 'ops-invoices'; items: Schemas['Invoice'][]; filter: Readonly<Record<string, string>>; more: boolean };
export type OpsExpensesScreen = { kind: 'ops-expenses'; items: Schemas['ExpenseList']['items']; filter: Readonly<Record<string, string>>; more: boolean };

export type OpsGatewaysScreen = ListScreen<Schemas['Gateway']> & { kind: 'ops-gateways' };
export interface OpsGatewayScreen {
  kind: 'ops-gateway';
  gateway: Schemas['Gateway'];
  /** What operators may change of it by a form, as the form writes it. */
  terms: Readonly<Record<string, string>>;
  apiKeys: Schemas['GatewayWithKeys']['apiKeys'];
  /** Who asked for screening credit, which nobody gave since. */
  creditAsked: { by: string; at: string } | null;
  /** What is kept from it, and what was sent of that. */
  withheld: Pick<Schemas['WithheldShown'], 'items' | 'transfers'>;
}

export type OpsPricesScreen = { kind: 'ops-prices' } & Schemas['Prices'];

export type OpsAuditScreen = ListScreen<Schemas['ActionList']['items'][number]> & { kind: 'ops-audit' };

/** A row of the record of acts. */
export interface ActRow {
  seq: number;
  at: string;
  actorKind: string;
  actor: string;
  gatewayId: string | null;
  act: string;
  target: string;
  reason: string | null;
  address: string | null;
  hash: string;
}
export type OpsActsScreen = ListScreen<ActRow> & {
  kind: 'ops-acts';
  gateways: GatewayNames;
  /** What does not hang together among the newest rows, and how many those are. */
  broken: { id: number; problem: string }[];
  looked: number;
};

export interface OpsPersonRow {
  id: string;
  email: string;
  gatewayId: string | null;
  role: string | null;
  state: 'member' | 'invited' | 'recovering';
  since: string;
  seenAt: string | null;
}
export type OpsPeopleScreen = DeploymentList<OpsPersonRow> & { kind: 'ops-people' };

/** Pages of the deployment. */
export type OperatorScreen =
  | OverviewScreen
  | OpsSearchScreen
  | OpsPaymentsScreen
  | OpsPaymentScreen
  | OpsDepositsScreen
  | OpsCashoutsScreen
  | OpsCashoutScreen
  | OutgoingScreen
  | ScreeningScreen
  | NetworksScreen
  | NetworkScreen
  | JobsScreen
  | MoneyScreen
  | OpsInvoicesScreen
  | OpsExpensesScreen
  | OpsGatewaysScreen
  | OpsGatewayScreen
  | OpsPricesScreen
  | OpsAuditScreen
  | OpsActsScreen
  | OpsPeopleScreen;
