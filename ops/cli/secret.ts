import { randomBytes } from 'node:crypto';
import type { Command } from './command.ts';

/** Secrets of a deployment that are plain random text. */
const NAMES = ['SLUICE_STREAM_KEY', 'SLUICE_API_KEY_PEPPER', 'SLUICE_OPERATOR_TOKEN', 'SLUICE_MASTER_KEY'] as const;

export const secretCommands: readonly Command[] = [
  {
    name: 'secret generate',
    args: '',
    summary: 'fresh secrets for a new deployment, as lines for an environment file',
    arity: [0, 0],
    async run() {
      const secrets = Object.fromEntries(NAMES.map((name) => [name, randomBytes(32).toString('hex')]));
      return { data: secrets, text: NAMES.map((name) => `${name}=${secrets[name]}`).join('\n') };
    },
  },
];
