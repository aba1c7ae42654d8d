import type { Mail } from '#api/deps.ts';
import type { StoredSettlement } from '#api/store/settlements.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { ParkedStatus } from '#state-machines/settlement/settlement.ts';

const BLOCKED_BY: Readonly<Record<ParkedStatus, string>> = {
  UNDERFUNDED: 'the balance it draws from did not cover it',
  WAITING_AML_CREDIT: 'its destination could not be screened, because the screening credit was used up',
};

/**
 * The mail that tells a merchant that a parked cashout was rejected at the end of its time (contract 3.2). It repeats only what the merchant knows.
 * Metadata is left out, because it is the merchant's own and mail is not private.
 */
export function rejectionMail(settlement: StoredSettlement, expiredFrom: ParkedStatus, to: string): Mail {
  const { id, amountText, assetSymbol, networkName, address, createdAt } = settlement;
  return {
    id: `settlement-rejected-${id}`,
    to,
    subject: `Cashout of ${amountText} ${assetSymbol} was rejected`,
    text: [
      `A cashout waited ${POLICY.parkedDays} days and was rejected: ${BLOCKED_BY[expiredFrom]}.`,
      '',
      `Cashout: ${id}`,
      `Amount: ${amountText} ${assetSymbol} on ${networkName}`,
      `To: ${address}`,
      `Created: ${createdAt.toISOString()}`,
      '',
      'Nothing was reserved for it and nothing was paid. To withdraw the amount, create a new cashout.',
      '',
    ].join('\n'),
  };
}
