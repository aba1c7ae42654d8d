import type { BlockRef } from '#shared/chains/chain.ts';

/** Blocks remembered below the last one; a fork that leaves the chain further down is beyond any finality. */
const REMEMBERED = 1_024;

/** What a block must be followed by: its place and hash, and its time for messages that carry no block. */
export type Last = Pick<BlockRef, 'height' | 'hash' | 'time'>;

/** The chain as published so far, as far back as a fork could leave it. */
export interface Trail {
  last(): Last | undefined;
  /** Hash published at `height`; undefined where only ranges were, or nothing. */
  hashAt(height: number): string | undefined;
  /** Heights remembered, newest first. */
  heights(): number[];
  push(block: Last): void;
  /** Forgets everything above `height`; the next message joins there. */
  cutTo(height: number): void;
  /** False between a cut and the next block: the consumer's tip is still on the old branch. */
  joined(): boolean;
}

/** A trail that starts at the consumer's tip; `stored` are older blocks the consumer remembers. */
export function createTrail(tip: Last | undefined, stored: readonly Last[]): Trail {
  const blocks = new Map<number, Last>();
  for (const block of [...stored].reverse()) if (tip !== undefined && block.height < tip.height) blocks.set(block.height, block);
  if (tip !== undefined) blocks.set(tip.height, tip);
  let last = tip;
  let joined = true;
  return {
    last: () => last,
    hashAt: (height) => blocks.get(height)?.hash,
    heights: () => [...blocks.keys()].sort((a, b) => b - a),
    push(block) {
      blocks.set(block.height, block);
      last = block;
      joined = true;
      for (const height of blocks.keys()) {
        if (blocks.size <= REMEMBERED) break;
        blocks.delete(height);
      }
    },
    cutTo(height) {
      for (const known of blocks.keys()) if (known > height) blocks.delete(known);
      last = blocks.get(height);
      joined = false;
    },
    joined: () => joined,
  };
}
