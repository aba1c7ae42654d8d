import { generateSync } from 'otplib';
import { POLICY } from '#shared/core/policy.ts';

/** What an authenticator app shows for a base32 secret; now, unless another Unix second is asked for. */
export function totpCode(secret: string, unixSeconds = Math.floor(Date.now() / 1_000)): string {
  return generateSync({ secret, algorithm: 'sha1', digits: 6, period: POLICY.totpStepSeconds, epoch: unixSeconds });
}
