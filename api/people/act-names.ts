/** Everything that a person may do at a gateway, as the path of its form names it; what each does is for the http role alone. */
export const GATEWAY_ACT_NAMES = [
  'settlement-create',
  'settlement-approve',
  'settlement-retry',
  'settlement-cancel',
  'webhook-resend',
  'webhook-test',
  'key-create',
  'key-revoke',
  'secret-roll',
  'member-invite',
  'member-remove',
  'export-create',
  'policies-propose',
  'policies-agree',
  'policies-decline',
] as const;

export type GatewayActName = (typeof GATEWAY_ACT_NAMES)[number];
