import type { Finality, FinalityRule } from './assets.ts';
import { parseTrusted, type Usd } from './money.ts';

/** How far a network has been read: its tip and what the node called safe and final. */
export interface ChainHeights {
  height: number;
  safeHeight: number;
  finalHeight: number;
}

/** Confirmations of a block at `height`: the block itself counts as one; 0 when it is above the tip. */
export function confirmations(heights: Pick<ChainHeights, 'height'>, height: number): number {
  return Math.max(0, heights.height - height + 1);
}

/** True once a block at `height` is as final as `rule` asks (decisions 5). */
export function isFinal(rule: FinalityRule, heights: ChainHeights, height: number): boolean {
  if ('blocks' in rule) return confirmations(heights, height) >= rule.blocks;
  return height <= (rule.tag === 'safe' ? heights.safeHeight : heights.finalHeight);
}

/** The rule a payment of this value resolves at: the first tier it does not exceed (decisions 5). */
export function resolveRule(finality: Finality, valueUsd: Usd): FinalityRule {
  const tier = finality.resolve.find((t) => t.upToUsd === undefined || valueUsd <= parseTrusted<'usd'>(t.upToUsd));
  // A value above every tier waits for what funds wait for to mature: nothing is final earlier than that.
  return tier?.rule ?? finality.mature;
}
