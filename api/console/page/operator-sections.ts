/** Parts of the console that belong to the deployment, in the order of the navigation. Whoever holds `audit:read` reads them all. */
export const OPERATOR_SECTIONS = [
  'overview',
  'payments',
  'deposits',
  'cashouts',
  'screening',
  'networks',
  'jobs',
  'money',
  'gateways',
  'prices',
  'audit',
  'people',
] as const;

export type OperatorSection = (typeof OPERATOR_SECTIONS)[number];

/** The permission to look into any of them: an auditor has no other, an operator has it beside those to act. */
export const READ_EVERYTHING = 'audit:read';
