import { type Command, textOption } from './command.ts';
import { table } from './format.ts';

interface Deposit {
  id: string;
  paymentId: string;
  state: string;
  network: string;
  assetSymbol: string;
  amount: string;
  txHash: string;
  seenAt: string;
}

export const depositCommands: readonly Command[] = [
  {
    name: 'deposit list',
    args: '',
    summary: 'deposits, newest first',
    options: {
      state: { type: 'string', help: 'only seen, dropped, credited, dust or unallocated' },
      gateway: { type: 'string', help: 'only of this gateway' },
      limit: { type: 'string', help: 'how many, 100 at most (20)' },
    },
    arity: [0, 0],
    async run(context, _args, options) {
      const query = new URLSearchParams();
      for (const [option, name] of [
        ['state', 'state'],
        ['gateway', 'gatewayId'],
        ['limit', 'limit'],
      ] as const) {
        const value = textOption(options, option);
        if (value !== undefined) query.set(name, value);
      }
      const { operator } = await context();
      const { items } = (await operator.must('GET', `/deposits?${query}`)) as { items: Deposit[] };
      const rows = items.map((one) => [one.id, one.state, `${one.amount} ${one.assetSymbol}`, one.network, one.paymentId, one.txHash, one.seenAt]);
      return { data: items, text: table(['deposit', 'state', 'amount', 'network', 'payment', 'transaction', 'seen'], rows) };
    },
  },
];
