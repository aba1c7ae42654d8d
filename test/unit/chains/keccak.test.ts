import fc from 'fast-check';
import { keccak256 } from 'viem';
import { describe, expect, it } from 'vitest';
import { keccak } from '#shared/chains/evm/keccak.ts';

const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

describe('keccak', () => {
  it('is Keccak-256 as the chain knows it, of any number of bytes', () => {
    expect(hex(keccak(new Uint8Array()))).toBe('0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
    for (const length of [1, 31, 32, 134, 135, 136, 137, 271, 272, 273, 1_000]) {
      const message = Uint8Array.from({ length }, (_, i) => (i * 7 + length) & 255);
      expect(hex(keccak(message))).toBe(keccak256(message));
    }
    fc.assert(fc.property(fc.uint8Array({ maxLength: 600 }), (message) => hex(keccak(message)) === keccak256(message)));
  });

  it('hands out bytes that a later hash leaves alone', () => {
    const first = keccak(Uint8Array.of(1));
    const before = hex(first);
    keccak(Uint8Array.of(2));
    expect(hex(first)).toBe(before);
  });
});
