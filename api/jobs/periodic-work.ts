import { auditAndFreeze, auditEverything, forgetAudited } from '#api/audit/audit-and-freeze.ts';
import { keepHistory } from '#api/audit/keep-history.ts';
import { reconcile } from '#api/audit/reconcile.ts';
import { closeMonths, isAnythingToInvoice } from '#api/billing/close-months.ts';
import type { Deps } from '#api/deps.ts';
import { makeExports } from '#api/exports/make-exports.ts';
import { makeMonthlyExports } from '#api/exports/monthly-exports.ts';
import { matureCredits } from '#api/ledger/mature-credits.ts';
import { pinGenesis } from '#api/operator/pin-genesis.ts';
import { isAnyToReseal, resealEverything } from '#api/operator/reseal.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { notifyPeople } from '#api/people/notifications.ts';
import { expireDuePayments } from '#api/payments/expire.ts';
import { confirmDueSimulations } from '#api/payments/simulate.ts';
import { moveMisplacedCoins, payHeldOrders } from '#api/payouts/pay-held-orders.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import { activateParked } from '#api/settlements/activate-parked.ts';
import { expireParked } from '#api/settlements/expire-parked.ts';
import { deleteOldSignatures, isAnySignatureOld } from '#api/store/credentials.ts';
import { isAnyCreditForgotten, isAnyMaturing, listForgottenCredits } from '#api/store/credits.ts';
import { deleteOldExports, isExportMaking } from '#api/store/exports.ts';
import { isAnyToCredit, listNetworksToCredit } from '#api/store/deposits.ts';
import { isAnyBlind } from '#api/store/chain-blocks.ts';
import { isAnyUnopened } from '#api/store/holdings.ts';
import { isAnyHeldOrder, isAnyPoolMove } from '#api/store/misplaced-coins.ts';
import { isAnySweepable } from '#api/store/own-moves.ts';
import { isAnyOverdue } from '#api/store/payments.ts';
import { isAnySimulationSeen } from '#api/store/sandbox-deposits.ts';
import { beating, isAnyUntrusted } from '#api/store/database-epoch.ts';
import { areDaysToFold, foldDayChanges } from '#api/store/day-figures.ts';
import { deleteOldReplies } from '#api/store/idempotency.ts';
import { isAnyMonthWanted } from '#api/store/monthly-exports.ts';
import { deleteOldNotifications, isAnybodyToTell } from '#api/store/notifications.ts';
import { deleteDoneOutbox, deleteOvertakenOutbox, insertOutbox, type Topic } from '#api/store/outbox.ts';
import { isAnyTendable, listUnsent } from '#api/store/payout-attempts.ts';
import { isAnyUnderWay } from '#api/store/payouts.ts';
import { forgetReceiptMails } from '#api/store/receipt-mails.ts';
import { deleteOldRefusals } from '#api/store/refused-requests.ts';
import { deleteOldRequests, isAnyRequestOld } from '#api/store/requests.ts';
import { isAnyForgotten, isAnyOverstayed, isAnyParkedDue, listForgotten } from '#api/store/settlements.ts';
import { areUsesToFold, foldAddressUses } from '#api/store/address-book.ts';
import { areMonthsToFold, foldMonths } from '#api/store/gateway-months.ts';
import { deleteOldScreeningDays } from '#api/store/screenings.ts';
import { forgetSignIns } from '#api/store/sign-ins.ts';
import { areTalliesToFold, foldTallies } from '#api/store/tallies.ts';
import { deleteOldWebhookAnswers } from '#api/store/webhook-events.ts';
import { bookOpeningBalances } from '#api/treasury/book-opening-balances.ts';
import { consolidatePools } from '#api/treasury/consolidate-pools.ts';
import { explainBalances } from '#api/treasury/explain-balances.ts';
import { moveExcess } from '#api/treasury/move-excess.ts';
import { planSweeps } from '#api/treasury/plan-sweeps.ts';
import { reportFunding } from '#api/treasury/report-funding.ts';
import { watchIssuers } from '#api/treasury/watch-issuers.ts';
import { watchTraces } from '#api/treasury/watch-traces.ts';
import { rowId } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { withEachAtOnce } from '#shared/core/with-each.ts';
import { REBROADCAST_SECONDS } from './outbox-jobs.ts';
import { refreshPrices } from './refresh-prices.ts';
import type { Periodic } from './work.ts';

