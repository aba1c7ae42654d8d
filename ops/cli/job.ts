import { type Command, textOption, UsageError } from './command.ts';
import { table } from './format.ts';

interface Job {
  topic: string;
  refId: string;
  state: string;
  dueAt: string;
  claims: number;
  lastError: string | null;
}

export const jobCommands: readonly Command[] = [
  {
    name: 'job list',
    args: '',
    summary: 'work that waits, the longest due first: what it is about, how often it was begun, and what went wrong last',
    options: { limit: { type: 'string', help: 'how many, 100 at most (20)' } },
    arity: [0, 0],
    async run(context, _args, options) {
      const limit = textOption(options, 'limit') ?? '20';
      if (!/^\d{1,3}$/.test(limit)) throw new UsageError('--limit must be a number');
      const { operator } = await context();
      const { items } = (await operator.must('GET', `/jobs?limit=${limit}`)) as { items: Job[] };
      const rows = items.map((one) => [one.topic, one.refId, one.state, one.dueAt, one.claims, one.lastError]);
      return { data: items, text: rows.length === 0 ? 'nothing waits' : table(['job', 'about', 'state', 'due', 'begun', 'last error'], rows) };
    },
  },
];
