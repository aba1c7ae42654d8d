import type { FinalityRule, NetworkConfig } from '#shared/core/assets.ts';
import { profileOf } from './networks.ts';

/** What whoever watches a network has to know of it to tell slow from stuck. */
export interface ChainFacts {
  /** Seconds without a new block after which it counts as stalled. */
  stallSeconds: number;
  /** Blocks that the largest payment waits for; of a tag, as many as come before a node usually gives it. */
  confirmationsRequired: number;
  /** Seconds from a transaction's block until the books call it final. */
  expectedSeconds: number;
}

/** Reads them from a network's configuration and from what is known of its chain. */
export function factsOf({ family, chainId, finality, blockSeconds }: Pick<NetworkConfig, 'family' | 'chainId' | 'finality' | 'blockSeconds'>): ChainFacts {
  const { stallSeconds, tagSeconds } = profileOf(family, chainId);
  const blocksOf = (rule: FinalityRule): number => ('blocks' in rule ? rule.blocks : Math.ceil(tagSeconds[rule.tag] / blockSeconds));
  return {
    stallSeconds,
    confirmationsRequired: Math.max(...finality.resolve.map(({ rule }) => blocksOf(rule))),
    expectedSeconds: blocksOf(finality.mature) * blockSeconds,
  };
}
