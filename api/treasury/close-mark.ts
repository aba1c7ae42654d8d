import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

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

/** Whether a mark is the one this family was given. */
export function isCloseMark(masterKey: string, family: ClosedFamily, mark: string): boolean {
  const [expected, given] = [closeMark(masterKey, family), mark].map((text) => Buffer.from(text, 'hex')) as [Buffer, Buffer];
  return given.length === expected.length && timingSafeEqual(expected, given);
}
