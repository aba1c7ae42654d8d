import { REPORT_FRESH_MS } from '#api/store/signer-journal.ts';
import type { Operator } from '#ops/dev/client.ts';
import { type Command, type Options, requiredReason, type Result, textOption, UsageError } from './command.ts';
import { table } from './format.ts';
import { AS, describeProposal, operatorAs, type Proposal } from './proposal.ts';

interface Freezes {
  freezes: { scope: string; reason: string; frozenAt: string }[];
  haltedWallets: { network: string; role: string; address: string; reason: string; unexplained: string[]; clearable: boolean }[];
  unknownTransactions: { network: string; transactions: number }[];
  awaitingNetworks: string[];
  /** Absent where the service is of an earlier release. */
  signerJournal?: { state: string; reason: string; reportedAt: string } | null;
}

const SCOPE = { type: 'string', help: 'network:<name> or asset:<id>; the whole deployment unless given' } as const;

export const dispatchCommands: readonly Command[] = [
  {
    name: 'dispatch status',
    args: '',
    summary: 'what keeps cashouts from being sent: freezes, and wallets that were stopped',
    options: {},
    arity: [0, 0],
    async run(context) {
      const { operator } = await context();
      return shown(operator, (await operator.must('GET', '/freezes')) as unknown as Freezes);
    },
  },
  {
    name: 'dispatch freeze',
    args: '',
    summary: 'send nothing any more until somebody lifts it',
    options: { scope: SCOPE, reason: { type: 'string', help: 'why; shown wherever something waits for it' } },
    arity: [0, 0],
    run: async (context, _args, options) => change((await context()).operator, 'freeze', options, {}),
  },
  {
    name: 'dispatch unfreeze',
    args: '',
    summary: 'send again; what the audit froze it freezes again while it still finds it',
    options: {
      scope: SCOPE,
      reason: { type: 'string', help: 'why; kept in the audit log (required with --force)' },
      force: { type: 'boolean', help: 'accept the coins that are missing as lost' },
    },
    arity: [0, 0],
    async run(context, _args, options) {
      const force = options.force === true;
      if (force && textOption(options, 'reason') === undefined) throw new UsageError('--reason is required with --force');
      return change((await context()).operator, 'unfreeze', options, { force });
    },
  },
  {
    name: 'dispatch unknown',
    args: '',
    summary: 'transactions of our addresses that the books do not know, and the cashouts they may have paid; exit code 1 when there are any',
    arity: [0, 0],
    async run(context) {
      const { items } = (await (await context()).operator.must('GET', '/outgoing')) as { items: UnknownOutgoing[] };
      const text = items.length === 0 ? 'every transaction of ours is known' : items.map(describeUnknown).join('\n');
      return { data: items, text, good: items.length === 0 };
    },
  },
  {
    name: 'dispatch adopt',
    args: '<network> <txid>',
    summary: 'accept a transaction that the database lost as ours: what it paid is paid then, and never again',
    options: {
      settlement: { type: 'string', help: 'the cashout it paid' },
      refund: { type: 'string', help: 'the refund it paid' },
      withheld: { type: 'string', help: 'the transfer of withheld coins it paid' },
      gateway: { type: 'string', help: 'the gateway of a cashout whose row is lost too: it is written anew' },
      amount: { type: 'string', help: 'with --gateway: what that cashout took from the balance, fee included; what arrived unless given' },
      key: { type: 'string', help: 'with --gateway: the Idempotency-Key of that cashout, so that its merchant repeats it in vain' },
      close: { type: 'boolean', help: 'it moved nothing, and used up what an open payout holds: that is planned anew' },
      lost: { type: 'boolean', help: 'coins left us and nobody will answer for them' },
      reason: { type: 'string', help: 'why; kept in the audit log (required)' },
    },
    arity: [2, 2],
    async run(context, [network, txid], options) {
      const reason = requiredReason(options);
      const named = {
        settlementId: textOption(options, 'settlement'),
        refundId: textOption(options, 'refund'),
        withheldId: textOption(options, 'withheld'),
        gatewayId: textOption(options, 'gateway'),
      };
      const more = {
        amount: textOption(options, 'amount'),
        idempotencyKey: textOption(options, 'key'),
        close: options.close === true,
        lost: options.lost === true,
      };
      const body = { network, txid, reason, ...named, ...more };
      const data = (await (await context()).operator.must('POST', '/outgoing/adopt', { body })) as unknown as Adopted;
      const lines = [
        data.settlementId === null ? `${txid} is known now` : `${txid} settled cashout ${data.settlementId}`,
        ...data.endedPayouts.map((id) => `payout ${id} cannot be mined any more; what it was for is planned anew`),
        ...data.revivedWallets.map((address) => `wallet ${address} may send again`),
        data.unknownLeft > 0
          ? `${data.unknownLeft} more are unknown: sluice dispatch unknown`
          : `nothing is unknown on ${network} any more; what is frozen stays so until: sluice dispatch unfreeze`,
      ];
      return { data, text: lines.join('\n') };
    },
  },
  {
    name: 'dispatch declare-dead',
    args: '<network> <slot>',
    summary: 'propose to tell the signer that what it signed before will never be mined, where no two providers say so; a second person confirms it',
    options: { as: AS, reason: { type: 'string', help: 'how you know; kept in the audit log (required)' } },
    arity: [2, 2],
    async run(context, [network, slot], options) {
      const reason = requiredReason(options);
      const proposal = (await operatorAs(await context(), options).must('POST', '/deaths', { body: { network, slot, reason } })) as unknown as Proposal;
      return { data: proposal, text: `${describeProposal(proposal)}\n\nnothing is signed before another person runs: sluice proposal confirm ${proposal.id}` };
    },
  },
];

