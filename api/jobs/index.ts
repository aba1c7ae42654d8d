import { auditSweep } from './audit.ts';
import { checkGenesis } from './check-genesis.ts';
import { bookOpeningBalancesSweep } from './book-opening-balances.ts';
import { broadcastPayoutJob, rebroadcastSweep } from './broadcast-payout.ts';
import { closeMonthsSweep } from './close-months.ts';
import { confirmSimulations } from './confirm-simulations.ts';
import { consolidatePoolsSweep } from './consolidate-pools.ts';
import { creditDeposits } from './credit-deposits.ts';
import { deliverWebhook, resendWebhook } from './deliver-webhook.ts';
import { dispatchSettlementJob, requeueSettlementsSweep } from './dispatch-settlement.ts';
import { explainBalancesSweep } from './explain-balances.ts';
import { expirePayments } from './expire-payments.ts';
import { forgetDoneJobs } from './forget-done-jobs.ts';
import { forgetReplies } from './forget-replies.ts';
import { forgetSignatures } from './forget-signatures.ts';
import { keepHistorySweep } from './keep-history.ts';
import { mailRejectionJob } from './mail-rejection.ts';
import { matureCreditsSweep } from './mature-credits.ts';
import { moveExcessSweep } from './move-excess.ts';
import { payHeldOrdersSweep } from './pay-held-orders.ts';
import { planSweepsSweep } from './plan-sweeps.ts';
import { reconcileSweep } from './reconcile.ts';
import { refreshPrices } from './refresh-prices.ts';
import type { Registry } from './registry.ts';
import { reportDispatch } from './report-dispatch.ts';
import { reportFundingSweep } from './report-funding.ts';
import { reportJobs } from './report-jobs.ts';
import { reportOutputsSweep } from './report-outputs.ts';
import { reportPayments } from './report-payments.ts';
import { reportProcesses } from './report-processes.ts';
import { reportSettlements } from './report-settlements.ts';
import { activateParkedSweep, expireParkedSweep } from './tend-parked.ts';
import { resealSecretsSweep } from './reseal-secrets.ts';
import { requeueUnscreenedSweep, screenDepositJob } from './screen-deposit.ts';
import { tendPayoutsSweep } from './tend-payouts.ts';
import { tendScreeningsSweep } from './tend-screenings.ts';
import { watchIssuersSweep } from './watch-issuers.ts';
import { watchTracesSweep } from './watch-traces.ts';

/** Everything a worker runs by itself. */
export const registry: Registry = {
  jobs: [deliverWebhook, resendWebhook, screenDepositJob, dispatchSettlementJob, mailRejectionJob, broadcastPayoutJob],
  sweeps: [
    refreshPrices,
    expirePayments,
    creditDeposits,
    confirmSimulations,
    requeueUnscreenedSweep,
    matureCreditsSweep,
    bookOpeningBalancesSweep,
    explainBalancesSweep,
    activateParkedSweep,
    expireParkedSweep,
    requeueSettlementsSweep,
    payHeldOrdersSweep,
    planSweepsSweep,
    moveExcessSweep,
    consolidatePoolsSweep,
    rebroadcastSweep,
    tendPayoutsSweep,
    tendScreeningsSweep,
    watchIssuersSweep,
    watchTracesSweep,
    checkGenesis,
    closeMonthsSweep,
    auditSweep(),
    keepHistorySweep,
    reconcileSweep(),
    forgetReplies,
    forgetSignatures,
    forgetDoneJobs,
    resealSecretsSweep,
    reportJobs,
    reportPayments,
    reportProcesses,
    reportSettlements,
    reportDispatch,
    reportFundingSweep,
    reportOutputsSweep,
  ],
};
