import { type Command, type Context, type Options, type Result, textOption, UsageError } from './command.ts';
import { facts } from './format.ts';
import { listCommand } from './list-command.ts';

/** A proposal as the operator API shows it. */
export interface Proposal {
  id: string;
  act: string;
  target: string;
  content: Record<string, string>;
  reason: string;
  proposedBy: string;
  status: string;
  createdAt: string;
  expiresAt: string;
  decidedBy: string | null;
  decidedAt: string | null;
  outcome: Record<string, string> | null;
}

/** The option with which one machine speaks for several people. */
export const AS = {
  type: 'string',
  help: 'as one of the people that npm start knows, such as ben; elsewhere SLUICE_OPERATOR_TOKEN is the token of whoever runs this',
} as const;

export const proposalCommands: readonly Command[] = [
  listCommand<Proposal>({
    name: 'proposal list',
    summary: 'what was proposed to be done by two people, newest first',
    path: '/proposals',
    narrowing: { status: { type: 'string', help: 'only those that are open, confirmed, withdrawn or expired' } },
    columns: ['proposal', 'status', 'act', 'proposed by', 'decided by', 'until', 'reason'],
    row: (one) => [one.id, one.status, one.act, one.proposedBy, one.decidedBy, one.expiresAt, one.reason],
  }),
  {
    name: 'proposal show',
    args: '<id>',
    summary: 'all that is to be done, exactly as it will be',
    arity: [1, 1],
    async run(context, [id = '']) {
      const proposal = (await (await context()).operator.must('GET', `/proposals/${encodeURIComponent(id)}`)) as unknown as Proposal;
      return { data: proposal, text: describeProposal(proposal) };
    },
  },
  {
    name: 'proposal confirm',
    args: '<id>',
    summary: 'do what somebody else proposed; look at it first: sluice proposal show <id>',
    options: { as: AS, reason: { type: 'string', help: 'a remark; kept in the audit log' } },
    arity: [1, 1],
    run: async (context, [id = ''], options) => decide(await context(), id, 'confirm', options),
  },
  {
    name: 'proposal withdraw',
    args: '<id>',
    summary: 'make a proposal void',
    options: { as: AS, reason: { type: 'string', help: 'why; kept in the audit log' } },
    arity: [1, 1],
    run: async (context, [id = ''], options) => decide(await context(), id, 'withdraw', options),
  },
];

/** Speaks as the person an option names; as whoever's token the command line has unless it does. @throws UsageError when npm start knows nobody of that name */
export function operatorAs({ operator, people }: Pick<Context, 'operator' | 'people'>, options: Options): Context['operator'] {
  const name = textOption(options, 'as');
  if (name === undefined) return operator;
  const person = people.get(name);
  if (person === undefined)
    throw new UsageError(`there is nobody called ${name} here${people.size === 0 ? '' : `; there is ${[...people.keys()].join(', ')}`}`);
  return person;
}

/** Everything about a proposal, for people. */
export function describeProposal({ content, outcome, ...one }: Proposal): string {
  const decided = one.decidedBy === null ? {} : { [`${one.status} by`]: `${one.decidedBy}, ${one.decidedAt}` };
  return facts({
    proposal: one.id,
    status: one.status,
    act: one.act,
    ...content,
    reason: one.reason,
    'proposed by': `${one.proposedBy}, ${one.createdAt}`,
    'open until': one.status === 'open' ? one.expiresAt : null,
    ...decided,
    ...outcome,
  });
}

/** What a command says that was taken for a proposal. */
export function proposedResult(proposal: Proposal): Result {
  return { data: proposal, text: `${describeProposal(proposal)}\n\nnothing is done before another person runs: sluice proposal confirm ${proposal.id}` };
}

async function decide(context: Context, id: string, verb: 'confirm' | 'withdraw', options: Options): Promise<Result> {
  const body = { reason: textOption(options, 'reason') ?? null };
  const proposal = (await operatorAs(context, options).must('POST', `/proposals/${encodeURIComponent(id)}/${verb}`, { body })) as unknown as Proposal;
  return { data: proposal, text: describeProposal(proposal) };
}
