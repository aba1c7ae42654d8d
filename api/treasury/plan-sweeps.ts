import type { Chain, Deps } from '#api/deps.ts';
import { nativeAsset, listAssets } from '#api/store/assets.ts';
import { keepWatchingOutputs } from '#api/store/outputs.ts';
import { listUnderWay } from '#api/store/payouts.ts';
import { listAssetsToSweep, listSweepable } from '#api/store/own-moves.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { POLICY } from '#shared/core/policy.ts';
import { POOLS } from '#state-machines/ledger/accounts.ts';
import { closedReason } from './closed.ts';
import { onEachNetwork } from './each.ts';
import { spendsOutputs } from '#api/payouts/rules/families.ts';
import { noteIfRefused } from './may-move.ts';
import { openSweep, pushSweep, type Sweeping, sweepFee } from './sweep.ts';
import { sweepFloor } from './sweep-floor.ts';
import { poolWallet } from './wallets.ts';

/** How many addresses that cannot be swept now, for example because an issuer has locked them, are passed over so that others are swept. */
const PASSED_OVER = 20;

/**
 * Sweeps deposit addresses before a cashout needs their coins, and moves sweeps on that wait for gas. Returns how many it began.
 * It sweeps addresses worth more than a multiple of the present cost of top-up and sweep, largest first, a few at a time, each to the wallet of its
 * own pool. It does nothing while dispatch is frozen, a network is paused or the pool's wallet is halted. Where coins are outputs they stay in
 * place until something is paid, and are only kept watched.
 */
export async function planSweeps(deps: Deps): Promise<number> {
  return onEachNetwork(deps, 'deposits of a network cannot be swept', async (chain) => {
    if (!spendsOutputs(chain.config.family)) return sweepNetwork(deps, chain);
    if ((await keepWatchingOutputs(deps.db.sql, chain.id)) > 0) deps.nudgeIndexer(chain.config.name);
    return 0;
  });
}

async function sweepNetwork(deps: Deps, chain: Chain): Promise<number> {
  const { sql } = deps.db;
  const toSweep = await listAssetsToSweep(sql, chain.id);
  if (toSweep.size === 0) return 0;
  const native = await nativeAsset(sql, chain.id);
  const assets = (await listAssets(sql)).filter((asset) => toSweep.has(asset.id));
  const atOnce = chain.config.sweeping?.atOnce ?? POLICY.sweepsAtOnce;
  let begun = 0;
  for (const pool of POOLS) {
    const { address: recipient, haltedReason } = await poolWallet(deps, chain, pool);
    if (haltedReason !== null) continue;
    for (const asset of assets) {
      if ((await closedReason(sql, { networkName: chain.config.name, assetId: asset.id })) !== null) continue;
      const sweeping: Sweeping = { settlementId: null, pool, recipient, asset, native };
      try {
        begun += await sweepAsset(deps, chain, sweeping, atOnce);
      } catch (error) {
        // A failure of one token must not hold up the network's other assets.
        if (!(error instanceof ChainUnavailable)) throw error;
        deps.log.warn({ err: error, network: chain.config.name, asset: asset.symbol }, 'deposits cannot be swept; they will be later');
      }
    }
  }
  return begun;
}

async function sweepAsset(deps: Deps, chain: Chain, sweeping: Sweeping, atOnce: number): Promise<number> {
  const underWay = await listUnderWay(deps.db.sql, { networkId: chain.id, purpose: 'sweep' });
  for (const sweep of underWay) {
    if (sweep.assetId === sweeping.asset.id && sweep.recipient === sweeping.recipient) await pushSweep(deps, chain, sweeping, sweep);
  }
  // Sweeps that a cashout waits for count too, because one wallet pays the gas for all.
  return atOnce > underWay.length ? openSweeps(deps, chain, sweeping, atOnce - underWay.length) : 0;
}

async function openSweeps(deps: Deps, chain: Chain, sweeping: Sweeping, room: number): Promise<number> {
  const { asset, pool } = sweeping;
  const query = { networkId: chain.id, assetId: asset.id, pool, restSeconds: POLICY.sweepRestSeconds };
  let above: bigint | undefined;
  let begun = 0;
  for (const found of await listSweepable(deps.db.sql, { ...query, above: 0n, limit: room + PASSED_OVER })) {
    above ??= await sweepFloor(deps, chain, sweeping, found.address);
    if (above === undefined) {
      if ((await sweepFee(chain, sweeping, found.address)) === 0n) await noteIfRefused(deps, chain, asset, found.address);
      continue;
    }
    // The list is sorted, largest first.
    if (found.rawAmount <= above || begun >= room) break;
    const sweep = await openSweep(deps, chain, sweeping, found);
    if (sweep === null) continue;
    begun += 1;
    await pushSweep(deps, chain, sweeping, sweep);
  }
  return begun;
}