const JOBS_FORGOTTEN_AT_ONCE = 1_000;
const REPLIES_FORGOTTEN_AT_ONCE = 1_000;
const SIGNATURES_FORGOTTEN_AT_ONCE = 10_000;
const ANSWERS_FORGOTTEN_AT_ONCE = 10_000;
const REQUESTS_FORGOTTEN_AT_ONCE = 50_000;
/** Each may have hundreds of parts. */
const EXPORTS_FORGOTTEN_AT_ONCE = 20;
const NOTIFICATIONS_FORGOTTEN_AT_ONCE = 10_000;
const SIGN_INS_FORGOTTEN_AT_ONCE = 1_000;
const RECEIPT_MAILS_FORGOTTEN_AT_ONCE = 1_000;

/**
 * Everything a worker looks for by itself, by name. Most of it repairs what an outbox row or the consumer did not get to: a process
 * was killed after its commit, a price was missing, a row was declared dead.
 */
export const periodicWork = {
  'refresh-prices': refreshPrices,

  // Well inside the contract's "about a minute".
  'expire-payments': { everySeconds: POLICY.expiryCheckSeconds, look: isAnyOverdue, run: expireDuePayments },
  'credit-deposits': { everySeconds: 5, look: (sql, deps) => isAnyToCredit(sql, networkIds(deps)), run: creditWaiting },
  // A simulation takes longer to be confirmed than it may stay unseen.
  'confirm-simulations': { everySeconds: POLICY.sandboxCheckSeconds, look: isAnySimulationSeen, idleSeconds: 5, run: confirmDueSimulations },
  'requeue-unscreened': { everySeconds: 60, look: isAnyCreditForgotten, run: (deps) => requeue(deps, 'deposit.screen', listForgottenCredits(deps.db.sql)) },
  'tend-screenings': { everySeconds: 60, figures: ['amlGatewaysWithoutCredit'], run: (deps) => deps.screening.tend() },
  'mature-credits': { everySeconds: 5, look: isAnyMaturing, run: matureCredits },

  // Each parked cashout that may have become possible is looked at once a minute; this looks for those whose minute is over.
  'activate-parked': { everySeconds: POLICY.parkedLookSeconds, look: isAnyParkedDue, run: activateParked },
  'expire-parked': { everySeconds: POLICY.parkedLookSeconds, look: isAnyOverstayed, run: expireParked },
  'requeue-settlements': { everySeconds: 60, look: isAnyForgotten, run: (deps) => requeue(deps, 'settlement.dispatch', listForgotten(deps.db.sql)) },
  'pay-held-orders': { everySeconds: POLICY.heldOrderSeconds, look: (sql, deps) => isAnyHeldOrder(sql, networkIds(deps)), run: payHeldOrders },
  'move-misplaced-coins': {
    everySeconds: POLICY.heldOrderSeconds,
    look: (sql, deps) => isAnyPoolMove(sql, networkIds(deps)),
    mostOfTime: POLICY.misplacedMostOfTime,
    run: moveMisplacedCoins,
  },
  'rebroadcast-payouts': {
    everySeconds: 30,
    look: isAnyUnderWay,
    run: (deps) => requeue(deps, 'payout.broadcast', listUnsent(deps.db.sql, 2 * REBROADCAST_SECONDS)),
  },
  'tend-payouts': { everySeconds: POLICY.payoutTendSeconds, look: (sql, deps) => isAnyTendable(sql, networkIds(deps)), run: tendPayouts },

  'book-opening-balances': { everySeconds: 5, look: (sql, deps) => isAnyUnopened(sql, networkIds(deps)), run: bookOpeningBalances },
  'explain-balances': { everySeconds: 15, look: isAnyBlind, anywaySeconds: 600, figures: ['unexplainedBalances'], run: explainBalances },
  'plan-sweeps': { everySeconds: POLICY.sweepSeconds, look: isAnySweepable, anywaySeconds: 600, run: planSweeps },
  'move-excess': { everySeconds: POLICY.coldSeconds, figures: ['hotWalletCoins', 'hotWalletLimit', 'coldStorageCoins'], run: moveExcess },
  'consolidate-pools': { everySeconds: POLICY.consolidationSeconds, run: consolidatePools },
  'watch-issuers': { everySeconds: POLICY.issuerWatchSeconds, figures: ['issuerRefusals'], run: watchIssuers },
  'watch-traces': { everySeconds: POLICY.lacksWatchSeconds, run: watchTraces },
  // An endpoint may change sides while it is used.
  'check-genesis': { everySeconds: 60, run: (deps) => silently(pinGenesis(deps.db, deps.chains.values(), deps.log)) },

  // A month is an invoice within a minute of 00:00 UTC on the first.
  'close-months': { everySeconds: 60, look: isAnythingToInvoice, run: closeMonths },
  audit: periodicAudit(),
  // At night, check by check.
  'audit-everything': { everySeconds: 600, figures: ['keptFiguresWrong'], run: auditEverything },
  'make-exports': { everySeconds: 5, look: isExportMaking, run: makeExports },
  'make-monthly-exports': { everySeconds: POLICY.monthlyExportsSeconds, look: isAnyMonthWanted, run: makeMonthlyExports },
  'fold-tallies': { everySeconds: 10, look: areTalliesToFold, run: (deps) => silently(foldTallies(deps.db.sql)) },
  'fold-day-figures': { everySeconds: 10, look: areDaysToFold, run: (deps) => silently(foldDayChanges(deps.db.sql)) },
  'fold-months': { everySeconds: 10, look: areMonthsToFold, run: (deps) => silently(foldMonths(deps.db.sql)) },
  'fold-address-uses': { everySeconds: 10, look: areUsesToFold, run: (deps) => silently(foldAddressUses(deps.db.sql)) },
  'forget-audited': { everySeconds: 3_600, run: forgetAudited },
  // Six times within the minute that what it writes is believed.
  'keep-history': {
    everySeconds: 10,
    prompt: true,
    along: { name: 'beaten', write: beating },
    look: (sql) => sql`not exists (select 1 from beaten)`,
    run: (deps) => silently(keepHistory(deps)),
  },
  // Every minute, and every 5 s while dispatch waits for it.
  reconcile: {
    everySeconds: 5,
    look: (sql, { chains }) => isAnyUntrusted(sql, [...chains.keys()]),
    anywaySeconds: 60,
    figures: ['treasuryOnchainBalance', 'liabilities', 'reconciliationDifference'],
    run: reconcile,
  },

  'forget-replies': { everySeconds: 3_600, run: (deps) => deleteOldReplies(deps.db.sql, REPLIES_FORGOTTEN_AT_ONCE) },
  'forget-signatures': {
    everySeconds: 60,
    look: (sql) => isAnySignatureOld(sql, POLICY.signatureMemorySeconds),
    run: (deps) => deleteOldSignatures(deps.db.sql, { seconds: POLICY.signatureMemorySeconds, limit: SIGNATURES_FORGOTTEN_AT_ONCE }),
  },
  'forget-refusals': { everySeconds: 3_600, run: (deps) => deleteOldRefusals(deps.db.sql, POLICY.refusalsKeptDays) },
  'forget-requests': {
    everySeconds: 60,
    look: (sql) => isAnyRequestOld(sql, POLICY.requestsKeptDays),
    run: (deps) => deleteOldRequests(deps.db.sql, { days: POLICY.requestsKeptDays, limit: REQUESTS_FORGOTTEN_AT_ONCE }),
  },
  'forget-webhook-answers': {
    everySeconds: 600,
    run: (deps) => deleteOldWebhookAnswers(deps.db.sql, { days: POLICY.webhookAnswersKeptDays, limit: ANSWERS_FORGOTTEN_AT_ONCE }),
  },
  'forget-screening-days': { everySeconds: 3_600, run: (deps) => deleteOldScreeningDays(deps.db.sql, POLICY.screeningDaysKept) },
  'forget-exports': {
    everySeconds: 600,
    run: ({ db }) => db.transaction((tx) => deleteOldExports(tx, { days: POLICY.exportsKeptDays, limit: EXPORTS_FORGOTTEN_AT_ONCE })),
  },
  'notify-people': { everySeconds: 30, look: isAnybodyToTell, run: notifyPeople },
  'forget-notifications': {
    everySeconds: 600,
    run: (deps) => deleteOldNotifications(deps.db.sql, { days: POLICY.notificationsKeptDays, limit: NOTIFICATIONS_FORGOTTEN_AT_ONCE }),
  },
  'forget-sign-ins': { everySeconds: 600, run: (deps) => forgetSignIns(deps.db.sql, { days: POLICY.signInsKeptDays, limit: SIGN_INS_FORGOTTEN_AT_ONCE }) },
  'forget-receipt-mails': {
    everySeconds: 600,
    run: (deps) => forgetReceiptMails(deps.db.sql, { seconds: POLICY.receiptMailSeconds, limit: RECEIPT_MAILS_FORGOTTEN_AT_ONCE }),
  },
  'forget-done-jobs': { everySeconds: 600, run: forgetDoneJobs },
  // For as long as there is a previous master key (decision 0026).
  'reseal-secrets': {
    everySeconds: 60,
    look: isAnyToReseal,
    run: async (deps) => {
      const { secrets, orders } = await resealEverything(deps);
      return secrets + orders;
    },
  },

  'report-funding': { everySeconds: 60, figures: ['gasRunway'], run: reportFunding },
} as const satisfies Record<string, Periodic>;

