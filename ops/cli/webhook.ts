import { type Command, textOption } from './command.ts';
import { facts, table } from './format.ts';
import { CHAIN_OPTIONS, listQuery, type ListPage, pageText, WALK_OPTIONS } from './list-query.ts';

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
  {
    name: 'webhook list',
    args: '',
    summary: 'webhooks, newest first',
    options: {
      payment: { type: 'string', help: 'only of this payment' },
      state: { type: 'string', help: 'only pending, delivered, exhausted or stopped' },
      gateway: { type: 'string', help: 'only of this gateway' },
      ...CHAIN_OPTIONS,
      ...WALK_OPTIONS,
      limit: { type: 'string', help: 'how many, 100 at most (20)' },
    },
    arity: [0, 0],
    async run(context, _args, options) {
      const { operator } = await context();
      const page = (await operator.must(
        'GET',
        `/webhooks?${listQuery(options, ['payment', 'state', 'gateway', 'limit', ...Object.keys({ ...CHAIN_OPTIONS, ...WALK_OPTIONS })])}`,
      )) as unknown as ListPage<Webhook>;
      const { items } = page;
      const rows = items.map((one) => [
        one.id,
        one.paymentId,
        one.status,
        one.state,
        one.attempts,
        one.state === 'pending' ? one.nextAttemptAt : one.deliveredAt,
        one.url,
      ]);
      return { data: items, text: pageText(table(['webhook', 'payment', 'status', 'state', 'attempts', 'next or delivered', 'to'], rows), page) };
    },
  },
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
