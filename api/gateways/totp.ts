import { timingSafeEqual } from 'node:crypto';
import { generateSync, generateURI, ScureBase32Plugin } from 'otplib';
import { POLICY } from '#shared/core/policy.ts';

/** A new authenticator seed: 20 random bytes in base32, as RFC 6238 with SHA-1 wants. */
export function newTotpSecret(randomBytes: (length: number) => Uint8Array): string {
  return new ScureBase32Plugin().encode(randomBytes(20), { padding: false });
}

/** The `otpauth://` URL that authenticator apps read from a QR code: SHA-1, 6 digits, 30 seconds. */
export function otpauthUrl(secret: string, gatewayName: string): string {
  return generateURI({ issuer: 'Sluice', label: gatewayName, secret, algorithm: 'sha1', digits: 6, period: POLICY.totpStepSeconds });
}

/**
 * The time steps near `unixSeconds` for which this code is right, by RFC 6238 with SHA-1 (decisions 10): none when the code is wrong, normally one.
 * One step either way is accepted. Compares in constant time.
 */
export function matchingSteps(secret: string, code: string, unixSeconds: number): number[] {
  const now = Math.floor(unixSeconds / POLICY.totpStepSeconds);
  const steps = Array.from({ length: 2 * POLICY.totpWindowSteps + 1 }, (_, at) => now - POLICY.totpWindowSteps + at);
  const given = Buffer.from(code);
  return steps.filter((step) => {
    const expected = Buffer.from(generateSync({ secret, algorithm: 'sha1', digits: 6, period: POLICY.totpStepSeconds, epoch: step * POLICY.totpStepSeconds }));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
