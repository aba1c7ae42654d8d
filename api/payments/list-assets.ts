import type { Deps, Gateway } from '#api/deps.ts';
import { listEnabledAssets, type StoredAsset } from '#api/store/assets.ts';
import { readClock } from '#api/store/clock.ts';
import { listNetworkStatus } from '#api/store/network-status.ts';
import { formatAmount } from '#shared/core/money.ts';

/** A chain counts as not followed after this many expected block times without its head having been reached. */
const SILENT_BLOCKS = 20;
/** Fast chains get this long all the same. */
const SILENT_SECONDS = 120;

/** The assets a gateway can be paid in, with what a merchant must know about each (decisions 9). */
export async function listGatewayAssets(deps: Deps, gateway: Gateway): Promise<object[]> {
  const [assets, networks, clock] = await Promise.all([
    listEnabledAssets(deps.db.sql, gateway.settings.assetIds),
    listNetworkStatus(deps.db.sql),
    readClock(deps.db.sql),
  ]);
  const caughtUp = new Map(networks.map((network) => [network.id, network.caughtUpAt]));
  return Promise.all(
    assets.map(async (asset) => ({
      assetId: asset.id,
      symbol: asset.symbol,
      name: asset.name,
      type: asset.type,
      network: asset.networkName,
      networkId: asset.networkId,
      networkSymbol: asset.networkSymbol,
      decimals: asset.decimals,
      contractAddress: asset.contract === null ? null : (deps.chains.get(asset.networkName)?.codec.display(asset.contract) ?? asset.contract),
      networkFee: formatAmount(asset.networkFee),
      minimumSettlement: asset.minimumSettlement === null ? null : formatAmount(asset.minimumSettlement),
      confirmations: confirmations(deps, asset),
      health: await health(deps, asset, clock.now, caughtUp.get(asset.networkId) ?? null),
    })),
  );
}

/** Blocks the first tier waits for; null where the chain's own tag decides (decisions 5). */
function confirmations(deps: Deps, asset: StoredAsset): number | null {
  const rule = deps.chains.get(asset.networkName)?.config.finality.resolve[0]?.rule;
  return rule !== undefined && 'blocks' in rule ? rule.blocks : null;
}

async function health(deps: Deps, asset: StoredAsset, now: Date, caughtUpAt: Date | null): Promise<'OK' | 'DEGRADED' | 'PAUSED'> {
  if (asset.networkPaused) return 'PAUSED';
  const patience = Math.max(SILENT_SECONDS, SILENT_BLOCKS * (deps.chains.get(asset.networkName)?.config.blockSeconds ?? 0));
  const followed = caughtUpAt !== null && now.getTime() - caughtUpAt.getTime() <= patience * 1_000;
  return followed && (await deps.prices.fresh(asset.symbol)) !== undefined ? 'OK' : 'DEGRADED';
}