/** Audits the books every minute; a check that work in progress may trip freezes only when it fails twice in a row. */
export function periodicAudit(): Periodic {
  const failedLastTime = new Set<string>();
  return { everySeconds: 60, figures: ['ledgerImbalance'], run: (deps) => auditAndFreeze(deps, failedLastTime) };
}

/** Queues rows that no job is going to look at any more, because theirs was declared dead. */
async function requeue(deps: Deps, topic: Topic, forgotten: Promise<readonly string[]>): Promise<number> {
  const ids = await forgotten;
  for (const refId of ids) await deps.db.transaction((tx) => insertOutbox(tx, { id: rowId(deps), topic, refId }));
  if (ids.length > 0) deps.wake();
  return ids.length;
}

/** Deletes outbox rows whose work has long been done, so that the table stays as small as what is still to do. */
async function forgetDoneJobs({ db }: Deps): Promise<number> {
  let total = 0;
  for (const forget of [deleteOvertakenOutbox, deleteDoneOutbox])
    for (let deleted = JOBS_FORGOTTEN_AT_ONCE; deleted === JOBS_FORGOTTEN_AT_ONCE; total += deleted)
      deleted = await forget(db.sql, POLICY.doneJobsKeptDays, JOBS_FORGOTTEN_AT_ONCE);
  return total;
}

function networkIds({ chains }: Deps): string[] {
  return [...chains.values()].map(({ id }) => id);
}

/** What the consumer did not get to, of each network whatever becomes of the others; networks with nothing to decide about cost no statement each. */
async function creditWaiting(deps: Deps): Promise<number> {
  const networks = await listNetworksToCredit(deps.db.sql, networkIds(deps));
  return withEachAtOnce(
    networks,
    (id) => creditFinalDeposits(deps, id),
    (err, network) => deps.log.error({ err, network }, 'what is final on a network cannot be credited'),
  );
}

/** For work that moves no rows of its own. */
async function silently(work: Promise<unknown>): Promise<number> {
  await work;
  return 0;
}
