import type { GatewayActName } from '#api/people/act-names.ts';
import type { components } from '#api/contract/types.ts';
import type { Screen } from './page/model.ts';

/** Behind the gateway's own path: where whoever did something finds what became of it. `{…}` stands for a field of the form. */
const AFTER: Readonly<Record<GatewayActName, string>> = {
  // What was made is known only afterwards.
  'sandbox-create': '/payments/{made}',
  'settlement-create': '/cashouts/{made}',
  'key-create': '/keys',
  'key-change': '/keys',
  'key-revoke': '/keys',
  'secret-roll': '/keys',
  'secret-end': '/keys',
  'member-invite': '/team',
  'member-remove': '/team',
  'member-confirm': '/team',
  'member-withdraw': '/team',
  'export-create': '/reports',
  'export-monthly': '/reports',
  'policies-propose': '/policies',
  'policies-agree': '/policies',
  'policies-decline': '/policies',
  'address-add': '/addresses',
  'address-rename': '/addresses',
  'address-hide': '/addresses',
  'allowlist-add': '/allowlists',
  'allowlist-remove': '/allowlists',
  'credits-ask': '/screening',
  'settings-change': '/settings',
  'logo-change': '/settings',
  'logo-remove': '/settings',
  'settlement-approve': '/cashouts/{id}',
  'settlement-retry': '/cashouts/{id}',
  'settlement-cancel': '/cashouts/{id}',
  'webhook-resend': '/payments/{payment}',
  'webhooks-resend': '/webhooks',
  'sandbox-play': '/payments/{payment}',
  'payment-inquire': '/payments/{payment}',
  'webhook-test': '/webhooks',
};

/** Whether the console has a form for this. Pure. */
export function isGatewayAct(name: string): name is GatewayActName {
  return Object.hasOwn(AFTER, name);
}

/** The page to show after an act. Pure. */
export function pathAfterAct(act: GatewayActName, fields: Readonly<Record<string, string>>): string {
  return AFTER[act].replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(fields[name] ?? ''));
}

/** What an act comes to that is shown once, where it comes to anything. Pure. */
export function screenAfterAct(act: GatewayActName, shown: object): { screen: Screen } | undefined {
  if (act === 'webhook-test') return { screen: { kind: 'webhook-tested', result: shown as components['schemas']['WebhookTest'] } };
  if (act === 'webhooks-resend') return { screen: { kind: 'webhooks-resent', ...(shown as { resent: number }) } };
  if (act === 'payment-inquire') return { screen: { kind: 'inquired', ...(shown as { paymentUid: string; result: components['schemas']['InquiryResult'] }) } };
  if (act === 'key-create') return { screen: { kind: 'new-key', ...(shown as { apiKey: string }) } };
  if (act === 'secret-roll') return { screen: { kind: 'new-secret', ...(shown as { secret: string; overlapSeconds: number }) } };
  if ((act === 'member-invite' || act === 'member-confirm') && 'link' in shown)
    return { screen: { kind: 'new-link', ...(shown as { email: string; link: string }) } };
}
