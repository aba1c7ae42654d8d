import type { Chain, Deps } from '#api/deps.ts';
import { post } from '#api/ledger/post.ts';
import { listUnopenedHoldings, type UnopenedHolding } from '#api/store/holdings.ts';
import { fromUnits } from '#shared/core/money.ts';
import { fund } from '#state-machines/ledger/postings.ts';

/**
 * Books what each wallet held before its network's indexer began to watch it: coins the operator put in, which no
 * sighting will ever show (architecture 2, Ledger). Once per wallet and asset, as soon as the watch is acknowledged;
 * answers how many were booked. A node that cannot answer for that block is asked again next time.
 */
export async function bookOpeningBalances(deps: Deps): Promise<number> {
  let booked = 0;
  for (const chain of deps.chains.values()) {
    for (const holding of await listUnopenedHoldings(deps.db.sql, chain.id)) if (await bookOpening(deps, chain, holding)) booked += 1;
  }
  return booked;
}

async function bookOpening(deps: Deps, chain: Chain, { walletId, address, watchedFrom, assetId, contract, decimals }: UnopenedHolding): Promise<boolean> {
  // The block before the first one that was read for it; what a genesis block allots is no transfer either.
  const raw = await chain.reader.balance(address, contract, Math.max(watchedFrom - 1, 0));
  const coins = fromUnits(raw, decimals);
  return deps.db.transaction((tx) => post(tx, { sourceKey: `opening:${walletId}:${assetId}`, kind: 'fund', postings: fund(assetId, coins) }));
}
