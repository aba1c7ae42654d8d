import type { NetworkConfig } from '#shared/core/assets.ts';
import { POLICY } from '#shared/core/policy.ts';

/** What whoever runs a network has to know of what it is configured with, in sentences; nothing where all is well. Pure. */
export function warningsOf({ rpcUrls, secondOpinionUsd }: Pick<NetworkConfig, 'rpcUrls' | 'secondOpinionUsd'>): string[] {
  const providers = new Set(rpcUrls.map((url) => new URL(url).host));
  if (providers.size > 1) return [];
  const most = secondOpinionUsd ?? POLICY.secondOpinionUsd;
  return [`one provider: an endpoint that lies consistently can make you credit what was not paid, up to ${most} USD a payment (secondOpinionUsd)`];
}

/** The same as lines of `/readyz`: they say something about a network that works, and never make a process unready. */
export function warningChecks(networks: readonly NetworkConfig[]): Record<string, () => { well: string }> {
  return Object.fromEntries(
    networks.flatMap((network) => {
      const warnings = warningsOf(network);
      return warnings.length === 0 ? [] : [[`warning:${network.name}`, () => ({ well: warnings.join('; ') })] as const];
    }),
  );
}
