import { auditSweep } from '#api/audit/sweep.ts';
import { checkGenesis } from '#api/operator/pin-genesis.ts';
import { bookOpeningBalancesSweep } from './book-opening-balances.ts';
import { broadcastPayoutJob, rebroadcastSweep } from './broadcast-payout.ts';
import { creditDeposits } from './credit-deposits.ts';
import { deliverWebhook } from './deliver-webhook.ts';
import { dispatchSettlementJob, requeueSettlementsSweep } from './dispatch-settlement.ts';
import { expirePayments } from './expire-payments.ts';
import { forgetDoneJobs } from './forget-done-jobs.ts';
import { forgetReplies } from './forget-replies.ts';
import { matureCreditsSweep } from './mature-credits.ts';
import type { Registry } from './registry.ts';
import { reportJobs } from './report-jobs.ts';
import { reportPayments } from './report-payments.ts';
import { reportSettlements } from './report-settlements.ts';

/** Everything a worker runs by itself. */
export const registry: Registry = {
  jobs: [deliverWebhook, dispatchSettlementJob, broadcastPayoutJob],
  sweeps: [
    expirePayments,
    creditDeposits,
    matureCreditsSweep,
    bookOpeningBalancesSweep,
    requeueSettlementsSweep,
    rebroadcastSweep,
    checkGenesis,
    auditSweep(),
    forgetReplies,
    forgetDoneJobs,
    reportJobs,
    reportPayments,
    reportSettlements,
  ],
};
