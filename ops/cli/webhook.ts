import { type Command, textOption } from './command.ts';
import { facts } from './format.ts';
import { listCommand } from './list-command.ts';

interface Webhook {
  id: string;
  paymentId: string;
  gatewayId: string;
  status: string;
  url: string;
  state: string;
  attempts: number;
  nextAttemptAt: string;
  createdAt: string;
  deliveredAt: string | null;
}

export const webhookCommands: readonly Command[] = [
  listCommand<Webhook>({
    name: 'webhook list',
    summary: 'webhooks, newest first',
    path: '/webhooks',
    narrowing: {
      payment: { type: 'string', help: 'only of this payment' },
      state: { type: 'string', help: 'only pending, delivered, exhausted or stopped' },
      gateway: { type: 'string', help: 'only of this gateway' },
    },
    ofChains: true,
    columns: ['webhook', 'payment', 'status', 'state', 'attempts', 'next or delivered', 'to'],
    row: (one) => [one.id, one.paymentId, one.status, one.state, one.attempts, one.state === 'pending' ? one.nextAttemptAt : one.deliveredAt, one.url],
  }),
  {
    name: 'webhook resend',
    args: '<paymentId | webhookId>',
    summary: 'send a webhook again: the newest of a payment, or the one named',
    options: { reason: { type: 'string', help: 'why; kept in the operator log' } },
    arity: [1, 1],
    async run(context, [id = ''], options) {
      const { operator } = await context();
      const ofPayment = await operator.call('GET', `/webhooks?paymentId=${encodeURIComponent(id)}&limit=1`);
      const [newest] = ofPayment.success ? (ofPayment.data.items as Webhook[]) : [];
      const reason = textOption(options, 'reason');
      const body = reason === undefined ? {} : { body: { reason } };
      const { webhook } = (await operator.must('POST', `/webhooks/${encodeURIComponent(newest?.id ?? id)}/resend`, body)) as { webhook: Webhook };
      const { id: sent, paymentId, status, url, state } = webhook;
      return { data: webhook, text: facts({ queued: sent, payment: paymentId, status, 'so far': state, to: url }) };
    },
  },
];
