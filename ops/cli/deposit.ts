import { type Command, textOption, UsageError } from './command.ts';
import { table } from './format.ts';
import { CHAIN_OPTIONS, listQuery, type ListPage, pageText, WALK_OPTIONS } from './list-query.ts';

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
  {
    name: 'deposit list',
    args: '',
    summary: 'deposits, newest first',
    options: {
      state: { type: 'string', help: 'only seen, dropped, credited, dust or unallocated; or unexplained: coins without a transfer anybody saw' },
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
        `/deposits?${listQuery(options, ['state', 'gateway', 'limit', ...Object.keys({ ...CHAIN_OPTIONS, ...WALK_OPTIONS })])}`,
      )) as unknown as ListPage<Deposit>;
      const { items } = page;
      const rows = items.map((one) => [one.id, one.state, `${one.amount} ${one.assetSymbol}`, one.network, one.paymentId ?? '', one.txHash ?? '', one.seenAt]);
      return { data: items, text: pageText(table(['deposit', 'state', 'amount', 'network', 'payment', 'transaction', 'seen'], rows), page) };
    },
  },
  {
    name: 'deposit allocate',
    args: '<depositId> <paymentId>',
    summary: 'credit a deposit that was set aside to a payment',
    options: { reason: { type: 'string', help: 'why; kept in the audit log (required)' } },
    arity: [2, 2],
    async run(context, [id = '', paymentId = ''], options) {
      const reason = textOption(options, 'reason');
      if (reason === undefined) throw new UsageError('--reason is required');
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
