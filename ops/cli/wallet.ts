import { type Command, textOption, UsageError } from './command.ts';
import { table } from './format.ts';

interface Wallet {
  network: string;
  role: string;
  address: string;
  haltedReason: string | null;
  assets: { symbol: string; coins: string | null; coldStorage: { ceiling: string; floor: string; coins: string; address: string } | null }[];
}

interface Consolidated {
  pools: { pool: string; transactions: { payoutId: string; outputs: number; amount: string; fee: string }[]; problem: string | null }[];
}

export const walletCommands: readonly Command[] = [
  {
    name: 'wallet list',
    args: '',
    summary: 'what the wallets hold, between which limits, and what lies in cold storage',
    arity: [0, 0],
    async run(context) {
      const { operator } = await context();
      const { items } = (await operator.must('GET', '/wallets')) as { items: Wallet[] };
      const rows = items.flatMap((wallet) => wallet.assets.map((asset) => rowOf(wallet, asset)));
      return { data: items, text: table(['network', 'wallet', 'address', 'asset', 'holds', 'floor', 'ceiling', 'in cold storage', ''], rows) };
    },
  },
  {
    name: 'wallet clear',
    args: '<hot|funding|held|address>',
    summary: 'let a halted wallet send again, once the books know every transaction of it (sluice dispatch status)',
    options: {
      network: { type: 'string', help: 'the network it is on (required)' },
      reason: { type: 'string', help: 'why; kept in the audit log (required)' },
    },
    arity: [1, 1],
    async run(context, [wallet = ''], options) {
      const [network, reason] = [textOption(options, 'network'), textOption(options, 'reason')];
      if (network === undefined || reason === undefined) throw new UsageError('--network and --reason are required');
      const { operator } = await context();
      const data = await operator.must('POST', '/wallets/clear', { body: { network, wallet, reason } });
      return { data, text: `${String(data.address)} may send again; it was halted because ${String(data.wasHaltedFor)}` };
    },
  },
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

function rowOf({ network, role, address, haltedReason }: Wallet, { symbol, coins, coldStorage }: Wallet['assets'][number]): (string | null)[] {
  const low = coldStorage !== null && coins !== null && Number(coins) < Number(coldStorage.floor);
  const note = haltedReason !== null ? `halted: ${haltedReason}` : low ? `refill it from ${coldStorage.address}` : '';
  const { floor = '', ceiling = '', coins: stored = '' } = coldStorage ?? {};
  return [network, role, address, symbol, coins ?? 'unknown', floor, ceiling, stored, note];
}

function describe({ pool, transactions, problem }: Consolidated['pools'][number]): string[] {
  const lines = transactions.map((one) => `${pool}: ${one.outputs} outputs become one of ${one.amount}, for ${one.fee} (payout ${one.payoutId})`);
  if (problem !== null) return [...lines, `${pool}: no more now: ${problem}`];
  return lines.length > 0 ? lines : [`${pool}: nothing to join`];
}
