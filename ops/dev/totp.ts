import { generateSync } from 'otplib';

/** The six digits an authenticator app shows for `secret` at a moment, in milliseconds (RFC 6238, SHA-1, 30 s). */
export function totpCode(secret: string, atMs: number): string {
  return generateSync({ secret, algorithm: 'sha1', digits: 6, period: 30, epoch: Math.floor(atMs / 1_000) });
}
