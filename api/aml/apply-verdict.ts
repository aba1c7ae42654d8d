import type { Deps } from '#api/deps.ts';
import { post } from '#api/ledger/post.ts';
import { advance } from '#api/store/advance.ts';
import { type PaymentCredit, setPool, setVerdict, findScreenedCredit, setDepositVerdict } from '#api/store/credits.ts';
import { lockPayment } from '#api/store/payments.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { sharesOf } from '#state-machines/aml/shares.ts';
import { movePool } from '#state-machines/ledger/postings.ts';
import { changePool } from './change-pool.ts';
import { factsOf, lockFunds } from './funds.ts';
import { withholdCredits } from './withhold.ts';

/** What a provider said of each transfer of one credit. */
export interface Verdicts {
  creditId: string;
  paymentId: string;
  transfers: readonly { depositId: string; score: number; ref: string }[];
  /** The gateway's: from this score on a deposit is flagged. */
  threshold: number;
}

/**
 * Writes the verdict about a credit and lets it decide the pool: clean, it may mature; flagged, its whole payment is held
 * from now on (decisions 10, decision 0012). What is flagged after a payment has left the held pool for good is withheld.
 * Answers false, with nothing written, when the credit has a verdict already. Locks the payment, its deposits, its maturing
 * credits, the ledger accounts of its pools, its other credits.
 */
export async function applyVerdict(tx: Tx, deps: Deps, { creditId, paymentId, transfers, threshold }: Verdicts): Promise<boolean> {
  const payment = await lockPayment(tx, paymentId);
  const credit = await findScreenedCredit(tx, creditId);
  if (payment === undefined || credit === undefined) throw new Invariant(`credit ${creditId} of payment ${paymentId} is gone`);
  if (credit.screening !== 'waiting') return false;
  for (const { depositId, score, ref } of transfers) await setDepositVerdict(tx, depositId, { score, ref });
  const score = transfers.reduce((worst, transfer) => Math.max(worst, transfer.score), Number.NEGATIVE_INFINITY);
  if (score < threshold) {
    await setVerdict(tx, creditId, { screening: 'clean', score });
    return true;
  }
  const credits = await lockFunds(tx, payment, { gateway: ['withheld'] });
  await setVerdict(tx, creditId, { screening: 'flagged', score });
  const result = await advance(tx, 'aml', {
    id: paymentId,
    event: 'FLAGGED',
    actor: 'screening',
    facts: () => ({ facts: factsOf(credits), record: { creditId, score, threshold } }),
    effects: { hold: () => changePool(tx, deps, payment, { credits, to: 'held', why: 'held' }) },
    orConflict: async (amlState) => {
      await withholdLate(
        tx,
        credits.filter((one) => one.id === creditId && one.taken === null),
      );
      deps.log.error({ paymentId, creditId, score, amlState }, 'a deposit of a resolved payment is flagged: its coins are withheld');
      return null;
    },
  });
  if (result !== null) deps.log.warn({ paymentId, creditId, score }, 'a deposit is flagged: its payment is held');
  return true;
}

/** Withholds a credit of a payment that is in the green pool for good: it cannot join the rest, nor go back to being held. */
async function withholdLate(tx: Tx, credits: readonly PaymentCredit[]): Promise<void> {
  for (const credit of credits) {
    const { id, gatewayId, assetId, pool } = credit;
    if (pool === 'green') {
      await setPool(tx, [id], 'held');
      const share = sharesOf([credit]).get(assetId);
      const postings = share === undefined ? [] : movePool({ gatewayId, assetId, ...share, from: 'green', to: 'held' });
      await post(tx, { sourceKey: `credit:${id}:held`, kind: 'move', postings });
    }
    await withholdCredits(tx, [credit], `credit:${id}`);
  }
}
