import { newMemory, type ReplyMemory } from './reply-memory.ts';

/** Bytes that arrive in parts, held as one. */
export interface GatheredBytes {
  readonly length: number;
  add(part: Uint8Array): void;
  /** All of them. Nothing may be added afterwards. */
  take(): Buffer<ArrayBuffer>;
}

/** No more than this is made room for before it is there, whatever somebody says is to come. */
const MOST_EXPECTED = 8 * 1024 * 1024;

/**
 * Holds what somebody sends in as many parts as they like. A part of its own takes hundreds of bytes of memory, however short it is: in a list of them, a
 * reply of some megabytes that comes byte by byte would take gigabytes. One that comes in one part is not copied; where it is
 * known how much comes, room is made once.
 */
export function gatherBytes(expected = 0, { take, adopt, giveBack }: ReplyMemory = newMemory): GatheredBytes {
  let held: Buffer<ArrayBuffer> = Buffer.alloc(0);
  let length = 0;
  return {
    get length() {
      return length;
    },
    add(part) {
      if (length === 0) held = adopt(part);
      else {
        if (length + part.length > held.length) {
          const larger = take(Math.max(2 * held.length, length + part.length, Math.min(expected, MOST_EXPECTED)));
          larger.set(held.subarray(0, length));
          giveBack(held);
          held = larger;
        }
        held.set(part, length);
      }
      length += part.length;
    },
    take: () => held.subarray(0, length),
  };
}
