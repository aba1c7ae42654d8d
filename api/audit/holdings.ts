import type { Chain, Deps } from '#api/deps.ts';
import { readTip } from '#api/store/chain-blocks.ts';
import { listAssets, type StoredAsset } from '#api/store/assets.ts';
import { bookedHoldings } from '#api/ledger/balances.ts';
import { listHoldingAddresses, sumUnbooked } from '#api/store/holdings.ts';
import { listUnopenedAssets, listWalletRoles } from '#api/store/reconciliations.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { type Coins, amount, fromUnits } from '#shared/core/money.ts';
import type { Holding, UnreadHolding } from './holding.ts';
import { compareOutputs } from './output-holdings.ts';

/** Balances asked for at once; they share a few HTTP requests. */
const AT_ONCE = 50;

/**
 * Compares the books with the chain, per asset: minus the balance of `chain`, plus sightings not yet booked, against the
 * balances of every address of ours at the tip, or against every output of ours (A14, architecture 2). The books are read in one
 * snapshot, so it may run while money moves. Networks without a tip are left out. With `unread`, an asset the chain does not answer for, or whose
 * opening balances are not booked yet, is handed to it and the others are compared all the same.
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
  const { outputs } = chain.reader;
  if (outputs !== undefined) return compareOutputs(deps, chain, outputs, unread);
  const snapshot = await deps.db.transaction(async (tx) => {
    await tx`set transaction isolation level repeatable read`;
    const tip = await readTip(tx, chain.id);
    if (tip === undefined) return undefined;
    const unopened = new Set(unread === undefined ? [] : await listUnopenedAssets(tx, chain.id));
    const assets = (await listAssets(tx)).filter((asset) => asset.networkId === chain.id);
    const expected: Expected[] = [];
    for (const asset of assets) {
      if (unopened.has(asset.id)) {
        unread?.({ network: chain.config.name, symbol: asset.symbol, why: 'unopened' });
        continue;
      }
      const unbooked = fromUnits(await sumUnbooked(tx, { networkId: chain.id, contract: asset.contract }), asset.decimals);
      const addresses = await listHoldingAddresses(tx, { networkId: chain.id, contract: asset.contract });
      expected.push({ asset, coins: amount((await bookedHoldings(tx, asset.id)) + unbooked), addresses });
    }
    return { height: tip.height, expected, roles: await listWalletRoles(tx, chain.id) };
  });
  if (snapshot === undefined) return [];
  const holdings: Holding[] = [];
  for (const { asset, coins, addresses } of snapshot.expected) {
    let byRole: Map<string, bigint>;
    try {
      byRole = await readBalances(chain, addresses, asset.contract, snapshot);
    } catch (error) {
      if (unread === undefined || !(error instanceof ChainUnavailable)) throw error;
      unread({ network: chain.config.name, symbol: asset.symbol, why: error });
      continue;
    }
    const actual = fromUnits(
      [...byRole.values()].reduce((sum, raw) => sum + raw, 0n),
      asset.decimals,
    );
    holdings.push({
      network: chain.config.name,
      assetId: asset.id,
      symbol: asset.symbol,
      native: asset.contract === null,
      height: snapshot.height,
      expected: coins,
      actual,
      difference: amount(actual - coins),
      byRole: new Map([...byRole].map(([role, raw]) => [role, fromUnits(raw, asset.decimals)])),
    });
  }
  return holdings;
}

/** Sums what the chain says these addresses hold, by their role. @throws ChainUnavailable */
async function readBalances(
  chain: Chain,
  addresses: readonly string[],
  contract: string | null,
  { height, roles }: { height: number; roles: ReadonlyMap<string, string> },
): Promise<Map<string, bigint>> {
  const sums = new Map<string, bigint>();
  for (let from = 0; from < addresses.length; from += AT_ONCE) {
    const some = addresses.slice(from, from + AT_ONCE);
    const held = await Promise.all(some.map((address) => chain.reader.balance(address, contract, height)));
    for (const [at, address] of some.entries()) {
      const role = roles.get(address) ?? 'deposit';
      sums.set(role, (sums.get(role) ?? 0n) + (held[at] ?? 0n));
    }
  }
  return sums;
}
