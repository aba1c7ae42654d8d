import type { NetworkConfig } from '#shared/core/assets.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { LackReport } from './join-readers.ts';

type Warned = Pick<NetworkConfig, 'rpcUrls' | 'secondOpinionUsd' | 'acceptsUnseenInternalTransfers'> & Partial<Pick<NetworkConfig, 'nativeSymbol'>>;

/** What an operator must know about a network's configuration and what its nodes lack, in sentences; empty when all is well. Pure. */
export function warningsOf(network: Warned, lacking: readonly LackReport[] = []): string[] {
  return [...trustIn(network), ...lackingIn(network, lacking)];
}

function trustIn({ rpcUrls, secondOpinionUsd }: Warned): string[] {
  const providers = new Set(rpcUrls.map((url) => new URL(url).host));
  // A process that asks nobody is not lied to.
  if (providers.size !== 1) return [];
  const most = secondOpinionUsd ?? POLICY.secondOpinionUsd;
  return [`one provider: an endpoint that lies consistently can make you credit what was not paid, up to ${most} USD a payment (secondOpinionUsd)`];
}

/** The abilities that nodes lack, and what follows from that. Pure. */
export function lackingIn(
  { nativeSymbol = 'the native coin', acceptsUnseenInternalTransfers }: Omit<Warned, 'rpcUrls'>,
  lacking: readonly LackReport[],
): string[] {
  const named = lacking.flatMap(({ provider, lacks }) => (lacks === null || lacks.length === 0 ? [] : [`${provider} does not offer ${lacks.join(', ')}`]));
  if (!nobodyTraces(lacking)) return named;
  return [
    ...named,
    acceptsUnseenInternalTransfers === true
      ? `no endpoint traces, which acceptsUnseenInternalTransfers accepts: ${nativeSymbol} that a contract passes on is not credited by itself`
      : `no endpoint traces: ${nativeSymbol} is not offered, tokens are (acceptsUnseenInternalTransfers offers it all the same)`,
  ];
}

/**
 * Whether none of the endpoints that have reported what they lack can trace; an endpoint that never answered does not count. False before any has
 * reported. Pure.
 */
export function nobodyTraces(lacking: readonly LackReport[]): boolean {
  const said = lacking.flatMap(({ lacks }) => (lacks === null ? [] : [lacks]));
  return said.length > 0 && said.every((lacks) => lacks.includes('traces'));
}

/** The warnings as lines of `/readyz`. They describe a network that works, and never make a process unready. */
export function warningChecks(
  networks: readonly NetworkConfig[],
  lackingOf: (network: string) => readonly LackReport[],
): Record<string, () => { well: string } | undefined> {
  return Object.fromEntries(
    networks.map((network) => [
      `warning:${network.name}`,
      () => {
        const warnings = warningsOf(network, lackingOf(network.name));
        return warnings.length === 0 ? undefined : { well: warnings.join('; ') };
      },
    ]),
  );
}
