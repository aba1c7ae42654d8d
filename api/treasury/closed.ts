import { findAsset } from '#api/store/assets.ts';
import { isTrustedNetwork } from '#api/store/database-epoch.ts';
import { findFreeze } from '#api/store/freezes.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/**
 * Why nothing of an asset may be planned, signed or sent on a network now, or null: a freeze, a paused network, or a database that may have lost
 * signed payouts and is not yet compared with the chains (reliability D16). Locks nothing.
 */
export async function closedReason(sql: Reads, dispatch: { networkName: string; assetId: string }): Promise<string | null> {
  const freeze = await findFreeze(sql, dispatch);
  if (freeze !== undefined) return `dispatch is frozen: ${freeze.reason}`;
  if (!(await isTrustedNetwork(sql, dispatch.networkName))) return 'the database was restored or taken over, and the chains are still compared with it';
  return (await findAsset(sql, dispatch.assetId))?.networkPaused === true ? 'the network is paused' : null;
}
