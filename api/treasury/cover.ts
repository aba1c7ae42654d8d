import type { Chain, Deps } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { advance } from '#api/store/advance.ts';
import { listUnderWay, lockPayout, type StoredPayout } from '#api/store/payouts.ts';
import { listSweepable, type SweepableAddress } from '#api/store/sweepable.ts';
import { findWalletByAddress, insertWallet, lockWallet, type StoredWallet } from '#api/store/wallets.ts';
import { isWatched, keepWatching } from '#api/store/watches.ts';
import { formatAmount, fromUnits } from '#shared/core/money.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { NO_PAYOUT_FACTS } from '#state-machines/payout/machine.ts';
import { checkFee, checkTopUp } from './limits.ts';
import { observeWallet, planTransfer, planWaiting } from './plan-transfer.ts';
import { configuredWallet, depositPath } from './wallets.ts';

/** Deposit addresses looked at in one go; the next run looks at the next ones. */
const SWEEPS_AT_ONCE = 25;
/** A wallet that runs out of gas is given this many times what it lacks a transfer for, so that it does not run out again at once. */
const GAS_RESERVE = 20n;

/** Coins a wallet needs for a settlement and does not have. */
export interface Shortage {
  settlementId: string;
  wallet: StoredWallet;
  asset: StoredAsset;
  native: StoredAsset;
  /** Chain units missing, fee included where the asset is the native coin. */
  missing: bigint;
}

/**
 * Brings missing coins to a wallet: sweeps deposit addresses that hold the asset, the largest first and whatever their
 * size (decisions 10), and sends them gas first where they have none. What sweeping native coins costs is made up from the
 * funding wallet. Returns what the settlement is waiting for.
 */
export async function coverShortage(deps: Deps, chain: Chain, short: Shortage): Promise<string> {
  let missing = short.missing;
  const underWay = (await listUnderWay(deps.db.sql, { networkId: chain.id, purpose: 'sweep' })).filter((sweep) => sweep.assetId === short.asset.id);
  for (const sweep of underWay) missing -= await pushSweep(deps, chain, short, sweep);
  if (missing > 0n) {
    const floor = short.asset.type === 'NATIVE' ? await sweepFee(chain, short, short.wallet.address) : 0n;
    for (const found of await listSweepable(deps.db.sql, { networkId: chain.id, assetId: short.asset.id, above: floor, limit: SWEEPS_AT_ONCE })) {
      if (missing <= 0n) break;
      const sweep = await openSweep(deps, chain, short, found);
      if (sweep !== null) missing -= await pushSweep(deps, chain, short, sweep);
    }
  }
  const text = formatAmount(fromUnits(short.missing, short.asset.decimals));
  if (missing <= 0n) return `waiting for ${text} ${short.asset.symbol} to be swept to the wallet`;
  if (short.asset.type === 'NATIVE') return coverGas(deps, chain, { ...short, missing, fee: 0n });
  return `the wallet and all deposit addresses are short of ${formatAmount(fromUnits(missing, short.asset.decimals))} ${short.asset.symbol}`;
}

/**
 * Sends a wallet that pays settlements the native coins it lacks, from the funding wallet; `fee` is what one of its
 * transfers costs. Returns what the settlement is waiting for.
 */
export async function coverGas(deps: Deps, chain: Chain, need: Shortage & { fee: bigint }): Promise<string> {
  const amounts = [need.missing + GAS_RESERVE * need.fee, need.missing];
  for (const rawAmount of amounts) {
    const refused = await topUp(deps, chain, { ...need, recipient: need.wallet.address, parentId: null, rawAmount });
    if (refused === null) return 'waiting for gas to reach the wallet';
    if (rawAmount === need.missing) return `the wallet needs gas and ${refused}`;
  }
  return 'waiting for gas to reach the wallet';
}

