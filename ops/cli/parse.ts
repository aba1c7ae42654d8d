import { parseArgs } from 'node:util';
import { type Command, EXIT, type Options, UsageError } from './command.ts';

/** A command line read: what to run with what, or only the help. */
export type Parsed = { help: string; json: boolean } | { command: Command; args: string[]; options: Options; json: boolean };

/**
 * Reads the words after `sluice`.
 * @throws UsageError for an unknown command or option, or a wrong number of arguments
 */
export function parseCommandLine(words: readonly string[], commands: readonly Command[]): Parsed {
  const asked = words.includes('--help') || words.includes('-h');
  const command = findCommand(words, commands);
  const json = words.includes('--json');
  if (command === undefined) {
    if (asked || words.length === 0 || words[0] === 'help') return { help: overview(commands), json };
    throw new UsageError(unknownCommand(words, commands));
  }
  if (asked) return { help: usageOf(command), json };
  const { positionals, values } = parseOrThrow(command, words.slice(command.name.split(' ').length));
  const [least, most] = command.arity;
  if (positionals.length < least) throw new UsageError(`${command.name}: an argument is missing`, command);
  if (positionals.length > most) throw new UsageError(`${command.name}: "${positionals[most]}" is one argument too many`, command);
  return { command, args: positionals, options: values, json };
}

/** The help of one command. */
export function usageOf(command: Command): string {
  const options = Object.entries(command.options ?? {}).map(
    ([name, option]) => `  --${name}${option.type === 'string' ? ' <value>' : ''}`.padEnd(34) + option.help,
  );
  return [
    `usage: sluice ${[command.name, command.args].filter((part) => part !== '').join(' ')}`,
    `  ${command.summary}`,
    '',
    ...options,
    `${'  --json'.padEnd(34)}answer as JSON`,
  ].join('\n');
}

/** The help of everything, with the exit codes. */
export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((one) => `${one.name} ${one.args}`.length)) + 2;
  return [
    'usage: sluice <command> [arguments] [--json]',
    '',
    ...commands.map((one) => `  ${`${one.name} ${one.args}`.padEnd(width)}${one.summary}`),
    '',
    'The service is found through .sluice/dev.json, which npm start writes, or through SLUICE_OPERATOR_URL and SLUICE_OPERATOR_TOKEN.',
    'sluice <command> --help says more about one command.',
    '',
    'exit codes',
    `  ${EXIT.ok}  it worked, and what was checked is good`,
    `  ${EXIT.failed}  the service refused it, or a check found something`,
    `  ${EXIT.usage}  the command line is wrong`,
    `  ${EXIT.unreachable}  nothing answers where the service should be`,
  ].join('\n');
}

function findCommand(words: readonly string[], commands: readonly Command[]): Command | undefined {
  const fitting = commands.filter((command) => command.name.split(' ').every((word, at) => words[at] === word));
  // `db roles apply` is not `db roles` with an argument.
  return fitting.reduce<Command | undefined>((longest, one) => (longest === undefined || one.name.length > longest.name.length ? one : longest), undefined);
}

function unknownCommand(words: readonly string[], commands: readonly Command[]): string {
  const verbs = commands.filter((command) => command.name.split(' ')[0] === words[0]);
  if (verbs.length === 0) return `"${words[0]}" is no command`;
  return `"${words.slice(0, 2).join(' ')}" is no command; there is ${verbs.map((command) => command.name).join(', ')}`;
}

function parseOrThrow(command: Command, words: string[]): { positionals: string[]; values: Options } {
  const options = Object.fromEntries(Object.entries(command.options ?? {}).map(([name, { type }]) => [name, { type }]));
  try {
    const { positionals, values } = parseArgs({ args: words, options: { ...options, json: { type: 'boolean' } }, allowPositionals: true, strict: true });
    return { positionals, values };
  } catch (error) {
    throw new UsageError(`${command.name}: ${(error as Error).message}`, command);
  }
}
