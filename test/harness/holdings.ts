import { compareHoldings } from '#api/audit/holdings.ts';
import type { Chain } from '#api/deps.ts';
import { listUnopenedHoldings } from '#api/store/holdings.ts';
import { findNetwork } from '#api/store/networks.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { openReader } from '#shared/chains/readers.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { formatAmount } from '#shared/core/money.ts';
import type { FreshDatabase } from './database.ts';

/** What is compared: one network, or every network of a world. */
interface Compared {
  database: FreshDatabase;
  network: NetworkConfig;
  networks?: ReadonlyMap<string, { network: NetworkConfig }>;
}

/**
 * Compares the books with what the chains say our addresses hold, to the unit; in a whole world not before its worker has
 * booked what the wallets held at first. @throws naming each asset that differs
 */
export async function assertBooksMatchChain({ database, network, networks }: Compared): Promise<void> {
  if (networks === undefined) return compareOne(database, network);
  for (const one of networks.values()) {
    await waitFor(() => allOpened(database, one.network), { what: `the opening balances of ${one.network.name}` });
    await compareOne(database, one.network);
  }
}

async function allOpened(database: FreshDatabase, network: NetworkConfig): Promise<boolean> {
  const stored = await findNetwork(database.sql, network.name);
  return stored !== undefined && (await listUnopenedHoldings(database.sql, [stored.id])).length === 0;
}

async function compareOne(database: FreshDatabase, network: NetworkConfig): Promise<void> {
  const stored = await findNetwork(database.sql, network.name);
  if (stored === undefined) throw new Error(`${network.name} is not in the database`);
  const reader = openReader(network);
  try {
    // The comparison reads a network's id, its name and its reader; nothing here can pay.
    const chain = { id: stored.id, config: network, reader } as unknown as Chain;
    // Where coins are outputs the node may be a block ahead of what is applied; nothing can be said of that moment.
    const compare = () =>
      waitFor(() => compareHoldings({ db: database, chains: new Map([[network.name, chain]]) }), { what: 'the chain to say what our addresses hold' });
    let holdings = await compare();
    // Asked about its head while it makes the next block, anvil answers for that one; what is wrong is wrong at a second look, too.
    if (network.family === 'evm' && holdings.some((one) => one.difference !== 0n)) holdings = await compare();
    const off = holdings.filter((one) => one.difference !== 0n);
    if (off.length > 0)
      throw new Error(
        `books and chain differ: ${off.map((one) => `${one.symbol} on ${one.network} at block ${one.height}: booked ${formatAmount(one.expected)}, held ${formatAmount(one.actual)}`).join('; ')}`,
      );
    if (holdings.length === 0) throw new Error('nothing was compared');
  } finally {
    await reader.close();
  }
}
