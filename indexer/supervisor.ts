import { warningChecks } from '#shared/chains/network-warnings.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import type { HealthCheck } from '#shared/platform/health.ts';
import { followChain } from './chain.ts';
import type { IndexerDeps } from './life.ts';

/** Every chain this process follows. */
export interface Supervisor {
  /** One check per network. */
  checks: Readonly<Record<string, HealthCheck>>;
  /** Stops every chain; returns when the last one has given its lease up. */
  stop(): Promise<void>;
}

/** Starts one chain actor per network; each lives, fails and recovers on its own. */
export function superviseChains(deps: IndexerDeps, networks: readonly NetworkConfig[]): Supervisor {
  const chains = networks.map((network) => followChain(deps, network));
  return {
    checks: {
      ...Object.fromEntries(
        chains.map((chain) => [
          `chain:${chain.network}`,
          () => (chain.state() === 'standby' ? { well: 'standby: another indexer follows it' } : chain.problem()),
        ]),
      ),
      ...warningChecks(networks, (name) => chains.find((chain) => chain.network === name)?.lacking() ?? []),
    },
    async stop() {
      await Promise.all(chains.map((chain) => chain.stop()));
    },
  };
}
