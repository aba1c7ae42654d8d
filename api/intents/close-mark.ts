import { createHmac, hkdfSync } from 'node:crypto';

/** The payout that is to be closed: its id, its wallet, and the nonce or the anchor that all of its attempts share. */
export interface ClosedPayout {
  payoutId: string;
  walletAddress: string;
  nonce: number | null;
  anchor: string | null;
}

/**
 * Marks a payout as one to be closed. That it is there is all our signer asks: a close pays nobody, and what it costs is held by the fee limits. What is in it
 * a signer of the release before this one asks for (decision 0036). Hex.
 */
export function closeMark(masterKey: string, { payoutId, walletAddress, nonce, anchor }: ClosedPayout): string {
  const key = new Uint8Array(hkdfSync('sha256', masterKey, 'sluice', 'payout closes, version 1', 32));
  return createHmac('sha256', key)
    .update([payoutId, walletAddress, nonce ?? anchor].join('\n'))
    .digest('hex');
}
