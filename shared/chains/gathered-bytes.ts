/** Bytes that arrive in parts, held as one. */
export interface GatheredBytes {
  readonly length: number;
  add(part: Uint8Array): void;
  /** All of them. Nothing may be added afterwards. */
  take(): Buffer<ArrayBuffer>;
}

/**
 * Holds what somebody sends in as many parts as they like. A part of its own takes hundreds of bytes of memory, however short it is: in a list of them, a
 * reply of some megabytes that comes byte by byte would take gigabytes. One that comes in one part is not copied.
 */
export function gatherBytes(): GatheredBytes {
  let held: Buffer<ArrayBuffer> = Buffer.alloc(0);
  let length = 0;
  return {
    get length() {
      return length;
    },
    add(part) {
      if (length === 0) held = Buffer.from(part.buffer as ArrayBuffer, part.byteOffset, part.length);
      else {
        if (length + part.length > held.length) {
          const larger = Buffer.allocUnsafe(Math.max(2 * held.length, length + part.length));
          larger.set(held.subarray(0, length));
          held = larger;
        }
        held.set(part, length);
      }
      length += part.length;
    },
    take: () => held.subarray(0, length),
  };
}
