import { type Charge, describeCharges } from './charges.ts';
import { type Command, requiredReason } from './command.ts';
import { facts, table } from './format.ts';
import { listCommand } from './list-command.ts';
import { AS, operatorAs, type Proposal, proposedResult } from './proposal.ts';

interface Listed {
  id: string;
  gatewayId: string;
  status: string;
  amount: string;
  assetSymbol: string;
  network: string;
  holdReason: string | null;
  waitReason: string | null;
  createdAt: string;
}

interface Shown {
  settlement: Record<string, string | number | null>;
  /** As an approver reads it: who asked first, and safe for a terminal. */
  metadata: { key: string; value: string }[];
  fee: {
    payer: string;
    nativeAsset: string;
    actualNative: string;
    actualUsd: string | null;
    differenceNative: string | null;
    differenceUsd: string | null;
  } | null;
  charges: Charge[];
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
  listCommand<Listed>({
    name: 'settlement list',
    summary: 'settlements, newest first, and what each waits for',
    path: '/settlements',
    narrowing: {
      status: { type: 'string', help: 'only those in one status, such as PENDING_APPROVAL' },
      gateway: { type: 'string', help: 'only of this gateway' },
    },
    ofChains: true,
    columns: ['settlement', 'status', 'amount', 'network', 'waits for', 'created'],
    row: (one) => [one.id, one.status, `${one.amount} ${one.assetSymbol}`, one.network, waitsFor(one), one.createdAt],
  }),
  {
    name: 'settlement reject',
    args: '<id>',
    summary: 'end a claimed settlement that cannot be paid yet, or any more, and give its claim back',
    options: { as: AS, reason: { type: 'string', help: 'why; kept in the audit log (required)' } },
    arity: [1, 1],
    async run(context, [id = ''], options) {
      const reason = requiredReason(options);
      const operator = operatorAs(await context(), options);
      const answer = (await operator.must('POST', `/settlements/${encodeURIComponent(id)}/reject`, { body: { reason } })) as unknown as Shown | Proposal;
      return 'proposedBy' in answer ? proposedResult(answer) : { data: answer, text: describe(answer) };
    },
  },
];

function waitsFor({ status, holdReason, waitReason }: Listed): string | null {
  return status === 'PENDING_APPROVAL' ? `an approval (${holdReason ?? 'by a gate'})` : waitReason;
}

function describe({ settlement, metadata, fee, charges, events, payouts }: Shown): string {
  const head = facts({
    settlement: settlement.id,
    gateway: settlement.gatewayId,
    status: settlement.status,
    amount: `${settlement.amount} ${settlement.assetSymbol} on ${settlement.network}`,
    'fee locked': settlement.feeLocked,
    'fee paid': fee && `${fee.actualNative} ${fee.nativeAsset} (${inUsd(fee.actualUsd)})${fee.payer === 'PLATFORM' ? ', by the platform' : ''}`,
    'locked less paid': fee && `${fee.differenceNative ?? 'unknown'} ${fee.nativeAsset} (${inUsd(fee.differenceUsd)})`,
    net: settlement.netAmount,
    received: settlement.receivedAmount,
    to: settlement.address,
    transaction: settlement.txHash,
    created: settlement.createdAt,
    'dispatch at': settlement.dispatchAt,
    'on hold': settlement.status === 'PENDING_APPROVAL' ? settlement.holdReason : null,
    'waits for': settlement.waitReason,
    settled: settlement.settledAt,
  });
  const told = table(
    ['metadata', ''],
    metadata.map((one) => [one.key, one.value]),
  );
  const history = events
    .map((one) => `${one.at}  ${one.from === null ? `created ${one.to}` : `${one.from} → ${one.to}`} (${one.event} by ${one.actor})`)
    .join('\n');
  const carried = table(
    ['payout', 'purpose', 'status', 'nonce', 'transaction', 'attempts', 'failure'],
    payouts.map((one) => [one.id, one.purpose, one.status, one.nonce, one.txHash, one.attempts.length, one.failure]),
  );
  return [head, ...(metadata.length === 0 ? [] : [told]), history, carried, ...(charges.length === 0 ? [] : [describeCharges(charges)])].join('\n\n');
}

function inUsd(usd: string | null): string {
  return usd === null ? 'no price was known' : `${usd} USD`;
}
