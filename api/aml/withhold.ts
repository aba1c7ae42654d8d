import { post } from '#api/ledger/post.ts';
import { type PaymentCredit, setTaken } from '#api/store/credits.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { sharesOf } from '#state-machines/aml/shares.ts';
import { withhold } from '#state-machines/ledger/postings.ts';

/**
 * Takes credits out of the held pool for good. What cashouts have reserved of them is theirs, and is withheld too if they are
 * rejected. The caller has locked the payment's funds and the withheld accounts. `cause` makes the posting's source key.
 */
export async function withholdCredits(tx: Tx, credits: readonly PaymentCredit[], cause: string): Promise<void> {
  await setTaken(
    tx,
    credits.map((credit) => credit.id),
    'withheld',
  );
  for (const [assetId, share] of sharesOf(credits)) {
    const gatewayId = credits[0]?.gatewayId as string;
    const posted = await post(tx, { sourceKey: `${cause}:withheld:${assetId}`, kind: 'withhold', postings: withhold({ gatewayId, assetId, ...share }) });
    if (!posted) throw new Invariant(`${cause} was withheld before`);
  }
}
