import type { Deps } from '#api/deps.ts';
import { findNetwork } from '#api/store/networks.ts';
import { displayNameOf } from '#shared/chains/networks.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { NetworkFacts } from './page/snapshot.ts';

/** What a payer needs to know of these networks, by name; of one that is not configured any more, what is stored. Locks nothing. */
export async function networkFacts(sql: Reads, deps: Pick<Deps, 'chains'>, names: Iterable<string>): Promise<Record<string, NetworkFacts>> {
  const facts: [string, NetworkFacts][] = [];
  for (const name of [...names].sort()) {
    const network = deps.chains.get(name)?.config ?? (await findNetwork(sql, name));
    if (network === undefined) continue;
    facts.push([name, { displayName: displayNameOf(network), family: network.family, chainId: network.chainId, nativeSymbol: network.nativeSymbol }]);
  }
  return Object.fromEntries(facts);
}
