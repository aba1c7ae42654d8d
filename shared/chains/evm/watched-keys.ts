import type { WatchSet } from '../chain.ts';

/** Whether the twenty bytes at a place are those of a watched address. */
export type HasKey = (bytes: Uint8Array, at: number) => boolean;

/** How a walk asks a watch set, without a text of each address where the set can do without. */
export function watchedKeys(watched: WatchSet): HasKey {
  if (watched.hasKey !== undefined) return watched.hasKey.bind(watched);
  return (bytes, at) => watched.has(`0x${Buffer.from(bytes.subarray(at, at + 20)).toString('hex')}`);
}
