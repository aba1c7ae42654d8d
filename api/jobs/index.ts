import { auditSweep } from '#api/audit/sweep.ts';
import { checkGenesis } from '#api/operator/pin-genesis.ts';
import { bookOpeningBalancesSweep } from './book-opening-balances.ts';
import { broadcastPayoutJob, rebroadcastSweep } from './broadcast-payout.ts';
import { confirmSimulations } from './confirm-simulations.ts';
import { creditDeposits } from './credit-deposits.ts';
import { deliverWebhook, resendWebhook } from './deliver-webhook.ts';
import { dispatchSettlementJob, requeueSettlementsSweep } from './dispatch-settlement.ts';
import { explainBalancesSweep } from './explain-balances.ts';
import { expirePayments } from './expire-payments.ts';
import { forgetDoneJobs } from './forget-done-jobs.ts';
import { forgetReplies } from './forget-replies.ts';
import { matureCreditsSweep } from './mature-credits.ts';
import { refreshPrices } from './refresh-prices.ts';
import type { Registry } from './registry.ts';
import { reportJobs } from './report-jobs.ts';
import { reportPayments } from './report-payments.ts';
import { reportSettlements } from './report-settlements.ts';
import { tendPayoutsSweep } from './tend-payouts.ts';

/** Everything a worker runs by itself. */
export const registry: Registry = {
  jobs: [deliverWebhook, resendWebhook, dispatchSettlementJob, broadcastPayoutJob],
  sweeps: [
    refreshPrices,
    expirePayments,
    creditDeposits,
    confirmSimulations,
    matureCreditsSweep,
    bookOpeningBalancesSweep,
    explainBalancesSweep,
    requeueSettlementsSweep,
    rebroadcastSweep,
    tendPayoutsSweep,
    checkGenesis,
    auditSweep(),
    forgetReplies,
    forgetDoneJobs,
    reportJobs,
    reportPayments,
    reportSettlements,
  ],
};
