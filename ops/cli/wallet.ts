import type { Command } from './command.ts';
import { table } from './format.ts';

interface Wallet {
  network: string;
  role: string;
  address: string;
  haltedReason: string | null;
  assets: { symbol: string; coins: string | null; coldStorage: { ceiling: string; floor: string; coins: string; address: string } | null }[];
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
];

function rowOf({ network, role, address, haltedReason }: Wallet, { symbol, coins, coldStorage }: Wallet['assets'][number]): (string | null)[] {
  const low = coldStorage !== null && coins !== null && Number(coins) < Number(coldStorage.floor);
  const note = haltedReason !== null ? `halted: ${haltedReason}` : low ? `refill it from ${coldStorage.address}` : '';
  const { floor = '', ceiling = '', coins: stored = '' } = coldStorage ?? {};
  return [network, role, address, symbol, coins ?? 'unknown', floor, ceiling, stored, note];
}
