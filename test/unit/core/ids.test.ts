import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isUuid, rowId, uuidFrom } from '#shared/core/ids.ts';
import './arbitraries.ts';

describe('an id', () => {
  test('is a version 4 UUID whatever the random bytes are, and keeps 122 of their bits', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        const id = uuidFrom(bytes);
        expect(isUuid(id)).toBe(true);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        const hex = id.replaceAll('-', '');
        const kept = [...bytes].map((byte, i) => (i === 6 ? byte & 0x0f : i === 8 ? byte & 0x3f : byte));
        const read = Array.from({ length: 16 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
        expect(read.map((byte, i) => (i === 6 ? byte & 0x0f : i === 8 ? byte & 0x3f : byte))).toEqual(kept);
      }),
    );
  });

  test('does not change the bytes it was made from', () => {
    const bytes = new Uint8Array(16).fill(255);
    uuidFrom(bytes);
    expect([...bytes]).toEqual(new Array(16).fill(255));
  });

  test('of a row lies behind those made in milliseconds before, and two of one millisecond differ by 74 bits of chance', () => {
    const time = fc.integer({ min: 0, max: 2 ** 48 - 2 });
    fc.assert(
      fc.property(time, fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.uint8Array({ minLength: 16, maxLength: 16 }), (at, one, other) => {
        const made = (ms: number, bytes: Uint8Array): string => rowId({ randomBytes: () => bytes, wallClock: () => ms + 0.5 });
        expect(made(at, one)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(made(at, one) < made(at + 1, other)).toBe(true);
        expect(Number.parseInt(made(at, one).replaceAll('-', '').slice(0, 12), 16)).toBe(at);
        const chance = (bytes: Uint8Array): number[] => [...bytes.slice(6)].map((byte, i) => (i === 0 ? byte & 0x0f : i === 2 ? byte & 0x3f : byte));
        expect(made(at, one) === made(at, other)).toBe(String(chance(one)) === String(chance(other)));
      }),
    );
  });

  test.each([
    '',
    'x',
    '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c4',
    '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c444',
    '7d9f2c1e5b0a4c3e9a770e2b6f1d8c44',
    '{7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44}',
    "7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44'",
    '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c4g\n',
  ])('is not %j', (text) => {
    expect(isUuid(text)).toBe(false);
  });

  test('may be written in capitals', () => {
    expect(isUuid('7D9F2C1E-5B0A-4C3E-9A77-0E2B6F1D8C44')).toBe(true);
  });
});
