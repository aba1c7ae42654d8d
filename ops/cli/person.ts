import { randomBytes } from 'node:crypto';
import { invitePerson, type Invited, recoverPerson } from '#api/people/invitations.ts';
import { revokePerson } from '#api/people/revoke-person.ts';
import type { Doer } from '#api/store/console-actions.ts';
import { listPeople, type PersonRow } from '#api/store/people.ts';
import { instanceDirectory, readDevFile } from '#ops/dev/dev-file.ts';
import { parseUrl } from '#shared/core/parse-url.ts';
import { type Command, type Options, type Result, textOption, UsageError } from './command.ts';
import { whoami } from './context.ts';
import { DATABASE, within } from './database.ts';
import { facts, table } from './format.ts';

const GATEWAY = { type: 'string', help: 'id of the gateway' } as const;
const OPERATOR = { type: 'boolean', help: 'in place of a gateway: the deployment itself' } as const;
const CONSOLE = { type: 'string', help: 'where the console is reached; SLUICE_CONSOLE_URL, or what npm start runs, unless given' } as const;

/** Rows that are read at once. */
const PAGE = 500;

export const personCommands: readonly Command[] = [
  {
    name: 'person invite',
    args: '<email>',
    summary: 'print a link that makes somebody a member of a gateway, or of the deployment, once they accept; it works once within 24 hours',
    options: {
      gateway: GATEWAY,
      operator: OPERATOR,
      role: { type: 'string', help: 'owner, finance, approver, developer, support or cashier; with --operator operator or auditor (required)' },
      console: CONSOLE,
      database: DATABASE,
    },
    arity: [1, 1],
    async run(_context, [email = ''], options) {
      const [role, gatewayId] = [textOption(options, 'role'), placeOf(options)];
      if (role === undefined) throw new UsageError('--role is required');
      if (gatewayId === undefined) throw new UsageError('say where: --gateway <id> or --operator');
      const origin = await consoleOf(options);
      return within(options, async (db) => linked(await invitePerson({ db, randomBytes }, { email, gatewayId, role, by: commandLine() }), origin));
    },
  },
  {
    name: 'person list',
    args: '',
    summary: 'list who may do what where, and which links still work',
    options: { gateway: GATEWAY, database: DATABASE },
    arity: [0, 0],
    run: (_context, _args, options) =>
      within(options, async (db) => {
        const people: PersonRow[] = [];
        for (let more = true; more; ) {
          const page = await listPeople(db.sql, { gatewayId: textOption(options, 'gateway') ?? null, after: people.at(-1) ?? null, limit: PAGE });
          people.push(...page);
          more = page.length === PAGE;
        }
        const rows = people.map((one) => [one.email, one.gatewayId ?? 'the deployment', one.role ?? '', one.state, one.since.toISOString()]);
        return { data: people, text: table(['e-mail', 'where', 'role', 'state', 'since'], rows) };
      }),
  },
  {
    name: 'person revoke',
    args: '<email>',
    summary: 'take from somebody at once what they may do, and the links that they have not used; everywhere unless a place is named',
    options: { gateway: GATEWAY, operator: OPERATOR, reason: { type: 'string', help: 'why; kept in the record of acts' }, database: DATABASE },
    arity: [1, 1],
    run(_context, [email = ''], options) {
      const [gatewayId, reason] = [placeOf(options), textOption(options, 'reason')];
      const where = gatewayId === undefined ? 'everywhere' : { gatewayId };
      return within(options, async (db) => {
        const revoked = await revokePerson({ db }, { email, where, by: commandLine(), ...(reason !== undefined && { reason }) });
        const memberships = revoked.memberships.map((one) => `${one.role} of ${one.gatewayId ?? 'the deployment'}`);
        return { data: revoked, text: facts({ 'is no longer': memberships.join(', ') || null, 'links that stopped working': String(revoked.invitations) }) };
      });
    },
  },
  {
    name: 'person recover',
    args: '<email>',
    summary: 'print a link by which somebody who lost every way to sign in makes a new one; it works once within 24 hours',
    options: { console: CONSOLE, database: DATABASE },
    arity: [1, 1],
    async run(_context, [email = ''], options) {
      const origin = await consoleOf(options);
      return within(options, async (db) => linked(await recoverPerson({ db, randomBytes }, { email, by: commandLine() }), origin));
    },
  },
];

/** A gateway's id, null for the deployment, undefined when neither was said. @throws UsageError for both */
function placeOf(options: Options): string | null | undefined {
  const gateway = textOption(options, 'gateway');
  if (options.operator !== true) return gateway;
  if (gateway !== undefined) throw new UsageError('--gateway and --operator are two places: name one');
  return null;
}

function linked({ email, token, expiresAt }: Invited, origin: string): Result {
  const link = `${origin}/invitations/${token}`;
  const text = `${facts({ for: email, link, 'works until': expiresAt.toISOString() })}\n\nThe link is shown this once. Whoever has it may use it: send it over a channel you trust.`;
  return { data: { email, link, expiresAt }, text };
}

/** @throws UsageError when nobody says where the console is */
async function consoleOf(options: Options): Promise<string> {
  const dev = await readDevFile(instanceDirectory(process.env, process.cwd())).catch(() => undefined);
  const url = textOption(options, 'console') ?? process.env.SLUICE_CONSOLE_URL ?? dev?.dashboardUrl ?? undefined;
  const console = url === undefined ? null : parseUrl(url);
  if (console === null) throw new UsageError('where is the console? set SLUICE_CONSOLE_URL or --console, such as https://console.example');
  return console.origin;
}

function commandLine(): Doer {
  return { kind: 'command', name: whoami() };
}
