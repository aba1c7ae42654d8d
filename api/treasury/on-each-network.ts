import type { Chain, Deps } from '#api/deps.ts';
import { withEachAtOnce } from '#shared/core/with-each.ts';

/** Does something with each network, side by side, so that none waits for the nodes of another one; `failure` is what is told of one that failed, as `withEachAtOnce` says. */
export function onEachNetwork(deps: Pick<Deps, 'chains' | 'log'>, failure: string, work: (chain: Chain) => Promise<number>): Promise<number> {
  return withEachAtOnce(deps.chains.values(), work, (err, chain) => deps.log.error({ err, network: chain.config.name }, failure));
}
