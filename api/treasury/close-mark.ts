import { createHmac, hkdfSync } from 'node:crypto';
import { isMacOf, type KeyRing } from '#shared/platform/key-ring.ts';

/** The family that is to be closed: its payout, its wallet, and the nonce or the anchor all of its attempts share. */
export interface ClosedFamily {
  payoutId: string;
  walletAddress: string;
  nonce: number | null;
  anchor: string | null;
}

/**
 * Marks a payout as one to be closed with a key the database does not hold, so that whoever can write rows cannot make the
 * signer burn fees or keep cashouts from being paid (reliability D15). Hex.
 */
export function closeMark(masterKey: string, { payoutId, walletAddress, nonce, anchor }: ClosedFamily): string {
  const key = new Uint8Array(hkdfSync('sha256', masterKey, 'sluice', 'payout closes, version 1', 32));
  return createHmac('sha256', key)
    .update([payoutId, walletAddress, nonce ?? anchor].join('\n'))
    .digest('hex');
}

/** Whether a mark is the one this family was given, under any of the keys. */
export function isCloseMark(keys: KeyRing, family: ClosedFamily, mark: string): boolean {
  return isMacOf(keys, Buffer.from(mark, 'hex'), (key) => Buffer.from(closeMark(key, family), 'hex'));
}
