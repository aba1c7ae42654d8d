import { generateURI, ScureBase32Plugin } from 'otplib';

/** A new authenticator seed: 20 random bytes in base32, as RFC 6238 with SHA-1 wants. */
export function newTotpSecret(randomBytes: (length: number) => Uint8Array): string {
  return new ScureBase32Plugin().encode(randomBytes(20), { padding: false });
}

/** The `otpauth://` URL that authenticator apps read from a QR code: SHA-1, 6 digits, 30 seconds. */
export function otpauthUrl(secret: string, gatewayName: string): string {
  return generateURI({ issuer: 'Sluice', label: gatewayName, secret, algorithm: 'sha1', digits: 6, period: 30 });
}
