import type { Command } from './command.ts';
import { table } from './format.ts';
import { listQuery, type ListPage, pageText, WALK_OPTIONS } from './list-query.ts';

interface Action {
  at: string;
  action: string;
  target: string;
  person: string | null;
  actor: string | null;
  clientIp: string | null;
  reason: string | null;
}

export const auditLogCommands: readonly Command[] = [
  {
    name: 'audit-log',
    args: '',
    summary: 'list what operators did, newest first',
    options: {
      action: { type: 'string', help: 'only this one, such as gateway.change' },
      target: { type: 'string', help: 'only what was done to this id or name' },
      ...WALK_OPTIONS,
      limit: { type: 'string', help: 'how many, 100 at most' },
    },
    arity: [0, 0],
    async run(context, _args, options) {
      const { operator } = await context();
      const page = (await operator.must(
        'GET',
        `/audit-log?${listQuery(options, ['action', 'target', 'limit', ...Object.keys(WALK_OPTIONS)])}`,
      )) as unknown as ListPage<Action>;
      const { items } = page;
      const rows = items.map((one) => [one.at, one.action, one.target, whoOf(one), one.clientIp ?? '-', one.reason ?? '']);
      return { data: items, text: pageText(table(['at', 'action', 'target', 'who', 'from', 'reason'], rows), page) };
    },
  },
];

/** Who it was by the token, and what was said of it: the shared one proves nobody in particular. */
function whoOf({ person, actor }: Action): string {
  if (person === null || person === 'operator') return actor ?? 'unknown';
  return actor === null ? person : `${person} (${actor})`;
}
