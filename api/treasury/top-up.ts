import type { Chain, Deps } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { listSpendable } from '#api/store/outputs.ts';
import { listUnderWay, type StoredPayout } from '#api/store/payouts.ts';
import { lockWallet, type StoredWallet } from '#api/store/wallets.ts';
import { checkFee, checkTopUp } from './limits.ts';
import { spendsOutputs } from '#api/payouts/rules/families.ts';
import { observeWallet, planSpend, planTransfer } from './plan-transfer.ts';
import { purseOf } from '#api/payouts/rules/spending.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';
import { configuredWallet } from './wallets.ts';

/** A wallet without enough gas for a transfer is sent this many times the missing amount, so that it does not run out again at once. */
const GAS_RESERVE = 20n;

/** A paying wallet, and the native coins that it lacks. */
export interface GasNeed {
  /** The cashout that needs them, if it is one. */
  settlementId: string | null;
  wallet: StoredWallet;
  native: StoredAsset;
  /** Native units missing. */
  missing: bigint;
  /** Cost of one of its transfers, native units. */
  fee: bigint;
}

/** Sends a paying wallet the native coins that it lacks, from the funding wallet. Returns what its payment waits for. */
export async function coverGas(deps: Deps, chain: Chain, need: GasNeed): Promise<string> {
  const { settlementId, native, wallet, missing, fee } = need;
  for (const rawAmount of [missing + GAS_RESERVE * fee, missing]) {
    const refused = await topUp(deps, chain, { settlementId, native, recipient: wallet.address, parentId: null, rawAmount });
    if (refused === null) break;
    if (rawAmount === missing) return waitReason('no_gas', { reason: refused });
  }
  return waitReason('needs_gas');
}

/** Sends the address of a sweep the native coins that it lacks, plus a reserve. Returns why it could not, or null. */
export async function coverSweepGas(
  deps: Deps,
  chain: Chain,
  need: { settlementId: string | null; native: StoredAsset; sweep: StoredPayout; rawAmount: bigint },
): Promise<string | null> {
  const { settlementId, native, sweep, rawAmount } = need;
  const refused = await topUp(deps, chain, { settlementId, native, recipient: sweep.walletAddress, parentId: sweep.id, rawAmount });
  if (refused !== null) deps.log.error({ sweep: sweep.id, refused }, 'a sweep cannot be given gas');
  return refused;
}

/** Adds a half, because the fee may rise before the sweep is sent; what is left over stays ours. */
export function withReserve(rawFee: bigint): bigint {
  return (rawFee * 3n) / 2n;
}

interface TopUp {
  settlementId: string | null;
  native: StoredAsset;
  recipient: string;
  /** The sweep that waits for it; null for gas that a wallet needs itself. */
  parentId: string | null;
  rawAmount: bigint;
}

/**
 * Plans a transfer of native coins from the funding wallet to another of our addresses, unless one is on its way there. Returns why it could not,
 * or null.
 */
async function topUp(deps: Deps, chain: Chain, gas: TopUp): Promise<string | null> {
  const funding = await configuredWallet(deps, chain, 'funding');
  if (funding.haltedReason !== null) return waitReason('funding_halted', { detail: funding.haltedReason });
  const limit = await checkTopUp(deps, { symbol: gas.native.symbol, decimals: gas.native.decimals, rawAmount: gas.rawAmount });
  if (limit !== null) return limit.problem;
  const spends = spendsOutputs(chain.config.family);
  const intent = { sender: funding.address, recipient: gas.recipient, contract: null, rawAmount: gas.rawAmount };
  const observed = spends ? null : await observeWallet(deps, chain, funding, null);
  const answer = await (spends ? chain.payer.quote(intent, await listSpendable(deps.db.sql, purseOf(chain, funding))) : chain.payer.estimate(intent));
  if (!answer.ok) return answer.lacking === undefined ? waitReason('top_up_refused', { detail: answer.rejected }) : waitReason('funding_short');
  const fee = await checkFee(deps, { rawFee: answer.quote.rawFee, native: gas.native }, null);
  if (fee !== null) return fee.problem;
  const planned = await deps.db.transaction(async (tx) => {
    await lockWallet(tx, funding.id);
    const coming = (await listUnderWay(tx, { networkId: chain.id, purpose: 'top_up' })).some(
      (one) => one.recipient === gas.recipient && one.status !== 'INCLUDED',
    );
    if (coming) return null;
    const { settlementId, parentId, recipient, rawAmount, native } = gas;
    const plan = { purpose: 'top_up', settlementId, family: 1, parentId, asset: native, recipient, rawAmount, quote: answer.quote } as const;
    return observed === null ? planSpend(tx, deps, chain, funding.id, plan) : planTransfer(tx, deps, funding.id, observed, plan);
  });
  deps.wake();
  if (planned === null || 'payoutId' in planned) return null;
  return `the funding wallet cannot send it: ${'refused' in planned ? planned.refused : 'its outputs were just taken'}`;
}
