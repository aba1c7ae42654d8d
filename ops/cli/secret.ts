import { randomBytes } from 'node:crypto';
import { publicHalf } from '#shared/platform/statements.ts';
import { type Command, textOption, UsageError } from './command.ts';
import { describeKeys, type KeyStatus } from './key-status.ts';

/** Secrets of a deployment that are plain random text. */
const NAMES = ['SLUICE_STREAM_KEY', 'SLUICE_API_KEY_PEPPER', 'SLUICE_OPERATOR_TOKEN', 'SLUICE_MASTER_KEY'] as const;

export const secretCommands: readonly Command[] = [
  {
    name: 'secret generate',
    args: '',
    summary: 'fresh secrets for a new deployment, as lines for an environment file',
    arity: [0, 0],
    async run() {
      const intentKey = randomBytes(32).toString('hex');
      const secrets = {
        ...Object.fromEntries(NAMES.map((name) => [name, randomBytes(32).toString('hex')])),
        // A pair: what the http role signs with, and what the others believe.
        SLUICE_INTENT_KEY: intentKey,
        SLUICE_INTENT_PUBLIC_KEYS: publicHalf(intentKey),
      };
      const lines = Object.entries(secrets).map(([name, secret]) => `${name}=${secret}`);
      return { data: secrets, text: lines.join('\n') };
    },
  },
  {
    name: 'secret status',
    args: '',
    summary: 'how far a change of the master key, the pepper or the intent key has come; exit code 1 while something needs a previous one',
    arity: [0, 0],
    async run(context) {
      const { operator } = await context();
      const status = (await operator.must('GET', '/secrets')) as unknown as KeyStatus;
      return { data: status, text: describeKeys(status), good: status.settled };
    },
  },
  {
    name: 'secret reseal',
    args: '',
    summary: 'bring everything over to the current master key now; the workers do it every minute while there is a previous one',
    options: { reason: { type: 'string', help: 'why; kept in the audit log' } },
    arity: [0, 0],
    async run(context, _args, options) {
      const { operator } = await context();
      const reason = textOption(options, 'reason');
      const done = (await operator.must('POST', '/secrets/reseal', { body: reason === undefined ? {} : { reason } })) as unknown as KeyStatus & {
        resealed: { secrets: number; orders: number };
      };
      const { secrets, orders } = done.resealed;
      return { data: done, text: `${secrets} secrets and ${orders} orders brought over\n${describeKeys(done)}`, good: done.settled };
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
