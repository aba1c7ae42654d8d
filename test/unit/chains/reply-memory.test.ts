import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { gatherBytes } from '#shared/chains/gathered-bytes.ts';
import { giveBackAfter, openReplyMemory, replyMemory } from '#shared/chains/reply-memory.ts';

const MIB = 1024 * 1024;

describe('memory of replies', () => {
  it('is enough, less than twice as much, and never with two at a time', () => {
    const steps = fc.array(fc.oneof(fc.record({ take: fc.integer({ min: 1, max: 4 * MIB }) }), fc.record({ back: fc.nat(20) })), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (asked) => {
        const { take, giveBack } = openReplyMemory();
        const held: Buffer<ArrayBuffer>[] = [];
        for (const step of asked) {
          if ('take' in step) {
            const memory = take(step.take);
            expect(memory.length).toBeGreaterThanOrEqual(step.take);
            expect(memory.length).toBeLessThan(Math.max(2 * step.take, 128 * 1024));
            expect(held.some(({ buffer }) => buffer === memory.buffer)).toBe(false);
            held.push(memory);
          } else {
            const [one] = held.splice(step.back % Math.max(1, held.length), 1);
            if (one !== undefined) giveBack(one);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('is used again once it was given back, and not while any of several still reads it', () => {
    const memory = replyMemory.take(3 * MIB);
    const done = giveBackAfter(2, memory.subarray(10, 20));
    done();
    expect(replyMemory.take(3 * MIB).buffer === memory.buffer).toBe(false);
    done();
    expect(replyMemory.take(3 * MIB).buffer === memory.buffer).toBe(true);
  });

  it('is not taken back twice, nor where it was not taken', () => {
    const { take, giveBack } = openReplyMemory();
    const memory = take(5 * MIB);
    giveBack(memory);
    giveBack(memory);
    const strange = Buffer.allocUnsafeSlow(8 * MIB);
    giveBack(strange);
    const [one, other] = [take(5 * MIB), take(5 * MIB)];
    expect(one.buffer === memory.buffer).toBe(true);
    expect([memory.buffer, strange.buffer].includes(other.buffer)).toBe(false);
  });

  it('is kept up to 64 MiB in all, what was given back last', () => {
    const { take, giveBack } = openReplyMemory();
    const many = Array.from({ length: 6 }, () => take(16 * MIB));
    const usedAgain = ({ buffer }: Buffer): boolean => many.some((one) => one.buffer === buffer);
    giveBack(take(64 * MIB));
    for (const one of many) giveBack(one);
    expect(many.map(() => usedAgain(take(16 * MIB)))).toEqual([true, true, true, true, false, false]);
  });

  it('of the longest replies that are not read as text is all used again, with what they were gathered in while they grew', () => {
    const memory = openReplyMemory();
    const part = Buffer.alloc(MIB);
    const gather = (): Set<ArrayBufferLike> => {
      const rooms = new Set<ArrayBufferLike>();
      const gathered = gatherBytes(0, {
        ...memory,
        take: (bytes) => memory.take(bytes),
        giveBack: (bytes) => {
          rooms.add(bytes.buffer);
          memory.giveBack(bytes);
        },
      });
      for (let i = 0; i < 31; i++) gathered.add(part);
      const all = gathered.take();
      expect(all).toHaveLength(31 * MIB);
      memory.giveBack(all);
      return rooms.add(all.buffer);
    };
    const first = gather();
    for (const room of gather()) if (room !== part.buffer) expect(first.has(room)).toBe(true);
  });

  it('is let go once nobody used it for ten seconds, and at most twenty', () => {
    vi.useFakeTimers();
    try {
      const { take, giveBack } = openReplyMemory();
      const memory = take(8 * MIB);
      giveBack(memory);
      const again = (): boolean => {
        const one = take(8 * MIB);
        giveBack(one);
        return one.buffer === memory.buffer;
      };
      for (let i = 0; i < 5; i++) {
        vi.advanceTimersByTime(9_900);
        expect(again()).toBe(true);
      }
      vi.advanceTimersByTime(20_000);
      expect(again()).toBe(false);
      vi.advanceTimersByTime(40_000);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
