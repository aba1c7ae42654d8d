import type { Deps, Reply } from '#api/deps.ts';
import { findAsset } from '#api/store/assets.ts';
import { allowFurther } from '#api/store/aml.ts';
import { findMisplaced, type MisplacedCoins } from '#api/store/misplaced-coins.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { hasMoved } from '#api/store/payout-attempts.ts';
import { lockPayment } from '#api/store/payments.ts';
import { listPoolTransferLines } from '#api/store/payouts.ts';
import { lastFailed, nextTransfer, readTransfers, sinceArrival } from '#api/payouts/next-transfer.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { formatAmount, fromUnits } from '#shared/core/money.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readId, readText } from './input.ts';
import { personOf } from './person.ts';

const MAX_REASON = 500;

interface MisplacedView extends Pick<MisplacedCoins, 'assetId' | 'from' | 'to'> {
  assetSymbol: string;
  network: string;
  amount: string;
  failedPayoutId: string;
  family: number;
  failure: string | null;
  allowed: boolean;
}

/**
 * POST /payments/{id}/transfers: one more transfer of a payment's coins to the wallet of its pool, after as many failed as are made without
 * asking (decisions 10), with an audit row. Locks the payment.
 * @throws not_found; validation_error naming assetId, reason or failedPayoutId; conflict when none is needed, one is made anyway, another one has failed than the caller knows, or
 * one that failed has moved something
 */
export async function allowFurtherTransfer(deps: Deps, call: OperatorCall): Promise<Reply> {
  const paymentId = readId(call.params);
  const fields = fieldsOf(call.body);
  const assetId = readText(fields, 'assetId').toLowerCase();
  const reason = readText(fields, 'reason', MAX_REASON);
  if (!isUuid(assetId) || (await findAsset(deps.db.sql, assetId)) === undefined) throw invalid('assetId', 'is not an asset of this service');
  const known = fields.failedPayoutId ?? undefined;
  if (known !== undefined && (typeof known !== 'string' || !isUuid(known))) throw invalid('failedPayoutId', 'must be the id of a transfer');
  const coins = { paymentId, assetId };
  const transfer = await deps.db.transaction(async (tx) => {
    if ((await lockPayment(tx, paymentId)) === undefined) throw new ServiceError('not_found');
    if ((await findMisplaced(tx, coins)) === undefined) throw new ServiceError('conflict', { message: 'The coins of this payment are where they belong.' });
    const { failed } = await readTransfers(tx, coins);
    if (failed === undefined || (await nextTransfer(tx, coins)) !== null)
      throw new ServiceError('conflict', { message: 'A transfer of these coins is on its way, or about to be made by itself.' });
    if (known !== undefined && known.toLowerCase() !== failed.id)
      throw new ServiceError('conflict', { message: `Transfer ${failed.id} has failed since: look at why before another one is allowed.` });
    if (await hasMoved(tx, failed.id))
      throw new ServiceError('conflict', { message: `Payout ${failed.id} has moved something: another transfer would move it twice.` });
    if (!(await allowFurther(tx, { payoutId: failed.id, reason, person: personOf(deps).name })))
      throw new ServiceError('conflict', { message: 'One more transfer is allowed already.' });
    const family = failed.family + 1;
    await insertOperatorAction(tx, deps.operator, {
      action: 'payment.transfer',
      target: paymentId,
      reason,
      details: { assetId, family, failedPayoutId: failed.id, failure: failed.failure },
    });
    return { paymentId, assetId, family };
  });
  crashPoint('transfer.allowed');
  deps.wake();
  return { status: 200, data: transfer };
}

/** Coins that did not follow a payment into its pool because their last transfer failed, as the operator API shows them; there is one of each asset at most. Locks nothing. */
export async function misplacedViews(sql: Reads, paymentId: string): Promise<MisplacedView[]> {
  const made = await listPoolTransferLines(sql, paymentId);
  const views = await Promise.all(
    [...new Set(made.map((line) => line.assetId))].map(async (assetId): Promise<MisplacedView[]> => {
      const failed = lastFailed(sinceArrival(made.filter((line) => line.assetId === assetId)));
      if (failed === undefined) return [];
      const [asset, coins] = await Promise.all([findAsset(sql, assetId), findMisplaced(sql, { paymentId, assetId })]);
      if (asset === undefined || coins === undefined) return [];
      const { from, to, rawAmount } = coins;
      const { id: failedPayoutId, family, failure, allowed } = failed;
      const amount = formatAmount(fromUnits(rawAmount, asset.decimals));
      return [{ assetId, assetSymbol: asset.symbol, network: asset.networkName, amount, from, to, failedPayoutId, family, failure, allowed }];
    }),
  );
  return views.flat();
}
