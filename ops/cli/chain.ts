import type { Command } from './command.ts';
import { table } from './format.ts';

interface Network {
  name: string;
  family: string;
  chainId: string;
  pausedAt: string | null;
  tipHeight: number | null;
  finalHeight: number | null;
  headHeight: number | null;
  appliedAt: string | null;
  indexed: boolean;
}

export const chainCommands: readonly Command[] = [
  {
    name: 'chain status',
    args: '',
    summary: 'how far each network was followed',
    arity: [0, 0],
    async run(context) {
      const { operator } = await context();
      const { items } = (await operator.must('GET', '/networks')) as { items: Network[] };
      const rows = items.map((one) => [one.name, one.family, one.chainId, state(one), one.tipHeight, one.headHeight, one.finalHeight, one.appliedAt]);
      return { data: items, text: table(['network', 'family', 'chain id', 'state', 'tip', 'head', 'final', 'last block applied'], rows) };
    },
  },
];

function state(network: Network): string {
  if (network.pausedAt !== null) return 'paused';
  return network.indexed ? 'followed' : 'no indexer';
}
