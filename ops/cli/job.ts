import { type Command, textOption, UsageError } from './command.ts';
import { table } from './format.ts';
import { listQuery, type ListPage, pageText, WALK_OPTIONS } from './list-query.ts';

interface Job {
  id: string;
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
    options: {
      state: { type: 'string', help: 'only due, retrying, scheduled or dead' },
      topic: { type: 'string', help: 'only of this kind, such as webhook.deliver' },
      ...WALK_OPTIONS,
      limit: { type: 'string', help: 'how many, 100 at most (20)' },
    },
    arity: [0, 0],
    async run(context, _args, options) {
      const limit = textOption(options, 'limit') ?? '20';
      if (!/^\d{1,3}$/.test(limit)) throw new UsageError('--limit must be a number');
      const { operator } = await context();
      const query = listQuery({ ...options, limit }, ['state', 'topic', ...Object.keys(WALK_OPTIONS), 'limit']);
      const page = (await operator.must('GET', `/jobs?${query}`)) as unknown as ListPage<Job>;
      const rows = page.items.map((one) => [one.id, one.topic, one.refId, one.state, one.dueAt, one.claims, one.lastError]);
      const text = rows.length === 0 ? 'nothing waits' : table(['id', 'job', 'about', 'state', 'due', 'begun', 'last error'], rows);
      return { data: page.items, text: pageText(text, page) };
    },
  },
  {
    name: 'job retry',
    args: '<id>',
    summary: 'run a job that failed again, now',
    options: { reason: { type: 'string', help: 'why; kept in the audit log' } },
    arity: [1, 1],
    async run(context, [id = ''], options) {
      const { operator } = await context();
      const body = { reason: textOption(options, 'reason') ?? null };
      const data = (await operator.must('POST', `/jobs/${encodeURIComponent(id)}/retry`, { body })) as unknown as { job: Job | undefined };
      return { data, text: `job ${id} is taken by a worker next` };
    },
  },
  {
    name: 'job discard',
    args: '<id>',
    summary: 'close a job that nobody needs any more; one that money waits for is refused',
    options: { reason: { type: 'string', help: 'why; kept in the audit log (required)' } },
    arity: [1, 1],
    async run(context, [id = ''], options) {
      const reason = textOption(options, 'reason');
      if (reason === undefined) throw new UsageError('--reason is required');
      const { operator } = await context();
      const data = await operator.must('POST', `/jobs/${encodeURIComponent(id)}/discard`, { body: { reason } });
      return { data, text: `job ${id} is never run` };
    },
  },
];
