import type { Operator } from '#ops/dev/client.ts';
import type { DevFile } from '#ops/dev/dev-file.ts';

/** Exit codes of the command line, as `sluice --help` lists them. */
export const EXIT = { ok: 0, failed: 1, usage: 2, unreachable: 3 } as const;

/** Where the commands find the service: the development file of `npm start`, or the environment. */
export interface Context {
  operator: Operator;
  /** The same as people that `npm start` made up, by name; empty elsewhere, where everybody has a token of their own. */
  people: ReadonlyMap<string, Operator>;
  operatorUrl: string;
  /** Ends in /api/v1. */
  baseUrl: string;
  /** What runs here by `npm start`; undefined when only the environment says where the service is. */
  dev: DevFile | undefined;
}

/** What a command says: `data` for `--json`, `text` for people, and whether what it found is good. */
export interface Result {
  data: unknown;
  text: string;
  /** False ends with exit code 1 although the command itself worked; for checks that found something. */
  good?: boolean;
}

/** The answer of a command that has said everything already, while it ran. */
export interface Said {
  said: true;
  good?: boolean;
}

/** Values of a command's options; flags are booleans. */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

export interface Command {
  /** Words after `sluice`, such as `gateway create`. */
  name: string;
  /** Arguments as shown in the help: `<id>`, `[field=value …]`. */
  args: string;
  summary: string;
  /** Options with a value and flags, by name, each with its help. `--json` exists everywhere. */
  options?: Readonly<Record<string, { type: 'string' | 'boolean'; help: string }>>;
  /** Least and most arguments after the name. */
  arity: readonly [number, number];
  run(context: () => Promise<Context>, args: readonly string[], options: Options): Promise<Result | Said>;
}

/** The command was written wrong; shown with the usage, exit code 2. */
export class UsageError extends Error {
  readonly command: Command | undefined;
  constructor(message: string, command?: Command) {
    super(message);
    this.name = 'UsageError';
    this.command = command;
  }
}

/** Nothing answers where the service should be; exit code 3. */
export class UnreachableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreachableError';
  }
}

/** An option's text, or undefined when it was not given. */
export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** Why something is done, where nobody may leave it out. @throws UsageError */
export function requiredReason(options: Options): string {
  const reason = textOption(options, 'reason');
  if (reason === undefined) throw new UsageError('--reason is required');
  return reason;
}
