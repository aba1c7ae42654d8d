import { type Command, requiredReason, textOption, UsageError } from './command.ts';
import { describeEndpoint, type Endpoint } from './endpoints.ts';
import { table } from './format.ts';
import { AS, describeProposal, operatorAs, type Proposal } from './proposal.ts';

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
  {
    name: 'chain rescan',
    args: '<network> <from> <to>',
    summary: 'have final blocks read again; what was missed in them is booked, once',
    options: { reason: { type: 'string', help: 'why; kept in the audit log' } },
    arity: [3, 3],
    async run(context, [network, from, to], options) {
      const { operator } = await context();
      const body = { from: heightOf(from), to: heightOf(to), reason: textOption(options, 'reason') ?? null };
      const { rescan } = (await operator.must('POST', `/networks/${network}/rescan`, { body })) as { rescan: Rescan };
      return { data: rescan, text: `${describeRescan(rescan)}\nsee how far it is: sluice chain rescans ${network}` };
    },
  },
  {
    name: 'chain accept-field',
    args: '<network> <field>',
    summary: 'propose to believe headers with a field that this release does not know, although nothing proves their hash; a second person confirms it',
    options: { as: AS, reason: { type: 'string', help: 'how you know; kept in the audit log (required)' } },
    arity: [2, 2],
    async run(context, [network, field], options) {
      const reason = requiredReason(options);
      const body = { network, field, reason };
      const proposal = (await operatorAs(await context(), options).must('POST', '/header-fields', { body })) as unknown as Proposal;
      return {
        data: proposal,
        text: `${describeProposal(proposal)}\n\nnothing is believed before another person runs: sluice proposal confirm ${proposal.id}`,
      };
    },
  },
  {
    name: 'chain rescans',
    args: '<network>',
    summary: 'how far blocks that were asked for were read again, and what was found',
    arity: [1, 1],
    async run(context, [network]) {
      const { operator } = await context();
      const { items } = (await operator.must('GET', `/networks/${network}/rescans`)) as { items: Rescan[] };
      return { data: items, text: items.length === 0 ? 'none was asked for' : items.map(describeRescan).join('\n') };
    },
  },
];

interface Rescan {
  from: number;
  to: number;
  cause: 'operator' | 'logs';
  next: number;
  found: number;
  problem: string | null;
  finishedAt: string | null;
}

function describeRescan({ from, to, cause, next, found, problem, finishedAt }: Rescan): string {
  const far = finishedAt !== null ? `done ${finishedAt}` : problem !== null ? `stopped at block ${next}: ${problem}` : `at block ${next}`;
  return `blocks ${from}..${to}${cause === 'logs' ? ', first read by logs' : ''}: ${far}, ${found} movements were new`;
}

function heightOf(text: string | undefined): number {
  if (text === undefined || !/^\d{1,15}$/.test(text)) throw new UsageError(`"${text}" is no block height`);
  return Number(text);
}

function state(network: Network): string {
  if (network.pausedAt !== null) return 'paused';
  return network.indexed ? 'followed' : 'no indexer';
}
