import { findAsset } from '#api/store/assets.ts';
import { findFreeze } from '#api/store/freezes.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** Why nothing of an asset may be planned, signed or sent on a network right now, or null: a freeze, or a paused network. Locks nothing. */
export async function closedReason(sql: Reads, dispatch: { networkName: string; assetId: string }): Promise<string | null> {
  const freeze = await findFreeze(sql, dispatch);
  if (freeze !== undefined) return `dispatch is frozen: ${freeze.reason}`;
  return (await findAsset(sql, dispatch.assetId))?.networkPaused === true ? 'the network is paused' : null;
}
