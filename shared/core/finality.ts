import type { Finality, FinalityRule } from './assets.ts';
import { parseTrusted, type Usd } from './money.ts';

type Tier = Finality['resolve'][number];

/** How far a network has been read: its tip and what the node called safe and final. */
export interface ChainHeights {
  height: number;
  safeHeight: number;
  finalHeight: number;
}

/** A node's head as far as finality needs it; null where it has no such tag. */
interface HeadHeights {
  latest: { height: number };
  safeHeight: number | null;
  finalizedHeight: number | null;
}

/** Height of the last final block by the network's own rule; -1 while there is none. A tag the node does not have is never replaced by counting. */
export function finalHeightOf(rule: FinalityRule, head: HeadHeights): number {
  if ('blocks' in rule) return Math.max(-1, head.latest.height - rule.blocks + 1);
  return (rule.tag === 'safe' ? head.safeHeight : head.finalizedHeight) ?? -1;
}

/** How far a network has been read once everything up to a node's head is. */
export function heightsOf(finality: Finality, head: HeadHeights): ChainHeights {
  const { height } = head.latest;
  const finalHeight = Math.min(height, finalHeightOf(finality.mature, head));
  return { height, finalHeight, safeHeight: Math.min(height, head.safeHeight ?? finalHeight) };
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

/** Blocks before coins that were made in a block can move: nobody can pay with them, so nothing is credited of them before (chains 2.3). */
export const COINBASE_BLOCKS = 100;

/** The stricter of a rule and the depth at which coins made in a block can move. */
export function forCoinbase(rule: FinalityRule): FinalityRule {
  return 'blocks' in rule && rule.blocks < COINBASE_BLOCKS ? { blocks: COINBASE_BLOCKS } : rule;
}

/** The tier a payment of this value resolves by: the first it does not exceed (decisions 5). */
export function resolveTier(finality: Finality, valueUsd: Usd): Tier {
  const tier = finality.resolve.find((t) => t.upToUsd === undefined || valueUsd <= parseTrusted<'usd'>(t.upToUsd));
  // A value above every tier waits for what funds wait for to mature: nothing is final earlier than that.
  return tier ?? { rule: finality.mature };
}

/** The rule of that tier. */
export function resolveRule(finality: Finality, valueUsd: Usd): FinalityRule {
  return resolveTier(finality, valueUsd).rule;
}

/**
 * Height that must be final by the network's own rule before funds of a block at `height` mature: lower than `height` by as many
 * blocks as their tier asks less for (decisions 5).
 */
export function matureHeight(finality: Finality, tier: Tier, height: number): number {
  const own = tier.mature ?? finality.mature;
  return 'blocks' in own && 'blocks' in finality.mature ? height - (finality.mature.blocks - own.blocks) : height;
}
