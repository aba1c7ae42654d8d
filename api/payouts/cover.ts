import type { Chain, Deps } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { listUnderWay, type StoredPayout } from '#api/store/payouts.ts';
import { listSweepable, sumBlocked, sumRefused } from '#api/store/own-moves.ts';
import type { StoredWallet } from '#api/store/wallets.ts';
import { formatAmount, fromUnits } from '#shared/core/money.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import { refillReason, storedOf } from '#api/treasury/cold.ts';
import { openSweep, pushSweep, sweepFee } from '#api/treasury/sweep.ts';
import { coverGas } from '#api/treasury/top-up.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';

/** At most this many deposit addresses are looked at in one run; the next run looks at the following ones. */
const SWEEPS_AT_ONCE = 25;

/** Coins that a wallet lacks for a payment. */
export interface Shortage {
  /** The cashout that needs them; null for a refund, and for coins that follow their payment. */
  settlementId: string | null;
  wallet: StoredWallet;
  /** The pool that the wallet holds coins of. */
  pool: Pool;
  asset: StoredAsset;
  native: StoredAsset;
  /** Chain units missing, including the fee for the native coin. */
  missing: bigint;
}

/**
 * Brings missing coins to a wallet; returns what its payment waits for.
 * It sweeps deposit addresses of the wallet's pool that hold the asset, largest first and whatever their size (decisions 10), and first sends them
 * gas where they have none. The funding wallet makes up for the cost of sweeping native coins.
 */
export async function coverShortage(deps: Deps, chain: Chain, short: Shortage): Promise<string> {
  const { asset, wallet, pool } = short;
  let missing = short.missing;
  const sweeping = { ...short, recipient: wallet.address };
  const underWay = await listUnderWay(deps.db.sql, { networkId: chain.id, purpose: 'sweep' });
  const coming = underWay.filter((one) => one.assetId === asset.id && one.recipient === wallet.address);
  const own = (sweep: StoredPayout): boolean => sweep.settlementId === null || sweep.settlementId === short.settlementId;
  for (const sweep of coming.filter(own)) missing -= await pushSweep(deps, chain, sweeping, sweep);
  if (missing > 0n) {
    const above = asset.type === 'NATIVE' ? await sweepFee(chain, sweeping, wallet.address) : 0n;
    for (const found of await listSweepable(deps.db.sql, { networkId: chain.id, assetId: asset.id, pool, above, limit: SWEEPS_AT_ONCE })) {
      if (missing <= 0n) break;
      const sweep = await openSweep(deps, chain, sweeping, found);
      if (sweep !== null) missing -= await pushSweep(deps, chain, sweeping, sweep);
    }
  }
  // Sweeps for other cashouts serve those first, but the funding wallet lends nothing before they have arrived.
  if (missing > 0n) for (const sweep of coming) if (!own(sweep)) missing -= await pushSweep(deps, chain, sweeping, sweep);
  const text = formatAmount(fromUnits(short.missing, asset.decimals));
  if (missing <= 0n) return waitReason('sweeping', { amount: text, asset: asset.symbol });
  const stored = await storedOf(deps.db.sql, asset, wallet, missing);
  if (asset.type === 'NATIVE') {
    // The funding wallet makes up only for fees. If it made up for coins that may not move yet or lie in cold storage, it would pay cashouts.
    const lent = missing - stored - (await sumBlocked(deps.db.sql, { networkId: chain.id, assetId: asset.id, pool }));
    if (lent > 0n) return coverGas(deps, chain, { ...short, missing: lent, fee: 0n });
    if (stored > 0n) return refillReason(chain, asset, wallet, stored);
    return waitReason('awaits_verdict', { amount: formatAmount(fromUnits(missing, asset.decimals)), asset: asset.symbol });
  }
  if (stored > 0n) return refillReason(chain, asset, wallet, stored);
  const refused = await sumRefused(deps.db.sql, { networkId: chain.id, assetId: asset.id, pool });
  const lacking = { amount: formatAmount(fromUnits(missing, asset.decimals)), asset: asset.symbol };
  return refused > 0n
    ? waitReason('short_and_refused', { ...lacking, refused: formatAmount(fromUnits(refused, asset.decimals)) })
    : waitReason('short', lacking);
}
