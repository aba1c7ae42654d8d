import type { OperatorActName } from '#api/people/act-names.ts';
import type { GatewayMadeScreen, Screen } from './page/model.ts';

/** Behind the operators' own path: where whoever did something finds what became of it. `{…}` stands for a field of the form. */
const AFTER: Readonly<Record<OperatorActName, string>> = {
  'settlement-reject': '/cashouts/{id}',
  'payment-release': '/payments/{id}',
  'payment-withhold': '/payments/{id}',
  'payment-refund': '/screening',
  'payment-transfer': '/payments/{id}',
  'withheld-pay': '/screening',
  'withheld-cancel': '/gateways/{gateway}',
  'proposal-confirm': '/screening',
  'proposal-withdraw': '/screening',
  'inquiries-reset': '/payments/{id}',
  'deposit-allocate': '/payments/{paymentId}',
  'job-retry': '/jobs',
  'job-discard': '/jobs',
  'jobs-retry': '/jobs',
  'network-pause': '/networks/{network}',
  'network-resume': '/networks/{network}',
  'network-rescan': '/networks/{network}',
  'dispatch-freeze': '/money',
  'dispatch-unfreeze': '/money',
  'wallet-clear': '/money',
  'outgoing-adopt': '/cashouts/outgoing',
  'price-set': '/prices',
  'gateway-create': '/gateways',
  'gateway-status': '/gateways/{id}',
  'gateway-terms': '/gateways/{id}',
  'credits-add': '/gateways/{id}',
  'operator-invite': '/people',
  'operator-remove': '/people',
};

/** Where the form of an act stands whose outcome is seen elsewhere. */
const ASKED_ON: Readonly<Partial<Record<OperatorActName, string>>> = { 'payment-refund': '/payments/{id}', 'withheld-pay': '/gateways/{id}' };

/** Whether the console has a form for this. Pure. */
export function isOperatorAct(name: string): name is OperatorActName {
  return Object.hasOwn(AFTER, name);
}

/** The page to show after an act: what takes two people waits where proposals are. Pure. */
export function pathAfterOperatorAct(act: OperatorActName, fields: Readonly<Record<string, string>>, shown: object = {}): string {
  if ('proposed' in shown) return '/screening';
  return filledIn(AFTER[act], fields);
}

/** The page on which an act was asked for. Pure. */
export function pathOfOperatorForm(act: OperatorActName, fields: Readonly<Record<string, string>>): string {
  return filledIn(ASKED_ON[act] ?? AFTER[act], fields);
}

function filledIn(path: string, fields: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(fields[name] ?? ''));
}

/** What an act comes to that is shown once, where it comes to anything. Pure. */
export function screenAfterOperatorAct(act: OperatorActName, fields: Readonly<Record<string, string>>, shown: object): { screen: Screen } | undefined {
  if (act === 'operator-invite') return { screen: { kind: 'new-link', ...(shown as { email: string; link: string }) } };
  if (act !== 'gateway-create') return undefined;
  const made = shown as Omit<GatewayMadeScreen, 'kind' | 'may'>;
  const may = {
    fixedAmounts: fields.billing !== 'PLATFORM',
    openAmounts: fields.openAmount === 'on',
    cashouts: fields.cashouts === 'on',
    allowlisted: (fields.allowlist ?? '').trim() !== '',
  };
  return { screen: { kind: 'gateway-made', ...made, may } };
}
