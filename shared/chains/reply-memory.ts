/** Memory that was given back is kept up to this much in all: the largest reply that is not read as text, with all that it was gathered in while it grew. */
const MOST_KEPT_BYTES = 64 * 1024 * 1024;
/** What nobody used for so long, and at most twice as long, is let go: near the head replies are a hundredth of those before it. */
const UNUSED_MS = 10_000;
/** What is shorter mostly comes in one part, which needs none. */
const SHORTEST_BYTES = 64 * 1024;

/** Memory that replies are written into, one after the other (decision 0105). */
export interface ReplyMemory {
  /** Room for at least so many bytes, and less than twice as many: memory that was given back, with whatever is in it, or new. */
  take(bytes: number): Buffer<ArrayBuffer>;
  /** Bytes that came whole, where they are: none of this memory. */
  adopt(bytes: Uint8Array): Buffer<ArrayBuffer>;
  /**
   * Takes back the memory these bytes are in, for a later reply to be written over them: for the one who took it, once, when nobody reads them any more.
   * What was not taken here is left alone; what is never given back is left to the garbage collector.
   */
  giveBack(bytes: Uint8Array): void;
}

/** Memory of which none is there yet. */
export function openReplyMemory(): ReplyMemory {
  /** Given back last, last. */
  let kept: Buffer<ArrayBuffer>[] = [];
  /** Those of them that were there at the last look. */
  let resting = new Set<Buffer<ArrayBuffer>>();
  let looks: NodeJS.Timeout | undefined;
  /** What somebody may still read or write. */
  const lent = new WeakSet<ArrayBuffer>();
  const letGo = (): void => {
    kept = kept.filter((one) => !resting.has(one));
    resting = new Set(kept);
    if (kept.length > 0) return;
    clearInterval(looks);
    looks = undefined;
  };
  return {
    take(bytes) {
      const length = SHORTEST_BYTES * 2 ** Math.max(0, Math.ceil(Math.log2(bytes / SHORTEST_BYTES)));
      const found = kept.findLast((one) => one.length === length);
      kept = kept.filter((one) => one !== found);
      const memory = found ?? Buffer.allocUnsafeSlow(length);
      lent.add(memory.buffer);
      return memory;
    },
    adopt: whereTheyAre,
    giveBack({ buffer }) {
      if (!(buffer instanceof ArrayBuffer) || !lent.delete(buffer) || buffer.byteLength > MOST_KEPT_BYTES) return;
      kept.push(Buffer.from(buffer));
      let held = kept.reduce((sum, { length }) => sum + length, 0);
      while (held > MOST_KEPT_BYTES) held -= kept.shift()?.length ?? held;
      looks ??= setInterval(letGo, UNUSED_MS).unref();
    },
  };
}

/** The same bytes. */
function whereTheyAre({ buffer, byteOffset, length }: Uint8Array): Buffer<ArrayBuffer> {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, length);
}

/** Memory that is new each time, and is never used again. */
export const newMemory: ReplyMemory = { take: (bytes) => Buffer.allocUnsafeSlow(bytes), adopt: whereTheyAre, giveBack: () => undefined };

/** What all replies of nodes to this process are written into. */
export const replyMemory: ReplyMemory = openReplyMemory();

/** For bytes that several read: gives them back once each of so many called this. */
export function giveBackAfter(readers: number, bytes: Uint8Array): () => void {
  let left = readers;
  return () => {
    left -= 1;
    if (left === 0) replyMemory.giveBack(bytes);
  };
}
