import { randomBytes } from 'node:crypto';
import { type Command, UsageError } from './command.ts';

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
  {
    name: 'secret code',
    args: '[base32]',
    summary: 'the six digits an authenticator shows now; of the demo gateway unless a secret is given',
    arity: [0, 1],
    async run(context, [given]) {
      const secret = given ?? (await context()).dev?.gateway.totpSecret;
      if (secret === undefined || secret === '') throw new UsageError('there is no demo gateway here: give the base32 secret of an authenticator');
      // Loading it takes a moment: only who wants a code waits for it.
      const { totpCode } = await import('#ops/dev/totp.ts');
      const code = totpCode(secret, Date.now());
      return { data: { code }, text: code };
    },
  },
];