interface UnknownOutgoing {
  network: string;
  txid: string;
  height: number;
  sender: string;
  final: boolean;
  booked: boolean;
  transfers: { symbol: string; amount: string; recipient: string }[];
  mayHavePaid: { settlementId: string; gatewayId: string; status: string }[];
}

interface Adopted {
  settlementId: string | null;
  endedPayouts: string[];
  revivedWallets: string[];
  unknownLeft: number;
}

function describeUnknown(one: UnknownOutgoing): string {
  return [
    `${one.network} ${one.txid}`,
    `  from ${one.sender} in block ${one.height}${one.final && one.booked ? '' : ', not final yet'}`,
    ...(one.transfers.length === 0 ? ['  moved nothing away from us'] : one.transfers.map((each) => `  ${each.amount} ${each.symbol} to ${each.recipient}`)),
    ...one.mayHavePaid.map((each) => `  may have paid cashout ${each.settlementId} of gateway ${each.gatewayId}, which is ${each.status}`),
  ].join('\n');
}

async function change(operator: Operator, verb: 'freeze' | 'unfreeze', options: Options, more: Record<string, unknown>): Promise<Result> {
  const body = { ...more, scope: textOption(options, 'scope') ?? null, reason: textOption(options, 'reason') ?? null };
  return shown(operator, (await operator.must('POST', `/${verb}`, { body })) as unknown as Freezes);
}

async function shown(operator: Operator, data: Freezes): Promise<Result> {
  if (data.signerJournal?.state !== 'open') return { data, text: describe(data, []) };
  const { now } = (await operator.must('GET', '/clock')) as { now: string };
  const { reportedAt } = data.signerJournal;
  const silent = Date.parse(now) - Date.parse(reportedAt) > REPORT_FRESH_MS;
  return { data, text: describe(data, silent ? [['everything', reportedAt, 'the signer says nothing since then: is it running?']] : []) };
}

function describe({ freezes, haltedWallets, unknownTransactions, awaitingNetworks, signerJournal = null }: Freezes, silent: string[][]): string {
  const closed = signerJournal !== null && signerJournal.state !== 'open' ? [signerJournal] : [];
  const rows = [
    ...silent,
    ...closed.map(({ state, reason, reportedAt }) => [
      'everything',
      '-',
      `the signer's journal is ${state}: ${reason}, as it said at ${reportedAt} (sluice signer journal status)`,
    ]),
    ...freezes.map((one) => [one.scope, one.frozenAt, one.reason]),
    ...haltedWallets.map((one) => [`${one.role} wallet of ${one.network}`, '-', `${one.address}: ${one.reason}; ${missingOf(one)}`]),
    ...unknownTransactions.map((one) => [
      `network:${one.network}`,
      '-',
      `${one.transactions} transactions of ours are unknown to the books: sluice dispatch unknown`,
    ]),
    ...awaitingNetworks.map((one) => [
      `network:${one}`,
      '-',
      'the database was restored, taken over or started again; the books are still compared with the chain',
    ]),
  ];
  return rows.length === 0 ? 'nothing is frozen' : table(['frozen', 'since', 'why'], rows);
}

/** What has to happen before a wallet may send again. */
function missingOf({ clearable, unexplained, network, role, address }: Freezes['haltedWallets'][number]): string {
  if (clearable) return `every transaction of it is known: sluice wallet clear ${role === 'deposit' ? address : role} --network ${network}`;
  return `unknown to the books: ${unexplained.join(', ')}`;
}