/** Sends the address of a sweep that was planned or signed already the native coins it lacks since fees rose. Returns why it could not, or null. */
export async function coverSweepGas(
  deps: Deps,
  chain: Chain,
  need: { settlementId: string; native: StoredAsset; sweep: StoredPayout; missing: bigint },
): Promise<string | null> {
  const { settlementId, native, sweep, missing } = need;
  const refused = await topUp(deps, chain, { settlementId, native, recipient: sweep.walletAddress, parentId: sweep.id, rawAmount: withReserve(missing) });
  if (refused !== null) deps.log.error({ sweep: sweep.id, refused }, 'a sweep cannot be given gas');
  return refused;
}

/**
 * Stores the intention to sweep what is credited at an address, once; null when those coins are gone or somebody else just
 * planned it. What else lies there stays: a reorganisation may still take it back and leave the sweep without cover.
 */
async function openSweep(deps: Deps, chain: Chain, short: Shortage, found: SweepableAddress): Promise<StoredPayout | null> {
  const rawAmount = least(await chain.payer.balance(found.address, short.asset.contract), found.rawAmount);
  if (rawAmount <= (short.asset.type === 'NATIVE' ? await sweepFee(chain, short, found.address) : 0n)) return null;
  const stored = await insertWallet(deps.db.sql, {
    id: uuidFrom(deps.randomBytes(16)),
    networkId: chain.id,
    role: 'deposit',
    address: found.address,
    derivationPath: depositPath(chain, found.derivationIndex),
  });
  const id = await deps.db.transaction(async (tx) => {
    const wallet = await lockWallet(tx, stored.id);
    if (wallet === undefined || wallet.haltedReason !== null) return null;
    const live = (await listUnderWay(tx, { networkId: chain.id, purpose: 'sweep' })).some(
      (sweep) => sweep.walletId === wallet.id && sweep.assetId === short.asset.id,
    );
    if (live) return null;
    await keepWatching(tx, chain.id, wallet.address);
    return planWaiting(tx, deps, wallet, {
      purpose: 'sweep',
      settlementId: short.settlementId,
      family: 1,
      parentId: null,
      asset: short.asset,
      recipient: short.wallet.address,
      rawAmount,
    });
  });
  crashPoint('sweep.planned');
  if (id === null) return null;
  deps.nudgeIndexer(chain.config.name);
  return (await listUnderWay(deps.db.sql, { networkId: chain.id, purpose: 'sweep' })).find((sweep) => sweep.id === id) ?? null;
}

/**
 * Takes a sweep one step on: plans it for the signer when its address has the gas, else sees that gas is on its way.
 * Returns the chain units it will bring.
 */
async function pushSweep(deps: Deps, chain: Chain, short: Shortage, sweep: StoredPayout): Promise<bigint> {
  if (sweep.status === 'INCLUDED') return 0n;
  if (sweep.plan.rawFee !== undefined) return sweep.rawAmount;
  const wallet = await findWalletByAddress(deps.db.sql, chain.id, sweep.walletAddress);
  if (wallet === undefined || wallet.haltedReason !== null) return 0n;
  const observed = await observeWallet(deps, chain, wallet, sweep.contract);
  const native = short.asset.type === 'NATIVE';
  const answer = await chain.payer.estimate({
    sender: wallet.address,
    recipient: sweep.recipient,
    contract: sweep.contract,
    rawAmount: sweep.rawAmount,
  });
  if (!answer.ok) return 0n;
  const rawAmount = least(observed.coins, sweep.rawAmount) - (native ? answer.quote.rawFee : 0n);
  if (rawAmount <= 0n) {
    await cancelSweep(deps, sweep.id);
    return 0n;
  }
  if (!native && observed.native < answer.quote.rawFee) {
    const coming = (await listUnderWay(deps.db.sql, { networkId: chain.id, purpose: 'top_up' })).some((one) => one.parentId === sweep.id);
    if (coming) return rawAmount;
    const missing = withReserve(answer.quote.rawFee) - observed.native;
    const refused = await topUp(deps, chain, { ...short, recipient: wallet.address, parentId: sweep.id, rawAmount: missing });
    if (refused !== null) deps.log.error({ sweep: sweep.id, refused }, 'a sweep cannot be given gas');
    return refused === null ? rawAmount : 0n;
  }
  if ((await checkFee(deps, { rawFee: answer.quote.rawFee, native: short.native }, null)) !== null) return 0n;
  // Nobody would see it arrive, or know what it cost.
  if (!(await isWatched(deps.db.sql, chain.id, wallet.address))) return rawAmount;
  await deps.db.transaction((tx) =>
    planTransfer(tx, deps, wallet.id, observed, {
      purpose: 'sweep',
      settlementId: sweep.settlementId,
      family: 1,
      parentId: null,
      asset: short.asset,
      recipient: sweep.recipient,
      rawAmount,
      quote: answer.quote,
      waitingId: sweep.id,
    }),
  );
  deps.wake();
  return rawAmount;
}

