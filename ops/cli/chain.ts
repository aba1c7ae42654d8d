import type { Command } from './command.ts';
import { describeEndpoint, type Endpoint } from './endpoints.ts';
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
  endpoints: Endpoint[];
}

export const chainCommands: readonly Command[] = [
  {
    name: 'chain status',
    args: '',
    summary: 'how far each network was followed, and how its endpoints are doing',
    arity: [0, 0],
    async run(context) {
      const { operator } = await context();
      const { items } = (await operator.must('GET', '/networks')) as { items: Network[] };
      const rows = items.map((one) => [one.name, one.family, one.chainId, state(one), one.tipHeight, one.headHeight, one.finalHeight, one.appliedAt]);
      const endpoints = items.flatMap((one) => one.endpoints.map((endpoint) => `${one.name}  ${describeEndpoint(endpoint)}`));
      const networks = table(['network', 'family', 'chain id', 'state', 'tip', 'head', 'final', 'last block applied'], rows);
      return { data: items, text: [networks, '', 'endpoints, as the api sees them:', ...endpoints].join('\n') };
    },
  },
];

function state(network: Network): string {
  if (network.pausedAt !== null) return 'paused';
  return network.indexed ? 'followed' : 'no indexer';
}
