import type { Chain, Deps } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { advance } from '#api/store/advance.ts';
import { listUnderWay, lockPayout, type StoredPayout } from '#api/store/payouts.ts';
import { releaseOutputs } from '#api/store/outputs.ts';
import { lockSweepAllowance, readSweepAllowance, type SweepableAddress } from '#api/store/own-moves.ts';
import { findWalletByAddress, insertWallet, lockWallet } from '#api/store/wallets.ts';
import { isWatched, keepWatching } from '#api/store/deposit-addresses.ts';
import { rowId } from '#shared/core/ids.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import { NO_PAYOUT_FACTS } from '#state-machines/payout/machine.ts';
import { checkFee } from './limits.ts';
import { noteIfRefused } from './may-move.ts';
import { observeWallet, planTransfer, planWaiting } from './plan-transfer.ts';
import { coverSweepGas, withReserve } from './top-up.ts';
import { depositPath } from '#api/payouts/rules/wallets.ts';

/** The asset to sweep, the pool wallet it goes to, and the cashout that needs it. */
export interface Sweeping {
  /** The cashout that waits for the coins; null when none does. */
  settlementId: string | null;
  pool: Pool;
  /** Canonical address of that pool's wallet. */
  recipient: string;
  asset: StoredAsset;
  native: StoredAsset;
}

/**
 * Stores the intention to sweep the credited coins of an address, once. Null when those coins are gone, the network refuses the sweep, another
 * worker just planned it, or a verdict about their payment is awaited or has changed its pool.
 * Other coins at the address stay, because a reorganisation may still take them back and leave the sweep without cover. Locks the wallet, then the
 * payment.
 */
export async function openSweep(deps: Deps, chain: Chain, sweeping: Sweeping, found: SweepableAddress): Promise<StoredPayout | null> {
  const { asset, pool, recipient } = sweeping;
  const held = least(await chain.payer.balance(found.address, asset.contract), found.rawAmount);
  const answer = held <= 0n ? undefined : await chain.payer.estimate({ sender: found.address, recipient, contract: asset.contract, rawAmount: held });
  if (answer?.ok === false) await noteIfRefused(deps, chain, asset, found.address);
  if (!answer?.ok || held <= (asset.type === 'NATIVE' ? answer.quote.rawFee : 0n)) return null;
  const stored = await insertWallet(deps.db.sql, {
    id: rowId(deps),
    networkId: chain.id,
    role: 'deposit',
    address: found.address,
    derivationPath: depositPath(chain, found.derivationIndex),
  });
  const id = await deps.db.transaction(async (tx) => {
    const wallet = await lockWallet(tx, stored.id);
    if (wallet === undefined || wallet.haltedReason !== null) return null;
    const live = (await listUnderWay(tx, { networkId: chain.id, purpose: 'sweep' })).some(
      (sweep) => sweep.walletId === wallet.id && sweep.assetId === asset.id,
    );
    const { address } = wallet;
    const allowed = await lockSweepAllowance(tx, { networkId: chain.id, assetId: asset.id, pool, family: chain.config.family, address });
    const rawAmount = least(held, allowed.rawAmount);
    if (live || allowed.waiting || rawAmount <= 0n) return null;
    await keepWatching(tx, chain.id, address);
    return planWaiting(tx, deps, wallet, { purpose: 'sweep', settlementId: sweeping.settlementId, family: 1, parentId: null, asset, recipient, rawAmount });
  });
  crashPoint('sweep.planned');
  if (id === null) return null;
  deps.nudgeIndexer(chain.config.name);
  return (await listUnderWay(deps.db.sql, { networkId: chain.id, purpose: 'sweep' })).find((sweep) => sweep.id === id) ?? null;
}

/**
 * Moves a sweep one step on: plans it for the signer when its address has gas, otherwise makes sure that gas is on its way. Returns the chain units
 * that it will bring.
 * A sweep that cannot be made now is given up, so that others take its place until it can.
 */
