import type { MessageKey, Translate } from './texts.ts';

/** What people call something, by what the contract, the deployment or the maker of a role calls it; one that no catalogue knows keeps its name. */
const KEYS = {
  status: (name: string) => `status.${name}`,
  role: (name: string) => `role.${name}`,
  wallet: (name: string) => `wallet.${name}`,
  purpose: (name: string) => `purpose.${name}`,
  'payer-of-fees': (name: string) => `payer-of-fees.${name}`,
  billing: (name: string) => `billing.${name}`,
  'webhook-result': (name: string) => `webhook-result.${name}`,
  'screening-event': (name: string) => `screening-event.${name}`,
  'hold-reason': (name: string) => `cashout.hold-${name}`,
} as const;

/** Pure. */
export function wordFor(t: Translate, names: keyof typeof KEYS, name: string): string {
  return t(KEYS[names](name) as MessageKey) || name;
}
