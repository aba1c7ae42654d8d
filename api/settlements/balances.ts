import type { Deps, Gateway } from '#api/deps.ts';
import { gatewayBalances } from '#api/ledger/balances.ts';
import { listAssets } from '#api/store/assets.ts';
import { type CreditSummary, summariseCredits } from '#api/store/credits.ts';
import { findPrice } from '#api/store/prices.ts';
import type { AssetType } from '#shared/core/assets.ts';
import { type Coins, coinsToUsd, formatAmount, formatCents, type Usd, zero } from '#shared/core/money.ts';

/** One asset of a gateway with a balance that is not zero (contract 2.9). */
export interface BalanceItem {
  assetId: string;
  symbol: string;
  name: string;
  type: AssetType;
  networkId: string;
  networkName: string;
  networkSymbol: string;
  totalAvailable: string;
  totalAvailableUsd: string;
  payments: number;
  totalPendingAvailable: string;
  totalPendingUsd: string;
  pendingPayments: number;
  nextMaturityAt: string | null;
  totalQuarantinedAvailable: string;
  totalQuarantinedAvailableUsd: string;
  quarantinedPayments: number;
  totalQuarantinedReceived: string;
  totalQuarantinedPendingAvailable: string;
  quarantinedPendingPayments: number;
  totalReceived: string;
  totalTxFee: string;
  totalCommission: string;
  totalPendingReceived: string;
  totalPendingTxFee: string;
  totalPendingCommission: string;
}

/**
 * A gateway's balances per asset: withdrawable, maturing and held (contract 2.9). Takes no lock.
 * Without screening the held pool pays nothing (contract 4.3, route rule 4), so anything left in it reads 0. US dollar figures use the latest known
 * price, because they only inform.
 */
export async function listBalances(deps: Deps, { gateway }: { gateway: Gateway }): Promise<{ items: BalanceItem[] }> {
  const screens = gateway.settings.screening.enabled;
  const { balances, credits, assets } = await deps.db.snapshot(async (tx) => {
    return {
      balances: (await gatewayBalances(tx, gateway.id)).map((one) => (screens ? one : { ...one, held: zero, heldPending: zero })),
      credits: (await summariseCredits(tx, gateway.id)).filter((one) => screens || one.pool === 'green'),
      assets: new Map((await listAssets(tx)).map((asset) => [asset.id, asset])),
    };
  });
  const items: BalanceItem[] = [];
  for (const balance of balances) {
    if (balance.available + balance.pending + balance.held + balance.heldPending === 0n) continue;
    const asset = assets.get(balance.assetId);
    if (asset === undefined) continue;
    const price = (await findPrice(deps.db.sql, asset.symbol))?.usd;
    const of = (pool: 'green' | 'held', matured: boolean) => summaryOf(credits, asset.id, pool, matured);
    const [available, pending, held, heldPending] = [of('green', true), of('green', false), of('held', true), of('held', false)];
    items.push({
      assetId: asset.id,
      symbol: asset.symbol,
      name: asset.name,
      type: asset.type,
      networkId: asset.networkId,
      networkName: asset.networkName,
      networkSymbol: asset.networkSymbol,
      totalAvailable: formatAmount(balance.available),
      totalAvailableUsd: inUsd(balance.available, price),
      payments: available.open,
      totalPendingAvailable: formatAmount(balance.pending),
      totalPendingUsd: inUsd(balance.pending, price),
      pendingPayments: pending.open,
      nextMaturityAt: soonest(pending.nextMaturityAt, heldPending.nextMaturityAt)?.toISOString() ?? null,
      totalQuarantinedAvailable: formatAmount(balance.held),
      totalQuarantinedAvailableUsd: inUsd(balance.held, price),
      quarantinedPayments: held.open,
      totalQuarantinedReceived: formatAmount(held.gross + heldPending.gross),
      totalQuarantinedPendingAvailable: formatAmount(balance.heldPending),
      quarantinedPendingPayments: heldPending.open,
      totalReceived: formatAmount(available.gross),
      totalTxFee: formatAmount(available.networkFee),
      totalCommission: formatAmount(available.commission),
      totalPendingReceived: formatAmount(pending.gross),
      totalPendingTxFee: formatAmount(pending.networkFee),
      totalPendingCommission: formatAmount(pending.commission),
    });
  }
  return { items: items.sort((a, b) => (`${a.networkName} ${a.symbol}` < `${b.networkName} ${b.symbol}` ? -1 : 1)) };
}

function summaryOf(credits: CreditSummary[], assetId: string, pool: 'green' | 'held', matured: boolean): CreditSummary {
  const found = credits.find((one) => one.assetId === assetId && one.pool === pool && one.matured === matured);
  return found ?? { assetId, pool, matured, gross: zero, networkFee: zero, commission: zero, open: 0, nextMaturityAt: null };
}

/** The earlier of two moments, or the only one. Both pools mature, so it takes one from each. */
function soonest(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

function inUsd(coins: Coins, price: Usd | undefined): string {
  return formatCents(price === undefined ? zero : coinsToUsd(coins, price, 'half-up'));
}
