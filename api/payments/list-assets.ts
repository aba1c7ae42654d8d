import type { Deps, Gateway } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { readClock } from '#api/store/clock.ts';
import { listNetworkStatus, type NetworkStatus } from '#api/store/networks.ts';
import { sharedReads } from '#api/store/shared-reads.ts';
import { formatAmount } from '#shared/core/money.ts';

/** A chain counts as not followed when its head was not reached for this many expected block times. */
const SILENT_BLOCKS = 20;
/** But never sooner than this, for fast chains. */
const SILENT_SECONDS = 120;

type HealthReason = 'network_paused' | 'issuer_stopped' | 'transfers_unseen' | 'price_stale' | 'indexer_behind';

/** The assets that a gateway can be paid in, with what a merchant must know about each (decisions 9). */
export async function listGatewayAssets(deps: Deps, gateway: Gateway): Promise<object[]> {
  const [assets, networks, clock] = await Promise.all([
    sharedReads(deps.db).enabledAssets(gateway.settings.assetIds),
    listNetworkStatus(deps.db.sql),
    readClock(deps.db.sql),
  ]);
  const behind = new Set(networks.filter((network) => isBehind(deps, network, clock.now)).map((network) => network.id));
  const symbols = [...new Set(assets.map((asset) => asset.symbol))];
  const priced = new Set((await Promise.all(symbols.map(async (symbol) => ((await deps.prices.fresh(symbol)) === undefined ? [] : [symbol])))).flat());
  return assets.map((asset) => {
    const reasons: HealthReason[] = [
      ...(asset.networkPaused ? ['network_paused' as const] : []),
      ...(asset.issuerStopped ? ['issuer_stopped' as const] : []),
      ...(asset.unwatchable ? ['transfers_unseen' as const] : []),
      ...(priced.has(asset.symbol) ? [] : ['price_stale' as const]),
      ...(behind.has(asset.networkId) ? ['indexer_behind' as const] : []),
    ];
    return {
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
      minimumDeposit: formatAmount(asset.dustFloor),
      minimumSettlement: asset.minimumSettlement === null ? null : formatAmount(asset.minimumSettlement),
      confirmations: confirmations(deps, asset),
      health: asset.networkPaused || asset.issuerStopped || asset.unwatchable ? 'PAUSED' : reasons.length === 0 ? 'OK' : 'DEGRADED',
      healthReasons: reasons,
    };
  });
}

/** Blocks that the lowest tier waits for; null where the chain's own tag decides (decisions 5). */
function confirmations(deps: Deps, asset: StoredAsset): number | null {
  const rule = deps.chains.get(asset.networkName)?.config.finality.resolve[0]?.rule;
  return rule !== undefined && 'blocks' in rule ? rule.blocks : null;
}

/** Whether a network's head has not been reached lately. */
function isBehind(deps: Deps, { name, caughtUpAt }: NetworkStatus, now: Date): boolean {
  const patience = Math.max(SILENT_SECONDS, SILENT_BLOCKS * (deps.chains.get(name)?.config.blockSeconds ?? 0));
  return caughtUpAt === null || now.getTime() - caughtUpAt.getTime() > patience * 1_000;
}
