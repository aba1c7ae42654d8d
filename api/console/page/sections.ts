import type { Translate } from './texts.ts';

/** Parts of the console that belong to a gateway, in the order of the navigation, each with the permission to look into it. */
export const SECTIONS = [
  { name: 'home', permission: 'payment:read' },
  { name: 'payments', permission: 'payment:read' },
  { name: 'balances', permission: 'settlement:read' },
  { name: 'credits', permission: 'payment:read' },
  { name: 'ledger', permission: 'settlement:read' },
  { name: 'cashouts', permission: 'settlement:read' },
  { name: 'addresses', permission: 'settlement:read' },
  { name: 'policies', permission: 'settings:write' },
  { name: 'screening', permission: 'aml:read' },
  { name: 'webhooks', permission: 'payment:read' },
  { name: 'reports', permission: 'report:export' },
  { name: 'requests', permission: 'key:manage' },
  { name: 'sandbox', permission: 'payment:create' },
  { name: 'keys', permission: 'key:manage' },
  { name: 'allowlists', permission: 'settings:write' },
  { name: 'settings', permission: 'settings:write' },
  { name: 'team', permission: 'team:manage' },
] as const;

export type Section = (typeof SECTIONS)[number]['name'];

/** The permission to look into a part. */
export function permissionOf(section: Section): string {
  return SECTIONS.find(({ name }) => name === section)?.permission ?? '';
}

/** What a part is called. Pure. */
export function sectionTitle(t: Translate, section: Section): string {
  return t(`section.${section}`);
}
