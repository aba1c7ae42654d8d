import type { Operator } from '#ops/dev/client.ts';
import { type Command, type Options, type Result, textOption, UsageError } from './command.ts';
import { table } from './format.ts';

interface Freezes {
  freezes: { scope: string; reason: string; frozenAt: string }[];
  haltedWallets: { network: string; role: string; address: string; reason: string }[];
}

const SCOPE = { type: 'string', help: 'network:<name> or asset:<id>; the whole deployment unless given' } as const;

export const dispatchCommands: readonly Command[] = [
  {
    name: 'dispatch status',
    args: '',
    summary: 'what keeps cashouts from being sent: freezes, and wallets that were stopped',
    options: {},
    arity: [0, 0],
    async run(context) {
      const data = (await (await context()).operator.must('GET', '/freezes')) as unknown as Freezes;
      return { data, text: describe(data) };
    },
  },
  {
    name: 'dispatch freeze',
    args: '',
    summary: 'send nothing any more until somebody lifts it',
    options: { scope: SCOPE, reason: { type: 'string', help: 'why; shown wherever something waits for it' } },
    arity: [0, 0],
    run: async (context, _args, options) => change((await context()).operator, 'freeze', options, {}),
  },
  {
    name: 'dispatch unfreeze',
    args: '',
    summary: 'send again; what the audit froze it freezes again while it still finds it',
    options: {
      scope: SCOPE,
      reason: { type: 'string', help: 'why; kept in the audit log (required with --force)' },
      force: { type: 'boolean', help: 'accept the coins that are missing as lost' },
    },
    arity: [0, 0],
    async run(context, _args, options) {
      const force = options.force === true;
      if (force && textOption(options, 'reason') === undefined) throw new UsageError('--reason is required with --force');
      return change((await context()).operator, 'unfreeze', options, { force });
    },
  },
];

async function change(operator: Operator, verb: 'freeze' | 'unfreeze', options: Options, more: Record<string, unknown>): Promise<Result> {
  const body = { ...more, scope: textOption(options, 'scope') ?? null, reason: textOption(options, 'reason') ?? null };
  const data = (await operator.must('POST', `/${verb}`, { body })) as unknown as Freezes;
  return { data, text: describe(data) };
}

function describe({ freezes, haltedWallets }: Freezes): string {
  const rows = [
    ...freezes.map((one) => [one.scope, one.frozenAt, one.reason]),
    ...haltedWallets.map((one) => [`${one.role} wallet of ${one.network}`, '-', `${one.address}: ${one.reason}`]),
  ];
  return rows.length === 0 ? 'nothing is frozen' : table(['frozen', 'since', 'why'], rows);
}
