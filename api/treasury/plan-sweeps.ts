import type { Chain, Deps } from '#api/deps.ts';
import { nativeAsset, listAssets } from '#api/store/assets.ts';
import { keepWatchingOutputs } from '#api/store/outputs.ts';
import { listUnderWay, type StoredPayout } from '#api/store/payouts.ts';
import { listAssetsToSweep, listSweepable } from '#api/store/own-moves.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { POLICY } from '#shared/core/policy.ts';
import { POOLS } from '#state-machines/ledger/accounts.ts';
import { closedReason } from './closed.ts';
import { onEachNetwork } from './on-each-network.ts';
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
  const ready: Sweeping[] = [];
  for (const pool of POOLS) {
    const { address: recipient, haltedReason } = await poolWallet(deps, chain, pool);
    if (haltedReason !== null) continue;
    for (const asset of assets)
      if ((await closedReason(sql, { networkName: chain.config.name, assetId: asset.id })) === null)
        ready.push({ settlementId: null, pool, recipient, asset, native });
  }
  const pushed: Sweeping[] = [];
  for (const sweeping of ready) if (await tried(deps, sweeping, () => pushSweeps(deps, chain, sweeping))) pushed.push(sweeping);
  let room = await roomFor(deps, chain, ready);
  let begun = 0;
  // Each asset has a place before one has two, so that none waits behind however much there is of another. Where there are fewer places than that, who is first changes.
  let turn = shuffled(pushed);
  for (let share = Math.max(1, Math.floor(room / turn.length)); room > 0 && turn.length > 0; share = room) {
    const more: Sweeping[] = [];
    for (const sweeping of turn) {
      const most = Math.min(share, room);
      if (most === 0) break;
      let opened = 0;
      await tried(deps, sweeping, () => openSweeps(deps, chain, sweeping, most, () => (opened += 1)));
      room -= opened;
      begun += opened;
      if (opened === most) more.push(sweeping);
    }
    turn = more;
  }
  return begun;
}

/** False where the chain did not answer: a failure of one token must not hold up the network's other assets. */
async function tried(deps: Deps, { asset }: Sweeping, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    deps.log.warn({ err: error, network: asset.networkName, asset: asset.symbol }, 'deposits cannot be swept; they will be later');
    return false;
  }
}

async function pushSweeps(deps: Deps, chain: Chain, sweeping: Sweeping): Promise<void> {
  const underWay = await listUnderWay(deps.db.sql, { networkId: chain.id, purpose: 'sweep' });
  for (const sweep of underWay) if (isOf(sweeping, sweep)) await pushSweep(deps, chain, sweeping, sweep);
}

/**
 * How many more sweeps there may be. Those that a cashout waits for count too, because one wallet pays the gas for all. Those do not that only wait
 * until an asset is no longer frozen, or a wallet halted.
 */
async function roomFor(deps: Deps, chain: Chain, ready: readonly Sweeping[]): Promise<number> {
  const underWay = await listUnderWay(deps.db.sql, { networkId: chain.id, purpose: 'sweep' });
  const count = underWay.filter((sweep) => sweep.status !== 'PLANNED' || ready.some((sweeping) => isOf(sweeping, sweep))).length;
  return Math.max(0, (chain.config.sweeping?.atOnce ?? POLICY.sweepsAtOnce) - count);
}

function isOf({ asset, recipient }: Sweeping, sweep: StoredPayout): boolean {
  return sweep.assetId === asset.id && sweep.recipient === recipient;
}

function shuffled<One>(all: readonly One[]): One[] {
  return all
    .map((one) => ({ one, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

/** `opened` is called for each, also for those before one that fails. */
async function openSweeps(deps: Deps, chain: Chain, sweeping: Sweeping, room: number, opened: () => void): Promise<void> {
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
    opened();
    await pushSweep(deps, chain, sweeping, sweep);
  }
}
