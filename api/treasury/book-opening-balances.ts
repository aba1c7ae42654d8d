import type { Chain, Deps } from '#api/deps.ts';
import { post } from '#api/ledger/post.ts';
import { listUnopenedHoldings, type UnopenedHolding } from '#api/store/holdings.ts';
import { insertOpeningOutputs, listUnseen } from '#api/store/outputs.ts';
import { ChainUnavailable, type Reader, type UnspentOutput } from '#shared/chains/chain.ts';
import { fromUnits, MONEY_LIMIT } from '#shared/core/money.ts';
import { fund } from '#state-machines/ledger/postings.ts';
import { withEach } from '#shared/core/with-each.ts';
import { onEachNetwork } from './on-each-network.ts';

/**
 * Books what each wallet held before its network's indexer began to watch it, or before a token was configured, because no sighting will ever show
 * those coins (architecture 2, Ledger). Returns how many balances it booked, each once per wallet and asset.
 * A balance that cannot be read (the node is away, or the contract is not a token) is tried again next time and does not hold up others.
 */
export async function bookOpeningBalances(deps: Deps): Promise<number> {
  const chains = new Map([...deps.chains.values()].map((chain) => [chain.id, chain]));
  const unopened = await listUnopenedHoldings(deps.db.sql, [...chains.keys()]);
  const tell = (err: unknown, { networkId, address, symbol }: UnopenedHolding): void =>
    deps.log.warn({ err, network: chains.get(networkId)?.config.name, wallet: address, asset: symbol }, 'an opening balance cannot be read');
  const book = async (holding: UnopenedHolding): Promise<number> => {
    try {
      return (await bookOpening(deps, chains.get(holding.networkId) as Chain, holding)) ? 1 : 0;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      tell(error, holding);
      return 0;
    }
  };
  return onEachNetwork(deps, 'opening balances of a network cannot be read', ({ id }) =>
    withEach(
      unopened.filter(({ networkId }) => networkId === id),
      book,
      tell,
    ),
  );
}

async function bookOpening(deps: Deps, chain: Chain, holding: UnopenedHolding): Promise<boolean> {
  const { walletId, assetId, decimals } = holding;
  const sourceKey = `opening:${walletId}:${assetId}`;
  if (chain.reader.unspentAt === undefined) {
    const coins = fromUnits(await balanceBefore(chain, holding), decimals);
    return deps.db.transaction((tx) => post(tx, { sourceKey, kind: 'fund', postings: fund(assetId, coins) }));
  }
  const outputs = await outputsBefore(chain.reader.unspentAt, holding);
  return deps.db.transaction(async (tx) => {
    const unseen = await listUnseen(tx, chain.id, outputs);
    const raw = unseen.reduce((sum, one) => sum + one.rawAmount, 0n);
    if (!(await post(tx, { sourceKey, kind: 'fund', postings: fund(assetId, fromUnits(raw, decimals)) }))) return false;
    await insertOpeningOutputs(tx, { networkId: chain.id, walletId, outputs: unseen });
    return true;
  });
}

/** Where coins are balances: the balance at a recent final block, which every node still knows, less what the books have moved up to there. */
async function balanceBefore(chain: Chain, { address, contract, decimals, finalHeight, booked }: UnopenedHolding): Promise<bigint> {
  const raw = (await chain.reader.balance(address, contract, finalHeight)) - booked;
  if (raw < 0n) throw new ChainUnavailable(`${address} is said to hold less at block ${finalHeight} than the books moved there`);
  if (fromUnits(raw, decimals) >= MONEY_LIMIT) throw new ChainUnavailable(`${address} is said to hold more at block ${finalHeight} than there can be`);
  return raw;
}

/**
 * Where coins are outputs: the unspent ones made before the watch began, which is final by now.
 * No payout can have spent one meanwhile, because payouts choose only outputs that the books know. A stranger's spend is found by its transaction
 * (A15).
 */
async function outputsBefore(ask: NonNullable<Reader['unspentAt']>, { address, watchedFrom }: UnopenedHolding): Promise<UnspentOutput[]> {
  const { at, outputs } = await ask(address);
  if (at.height < watchedFrom - 1) throw new ChainUnavailable(`the node is at block ${at.height}, and ${address} is watched from block ${watchedFrom} on`);
  return outputs.filter((one) => one.address === address && one.height < watchedFrom);
}
