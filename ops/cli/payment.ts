import type { Command } from './command.ts';
import { facts, table } from './format.ts';

/** What the operator API answers about a payment; `steps` is the explanation its merchant gets too. */
export interface ShownPayment {
  payment: Record<string, string | number | boolean | null>;
  offers: {
    assetSymbol: string;
    network: string;
    priceUsd: string;
    amount: string;
    txFee: string;
    commissionFee: string;
    totalValue: string;
    selectedAt: string | null;
    address: string | null;
  }[];
  credits: { pool: string; assetSymbol: string; net: string; maturedAt: string | null; maturesAt: string }[];
  summary: string;
  steps: { step: string; at: string; text: string }[];
}

export const paymentCommands: readonly Command[] = [
  {
    name: 'payment show',
    args: '<id>',
    summary: 'what happened to a payment, and why it has the status it has',
    arity: [1, 1],
    async run(context, [id]) {
      const { operator } = await context();
      const shown = (await operator.must('GET', `/payments/${encodeURIComponent(id ?? '')}`)) as unknown as ShownPayment;
      return { data: shown, text: describePayment(shown) };
    },
  },
];

/** The payment for a person: what it is, why it is as it is, what was offered, and the explanation step by step. */
export function describePayment({ payment, offers, credits, summary, steps }: ShownPayment): string {
  const head = facts({
    payment: payment.id,
    gateway: payment.gatewayId,
    status: payment.status,
    why: summary,
    amount: `${payment.amount} ${payment.currencyCode}`,
    mode: payment.checkoutMode,
    created: payment.createdAt,
    expires: payment.expiresAt,
    verified: payment.verifiedAt ?? 'no',
  });
  const quoted = table(
    ['offer', 'network', 'price USD', 'principal', 'network fee', 'commission', 'to send', 'address'],
    offers.map((one) => [
      one.assetSymbol,
      one.network,
      one.priceUsd,
      one.amount,
      one.txFee,
      one.commissionFee,
      one.totalValue,
      one.address ?? (one.selectedAt === null ? '-' : payment.isSandbox === true ? 'simulated' : 'being assigned'),
    ]),
  );
  const story = table(
    ['when', 'step', 'what'],
    steps.map((one) => [one.at, one.step, one.text]),
  );
  const credited = table(
    ['credited', 'asset', 'pool', 'matures'],
    credits.map((one) => [one.net, one.assetSymbol, one.pool, one.maturedAt === null ? one.maturesAt : 'matured']),
  );
  return [head, quoted, story, ...(credits.length === 0 ? [] : [credited])].join('\n\n');
}
