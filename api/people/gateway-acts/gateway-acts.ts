import type { GatewayActName } from '../act-names.ts';
import { CASHOUT_ACTS } from './cashout-acts.ts';
import { EXPORT_ACTS } from './export-acts.ts';
import type { GatewayAct } from './gateway-act.ts';
import { KEY_ACTS } from './key-acts.ts';
import { PAYMENT_ACTS } from './payment-acts.ts';
import { SETTINGS_ACTS } from './settings-acts.ts';
import { TEAM_ACTS } from './team-acts.ts';

/** Everything that a person may do at a gateway, by the name in the path of its form. */
export const GATEWAY_ACTS: Readonly<Record<GatewayActName, GatewayAct<unknown>>> = {
  ...PAYMENT_ACTS,
  ...CASHOUT_ACTS,
  ...KEY_ACTS,
  ...TEAM_ACTS,
  ...SETTINGS_ACTS,
  ...EXPORT_ACTS,
};
