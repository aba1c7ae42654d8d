import type { Chain, Deps, Reply } from '#api/deps.ts';
import { bookedCold } from '#api/ledger/balances.ts';
import { listAssets, type StoredAsset } from '#api/store/assets.ts';
import { listSpendable } from '#api/store/outputs.ts';
import type { StoredWallet } from '#api/store/wallets.ts';
import { coldAddress, coldLimits } from '#api/payouts/rules/cold.ts';
import { spendsOutputs } from '#api/payouts/rules/families.ts';
import { purseOf } from '#api/payouts/rules/spending.ts';
import { sweepsLeft } from '#api/treasury/report-funding.ts';
import { configuredWallet } from '#api/treasury/wallets.ts';
import { WALLET_ROLES } from '#api/payouts/rules/wallets.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { formatAmount, fromUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';

/** GET /wallets: what each configured wallet holds right now, and for hot ones between which limits, with what lies in cold storage. */
export async function showWallets(deps: Deps): Promise<Reply> {
  const assets = await listAssets(deps.db.sql);
  const items: object[] = [];
  for (const chain of deps.chains.values()) {
    const own = assets.filter((asset) => asset.networkId === chain.id);
    for (const role of WALLET_ROLES) {
      const wallet = await configuredWallet(deps, chain, role);
      const held = await Promise.all(own.map((asset) => describe(deps, chain, wallet, asset)));
      const gas = role === 'funding' ? await gasOf(deps, chain, assets) : null;
      items.push({ network: chain.config.name, role, address: chain.codec.display(wallet.address), haltedReason: wallet.haltedReason, gas, assets: held });
    }
  }
  return { status: 200, data: { items } };
}

/** For how many transfers the funding wallet brings gas, beside how many it should; null while its node cannot tell. */
async function gasOf(deps: Deps, chain: Chain, assets: readonly StoredAsset[]): Promise<{ transfers: number | null; enough: number }> {
  const enough = POLICY.fundingLowSweeps;
  try {
    return { transfers: (await sweepsLeft(deps, chain, assets)) ?? null, enough };
  } catch (error) {
    if (error instanceof ChainUnavailable) return { transfers: null, enough };
    throw error;
  }
}

async function describe(deps: Deps, chain: Chain, wallet: StoredWallet, asset: StoredAsset): Promise<object> {
  const { id: assetId, symbol, decimals } = asset;
  const raw = await coinsOf(deps, chain, wallet, asset);
  const limits = wallet.role === 'hot' ? coldLimits(chain, asset) : null;
  const say = (units: bigint): string => formatAmount(fromUnits(units, decimals));
  const coldStorage = limits && {
    ceiling: say(limits.ceiling),
    floor: say(limits.floor),
    coins: formatAmount(await bookedCold(deps.db.sql, assetId)),
    address: chain.codec.display(coldAddress(chain) as string),
  };
  return { assetId, symbol, coins: raw === null ? null : say(raw), coldStorage };
}

/** What a wallet can pay with, chain units; null while its node cannot tell. */
async function coinsOf(deps: Deps, chain: Chain, wallet: StoredWallet, { contract }: StoredAsset): Promise<bigint | null> {
  if (spendsOutputs(chain.config.family)) return (await listSpendable(deps.db.sql, purseOf(chain, wallet))).reduce((sum, one) => sum + one.rawAmount, 0n);
  try {
    return await chain.payer.balance(wallet.address, contract);
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}
