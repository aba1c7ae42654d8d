import type { FinalityRule, NetworkConfig } from '#shared/core/assets.ts';
import { profileOf } from './networks.ts';

/** The figures by which people can tell a slow network from a stuck one. */
export interface ChainFacts {
  /** Seconds without a new block after which it counts as stalled. */
  stallSeconds: number;
  /** Blocks that the largest payment waits for. For a tag: as many as usually pass before a node sets it. */
  confirmationsRequired: number;
  /** Seconds from a transaction's block until the books treat it as final. */
  expectedSeconds: number;
}

/** Calculates them from a network's configuration and its profile. */
export function factsOf({ family, chainId, finality, blockSeconds }: Pick<NetworkConfig, 'family' | 'chainId' | 'finality' | 'blockSeconds'>): ChainFacts {
  const { stallSeconds, tagSeconds } = profileOf(family, chainId);
  const blocksOf = (rule: FinalityRule): number => ('blocks' in rule ? rule.blocks : Math.ceil(tagSeconds[rule.tag] / blockSeconds));
  return {
    stallSeconds,
    confirmationsRequired: Math.max(...finality.resolve.map(({ rule }) => blocksOf(rule))),
    expectedSeconds: blocksOf(finality.mature) * blockSeconds,
  };
}
