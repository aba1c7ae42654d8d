import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createApiKey, hashSecret, parseApiKey, pepperOf } from '#api/gateways/keys.ts';
import { newSecret } from '#api/gateways/secrets.ts';
import { newTotpSecret, otpauthUrl } from '#api/gateways/totp.ts';

const pepper = 'a pepper of at least thirty-two characters';
const other = 'another pepper of thirty-two characters';
const ring = { current: pepper, next: undefined, previous: undefined };

describe('API keys', () => {
  it('have the agreed shape and come apart again', () => {
    const key = createApiKey(pepper, randomBytes);
    expect(key.text).toMatch(/^sluice_[0-9a-f]{16}_[0-9a-f]{64}$/);
    expect(parseApiKey(key.text)).toEqual({ id: key.id, secret: key.text.split('_')[2] });
  });

  it.each([
    '',
    'sluice_',
    'sluice_0123456789abcdef_',
    `sluice_0123456789ABCDEF_${'0'.repeat(64)}`,
    `sluice_0123456789abcdef_${'0'.repeat(64)}\n`,
    ` sluice_0123456789abcdef_${'0'.repeat(64)}`,
  ])('refuse %j', (text) => {
    expect(parseApiKey(text)).toBeUndefined();
  });

  it('match under their pepper only', () => {
    const key = createApiKey(pepper, randomBytes);
    const { secret } = parseApiKey(key.text) as { secret: string };
    expect(pepperOf(ring, secret, key.secretHash)).toBe('current');
    expect(pepperOf({ ...ring, current: other }, secret, key.secretHash)).toBeUndefined();
    expect(pepperOf(ring, `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`, key.secretHash)).toBeUndefined();
  });

  it('match under a pepper that is coming or going too, and are told apart by it', () => {
    const key = createApiKey(pepper, randomBytes);
    const { secret } = parseApiKey(key.text) as { secret: string };
    expect(pepperOf({ current: other, next: pepper, previous: undefined }, secret, key.secretHash)).toBe('next');
    expect(pepperOf({ current: other, next: undefined, previous: pepper }, secret, key.secretHash)).toBe('previous');
  });

  it('do not match when there is no such key, not even with a hash of zeros', () => {
    const { secret } = parseApiKey(createApiKey(pepper, randomBytes).text) as { secret: string };
    expect(pepperOf(ring, secret, undefined)).toBeUndefined();
    expect(pepperOf(ring, secret, Buffer.alloc(0))).toBeUndefined();
    expect(pepperOf(ring, secret, Buffer.alloc(32))).toBeUndefined();
  });

  it('are stored as something no plain hash of the secret can be tried against', () => {
    const key = createApiKey(pepper, randomBytes);
    const { secret } = parseApiKey(key.text) as { secret: string };
    for (const plain of [secret, key.text, `${key.id}_${secret}`])
      for (const algorithm of ['sha256', 'sha512']) expect(createHash(algorithm).update(plain).digest().subarray(0, 32).equals(key.secretHash)).toBe(false);
    expect(Buffer.from(hashSecret(pepper, secret)).equals(key.secretHash)).toBe(true);
  });
});

describe('signing secrets', () => {
  it('have the formats merchants are told', () => {
    expect(newSecret('webhook', randomBytes)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(newSecret('cashout', randomBytes)).toMatch(/^cashout_[0-9a-f]{64}$/);
  });
});

describe('authenticator seeds', () => {
  it('are 160 bits in base32 and read by an authenticator app', () => {
    const secret = newTotpSecret(randomBytes);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const url = new URL(otpauthUrl(secret, 'Acme & Sons: Books'));
    expect(url.protocol).toBe('otpauth:');
    expect(url.searchParams.get('secret')).toBe(secret);
    expect(url.searchParams.get('issuer')).toBe('Sluice');
    expect(decodeURIComponent(url.pathname)).toContain('Acme & Sons');
  });
});
