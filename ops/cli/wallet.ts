import { type Command, textOption, UsageError } from './command.ts';

interface Consolidated {
  pools: { pool: string; transactions: { payoutId: string; outputs: number; amount: string; fee: string }[]; problem: string | null }[];
}

export const walletCommands: readonly Command[] = [
  {
    name: 'wallet consolidate',
    args: '<network>',
    summary: 'join small outputs of a Bitcoin network now, whatever fees are; within the budget of the day',
    options: {
      pool: { type: 'string', help: 'green or held; both unless given' },
      reason: { type: 'string', help: 'why; kept in the audit log' },
    },
    arity: [1, 1],
    async run(context, [network], options) {
      const pool = textOption(options, 'pool') ?? null;
      if (pool !== null && pool !== 'green' && pool !== 'held') throw new UsageError('--pool is green or held');
      const body = { network, pool, reason: textOption(options, 'reason') ?? null };
      const data = (await (await context()).operator.must('POST', '/consolidations', { body })) as unknown as Consolidated;
      return { data, text: data.pools.flatMap(describe).join('\n') };
    },
  },
];

function describe({ pool, transactions, problem }: Consolidated['pools'][number]): string[] {
  const lines = transactions.map((one) => `${pool}: ${one.outputs} outputs become one of ${one.amount}, for ${one.fee} (payout ${one.payoutId})`);
  if (problem !== null) return [...lines, `${pool}: no more now: ${problem}`];
  return lines.length > 0 ? lines : [`${pool}: nothing to join`];
}
