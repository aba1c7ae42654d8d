import type { Command } from './command.ts';
import { listCommand } from './list-command.ts';

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
  listCommand<Action>({
    name: 'audit-log',
    summary: 'list what operators did, newest first',
    path: '/audit-log',
    narrowing: {
      action: { type: 'string', help: 'only this one, such as gateway.change' },
      target: { type: 'string', help: 'only what was done to this id or name' },
    },
    columns: ['at', 'action', 'target', 'who', 'from', 'reason'],
    row: (one) => [one.at, one.action, one.target, whoOf(one), one.clientIp ?? '-', one.reason ?? ''],
  }),
];

/** Who it was by the token, and what was said of it: the shared one proves nobody in particular. */
function whoOf({ person, actor }: Action): string {
  if (person === null || person === 'operator') return actor ?? 'unknown';
  return actor === null ? person : `${person} (${actor})`;
}
