import type { Deps } from '#api/deps.ts';
import { findNetwork } from '#api/store/networks.ts';
import { displayNameOf, profileOf } from '#shared/chains/networks.ts';
import { resolveRule } from '#shared/core/finality.ts';
import type { Usd } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { NetworkFacts } from './page/snapshot.ts';

type Configured = NonNullable<ReturnType<Deps['chains']['get']>>['config'];

/**
 * What a payer of so many dollars needs to know of these networks, by name; of one that is not configured any more, what is stored.
 * Locks nothing.
 */
export async function networkFacts(sql: Reads, deps: Pick<Deps, 'chains'>, names: Iterable<string>, valueUsd: Usd): Promise<Record<string, NetworkFacts>> {
  const facts: [string, NetworkFacts][] = [];
  for (const name of [...names].sort()) {
    const configured = deps.chains.get(name)?.config;
    const network = configured ?? (await findNetwork(sql, name));
    if (network === undefined) continue;
    const { family, chainId, nativeSymbol } = network;
    const expectedSeconds = configured === undefined ? null : secondsUntilFinal(configured, valueUsd);
    facts.push([name, { displayName: displayNameOf(network), family, chainId, nativeSymbol, expectedSeconds }]);
  }
  return Object.fromEntries(facts);
}

/** About how long until coins of this value decide a payment; null where a network's tags have no age that is known. */
function secondsUntilFinal({ finality, blockSeconds, family, chainId }: Configured, valueUsd: Usd): number | null {
  const rule = resolveRule(finality, valueUsd);
  if ('blocks' in rule) return rule.blocks * blockSeconds;
  return profileOf(family, chainId).tagSeconds[rule.tag] || null;
}
