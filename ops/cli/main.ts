// The command line: reads the words, runs one command, prints text or JSON, and ends with a documented exit code.
import { type Command, type Context, EXIT, UnreachableError, UsageError } from './command.ts';
import { COMMANDS } from './commands.ts';
import { openContext } from './context.ts';
import { overview, parseCommandLine, usageOf } from './parse.ts';

async function main(words: readonly string[]): Promise<number> {
  const json = words.includes('--json');
  let command: Command | undefined;
  try {
    const parsed = parseCommandLine(words, COMMANDS);
    if ('help' in parsed) {
      print(parsed.help);
      return words.length === 0 ? EXIT.usage : EXIT.ok;
    }
    command = parsed.command;
    let context: Promise<Context> | undefined;
    const open = (): Promise<Context> => (context ??= openContext(process.env, process.cwd()));
    const result = await command.run(open, parsed.args, parsed.options);
    if (!('said' in result)) print(json ? JSON.stringify(result.data, null, 2) : result.text);
    return result.good === false ? EXIT.failed : EXIT.ok;
  } catch (error) {
    return fail(error, json, command);
  }
}

function fail(error: unknown, json: boolean, command: Command | undefined): number {
  const code = error instanceof UsageError ? EXIT.usage : error instanceof UnreachableError ? EXIT.unreachable : EXIT.failed;
  const message = error instanceof Error ? error.message : String(error);
  if (json) print(JSON.stringify({ error: message, exitCode: code }, null, 2));
  process.stderr.write(`sluice: ${message}\n`);
  if (error instanceof UsageError) {
    const about = error.command ?? command;
    process.stderr.write(`\n${about === undefined ? overview(COMMANDS) : usageOf(about)}\n`);
  }
  return code;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

process.exitCode = await main(process.argv.slice(2));
