import type { Command } from './command.ts';
import { facts, table } from './format.ts';
import { listCommand } from './list-command.ts';

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
  credits: {
    pool: string;
    screening: string;
    riskScore: number | null;
    taken: string | null;
    assetSymbol: string;
    net: string;
    maturedAt: string | null;
    maturesAt: string;
  }[];
  aml: {
    events: { event: string; from: string; to: string; actor: string; at: string }[];
    refunds: { amount: string; assetSymbol: string; network: string; address: string; status: string; txHash: string | null; failure: string | null }[];
  };
  summary: string;
  steps: { step: string; at: string; text: string }[];
}

interface Listed {
  id: string;
  gatewayId: string;
  status: string;
  amount: string;
  currencyCode: string;
  receivedAmount: string | null;
  receivedAssetSymbol: string | null;
  createdAt: string;
}

export const paymentCommands: readonly Command[] = [
  listCommand<Listed>({
    name: 'payment list',
    summary: 'payments, newest first',
    path: '/payments',
    narrowing: {
      status: { type: 'string', help: 'only those in one status, such as MISMATCH' },
      gateway: { type: 'string', help: 'only of this gateway' },
    },
    ofChains: true,
    columns: ['payment', 'status', 'amount', 'received', 'gateway', 'created'],
    row: (one) => [
      one.id,
      one.status,
      `${one.amount} ${one.currencyCode}`,
      one.receivedAmount === null ? '-' : `${one.receivedAmount} ${one.receivedAssetSymbol ?? ''}`,
      one.gatewayId,
      one.createdAt,
    ],
  }),
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
export function describePayment({ payment, offers, credits, aml, summary, steps }: ShownPayment): string {
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
    aml: payment.amlState ?? null,
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
    ['credited', 'asset', 'pool', 'screening', 'matures'],
    credits.map((one) => [
      one.net,
      one.assetSymbol,
      one.taken ?? one.pool,
      one.riskScore === null ? one.screening : `${one.screening} (${one.riskScore})`,
      one.maturedAt === null ? one.maturesAt : 'matured',
    ]),
  );
  const states = table(
    ['screened', 'from', 'to', 'by', 'when'],
    aml.events.map((one) => [one.event, one.from, one.to, one.actor, one.at]),
  );
  const refunds = table(
    ['refund', 'asset', 'network', 'to', 'status', 'transaction'],
    aml.refunds.map((one) => [one.amount, one.assetSymbol, one.network, one.address, one.status, one.txHash ?? one.failure ?? '-']),
  );
  const shown = [head, quoted, story, credits.length > 0 && credited, aml.events.length > 0 && states, aml.refunds.length > 0 && refunds];
  return shown.filter((part) => part !== false).join('\n\n');
}
