import { type Command, textOption } from './command.ts';
import { facts, table } from './format.ts';

interface ApiKey {
  keyId: string;
  name: string | null;
  lastFour: string | null;
  permissions: string[];
  allowlist: string[] | null;
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  lastUsedFrom: string | null;
  revokedAt: string | null;
}

/** A gateway's keys as a table, newest first. */
export function keyTable(keys: readonly ApiKey[]): string {
  const rows = keys.map((key) => [
    key.keyId,
    key.name ?? '-',
    key.lastFour === null ? '-' : `…${key.lastFour}`,
    stateOf(key),
    key.lastUsedAt === null ? 'never' : `${key.lastUsedAt} from ${key.lastUsedFrom ?? 'unknown'}`,
    key.createdAt,
    key.allowlist?.join(' ') ?? 'anywhere',
    key.permissions.join(' '),
  ]);
  return table(['key', 'name', 'ends in', 'state', 'last used', 'created', 'from', 'permissions'], rows);
}

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`;
  return expiresAt === null ? 'works' : `until ${expiresAt}`;
}

export const keyCommands: readonly Command[] = [
  {
    name: 'key list',
    args: '<gateway>',
    summary: 'list the API keys of a gateway: what they may do, and when and from where each was used last',
    arity: [1, 1],
    async run(context, [gateway]) {
      const { operator } = await context();
      const { apiKeys } = (await operator.must('GET', `/gateways/${encodeURIComponent(gateway ?? '')}`)) as unknown as { apiKeys: ApiKey[] };
      return { data: apiKeys, text: keyTable(apiKeys) };
    },
  },
  {
    name: 'key create',
    args: '<gateway>',
    summary: 'make an API key, whose text is shown once',
    options: {
      name: { type: 'string', help: 'what people call it' },
      permissions: { type: 'string', help: 'with commas, such as payment:read,key:manage; the six default ones unless given' },
      expires: { type: 'string', help: 'the time from which it is unknown, such as 2027-11-21T10:00:00Z' },
      allowlist: { type: 'string', help: 'with commas, addresses and ranges it may be used from' },
      reason: { type: 'string', help: 'why; kept in the audit log' },
    },
    arity: [1, 1],
    async run(context, [gateway], options) {
      const { operator } = await context();
      const list = (name: string): string[] | undefined =>
        textOption(options, name)
          ?.split(',')
          .map((one) => one.trim());
      const given = {
        name: textOption(options, 'name'),
        permissions: list('permissions'),
        expiresAt: textOption(options, 'expires'),
        allowlist: list('allowlist'),
        reason: textOption(options, 'reason'),
      };
      const body = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      const made = await operator.must('POST', `/gateways/${encodeURIComponent(gateway ?? '')}/api-keys`, { body });
      const { keyId, apiKey, permissions } = made as { keyId: string; apiKey: string; permissions: string[] };
      return { data: made, text: `${facts({ key: keyId, apiKey, permissions: permissions.join(' ') })}\n\nThe text is shown this once.` };
    },
  },
  {
    name: 'key revoke',
    args: '<gateway> <key>',
    summary: 'stop an API key at once',
    arity: [2, 2],
    async run(context, [gateway, key]) {
      const { operator } = await context();
      const revoked = await operator.must('DELETE', `/gateways/${encodeURIComponent(gateway ?? '')}/api-keys/${encodeURIComponent(key ?? '')}`);
      return { data: revoked, text: `${key} is revoked` };
    },
  },
];
