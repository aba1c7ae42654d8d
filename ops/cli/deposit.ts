import { type Command, requiredReason } from './command.ts';
import { listCommand } from './list-command.ts';

interface Deposit {
  id: string;
  paymentId: string | null;
  state: string;
  network: string;
  assetSymbol: string;
  amount: string;
  /** Null for coins that no transfer explains. */
  txHash: string | null;
  seenAt: string;
}

interface Allocated {
  deposit: { id: string; state: string; assetSymbol: string; amount: string };
  payment: { id: string; gatewayId: string; status: string };
}

export const depositCommands: readonly Command[] = [
  listCommand<Deposit>({
    name: 'deposit list',
    summary: 'deposits, newest first',
    path: '/deposits',
    narrowing: {
      state: { type: 'string', help: 'only seen, dropped, credited, dust or unallocated; or unexplained: coins without a transfer anybody saw' },
      gateway: { type: 'string', help: 'only of this gateway' },
    },
    ofChains: true,
    columns: ['deposit', 'state', 'amount', 'network', 'payment', 'transaction', 'seen'],
    row: (one) => [one.id, one.state, `${one.amount} ${one.assetSymbol}`, one.network, one.paymentId ?? '', one.txHash ?? '', one.seenAt],
  }),
  {
    name: 'deposit allocate',
    args: '<depositId> <paymentId>',
    summary: 'credit a deposit that was set aside to a payment',
    options: { reason: { type: 'string', help: 'why; kept in the audit log (required)' } },
    arity: [2, 2],
    async run(context, [id = '', paymentId = ''], options) {
      const reason = requiredReason(options);
      const { operator } = await context();
      const allocated = (await operator.must('POST', `/deposits/${encodeURIComponent(id)}/allocate`, { body: { paymentId, reason } })) as unknown as Allocated;
      return { data: allocated, text: describe(allocated) };
    },
  },
];

function describe({ deposit, payment }: Allocated): string {
  const coins = `${deposit.amount} ${deposit.assetSymbol}`;
  const credited = deposit.state === 'credited' ? `${coins} credited to` : `${coins} will be credited, once there is a fresh price, to`;
  return `${credited} payment ${payment.id} of gateway ${payment.gatewayId}, which is ${payment.status}`;
}
