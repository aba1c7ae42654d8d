/** Memory that was given back is kept up to this much in all, and while replies of its size still come. */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;
const UNUSED_REPLIES = 256;
/** What is shorter mostly comes in one part, which needs none. */
const SHORTEST_BYTES = 64 * 1024;

/** Memory that replies are written into, one after the other (decision 0105). */
export interface ReplyMemory {
  /** Room for at least so many bytes, and less than twice as many: memory that was given back, with whatever is in it, or new. */
  take(bytes: number): Buffer<ArrayBuffer>;
  /**
   * Takes back the memory these bytes are in, for a later reply to be written over them: for whoever knows that nobody reads them any more. What was not taken
   * here, or was given back before, is left alone; what is never given back is left to the garbage collector.
   */
  giveBack(bytes: Uint8Array): void;
}

interface Kept {
  memory: Buffer<ArrayBuffer>;
  /** How many replies were given other memory since. */
  passed: number;
}

/** Memory of which none is there yet. */
export function openReplyMemory(): ReplyMemory {
  /** Given back last, last. */
  let kept: Kept[] = [];
  /** What somebody may still read or write. */
  const lent = new WeakSet<ArrayBuffer>();
  return {
    take(bytes) {
      const length = SHORTEST_BYTES * 2 ** Math.max(0, Math.ceil(Math.log2(bytes / SHORTEST_BYTES)));
      const found = kept.findLast(({ memory }) => memory.length === length);
      kept = kept.filter((one) => one !== found && one.passed < UNUSED_REPLIES);
      for (const one of kept) one.passed += 1;
      const memory = found?.memory ?? Buffer.allocUnsafeSlow(length);
      lent.add(memory.buffer);
      return memory;
    },
    giveBack({ buffer }) {
      if (!(buffer instanceof ArrayBuffer) || !lent.delete(buffer) || buffer.byteLength > MOST_KEPT_BYTES) return;
      kept.push({ memory: Buffer.from(buffer), passed: 0 });
      let held = kept.reduce((sum, { memory }) => sum + memory.length, 0);
      while (held > MOST_KEPT_BYTES) held -= kept.shift()?.memory.length ?? held;
    },
  };
}

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
