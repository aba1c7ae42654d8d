import { type Command, textOption } from './command.ts';

/** Both directions are one call each; nothing that is on its way is lost meanwhile. */
const change = (verb: 'pause' | 'resume', summary: string, done: string): Command => ({
  name: `chain ${verb}`,
  args: '<network>',
  summary,
  options: { reason: { type: 'string', help: 'why; kept in the audit log' } },
  arity: [1, 1],
  async run(context, [network], options) {
    const { operator } = await context();
    const data = await operator.must('POST', `/networks/${network}/${verb}`, { body: { reason: textOption(options, 'reason') ?? null } });
    return { data, text: `${network}: ${done}` };
  },
});

export const pauseCommands: readonly Command[] = [
  change('pause', 'give out no new addresses and send no cashouts on a network', 'no new addresses and no cashouts until it is resumed'),
  change('resume', 'go on with a network that was paused', 'new addresses and cashouts again'),
];
