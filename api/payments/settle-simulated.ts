import type { Deps } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import type { Offer } from '#api/store/payment-offers.ts';
import type { Payment } from '#api/store/payments.ts';
import { type SeenSandboxDeposit, settleSandboxDeposit } from '#api/store/sandbox-deposits.ts';
import { Invariant, ServiceError } from '#shared/core/errors.ts';
import { resolveRule } from '#shared/core/finality.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { isDust, type Judgement } from '#state-machines/payment/judge-deposit.ts';
import { depositFees } from './deposit-fees.ts';
import type { Prices } from './outcome.ts';
import { judgeArrival, resolvePayment } from './resolve-payment.ts';

/** A sandbox payment under its lock, its current status, and the facts around it. */
export interface Scene {
  payment: Payment;
  offers: readonly Offer[];
  /** Every asset there is, as it was before the lock. */
  assets: readonly StoredAsset[];
  prices: Prices;
  now: Date;
}

/**
 * Judges a simulated deposit and moves its payment as a real one would: same judgement, machine, columns, evidence and webhook. Fees are recorded
 * but nothing is posted to the ledger (decisions 9). Dust is recorded and moves nothing.
 * The caller holds the payment's lock, and calls `deps.wake()` after the commit.
 * @throws service_unavailable when it needs a fresh price and there is none
 */
export async function settleSimulated(tx: Tx, deps: Deps, scene: Scene, deposit: SeenSandboxDeposit): Promise<void> {
  const { payment, offers, assets, prices, now } = scene;
  const asset = assets.find(({ id }) => id === deposit.assetId);
  if (asset === undefined) throw new Invariant(`asset ${deposit.assetId} of a simulated deposit does not exist`);
  if (isDust(deposit.amount, asset.dustFloor)) return settleSandboxDeposit(tx, deposit.id, now, { state: 'dust' });

  const judged = judgeArrival({ payment, status: payment.status, offers, prices }, asset.symbol, {
    assetId: asset.id,
    received: deposit.amount,
    firstSeenAt: deposit.firstSeenAt.getTime(),
    confirmedAt: now.getTime(),
    byInquiry: false,
  });
  if ('needs' in judged) throw withoutPrice(asset.symbol);

  const arrival = {
    depositIds: [deposit.id],
    txid: deposit.txid,
    assetId: asset.id,
    symbol: asset.symbol,
    total: deposit.amount,
    blockHash: null,
    height: null,
    confirmations: null,
    finality: null,
    firstSeenAt: deposit.firstSeenAt,
    confirmedAt: now,
  };
  const outcome = { judged, arrival, offers, prices, filled: null };
  const resolution = { outcome, actor: 'sandbox', firstSeenMs: deposit.firstSeenAt.getTime(), allocated: false } as const;
  // Nothing is posted to the ledger; the deposit's row records what it would have been credited with (decisions 9).
  const status = await resolvePayment(tx, deps, { payment, status: payment.status }, resolution, () => noteCredit(tx, deps, scene, { asset, deposit, judged }));
  deps.metrics?.paymentsResolved.inc({ status, deposit_path: judged.path, sandbox: 'true' });
}

/** Records what a simulated deposit would have credited. */
async function noteCredit(
  tx: Tx,
  deps: Deps,
  { payment, offers, prices, now }: Scene,
  { asset, deposit, judged }: { asset: StoredAsset; deposit: SeenSandboxDeposit; judged: Judgement },
): Promise<void> {
  const fees = depositFees(payment, offers, { asset, gross: deposit.amount, judged, networkFeePaid: false });
  const finality = deps.chains.get(asset.networkName)?.config.finality;
  const rule = finality === undefined ? undefined : resolveRule(finality, judged.receivedUsd);
  await settleSandboxDeposit(tx, deposit.id, now, {
    state: 'credited',
    confirmations: rule !== undefined && 'blocks' in rule ? rule.blocks : 1,
    usdPrice: prices.get(asset.symbol)?.usd ?? null,
    path: judged.path,
    networkFee: fees.networkFee,
    commission: fees.commission,
    net: fees.net,
  });
}

/** The error when a simulation needs a market price and there is none; a real deposit would wait (decisions 3). */
export function withoutPrice(symbol: string): ServiceError {
  return new ServiceError('service_unavailable', { message: `There is no fresh price of ${symbol}; retry shortly.` });
}
