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
  'address-add',
  'address-rename',
  'address-hide',
  'allowlist-add',
  'allowlist-remove',
] as const;

export type GatewayActName = (typeof GATEWAY_ACT_NAMES)[number];

/** Everything that a person may do at the deployment, as the path of its form names it. */
export const OPERATOR_ACT_NAMES = [
  'settlement-reject',
  'payment-release',
  'payment-withhold',
  'payment-refund',
  'proposal-confirm',
  'proposal-withdraw',
  'deposit-allocate',
  'job-retry',
  'job-discard',
  'network-pause',
  'network-resume',
  'network-rescan',
  'dispatch-freeze',
  'dispatch-unfreeze',
  'wallet-clear',
  'gateway-create',
  'gateway-status',
  'credits-add',
  'operator-invite',
  'operator-remove',
] as const;

export type OperatorActName = (typeof OPERATOR_ACT_NAMES)[number];
