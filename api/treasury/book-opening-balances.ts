import type { Chain, Deps } from '#api/deps.ts';
import { post } from '#api/ledger/post.ts';
import { listUnopenedHoldings, type UnopenedHolding } from '#api/store/holdings.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { fromUnits } from '#shared/core/money.ts';
import { fund } from '#state-machines/ledger/postings.ts';

/**
 * Books what each wallet held before its network's indexer began to watch it, or before a token was configured: coins no
 * entry will ever show otherwise (architecture 2, Ledger). Once per wallet and asset; answers how many were booked. One that
 * cannot be told (a node that is away, a contract that is no token) is asked about again next time and holds up no other.
 */
export async function bookOpeningBalances(deps: Deps): Promise<number> {
  let booked = 0;
  for (const chain of deps.chains.values()) {
    for (const holding of await listUnopenedHoldings(deps.db.sql, chain.id)) {
      try {
        if (await bookOpening(deps, chain, holding)) booked += 1;
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        deps.log.warn({ err: error, network: chain.config.name, wallet: holding.address, asset: holding.symbol }, 'an opening balance cannot be read');
      }
    }
  }
  return booked;
}

async function bookOpening(
  deps: Deps,
  chain: Chain,
  { walletId, address, assetId, contract, decimals, finalHeight, booked }: UnopenedHolding,
): Promise<boolean> {
  // A final block of late, which every node still knows the state of, and back from there by what is in the books.
  const raw = (await chain.reader.balance(address, contract, finalHeight)) - booked;
  if (raw < 0n) throw new ChainUnavailable(`${address} is said to hold less at block ${finalHeight} than the books moved there`);
  const coins = fromUnits(raw, decimals);
  return deps.db.transaction((tx) => post(tx, { sourceKey: `opening:${walletId}:${assetId}`, kind: 'fund', postings: fund(assetId, coins) }));
}
