import type { Family } from '#shared/core/assets.ts';

/**
 * Whether the transactions of an account carry a nonce: then all attempts of a payout share one, and at most one of them can
 * ever be mined. Where they do not, an attempt is replaced only after it expired unseen (reliability D13, D14).
 */
export function usesNonces(family: Family): boolean {
  return family === 'evm';
}

/**
 * Whether coins are outputs that a transaction spends whole: then a payout takes some of those its pool has wherever they lie,
 * nothing is swept, and all of its attempts spend one of them, its anchor, so that only one can ever be mined (reliability D13).
 */
export function spendsOutputs(family: Family): boolean {
  return family === 'bitcoin';
}
