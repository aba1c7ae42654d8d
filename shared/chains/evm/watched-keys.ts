import type { HasKey, WatchSet } from '../chain.ts';

/** How a walk asks a watch set, without a text of each address where the set can do without. */
export function watchedKeys(watched: WatchSet): HasKey {
  if (watched.hasKey !== undefined) return watched.hasKey.bind(watched);
  return (bytes, at) => watched.has(`0x${Buffer.from(bytes.subarray(at, at + 20)).toString('hex')}`);
}
