import { type Command, UsageError } from './command.ts';
import { readFields } from './fields.ts';
import { facts } from './format.ts';
import { listCommand } from './list-command.ts';
import { keyTable } from './key.ts';

interface Gateway {
  id: string;
  name: string;
  status: string;
  billing: string;
  createdAt: string;
  cashout: { enabled: boolean };
  settings: { commissionBps: number };
}

export const gatewayCommands: readonly Command[] = [
  {
    name: 'gateway create',
    args: '<name> [field=value …]',
    summary: 'make a gateway with an API key and both secrets, shown once',
    arity: [1, 50],
    async run(context, [name, ...fields], _options) {
      const body = { ...readFields(fields), name };
      const { operator } = await context();
      const created = (await operator.must('POST', '/gateways', { body })) as {
        gateway: Gateway;
        apiKey: string;
        cashoutSigningSecret: string;
        webhookSecret: string;
      };
      const { gateway, ...secrets } = created;
      return {
        data: created,
        text: `${facts({ gateway: gateway.id, name: gateway.name, status: gateway.status, ...secrets })}\n\nThe key and the secrets are shown this once.`,
      };
    },
  },
  listCommand<Gateway>({
    name: 'gateway list',
    summary: 'list the gateways, newest first',
    path: '/gateways',
    limit: 100,
    columns: ['id', 'name', 'status', 'billing', 'cashout', 'commission', 'created'],
    row: ({ settings, cashout, ...one }) => [
      one.id,
      one.name,
      one.status,
      one.billing,
      cashout.enabled ? 'yes' : 'no',
      `${settings.commissionBps} bps`,
      one.createdAt,
    ],
  }),
  {
    name: 'gateway show',
    args: '<id>',
    summary: 'show its settings and its API keys, with when and from where each was used last',
    arity: [1, 1],
    async run(context, [id]) {
      const { operator } = await context();
      const shown = (await operator.must('GET', `/gateways/${encodeURIComponent(id ?? '')}`)) as unknown as {
        gateway: Gateway;
        apiKeys: Parameters<typeof keyTable>[0];
      };
      return { data: shown, text: `${JSON.stringify(shown.gateway, null, 2)}\n\n${keyTable(shown.apiKeys)}` };
    },
  },
  {
    name: 'gateway set',
    args: '<id> field=value …',
    summary: 'change settings: settings.commissionBps=50 cashout.allowlist=10.0.0.0/8,::1 contactEmail=null',
    arity: [1, 50],
    async run(context, [id, ...fields], _options) {
      if (fields.length === 0) throw new UsageError('nothing to set: give at least one field=value');
      const body = readFields(fields);
      const { operator } = await context();
      const changed = await operator.must('PATCH', `/gateways/${encodeURIComponent(id ?? '')}`, { body });
      return { data: changed, text: JSON.stringify(changed.gateway, null, 2) };
    },
  },
];
