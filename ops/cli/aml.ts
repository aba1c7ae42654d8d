import { type Command, requiredReason, textOption, UsageError } from './command.ts';
import { AS, operatorAs, type Proposal, proposedResult } from './proposal.ts';

interface Resolved {
  paymentId: string;
  amlState: string | null;
  refunds: { amount: string; assetSymbol: string; network: string; status: string }[];
}

const ACTIONS = ['release', 'refund', 'withhold'];

export const amlCommands: readonly Command[] = [
  {
    name: 'payment resolve',
    args: '<id> release|refund|withhold',
    summary: 'decide about a payment that screening holds',
    options: {
      reason: { type: 'string', help: 'why; kept in the audit log (required)' },
      address: { type: 'string', help: 'where a refund goes' },
      as: AS,
    },
    arity: [2, 2],
    async run(context, [id = '', word = ''], options) {
      const reason = textOption(options, 'reason');
      const address = textOption(options, 'address');
      if (!ACTIONS.includes(word)) throw new UsageError(`"${word}" is none of ${ACTIONS.join(', ')}`);
      if (reason === undefined) throw new UsageError('--reason is required');
      if (word === 'refund' && address === undefined) throw new UsageError('--address is required: it is where the refund goes');
      const operator = operatorAs(await context(), options);
      const body = { action: word.toUpperCase(), reason, ...(address !== undefined && { address }) };
      const answer = (await operator.must('POST', `/payments/${encodeURIComponent(id)}/aml`, { body })) as unknown as Resolved | Proposal;
      if ('proposedBy' in answer) return proposedResult(answer);
      const resolved = answer;
      const refunds = resolved.refunds.map((one) => `refund of ${one.amount} ${one.assetSymbol} on ${one.network}: ${one.status}`);
      return { data: resolved, text: [`payment ${resolved.paymentId} is ${resolved.amlState}`, ...refunds].join('\n') };
    },
  },
  {
    name: 'payment transfer',
    args: '<id> <asset id>',
    summary: 'allow one more transfer of its coins to the wallet of its pool, after two have failed',
    options: { reason: { type: 'string', help: 'why; kept in the audit log (required)' } },
    arity: [2, 2],
    async run(context, [id = '', assetId], options) {
      const reason = requiredReason(options);
      const { operator } = await context();
      const data = await operator.must('POST', `/payments/${encodeURIComponent(id)}/transfers`, { body: { assetId, reason } });
      return { data, text: `transfer ${String(data.family)} of these coins is made within a minute` };
    },
  },
  {
    name: 'gateway credits',
    args: '<id> <add>',
    summary: 'add screening credits to a gateway',
    options: { reason: { type: 'string', help: 'why; kept in the audit log' } },
    arity: [2, 2],
    async run(context, [id = '', add = ''], options) {
      if (!/^[1-9]\d{0,8}$/.test(add)) throw new UsageError(`"${add}" is not a whole number of credits`);
      const { operator } = await context();
      const body = { add: Number(add), reason: textOption(options, 'reason') ?? null };
      const data = await operator.must('POST', `/gateways/${encodeURIComponent(id)}/screening-credits`, { body });
      return { data, text: `${String(data.credits)} credits are left` };
    },
  },
  {
    name: 'screening set',
    args: '<address> <score>|unavailable',
    summary: 'what screening says about an address from now on (development)',
    arity: [2, 2],
    async run(context, [address = '', verdict = '']) {
      if (verdict !== 'unavailable' && !/^(\d{1,2}|100)$/.test(verdict)) throw new UsageError(`"${verdict}" is neither a score from 0 to 100 nor unavailable`);
      const { operator } = await context();
      const body = verdict === 'unavailable' ? { unavailable: true } : { score: Number(verdict) };
      const data = await operator.must('PUT', `/screening/${encodeURIComponent(address)}`, { body });
      return { data, text: `${address}: ${verdict}` };
    },
  },
];