export async function pushSweep(deps: Deps, chain: Chain, sweeping: Sweeping, sweep: StoredPayout): Promise<bigint> {
  if (sweep.status === 'INCLUDED') return 0n;
  if (sweep.plan.rawFee !== undefined) return sweep.rawAmount;
  const wallet = await findWalletByAddress(deps.db.sql, chain.id, sweep.walletAddress);
  if (wallet === undefined) return 0n;
  const giveUp = async (failure: string): Promise<bigint> => {
    await cancelSweep(deps, sweep.id, failure);
    return 0n;
  };
  if (wallet.haltedReason !== null) return giveUp('its address is halted');
  const { networkId, assetId, walletAddress: address } = sweep;
  const allowed = await readSweepAllowance(deps.db.sql, { networkId, assetId, pool: sweeping.pool, address, except: sweep.id });
  if (allowed.waiting) return giveUp('a verdict about its coins is awaited');
  const observed = await observeWallet(deps, chain, wallet, sweep.contract);
  const native = sweeping.asset.type === 'NATIVE';
  const answer = await chain.payer.estimate({
    sender: wallet.address,
    recipient: sweep.recipient,
    contract: sweep.contract,
    rawAmount: sweep.rawAmount,
  });
  if (!answer.ok) {
    await noteIfRefused(deps, chain, sweeping.asset, wallet.address);
    return giveUp(`the network refuses it: ${answer.rejected}`);
  }
  const rawAmount = least(least(observed.coins, sweep.rawAmount), allowed.rawAmount) - (native ? answer.quote.rawFee : 0n);
  if (rawAmount <= 0n) return giveUp('its coins are gone, or of another pool now');
  if (!native && observed.native < answer.quote.rawFee) {
    const coming = (await listUnderWay(deps.db.sql, { networkId: chain.id, purpose: 'top_up' })).some((one) => one.parentId === sweep.id);
    if (coming) return rawAmount;
    // The cashout that waits for the sweep continues once its gas has come, whichever order caused the top-up.
    const settlementId = sweep.settlementId ?? sweeping.settlementId;
    const gas = withReserve(answer.quote.rawFee) - observed.native;
    return (await coverSweepGas(deps, chain, { settlementId, native: sweeping.native, sweep, rawAmount: gas })) === null ? rawAmount : 0n;
  }
  if ((await checkFee(deps, { rawFee: answer.quote.rawFee, native: sweeping.native }, null)) !== null) return 0n;
  // While the address is not watched, neither the sweep's arrival nor its cost would be seen.
  if (!(await isWatched(deps.db.sql, chain.id, wallet.address))) return rawAmount;
  await deps.db.transaction((tx) =>
    planTransfer(tx, deps, wallet.id, observed, {
      purpose: 'sweep',
      settlementId: sweep.settlementId,
      family: 1,
      parentId: null,
      asset: sweeping.asset,
      recipient: sweep.recipient,
      rawAmount,
      quote: answer.quote,
      waitingId: sweep.id,
    }),
  );
  deps.wake();
  return rawAmount;
}

/** Gives a sweep up unless it was planned in the meantime: a nonce that is assigned and never used would block its address for ever. */
async function cancelSweep(deps: Deps, id: string, failure: string): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const sweep = await lockPayout(tx, id);
    if (sweep?.status !== 'PLANNED' || sweep.plan.rawFee !== undefined) return;
    const facts = () => ({ facts: NO_PAYOUT_FACTS, columns: { failure } });
    await advance(tx, 'payout', { id, event: 'CANCELLED', actor: 'dispatcher', facts, effects: { free: () => releaseOutputs(tx, id) } });
  });
}

/** The most that a sweep from an address costs, in native units; zero when the network would refuse it now. */
export async function sweepFee(chain: Chain, { recipient, asset }: Pick<Sweeping, 'recipient' | 'asset'>, address: string): Promise<bigint> {
  const answer = await chain.payer.estimate({ sender: address, recipient, contract: asset.contract, rawAmount: 1n });
  return answer.ok ? answer.quote.rawFee : 0n;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
