import { hash } from 'node:crypto';
import { keccak256 } from 'viem';
import { describe, expect, it } from 'vitest';
import { hash160 } from '#shared/chains/bitcoin/digests.ts';
import { merkleRootOf } from '#shared/chains/bitcoin/proofs.ts';
import { reversedHex } from '#shared/chains/bitcoin/raw-transaction.ts';
import { keccak } from '#shared/chains/evm/keccak.ts';
import { findTrieRoot } from '#shared/chains/evm/trie-root.ts';
import { keccakBoth, lookAtValues, sha256Each, trieRoot, whichKeys } from '#shared/chains/kernel.ts';
import { merkleRoot } from '#shared/chains/merkle-root.ts';
import { rootOf } from '#shared/chains/tron/proofs.ts';
import { atOnce } from '#shared/core/turns.ts';
import { chanceOf } from '#test/fixtures/mutated-replies.ts';

describe('the kernel', () => {
  it('hashes two messages as Keccak-256 hashes each, of any number of bytes', () => {
    const chance = chanceOf(5);
    const message = (length: number): Uint8Array => new Uint8Array(length).map(() => 256 * chance());
    for (const length of [0, 1, 31, 32, 134, 135, 136, 137, 271, 272, 273, 1_000])
      for (const other of [length, length + 1, 135, 1_000].map(message)) {
        const one = message(length);
        expect(keccakBoth(one, other)).toEqual([one, other].map((of) => Buffer.from(keccak(of))));
        expect(`0x${keccakBoth(one, other)[0].toString('hex')}`).toBe(keccak256(one));
      }
  });

  it('hashes any number of messages as SHA-256 hashes each, of any number of bytes', () => {
    const chance = chanceOf(7);
    const message = (length: number): Uint8Array => new Uint8Array(length).map(() => 256 * chance());
    const lengths = [...Array.from({ length: 131 }, (_, i) => i), 1_000, 183, 184, 20_000];
    for (let count = 0; count < 9; count++) {
      const messages = Array.from({ length: count }, () => message(lengths[Math.floor(chance() * lengths.length)] as number));
      expect(sha256Each(messages)).toEqual(Buffer.concat(messages.map((one) => hash('sha256', one, 'buffer'))));
    }
    const all = lengths.map(message);
    expect(sha256Each(all)).toEqual(Buffer.concat(all.map((one) => hash('sha256', one, 'buffer'))));
  });

  it.each([1, 2, 3, 5, 8, 13, 64, 2_047, 2_048, 2_049, 4_099])('finds the roots over %i hashes that those find who read with care', (count) => {
    const leaves = Array.from({ length: count }, (_, i) => hash('sha256', String(i), 'buffer'));
    const root = (twice: boolean, carries: boolean): Buffer => atOnce(merkleRoot(Buffer.concat(leaves), { twice, carries }));
    expect(reversedHex(root(true, false))).toBe(merkleRootOf(leaves.map(reversedHex)));
    expect(root(false, true).toString('hex')).toBe(rootOf(leaves.map((leaf) => leaf.toString('hex'))));
  });

  it('names keys as those who read with care name them', () => {
    const chance = chanceOf(9);
    const bytes = Buffer.from(new Uint8Array(700).map(() => 256 * chance()));
    for (const count of [1, 2, 3, 4, 5, 11]) {
      const places = Array.from({ length: count }, () => Math.floor(chance() * 667));
      const hashes: string[] = [];
      const watched = whichKeys(bytes, places, (key, at) => hashes.push(Buffer.from(key).toString('hex', at, at + 20)) % 3 === 0);
      expect(hashes).toEqual(places.map((at) => Buffer.from(hash160(bytes.subarray(at, at + 33))).toString('hex')));
      expect(watched).toEqual(places.map((_, i) => i % 3 === 2));
    }
  });

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
      expect(trieRoot(values), `${count} values`).toBe(atOnce(findTrieRoot(values)));
    }
  });

  it('finds where values end that are longer than what it has room for together, and leaves those longer than that to others', () => {
    const text = (length: number): string => `["${'a'.repeat(length - 4)}"]`;
    const [third, whole, more] = [1_500_000, 4 * 1024 * 1024, 4 * 1024 * 1024 + 1].map(text) as [string, string, string];
    const values = [third, third, third, '[1]', whole, more, '{"a":[]}'];
    const bytes = Buffer.from(values.join(','));
    const look = lookAtValues(bytes);
    let at = 0;
    for (const value of values) {
      // The last letter that there is room for may not be the last one of the value.
      expect(look.next(at), `${value.length} letters at ${at}`).toBe(value === more || value === whole ? 0 : at + value.length);
      at += value.length + 1;
    }
  });
});
