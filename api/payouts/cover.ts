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

/** Deposit addresses looked at in one go; the next run looks at the next ones. */
const SWEEPS_AT_ONCE = 25;

/** Coins a wallet needs for a payment and does not have. */
export interface Shortage {
  /** The cashout they are needed for; null for a refund, or coins that follow their payment. */
  settlementId: string | null;
  wallet: StoredWallet;
  /** The pool whose coins that wallet holds. */
  pool: Pool;
  asset: StoredAsset;
  native: StoredAsset;
  /** Chain units missing, fee included where the asset is the native coin. */
  missing: bigint;
}

/**
 * Brings missing coins to a wallet: sweeps deposit addresses of its own pool that hold the asset, the largest first and
 * whatever their size (decisions 10), and sends them gas first where they have none. What sweeping native coins costs is made
 * up from the funding wallet. Returns what the payment is waiting for.
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
  // Coins on their way for other cashouts go to those first, and are waited for before the funding wallet lends any.
  if (missing > 0n) for (const sweep of coming) if (!own(sweep)) missing -= await pushSweep(deps, chain, sweeping, sweep);
  const text = formatAmount(fromUnits(short.missing, asset.decimals));
  if (missing <= 0n) return `waiting for ${text} ${asset.symbol} to be swept to the wallet`;
  const stored = await storedOf(deps.db.sql, asset, wallet, missing);
  if (asset.type === 'NATIVE') {
    // Fees are made up for; coins that are there and must not move yet, or lie in cold storage, are not, or the funding wallet would pay cashouts.
    const lent = missing - stored - (await sumBlocked(deps.db.sql, { networkId: chain.id, assetId: asset.id, pool }));
    if (lent > 0n) return coverGas(deps, chain, { ...short, missing: lent, fee: 0n });
    if (stored > 0n) return refillReason(chain, asset, wallet, stored);
    return `${formatAmount(fromUnits(missing, asset.decimals))} ${asset.symbol} lie where a verdict is awaited, or at a halted address`;
  }
  if (stored > 0n) return refillReason(chain, asset, wallet, stored);
  const refused = await sumRefused(deps.db.sql, { networkId: chain.id, assetId: asset.id, pool });
  const lie = refused > 0n ? `; ${formatAmount(fromUnits(refused, asset.decimals))} lie where the issuer does not let them be moved` : '';
  return `the wallet and all deposit addresses are short of ${formatAmount(fromUnits(missing, asset.decimals))} ${asset.symbol}${lie}`;
}
