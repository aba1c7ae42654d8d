import * as z from 'zod';
import { createPayment } from '#api/payments/create.ts';
import { inquirePayment } from '#api/payments/inquire.ts';
import { loadOwnPayment } from '#api/payments/load.ts';
import { RESENDABLE_STATES, resendPaymentWebhook, resendWebhooks } from '#api/payments/resend-webhook.ts';
import { playScenario } from '#api/payments/simulate.ts';
import { testWebhook } from '#api/payments/test-webhook.ts';
import { SCENARIOS } from '#state-machines/payment/scenario.ts';
import type { GatewayActName } from '../act-names.ts';
import { act, nothing, noted, type GatewayAct } from './gateway-act.ts';

/** Acts on payments and on what is told about them. */
export const PAYMENT_ACTS = {
  'sandbox-create': act({
    permission: 'payment:create',
    fields: z.strictObject({
      amount: z.string().max(80),
      currencyCode: z.string().max(16),
      title: z.string().max(200).optional(),
      webhookUrl: z.string().max(2_048).optional(),
    }),
    target: ({ amount, currencyCode }) => `${amount} ${currencyCode}`,
    run: async (deps, { gateway, fields, address, commit }) => {
      // Whoever pays it goes back to where they made it.
      const callbackUrl = new URL(`/g/${gateway.id}/payments`, deps.config.SLUICE_CONSOLE_URL).toString();
      const reply = await createPayment(deps, { gateway, body: { callbackUrl, ...fields, isSandbox: true }, clientIp: address, commit });
      return { id: reply.resourceId };
    },
  }),
  'sandbox-play': act({
    permission: 'payment:create',
    fields: z.strictObject({ payment: z.uuid(), scenario: z.enum(SCENARIOS) }),
    target: ({ payment }) => payment,
    run: async (deps, { gateway, fields: { payment: paymentId, scenario }, commit }) => {
      const payment = await loadOwnPayment(deps, { gateway, paymentId });
      await noted(commit);
      return nothing(playScenario(deps, payment, { scenario }));
    },
  }),
  'payment-inquire': act({
    permission: 'payment:inquire',
    fields: z.strictObject({ payment: z.uuid(), txHash: z.string().trim().min(1).max(200), network: z.string().max(64).optional() }),
    target: ({ payment }) => payment,
    run: async (deps, { gateway, fields: { payment: paymentId, txHash, network }, commit }) => {
      await noted(commit);
      return { paymentUid: paymentId, result: await inquirePayment(deps, { gateway, paymentId, txHash, network }) };
    },
  }),
  'webhook-resend': act({
    permission: 'webhook:resend',
    fields: z.strictObject({ payment: z.uuid() }),
    target: ({ payment }) => payment,
    run: async (deps, { gateway, fields: { payment: paymentId }, commit }) => nothing(resendPaymentWebhook(deps, { gateway, paymentId, commit })),
  }),
  'webhooks-resend': act({
    permission: 'webhook:resend',
    fields: z.strictObject({ state: z.enum(RESENDABLE_STATES) }),
    target: ({ state }) => state,
    run: (deps, { gateway, fields: { state }, commit }) => resendWebhooks(deps, { gateway, state, commit }),
  }),
  'webhook-test': act({
    permission: 'webhook:resend',
    fields: z.strictObject({ url: z.url().max(2_048).optional() }),
    target: ({ url = '' }) => url,
    run: async (deps, { gateway, fields: { url }, commit }) => {
      await noted(commit);
      return testWebhook(deps, { gateway, body: { ...(url !== undefined && { url }) } });
    },
  }),
} satisfies Partial<Record<GatewayActName, GatewayAct<unknown>>>;
