import { type Command, textOption, UsageError } from './command.ts';

export const walletCommands: readonly Command[] = [
  {
    name: 'wallet clear',
    args: '<hot|funding|held|address>',
    summary: 'let a halted wallet send again, once the books know every transaction of it (sluice dispatch status)',
    options: {
      network: { type: 'string', help: 'the network it is on (required)' },
      reason: { type: 'string', help: 'why; kept in the audit log (required)' },
    },
    arity: [1, 1],
    async run(context, [wallet = ''], options) {
      const [network, reason] = [textOption(options, 'network'), textOption(options, 'reason')];
      if (network === undefined || reason === undefined) throw new UsageError('--network and --reason are required');
      const { operator } = await context();
      const data = await operator.must('POST', '/wallets/clear', { body: { network, wallet, reason } });
      return { data, text: `${String(data.address)} may send again; it was halted because ${String(data.wasHaltedFor)}` };
    },
  },
];
