import type { Deps } from '#api/deps.ts';
import { lockBalances, post } from '#api/ledger/post.ts';
import { drawWithheld, endWithheldTransfer, findWithheldTransfer } from '#api/store/withheld-transfers.ts';
import { Invariant } from '#shared/core/errors.ts';
import { formatAmount } from '#shared/core/money.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { gatewayAccount, systemAccount } from '#state-machines/ledger/accounts.ts';
import { payWithheld } from '#state-machines/ledger/postings.ts';

/**
 * Books a transfer of withheld coins whose payout is final: the books no longer owe them. Calling it again changes nothing. Locks the transfer, the
 * ledger, the credits.
 */
export async function completeWithheld(tx: Tx, deps: Pick<Deps, 'log'>, { transferId, txid }: { transferId: string; txid: string }): Promise<void> {
  const ended = await endWithheldTransfer(tx, transferId, { txid });
  const transfer = await findWithheldTransfer(tx, transferId);
  if (transfer === undefined) throw new Invariant(`transfer ${transferId} of withheld coins does not exist`);
  if (!ended) {
    if (transfer.status === 'paid') return;
    throw new Invariant(`transfer ${transferId} of withheld coins was paid by ${txid} although it is ${transfer.status}`);
  }
  const { gatewayId, assetId, amount } = transfer;
  await lockBalances(
    tx,
    [gatewayAccount('withheld', gatewayId), systemAccount('chain')].map((account) => ({ ...account, assetId })),
  );
  const missing = await drawWithheld(tx, transfer);
  if (missing > 0n) throw new Invariant(`the withheld credits of gateway ${gatewayId} hold ${formatAmount(missing)} less than left`);
  await post(tx, { sourceKey: `withheld:${transferId}:pay`, kind: 'withheld-pay', postings: payWithheld({ gatewayId, assetId, amount }) });
  crashPoint('withheld.completed');
  deps.log.info({ transferId, gatewayId, txid }, 'withheld coins have left');
}

/**
 * Ends a transfer of withheld coins that will never be paid: nothing of the account is spoken for any more. The caller knows that no
 * transaction of it can still take effect. Calling it again changes nothing. Locks the transfer.
 */
export async function failWithheld(tx: Tx, deps: Pick<Deps, 'log'>, { transferId, reason }: { transferId: string; reason: string }): Promise<void> {
  if (!(await endWithheldTransfer(tx, transferId, { failure: reason }))) return;
  crashPoint('withheld.failed');
  deps.log.error({ transferId, reason }, 'withheld coins could not be sent; they are kept as before');
}
