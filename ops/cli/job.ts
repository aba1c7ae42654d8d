import { type Command, requiredReason, textOption } from './command.ts';
import { listCommand } from './list-command.ts';

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
  listCommand<Job>({
    name: 'job list',
    summary: 'work that waits, the longest due first: what it is about, how often it was begun, and what went wrong last',
    path: '/jobs',
    narrowing: {
      state: { type: 'string', help: 'only due, retrying, scheduled or dead' },
      topic: { type: 'string', help: 'only of this kind, such as webhook.deliver' },
    },
    columns: ['id', 'job', 'about', 'state', 'due', 'begun', 'last error'],
    row: (one) => [one.id, one.topic, one.refId, one.state, one.dueAt, one.claims, one.lastError],
    none: 'nothing waits',
  }),
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
    name: 'job retry-all',
    args: '<kind>',
    summary: 'run all jobs of a kind that failed again, now, such as those of webhook.deliver; up to 500 at once',
    options: { reason: { type: 'string', help: 'why; kept in the audit log (required)' } },
    arity: [1, 1],
    async run(context, [topic = ''], options) {
      const reason = requiredReason(options);
      const { operator } = await context();
      const data = await operator.must('POST', '/jobs/retry', { body: { topic, reason } });
      return {
        data,
        text: `${String(data.retried)} jobs of ${topic} are taken by workers next${data.more === true ? '; more have failed: run this again' : ''}`,
      };
    },
  },
  {
    name: 'job discard',
    args: '<id>',
    summary: 'close a job that nobody needs any more; one that money waits for is refused',
    options: { reason: { type: 'string', help: 'why; kept in the audit log (required)' } },
    arity: [1, 1],
    async run(context, [id = ''], options) {
      const reason = requiredReason(options);
      const { operator } = await context();
      const data = await operator.must('POST', `/jobs/${encodeURIComponent(id)}/discard`, { body: { reason } });
      return { data, text: `job ${id} is never run` };
    },
  },
];
