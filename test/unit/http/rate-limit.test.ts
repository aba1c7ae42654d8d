import { expect, test } from 'vitest';
import { rateLimit } from '#api/http/rate-limit.ts';
import { EDGE_RATE_LIMITS, RATE_LIMITS } from '#shared/core/policy.ts';
import type { Demand } from '#shared/platform/limiter.ts';
import type { Deps } from '#api/deps.ts';

async function demandOf(operationId: string): Promise<Demand> {
  const demands: Demand[] = [];
  const limiter: Deps['limiter'] = {
    take: async (demand) => {
      demands.push(demand);
      return { waitMs: 0, prove: () => undefined };
    },
  };
  const config = { SLUICE_RATE_LIMIT_SCALE: 1_000 } as Deps['config'];
  await rateLimit({ config, limiter }, { operationId, clientIp: '203.0.113.7', credential: 'good' });
  return demands[0] as Demand;
}

test('approvals, inquiries, sign-ins and what costs much are asked about each time, whatever the scale of the limits', async () => {
  const asked = [];
  for (const operation of [...Object.keys(RATE_LIMITS), ...Object.keys(EDGE_RATE_LIMITS)])
    if ((await demandOf(operation)).ahead !== true) asked.push(operation);
  expect(asked).toEqual(
    expect.arrayContaining([
      ...['approveSettlement', 'inquirePayment', 'createSettlement', 'retrySettlement', 'createKey', 'testWebhook', 'receiptMail'],
      ...['consoleForm', 'peopleDesk', 'peopleDeskPerson', 'unprovedAct', 'urgentAct', 'operator', 'unknown'],
    ]),
  );
});

test('calls of what servers and payers ask most may be taken ahead', async () => {
  for (const operation of ['createPayment', 'getPublicPayment', 'verifyPayment', 'getSettlement', 'listPayments'])
    expect((await demandOf(operation)).ahead).toBe(true);
});
