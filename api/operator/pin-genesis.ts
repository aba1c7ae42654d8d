import type { Chain } from '#api/deps.ts';
import { listGenesisHashes, pinGenesisHash } from '#api/store/networks.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { Database } from '#shared/platform/postgres.ts';

/**
 * Stores each chain's genesis hash at first contact and compares it ever after; a node that cannot be reached is asked
 * again by periodic work, because an outage of a chain must not keep the service from starting. Without `mayPin` it stores nothing.
 * All chains are asked at once, so that none waits for the nodes of another one.
 * @throws when a node serves another chain than the one the books were kept on, once all chains were looked at
 */
export async function pinGenesis(db: Database, chains: Iterable<Chain>, log: Logger, mayPin = true): Promise<number> {
  const all = [...chains];
  const known = await listGenesisHashes(
    db.sql,
    all.map(({ config }) => config.name),
  );
  const pin = async (chain: Chain): Promise<number> => {
    try {
      // Endpoints that differ from the books are set apart; only when all of them do is it another chain.
      const recorded = known.get(chain.config.name);
      const hash = await chain.reader.genesisHash(recorded);
      // Once it is stored nothing is written any more, so that a process without the right to do so can compare it all the same.
      const stored = recorded ?? (mayPin ? await pinGenesisHash(db.sql, chain.id, hash) : hash);
      if (stored !== hash) throw new Error(`${chain.config.name}: this chain is new (genesis ${hash}, the books were kept on ${stored}): npm start -- --reset`);
      return 1;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      log.warn({ network: chain.config.name, err: error }, 'the chain cannot be reached; its identity is checked later');
      return 0;
    }
  };
  const looks = await Promise.allSettled(all.map(pin));
  const failed = looks.flatMap((look) => (look.status === 'rejected' ? [look.reason as unknown] : []));
  for (const error of failed.slice(1)) log.error({ err: error }, 'which chain a network is cannot be told');
  if (failed.length > 0) throw failed[0];
  return looks.reduce((sum, look) => sum + (look.status === 'fulfilled' ? look.value : 0), 0);
}
