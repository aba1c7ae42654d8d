import { rejectionMail } from '#api/settlements/rejection-mail.ts';
import { findGateway } from '#api/store/gateways.ts';
import { findExpiredFrom, findSettlement } from '#api/store/settlements.ts';
import type { Job } from './registry.ts';

/** Tells a gateway's contact that a parked cashout was rejected at the end of its time; a gateway without one is told nothing. */
export const mailRejectionJob: Job = {
  topic: 'settlement.mail',
  concurrency: 2,
  run: async (deps, settlementId) => {
    const { sql } = deps.db;
    const [settlement, expiredFrom] = [await findSettlement(sql, settlementId), await findExpiredFrom(sql, settlementId)];
    const to = settlement && (await findGateway(sql, settlement.gatewayId))?.settings.contactEmail;
    if (settlement === undefined || expiredFrom === undefined || to === undefined || to === null) return { done: true };
    await deps.mail.send(rejectionMail(settlement, expiredFrom, to));
    return { done: true };
  },
};
