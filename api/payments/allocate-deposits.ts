import { postEach } from '#api/ledger/post.ts';
import { type AllocatedBy, markAllocated, type NamedDeposit } from '#api/store/deposits.ts';
import { markSightingsUnbooked } from '#api/store/sightings.ts';
import { Invariant } from '#shared/core/errors.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { allocate as postings } from '#state-machines/ledger/postings.ts';

/**
 * Allocates deposits to a payment by hand, so that the next pass credits them whatever their network or time.
 * Takes open deposits and ones that were set aside; a correcting entry moves the coins of the latter out of the unallocated account. The caller has
 * checked that none is credited, dropped or lost, holds the locks of the payment and the deposits, and calls `creditPayment` afterwards.
 */
export async function allocateDeposits(tx: Tx, deposits: readonly NamedDeposit[], by: { by: AllocatedBy; paymentId: string }): Promise<void> {
  if (deposits.length === 0) return;
  const aside = deposits.filter((deposit) => deposit.state !== 'seen');
  const posted = await postEach(
    tx,
    aside.map((deposit) => ({ sourceKey: `deposit:${deposit.id}:claim`, kind: 'claim', postings: postings(deposit.assetId, deposit.amount) })),
  );
  const former = aside.find((deposit) => !posted.has(`deposit:${deposit.id}:claim`));
  if (former !== undefined) throw new Invariant(`deposit ${former.id} is set aside but was claimed before`);
  await markSightingsUnbooked(tx, aside);
  await markAllocated(
    tx,
    deposits.map((deposit) => deposit.id),
    by,
  );
  crashPoint('allocate.written');
}
