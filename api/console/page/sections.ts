/** Parts of the console that belong to a gateway, in the order of the navigation, each with the permission to look into it. */
export const SECTIONS = [
  { name: 'home', title: 'Home', permission: 'payment:read' },
  { name: 'payments', title: 'Payments', permission: 'payment:read' },
  { name: 'balances', title: 'Balances', permission: 'settlement:read' },
  { name: 'credits', title: 'Credits', permission: 'payment:read' },
  { name: 'ledger', title: 'Ledger', permission: 'settlement:read' },
  { name: 'cashouts', title: 'Cashouts', permission: 'settlement:read' },
  { name: 'webhooks', title: 'Webhooks', permission: 'payment:read' },
  { name: 'requests', title: 'Requests', permission: 'key:manage' },
] as const;

export type Section = (typeof SECTIONS)[number]['name'];

/** The permission to look into a part. */
export function permissionOf(section: Section): string {
  return SECTIONS.find(({ name }) => name === section)?.permission ?? '';
}
