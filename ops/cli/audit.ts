import type { Command } from './command.ts';

interface Check {
  check: string;
  title: string;
  rows: Record<string, unknown>[];
}

export const auditCommands: readonly Command[] = [
  {
    name: 'audit',
    args: '',
    summary: 'run every check of the books; exit code 1 when one finds something',
    arity: [0, 0],
    async run(context) {
      const { operator } = await context();
      const audit = (await operator.must('GET', '/audit')) as unknown as { clean: boolean; checks: Check[] };
      const lines = audit.checks.flatMap((check) => [
        `${check.rows.length === 0 ? 'ok  ' : 'FAIL'}  ${check.check.padEnd(4)} ${check.title}`,
        ...check.rows.map((row) => `            ${JSON.stringify(row)}`),
      ]);
      return { data: audit, text: lines.join('\n'), good: audit.clean };
    },
  },
];
