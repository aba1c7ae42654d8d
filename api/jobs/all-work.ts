import { deliverWebhook, resendWebhook } from './deliver-webhook.ts';
import { broadcastPayoutJob, dispatchSettlementJob, mailPersonJob, mailRejectionJob, screenDepositJob } from './outbox-jobs.ts';
import { periodicWork } from './periodic-work.ts';
import type { Work } from './work.ts';

/** Everything a worker runs by itself. */
export const work: Work = {
  jobs: [deliverWebhook, resendWebhook, screenDepositJob, dispatchSettlementJob, mailRejectionJob, broadcastPayoutJob, mailPersonJob],
  periodic: periodicWork,
};
