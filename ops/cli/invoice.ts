import type { Command } from './command.ts';
import { type Charge, describeCharges } from './charges.ts';
import { facts, table } from './format.ts';

interface Invoice {
  id: string;
  gatewayId: string;
  gatewayName: string;
  month: string;
  totalUsd: string;
  amountDue: string;
  lineCount: number;
  closedAt: string;
  lines: {
    kind: string;
    paymentId: string | null;
    settlementId: string | null;
    network: string;
    assetSymbol: string;
    amount: string;
    priceUsd: string;
    usd: string;
  }[];
}

export const invoiceCommands: readonly Command[] = [
  {
    name: 'invoice list',
    args: '',
    summary: 'what monthly-billed gateways owe, the last closed month first',
    options: {
      gateway: { type: 'string', help: 'only of this gateway' },
      month: { type: 'string', help: 'only of this month, such as 2026-10' },
    },
    arity: [0, 0],
    async run(context, _args, options) {
      const { operator } = await context();
      const query = new URLSearchParams({
        limit: '100',
        ...(typeof options.gateway === 'string' && { gatewayId: options.gateway }),
        ...(typeof options.month === 'string' && { month: options.month }),
      });
      const { items } = (await operator.must('GET', `/invoices?${query}`)) as { items: Invoice[] };
      const rows = items.map((one) => [one.id, one.month, one.gatewayName, one.lineCount, one.amountDue, one.closedAt]);
      return { data: items, text: table(['id', 'month', 'gateway', 'lines', 'due USD', 'closed'], rows) };
    },
  },
  {
    name: 'invoice show',
    args: '<id>',
    summary: 'one invoice with its first hundred lines: what each payment and cashout cost',
    arity: [1, 1],
    async run(context, [id]) {
      const { operator } = await context();
      const { invoice, charges } = (await operator.must('GET', `/invoices/${encodeURIComponent(id ?? '')}?limit=100`)) as {
        invoice: Invoice;
        charges: Charge[];
      };
      const head = facts({
        invoice: invoice.id,
        gateway: `${invoice.gatewayName} (${invoice.gatewayId})`,
        month: invoice.month,
        due: `${invoice.amountDue} USD`,
        exactly: `${invoice.totalUsd} USD`,
        lines: invoice.lineCount,
      });
      const rows = invoice.lines.map((line) => [
        line.kind,
        line.paymentId ?? line.settlementId,
        `${line.amount} ${line.assetSymbol} on ${line.network}`,
        line.priceUsd,
        line.usd,
      ]);
      const parts = [head, table(['line', 'of', 'cost', 'price', 'USD'], rows), ...(charges.length === 0 ? [] : [describeCharges(charges)])];
      return { data: { ...invoice, charges }, text: parts.join('\n\n') };
    },
  },
];
