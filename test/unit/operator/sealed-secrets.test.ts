import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Invariant } from '#shared/core/errors.ts';
import { open, seal, wrappingKey } from '#shared/platform/sealed-secrets.ts';

const key = wrappingKey('a master key of at least thirty-two characters');
const place = { table: 'gateway_secrets', column: 'sealed', rowId: '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44' };

describe('sealed secrets', () => {
  it('come back exactly as they were', () => {
    for (const secret of ['', 'whsec_AAAA', 'ünïcode ✓', 'x'.repeat(10_000)]) expect(open(key, place, seal(key, place, secret, randomBytes))).toBe(secret);
  });

  it('never hold the secret in clear, and differ each time', () => {
    const one = Buffer.from(seal(key, place, 'the secret itself', randomBytes));
    const two = Buffer.from(seal(key, place, 'the secret itself', randomBytes));
    expect(one.includes('the secret itself')).toBe(false);
    expect(one.equals(two)).toBe(false);
  });

  it.each([
    ['another row', { ...place, rowId: '00000000-0000-4000-8000-000000000000' }],
    ['another column', { ...place, column: 'sealed_before' }],
    ['another table', { ...place, table: 'api_keys' }],
  ])('do not open in %s', (_, elsewhere) => {
    const sealed = seal(key, place, 'secret', randomBytes);
    expect(() => open(key, elsewhere, sealed)).toThrow(Invariant);
  });

  it('do not open under another master key', () => {
    const sealed = seal(key, place, 'secret', randomBytes);
    expect(() => open(wrappingKey('another master key of thirty-two characters'), place, sealed)).toThrow(Invariant);
  });

  it('do not open when any one byte was changed or the end is missing', () => {
    const sealed = seal(key, place, 'secret', randomBytes);
    for (let at = 0; at < sealed.length; at++) {
      const changed = Uint8Array.from(sealed);
      changed[at] = (changed[at] as number) ^ 1;
      expect(() => open(key, place, changed), `byte ${at}`).toThrow(Invariant);
      expect(() => open(key, place, sealed.subarray(0, at)), `cut at ${at}`).toThrow(Invariant);
    }
  });

  it('say which row does not open, and nothing of what is in it', () => {
    const sealed = seal(key, place, 'the secret itself', randomBytes);
    expect(() => open(wrappingKey('another master key of thirty-two characters'), place, sealed)).toThrow(/gateway_secrets 7d9f2c1e.*does not open/);
    expect(() => open(wrappingKey('another master key of thirty-two characters'), place, sealed)).not.toThrow(/the secret itself/);
  });
});
