import type { Family } from '#shared/core/assets.ts';

/**
 * Whether transactions carry a nonce of their account. All attempts of a payout then share one nonce, so at most one of them can ever be mined.
 * Elsewhere a new attempt is made only after the last one expired unseen (reliability D13, D14).
 */
export function usesNonces(family: Family): boolean {
  return family === 'evm';
}

/**
 * Whether coins are outputs, which transactions spend whole (reliability D13). A payout then takes outputs of its pool wherever they lie, and
 * nothing is swept. All its attempts spend one common output, the anchor, so only one of them can ever be mined.
 */
export function spendsOutputs(family: Family): boolean {
  return family === 'bitcoin';
}
