import { compareHoldings } from '#api/audit/holdings.ts';
import type { Chain } from '#api/deps.ts';
import { findNetwork } from '#api/store/networks.ts';
import { openReader } from '#shared/chains/readers.ts';
import { formatAmount } from '#shared/core/money.ts';
import type { World } from './world.ts';

/** Compares the books with what the chain says our addresses hold, to the unit. @throws naming each asset that differs */
export async function assertBooksMatchChain(world: Pick<World, 'database' | 'network'>): Promise<void> {
  const stored = await findNetwork(world.database.sql, world.network.name);
  if (stored === undefined) throw new Error(`${world.network.name} is not in the database`);
  const reader = openReader(world.network);
  try {
    // The comparison reads a network's id, its name and its reader; nothing here can pay.
    const chain = { id: stored.id, config: world.network, reader } as Chain;
    const holdings = await compareHoldings({ db: world.database, chains: new Map([[world.network.name, chain]]) });
    const off = holdings.filter((one) => one.difference !== 0n);
    if (off.length > 0)
      throw new Error(
        `books and chain differ: ${off.map((one) => `${one.symbol} at block ${one.height}: booked ${formatAmount(one.expected)}, held ${formatAmount(one.actual)}`).join('; ')}`,
      );
    if (holdings.length === 0) throw new Error('nothing was compared');
  } finally {
    await reader.close();
  }
}
