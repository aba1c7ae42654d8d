import type { Operator } from '#ops/dev/client.ts';
import { type Command, type Options, type Result, textOption, UsageError } from './command.ts';
import { table } from './format.ts';

interface Freezes {
  freezes: { scope: string; reason: string; frozenAt: string }[];
}

const SCOPE = { type: 'string', help: 'network:<name> or asset:<id>; everything unless given' } as const;

export const dispatchCommands: readonly Command[] = [
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
  const rows = data.freezes.map((one) => [one.scope, one.frozenAt, one.reason]);
  return { data, text: rows.length === 0 ? 'nothing is frozen' : table(['frozen', 'since', 'why'], rows) };
}
