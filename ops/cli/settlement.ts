import type { Command } from './command.ts';
import { facts, table } from './format.ts';

interface Shown {
  settlement: Record<string, string | number | null>;
  events: { event: string; from: string | null; to: string; actor: string; at: string }[];
  payouts: { id: string; purpose: string; status: string; nonce: number | null; txHash: string | null; failure: string | null; attempts: { kind: string }[] }[];
}

export const settlementCommands: readonly Command[] = [
  {
    name: 'settlement show',
    args: '<id>',
    summary: 'a settlement, its history and the transactions that carry it out',
    arity: [1, 1],
    async run(context, [id]) {
      const { operator } = await context();
      const shown = (await operator.must('GET', `/settlements/${encodeURIComponent(id ?? '')}`)) as unknown as Shown;
      return { data: shown, text: describe(shown) };
    },
  },
];

function describe({ settlement, events, payouts }: Shown): string {
  const head = facts({
    settlement: settlement.id,
    gateway: settlement.gatewayId,
    status: settlement.status,
    amount: `${settlement.amount} ${settlement.assetSymbol} on ${settlement.network}`,
    'fee locked': settlement.feeLocked,
    net: settlement.netAmount,
    received: settlement.receivedAmount,
    to: settlement.address,
    transaction: settlement.txHash,
    created: settlement.createdAt,
    'dispatch at': settlement.dispatchAt,
    'on hold': settlement.holdReason,
    'waits for': settlement.waitReason,
    settled: settlement.settledAt,
  });
  const history = events
    .map((one) => `${one.at}  ${one.from === null ? `created ${one.to}` : `${one.from} → ${one.to}`} (${one.event} by ${one.actor})`)
    .join('\n');
  const carried = table(
    ['payout', 'purpose', 'status', 'nonce', 'transaction', 'attempts', 'failure'],
    payouts.map((one) => [one.id, one.purpose, one.status, one.nonce, one.txHash, one.attempts.length, one.failure]),
  );
  return [head, history, carried].join('\n\n');
}
