import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isUuid, uuidFrom } from '#shared/core/ids.ts';
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
