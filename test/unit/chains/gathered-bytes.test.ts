import fc from 'fast-check';
import { expect, it } from 'vitest';
import { gatherBytes } from '#shared/chains/gathered-bytes.ts';

it('bytes are gathered in whatever parts they come, and the parts are left as they were', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 40 }), (parts) => {
      // Side by side in one memory, as a socket may give them: what is written behind one of them is in the next.
      const memory = Buffer.concat([...parts, Buffer.alloc(64, 0xee)]);
      const gathered = gatherBytes();
      let at = 0;
      for (const { length } of parts) {
        gathered.add(memory.subarray(at, at + length));
        at += length;
        expect(gathered.length).toBe(at);
      }
      expect(gathered.take()).toEqual(Buffer.concat(parts));
      expect(memory).toEqual(Buffer.concat([...parts, Buffer.alloc(64, 0xee)]));
    }),
  );
});
