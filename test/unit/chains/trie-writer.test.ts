import { expect, it } from 'vitest';
import { findTrieRoot } from '#shared/chains/evm/trie-root.ts';
import { LEAF_ROOM, writeTrieRoot } from '#shared/chains/evm/trie-writer.ts';
import { atOnce } from '#shared/core/turns.ts';
import { chanceOf } from '#test/fixtures/mutated-replies.ts';

it('writes the root that is found of the same values, however many and however long', () => {
  const chance = chanceOf(3);
  const counts = [...Array.from({ length: 40 }, (_, i) => i + 1), 126, 127, 128, 129, 143, 144, 145, 255, 256, 257, 300, 511, 1_000, 4_097];
  for (const count of counts) {
    const values = Array.from({ length: count }, (_, i) => {
      const value = new Uint8Array(2 + Math.floor(chance() * (i % 9 === 0 ? 700 : 60))).map(() => 256 * chance());
      // A receipt is a list or begins with its type: never so short that it is its own header.
      value[0] = 0xc0;
      return value;
    });
    const bytes = new Uint8Array(values.reduce((sum, { length }) => sum + length + LEAF_ROOM, 0));
    const [starts, ends] = [new Int32Array(count), new Int32Array(count)];
    let at = 0;
    for (const [i, value] of values.entries()) {
      starts[i] = at + LEAF_ROOM;
      ends[i] = at + LEAF_ROOM + value.length;
      bytes.set(value, starts[i]);
      at = ends[i] as number;
    }
    expect(`0x${Buffer.from(writeTrieRoot({ bytes, starts, ends, count })).toString('hex')}`, `${count} values`).toBe(atOnce(findTrieRoot(values)));
  }
});