/** Gives a sweep up, unless somebody planned it in the meantime: a nonce nobody uses would block its address for ever. */
async function cancelSweep(deps: Deps, id: string): Promise<void> {
  await deps.db.transaction(async (tx) => {
    if ((await lockPayout(tx, id))?.plan.rawFee !== undefined) return;
    const facts = () => ({ facts: NO_PAYOUT_FACTS, columns: { failure: 'its coins are gone' } });
    await advance(tx, 'payout', { id, event: 'CANCELLED', actor: 'dispatcher', facts });
  });
}

interface TopUp {
  settlementId: string;
  native: StoredAsset;
  recipient: string;
  /** The sweep that waits for it; null for a wallet's own gas. */
  parentId: string | null;
  rawAmount: bigint;
}

/** Plans native coins from the funding wallet to another address of ours, unless some are on their way there. Returns why it could not, or null. */
async function topUp(deps: Deps, chain: Chain, gas: TopUp): Promise<string | null> {
  const funding = await configuredWallet(deps, chain, 'funding');
  if (funding.haltedReason !== null) return `the funding wallet is halted: ${funding.haltedReason}`;
  const limit = await checkTopUp(deps, { symbol: gas.native.symbol, decimals: gas.native.decimals, rawAmount: gas.rawAmount });
  if (limit !== null) return limit.problem;
  const observed = await observeWallet(deps, chain, funding, null);
  const answer = await chain.payer.estimate({ sender: funding.address, recipient: gas.recipient, contract: null, rawAmount: gas.rawAmount });
  if (!answer.ok) return `the network refuses the top-up: ${answer.rejected}`;
  const fee = await checkFee(deps, { rawFee: answer.quote.rawFee, native: gas.native }, null);
  if (fee !== null) return fee.problem;
  const planned = await deps.db.transaction(async (tx) => {
    await lockWallet(tx, funding.id);
    const coming = (await listUnderWay(tx, { networkId: chain.id, purpose: 'top_up' })).some(
      (one) => one.recipient === gas.recipient && one.status !== 'INCLUDED',
    );
    if (coming) return null;
    return planTransfer(tx, deps, funding.id, observed, {
      purpose: 'top_up',
      settlementId: gas.settlementId,
      family: 1,
      parentId: gas.parentId,
      asset: gas.native,
      recipient: gas.recipient,
      rawAmount: gas.rawAmount,
      quote: answer.quote,
    });
  });
  deps.wake();
  return planned === null || 'payoutId' in planned ? null : `the funding wallet cannot send it: ${planned.refused}`;
}

/** Half as much again: the fee may rise before the sweep is sent, and what is left over stays ours. */
function withReserve(rawFee: bigint): bigint {
  return (rawFee * 3n) / 2n;
}

/** What a sweep from an address costs at most, native units. */
async function sweepFee(chain: Chain, short: Shortage, address: string): Promise<bigint> {
  const answer = await chain.payer.estimate({ sender: address, recipient: short.wallet.address, contract: short.asset.contract, rawAmount: 1n });
  return answer.ok ? answer.quote.rawFee : 0n;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
