import { screenCredit } from '#api/aml/screen-credit.ts';
import { sendIfReached } from '#api/clients/mail.ts';
import type { Deps } from '#api/deps.ts';
import { mailNotice } from '#api/people/notices.ts';
import { broadcastAttempt } from '#api/payouts/broadcast.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { rejectionMail } from '#api/settlements/rejection-mail.ts';
import { readClock } from '#api/store/clock.ts';
import { findScreenedCredit } from '#api/store/credits.ts';
import { findGateway } from '#api/store/gateways.ts';
import { networkOfAttempt } from '#api/store/payout-attempts.ts';
import { findExpiredFrom, findSettlement, networkOfSettlement } from '#api/store/settlements.ts';
import { POLICY } from '#shared/core/policy.ts';
import { networkJob } from './network-job.ts';
import { sharedJob } from './shared-job.ts';
import type { Job, JobResult } from './work.ts';

/** Seconds until bytes that no block holds yet are handed to the network again. */
export const REBROADCAST_SECONDS = 15;

const after = async ({ db }: Deps, seconds: number): Promise<JobResult> => ({ again: new Date((await readClock(db.sql)).now.getTime() + seconds * 1_000) });

/** Hands stored bytes to the network, and again until a block holds them. */
export const broadcastPayoutJob: Job = networkJob({
  topic: 'payout.broadcast',
  networkOf: networkOfAttempt,
  run: async (deps, attemptId) => ((await broadcastAttempt(deps, attemptId)) ? { done: true } : after(deps, REBROADCAST_SECONDS)),
});

/** Plans the transaction of a claimed cashout, or says why it has to wait and looks again (architecture 4). */
export const dispatchSettlementJob: Job = networkJob({
  topic: 'settlement.dispatch',
  networkOf: networkOfSettlement,
  // A run that takes longer does no harm beside the next one, and a killed one is taken over soon.
  run: async (deps, settlementId) => {
    const seconds = await dispatchSettlement(deps, settlementId);
    return seconds === null ? { done: true } : after(deps, seconds);
  },
});

/** Screens what one deposit credited, again every minute until there is a verdict (decisions 10). Each gateway has a share of the places, since payers choose what a provider takes long about. */
export const screenDepositJob: Job = sharedJob({
  topic: 'deposit.screen',
  placeOf: async (sql, creditId) => (await findScreenedCredit(sql, creditId))?.gatewayId,
  places: POLICY.screeningLanes,
  slowMs: POLICY.screeningSlowMs,
  run: async (deps, creditId) => ((await screenCredit(deps, creditId)) ? { done: true } : after(deps, POLICY.screeningRetrySeconds)),
});

/** Tells a gateway's contact that a parked cashout was rejected at the end of its time; a gateway without a contact is told nothing. */
export const mailRejectionJob: Job = {
  topic: 'settlement.mail',
  concurrency: 2,
  run: async (deps, settlementId) => {
    const { sql } = deps.db;
    const [settlement, expiredFrom] = [await findSettlement(sql, settlementId), await findExpiredFrom(sql, settlementId)];
    const to = settlement && (await findGateway(sql, settlement.gatewayId))?.settings.contactEmail;
    if (settlement === undefined || expiredFrom === undefined || to === undefined || to === null) return { done: true };
    await sendIfReached(deps, rejectionMail(settlement, expiredFrom, to));
    return { done: true };
  },
};

/** Tells a person by mail that how they sign in was changed. */
export const mailPersonJob: Job = {
  topic: 'person.mail',
  concurrency: 2,
  run: async (deps, noticeId) => {
    await mailNotice(deps, noticeId);
    return { done: true };
  },
};
