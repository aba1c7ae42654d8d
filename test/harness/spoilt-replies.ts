import { replyMemory } from '#shared/chains/reply-memory.ts';

// Memory that is given back is spoilt at once, so that whatever still reads it finds nothing that a node said: by the time a later reply is there, a test may be over.
// Replies that came in one part, as most of a test do, are copied into such memory for that.

const { take, giveBack } = replyMemory;
const taken = new WeakSet<ArrayBufferLike>();
const SPOILT = 0x15;

if (!('spoilt' in replyMemory))
  Object.assign(replyMemory, {
    spoilt: true,
    take(bytes: number) {
      const memory = take(bytes);
      taken.add(memory.buffer);
      return memory;
    },
    adopt(bytes: Uint8Array) {
      const memory = replyMemory.take(bytes.length);
      memory.set(bytes);
      return memory.subarray(0, bytes.length);
    },
    giveBack(bytes: Uint8Array) {
      if (taken.delete(bytes.buffer)) Buffer.from(bytes.buffer).fill(SPOILT);
      giveBack(bytes);
    },
  });
