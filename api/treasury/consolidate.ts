import type { Chain, Deps } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { lockWallet, type StoredWallet } from '#api/store/wallets.ts';
import type { FeeQuote, OwnOutput } from '#shared/chains/chain.ts';
import { Invariant } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { closedReason } from './closed.ts';
import { checkFee, checkLimits } from './limits.ts';
import { planSpend } from './plan-transfer.ts';

/** The first fee is at most this fraction of the ceiling for any transaction, because it may have to rise until the bytes are mined. */
const ROOM_TO_RAISE = 2n;

/** Outputs of one pool that will become one. */
export interface Joining {
  wallet: StoredWallet;
  native: StoredAsset;
  /** One transaction takes as many of these as it can, from the first on. */
  coins: readonly OwnOutput[];
  /** The cashout that waits for it; null when none does. */
  settlementId: string | null;
  /** Called under the wallet's lock; returns why it may not cost this much, or null. */
  allow?(tx: Tx, rawFee: bigint): Promise<string | null>;
}

/** `taken`: another payout took one of the outputs; choose again. */
export type Joined = { payoutId: string; coins: readonly OwnOutput[]; rawAmount: bigint; rawFee: bigint } | { taken: true } | { refused: string };

/**
 * Plans one transaction that joins outputs of a pool at the pool's own wallet (decision 0031): as many of the given ones as fit into one
 * transaction and under the fee ceiling, with the largest as the anchor.
 * Only the deployment pays its fee. Locks the wallet, then the payments of deposits among the outputs.
 * @throws ChainUnavailable when the node cannot be reached
 */
export async function planConsolidation(deps: Deps, chain: Chain, joining: Joining): Promise<Joined> {
  const { wallet, native, settlementId } = joining;
  const found = await quoteJoin(deps, chain, joining);
  if (!('quote' in found)) return found;
  const { coins, rawFee, quote } = found;
  const rawAmount = coins.reduce((sum, coin) => sum + coin.rawAmount, 0n) - rawFee;
  crashPoint('consolidate.decided');
  const planned = await deps.db.transaction(async (tx) => {
    await lockWallet(tx, wallet.id);
    const closed = await closedReason(tx, { networkName: chain.config.name, assetId: native.id });
    if (closed !== null) return { refused: closed };
    const limit = await checkLimits(deps, tx, chain, { symbol: native.symbol, decimals: native.decimals, native: true, rawAmount: rawFee, planned: true });
    const problem = limit?.problem ?? (await joining.allow?.(tx, rawFee)) ?? null;
    if (problem !== null) return { refused: problem };
    const plan = { purpose: 'consolidation', settlementId, family: 1, parentId: null, asset: native, recipient: wallet.address, rawAmount, quote } as const;
    return planSpend(tx, deps, chain, wallet.id, plan);
  });
  crashPoint('consolidate.committed');
  deps.wake();
  if ('taken' in planned) return { taken: true };
  return 'refused' in planned ? planned : { payoutId: planned.payoutId, coins, rawAmount, rawFee };
}

/** Prices a join. While its fee is above the ceiling, it tries half as many outputs. */
async function quoteJoin(
  deps: Deps,
  chain: Chain,
  { wallet, native, coins }: Joining,
): Promise<{ coins: readonly OwnOutput[]; rawFee: bigint; quote: FeeQuote } | { refused: string }> {
  const { join } = chain.payer;
  if (join === undefined) throw new Invariant(`coins on ${chain.config.name} are no outputs that could be joined`);
  for (let most = Math.min(coins.length, POLICY.consolidationInputs); ; most = Math.max(2, Math.floor(most / 2))) {
    const some = coins.slice(0, most).sort((a, b) => (a.rawAmount < b.rawAmount ? 1 : a.rawAmount > b.rawAmount ? -1 : 0));
    const answer = await join(wallet.address, some);
    if (!answer.ok) return { refused: `the network refuses it: ${answer.rejected}` };
    const { rawFee } = answer.quote;
    const fee = await checkFee(deps, { rawFee: rawFee * ROOM_TO_RAISE, native }, null);
    if (fee === null) return { coins: some, rawFee, quote: answer.quote };
    if (most <= 2) return { refused: fee.problem };
  }
}
