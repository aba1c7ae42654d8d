import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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

  it('is kept up to 32 MiB in all, what was given back last, and dropped once no reply of its size comes any more', () => {
    const { take, giveBack } = openReplyMemory();
    const many = Array.from({ length: 6 }, () => take(8 * MIB));
    const usedAgain = ({ buffer }: Buffer): boolean => many.some((one) => one.buffer === buffer);
    giveBack(take(32 * MIB));
    for (const one of many) giveBack(one);
    expect(many.map(() => usedAgain(take(8 * MIB)))).toEqual([true, true, true, true, false, false]);
    giveBack(many[5] as Buffer);
    for (let i = 0; i < 300; i++) giveBack(take(1));
    expect(usedAgain(take(8 * MIB))).toBe(false);
  });
});
