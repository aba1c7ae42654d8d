import type { Chain, Deps } from '#api/deps.ts';
import { readTip } from '#api/store/chain-tips.ts';
import { listAssets, type StoredAsset } from '#api/store/assets.ts';
import { bookedHoldings } from '#api/ledger/balances.ts';
import { listHoldingAddresses, sumUnbooked } from '#api/store/holdings.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { type Coins, amount, fromUnits } from '#shared/core/money.ts';

/** What the books and the chain say about one asset at one block. */
export interface Holding {
  network: string;
  assetId: string;
  symbol: string;
  /** The applied block both sides are taken at. */
  height: number;
  /** What our addresses should hold: the books, plus what the chain has shown but finality has not yet let into them. */
  expected: Coins;
  /** What they hold. */
  actual: Coins;
  /** actual − expected; anything but zero is money nobody can explain. */
  difference: Coins;
}

/** An asset whose balances the chain did not tell: nothing is known about it, good or bad. */
export interface UnreadHolding {
  network: string;
  symbol: string;
  why: ChainUnavailable;
}

/**
 * Compares the books with the chain, per asset: minus the balance of `chain`, plus sightings not yet booked, against the
 * balances of every address of ours at the tip (A14, architecture 2). The books are read in one snapshot, so it may run
 * while money moves. Networks without a tip are left out. With `unread`, an asset the chain does not answer for is handed
 * to it and the others are compared all the same.
 * @throws ChainUnavailable without `unread`, when the node cannot answer for that block
 */
export async function compareHoldings(deps: Pick<Deps, 'db' | 'chains'>, unread?: (holding: UnreadHolding) => void): Promise<Holding[]> {
  const holdings: Holding[] = [];
  for (const chain of deps.chains.values()) holdings.push(...(await compareNetwork(deps, chain, unread)));
  return holdings;
}

interface Expected {
  asset: StoredAsset;
  coins: Coins;
  addresses: string[];
}

async function compareNetwork(deps: Pick<Deps, 'db'>, chain: Chain, unread?: (holding: UnreadHolding) => void): Promise<Holding[]> {
  const snapshot = await deps.db.transaction(async (tx) => {
    await tx`set transaction isolation level repeatable read`;
    const tip = await readTip(tx, chain.id);
    if (tip === undefined) return undefined;
    const assets = (await listAssets(tx)).filter((asset) => asset.networkId === chain.id);
    const expected: Expected[] = [];
    for (const asset of assets) {
      const unbooked = fromUnits(await sumUnbooked(tx, { networkId: chain.id, contract: asset.contract }), asset.decimals);
      const addresses = await listHoldingAddresses(tx, { networkId: chain.id, contract: asset.contract });
      expected.push({ asset, coins: amount((await bookedHoldings(tx, asset.id)) + unbooked), addresses });
    }
    return { height: tip.height, expected };
  });
  if (snapshot === undefined) return [];
  const holdings: Holding[] = [];
  for (const { asset, coins, addresses } of snapshot.expected) {
    let raw = 0n;
    try {
      for (const address of addresses) raw += await chain.reader.balance(address, asset.contract, snapshot.height);
    } catch (error) {
      if (unread === undefined || !(error instanceof ChainUnavailable)) throw error;
      unread({ network: chain.config.name, symbol: asset.symbol, why: error });
      continue;
    }
    const actual = fromUnits(raw, asset.decimals);
    holdings.push({
      network: chain.config.name,
      assetId: asset.id,
      symbol: asset.symbol,
      height: snapshot.height,
      expected: coins,
      actual,
      difference: amount(actual - coins),
    });
  }
  return holdings;
}
