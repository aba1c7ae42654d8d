import { type Command, requiredReason } from './command.ts';
import { table } from './format.ts';
import { AS, describeProposal, operatorAs, type Proposal } from './proposal.ts';

interface Withheld {
  items: { assetId: string; assetSymbol: string; network: string; withheld: string; final: string; onItsWay: string }[];
  transfers: Transfer[];
}

interface Transfer {
  id: string;
  assetSymbol: string;
  amount: string;
  network: string;
  address: string;
  status: string;
  proposedBy: string;
  confirmedBy: string;
  txid: string | null;
  failure: string | null;
}

const REASON = { type: 'string', help: 'why; kept in the audit log (required)' } as const;

export const withheldCommands: readonly Command[] = [
  {
    name: 'withheld show',
    args: '<gateway>',
    summary: 'what is kept from a gateway, and what was sent of it',
    arity: [1, 1],
    async run(context, [gateway = '']) {
      const data = (await (await context()).operator.must('GET', `/gateways/${encodeURIComponent(gateway)}/withheld`)) as unknown as Withheld;
      const kept = table(
        ['asset', 'id', 'network', 'withheld', 'final', 'on its way'],
        data.items.map((one) => [one.assetSymbol, one.assetId, one.network, one.withheld, one.final, one.onItsWay]),
      );
      const sent = table(
        ['transfer', 'amount', 'network', 'to', 'status', 'by', 'transaction'],
        data.transfers.map((one) => [
          one.id,
          `${one.amount} ${one.assetSymbol}`,
          one.network,
          one.address,
          one.status,
          `${one.proposedBy} and ${one.confirmedBy}`,
          one.txid ?? one.failure ?? '-',
        ]),
      );
      return { data, text: data.items.length === 0 ? 'nothing is kept from it' : [kept, ...(data.transfers.length === 0 ? [] : [sent])].join('\n\n') };
    },
  },
  {
    name: 'withheld pay',
    args: '<gateway> <asset id> <amount> <address>',
    summary: 'propose to send coins that are kept from a gateway; a second person confirms it: sluice proposal confirm',
    options: { as: AS, reason: REASON },
    arity: [4, 4],
    async run(context, [gateway = '', assetId, amount, address], options) {
      const reason = requiredReason(options);
      const operator = operatorAs(await context(), options);
      const proposal = (await operator.must('POST', `/gateways/${encodeURIComponent(gateway)}/withheld`, {
        body: { assetId, amount, address, reason },
      })) as unknown as Proposal;
      return { data: proposal, text: `${describeProposal(proposal)}\n\nnothing is sent before another person runs: sluice proposal confirm ${proposal.id}` };
    },
  },
  {
    name: 'withheld cancel',
    args: '<transfer>',
    summary: 'take a transfer of withheld coins back that could not be planned',
    options: { reason: REASON },
    arity: [1, 1],
    async run(context, [id = ''], options) {
      const reason = requiredReason(options);
      const { operator } = await context();
      const done = (await operator.must('POST', `/withheld/${encodeURIComponent(id)}/cancel`, { body: { reason } })) as unknown as Transfer;
      return { data: done, text: `${done.amount} ${done.assetSymbol} are kept as before: ${done.failure}` };
    },
  },
];
