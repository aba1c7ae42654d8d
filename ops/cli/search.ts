import type { Command } from './command.ts';
import { table } from './format.ts';

interface Found {
  items: { kind: string; id: string; gatewayId: string | null; line: string; at: string | null }[];
  more: boolean;
}

export const searchCommands: readonly Command[] = [
  {
    name: 'search',
    args: '<text>',
    summary: 'whatever is known by an id, an order, a transaction, an address, an amount, or how a gateway is called',
    arity: [1, 1],
    async run(context, [text = '']) {
      const { operator } = await context();
      const found = (await operator.must('GET', `/search?${new URLSearchParams({ q: text })}`)) as unknown as Found;
      const rows = found.items.map((one) => [one.kind, one.id, one.gatewayId, one.line, one.at]);
      const shown = rows.length === 0 ? 'nothing is known by that' : table(['what', 'id', 'gateway', '', 'when'], rows);
      return { data: found, text: found.more ? `${shown}\n\nthere are more; the lists have them all` : shown };
    },
  },
];
