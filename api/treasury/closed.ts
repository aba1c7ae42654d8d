import { findAsset } from '#api/store/assets.ts';
import { isTrustedNetwork } from '#api/store/database-epoch.ts';
import { findFreeze } from '#api/store/freezes.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';

/**
 * Why nothing of an asset may be planned, signed or sent on a network now, or null: a freeze, a paused network, or a database that may have lost
 * signed payouts and is not yet compared with the chains (reliability D16). Locks nothing.
 */
export async function closedReason(sql: Reads, dispatch: { networkName: string; assetId: string }): Promise<string | null> {
  const freeze = await findFreeze(sql, dispatch);
  if (freeze !== undefined) return waitReason('frozen', { detail: freeze.reason });
  if (!(await isTrustedNetwork(sql, dispatch.networkName))) return waitReason('restored');
  return (await findAsset(sql, dispatch.assetId))?.networkPaused === true ? waitReason('network_paused') : null;
}
