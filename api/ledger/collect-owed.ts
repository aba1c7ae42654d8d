import { drawForCharges } from '#api/store/charges.ts';
import { readBalance } from '#api/store/ledger.ts';
import { amount } from '#shared/core/money.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { gatewayAccount, type Pool, withdrawableAccount } from '#state-machines/ledger/accounts.ts';
import { collect } from '#state-machines/ledger/postings.ts';
import { lockBalances, post } from './post.ts';

/**
 * Collects what a gateway owes of an asset from an amount that just became withdrawable, before anybody can claim it (decisions 10).
 * `cause` names what made it withdrawable; each cause collects once. Locks the accounts of the pool and of what is owed, then the credits it draws.
 */
export async function collectOwed(tx: Tx, from: { gatewayId: string; assetId: string; pool: Pool; cause: string }): Promise<void> {
  const { gatewayId, assetId, pool, cause } = from;
  const owedKey = { ...gatewayAccount('owed', gatewayId), assetId };
  // Most gateways owe nothing. This avoids locking an account that has no postings.
  if ((await readBalance(tx, owedKey)) === 0n) return;
  const withdrawable = { ...withdrawableAccount(pool, gatewayId), assetId };
  await lockBalances(tx, [withdrawable, owedKey]);
  const [holds, owed] = [await readBalance(tx, withdrawable), -(await readBalance(tx, owedKey))];
  const total = amount<'asset'>(holds < owed ? holds : owed);
  if (total <= 0n) return;
  await drawForCharges(tx, { gatewayId, assetId, pool, total });
  await post(tx, { sourceKey: `${cause}:collect`, kind: 'collect', postings: collect({ gatewayId, assetId, pool, amount: total }) });
}
