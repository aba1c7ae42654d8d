import type { Chain, Deps } from '#api/deps.ts';
import { withEach } from '#shared/core/with-each.ts';

/** Does something with each network, as `withEach`; `failure` is what is told of one that failed. */
export function onEachNetwork(deps: Pick<Deps, 'chains' | 'log'>, failure: string, work: (chain: Chain) => Promise<number>): Promise<number> {
  return withEach(deps.chains.values(), work, (err, chain) => deps.log.error({ err, network: chain.config.name }, failure));
}
