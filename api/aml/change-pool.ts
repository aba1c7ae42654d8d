import type { Deps } from '#api/deps.ts';
import { collectOwed } from '#api/ledger/collect-owed.ts';
import { post } from '#api/ledger/post.ts';
import { type PaymentCredit, setPool } from '#api/store/credits.ts';
import { insertPoolMove } from '#api/store/own-moves.ts';
import { Invariant } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { amount } from '#shared/core/money.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { sharesOf } from '#state-machines/aml/shares.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import { movePool } from '#state-machines/ledger/postings.ts';

/**
 * Puts a payment into the other pool as a whole: all of its credits that no operator took, with everything left of them.
 * What cashouts have drawn of it stays with them, and comes back to the new pool if they are rejected. The caller has
 * locked its funds, and its gateway's `owed` account where they become available: what is owed is taken out of them first. `why` names the
 * one cause this can ever happen for, `held` or `released`.
 */
export async function changePool(
  tx: Tx,
  deps: Pick<Deps, 'randomBytes'>,
  payment: { id: string; gatewayId: string },
  { credits, to, why }: { credits: readonly PaymentCredit[]; to: Pool; why: 'held' | 'released' },
): Promise<void> {
  const from = to === 'held' ? 'green' : 'held';
  const moving = credits.filter((credit) => credit.taken === null);
  if (moving.some((credit) => credit.pool !== from)) throw new Invariant(`payment ${payment.id} is in both pools`);
  await setPool(
    tx,
    moving.map((credit) => credit.id),
    to,
  );
  const { id: paymentId, gatewayId } = payment;
  for (const [assetId, share] of sharesOf(moving)) {
    const posted = await post(tx, {
      sourceKey: `payment:${paymentId}:${why}:${assetId}`,
      kind: 'move',
      postings: movePool({ gatewayId, assetId, ...share, from, to }),
    });
    if (!posted) throw new Invariant(`payment ${paymentId} was ${why} before`);
    const networkId = moving.find((credit) => credit.assetId === assetId)?.networkId as string;
    const id = uuidFrom(deps.randomBytes(16));
    await insertPoolMove(tx, { id, paymentId, assetId, networkId, amount: amount(share.maturing + share.matured), from, to });
    if (to === 'green' && share.matured > 0n) await collectOwed(tx, { gatewayId, assetId, pool: 'green', cause: `payment:${paymentId}:${why}:${assetId}` });
  }
}
