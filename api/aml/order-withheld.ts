import type { Deps } from '#api/deps.ts';
import { sayWithheld } from '#api/intents/held-order.ts';
import { lockBalances } from '#api/ledger/post.ts';
import { insertWithheldTransfer, listWithheld, type WithheldTransfer } from '#api/store/withheld-transfers.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { amount, formatAmount } from '#shared/core/money.ts';
import { masterKeys } from '#shared/platform/key-ring.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { gatewayAccount } from '#state-machines/ledger/accounts.ts';
import { withheldMac } from '#api/intents/withheld-mac.ts';

/**
 * Orders withheld coins to an address, in the names of two people: as much of the gateway's withheld account is spoken for from now on.
 * Locks that account. `recipient` is canonical and was checked as every destination is; `id` is that of what they agreed on, so that it makes one order.
 * @throws conflict when less than that is kept, final and not spoken for; Invariant outside of the http role
 */
export async function orderWithheld(
  tx: Tx,
  deps: Pick<Deps, 'config'>,
  order: Pick<WithheldTransfer, 'id' | 'gatewayId' | 'assetId' | 'networkId' | 'recipient' | 'amount' | 'reason' | 'proposedBy' | 'confirmedBy'> & {
    symbol: string;
  },
): Promise<void> {
  const { symbol, ...transfer } = order;
  await lockBalances(tx, [{ ...gatewayAccount('withheld', order.gatewayId), assetId: order.assetId }]);
  const found = (await listWithheld(tx, order.gatewayId)).find((one) => one.assetId === order.assetId);
  const free = found === undefined ? amount<'asset'>(0n) : amount<'asset'>(found.final - found.ordered);
  if (free < order.amount) {
    const kept = found === undefined ? '0' : formatAmount(found.kept);
    const [final, spoken] = [found === undefined ? '0' : formatAmount(found.final), found === undefined ? '0' : formatAmount(found.ordered)];
    throw new ServiceError('conflict', {
      message: `Of this gateway ${kept} ${symbol} are withheld, ${final} of them final, and ${spoken} are on their way already: ${formatAmount(order.amount)} cannot be sent.`,
    });
  }
  await insertWithheldTransfer(tx, { ...transfer, intentMac: withheldMac(masterKeys(deps.config).current, transfer) });
  await sayWithheld(tx, deps, transfer);
}
