import { formatAmount } from '#shared/core/money.ts';
import { type Gate, needs, refuse } from '../settlement.ts';

/** Refuses an amount that its own network fee would use up, because something must be left to send (contract 4.3, decisions 10). */
export const networkFee: Gate = (request, course) => {
  if (request.feeLocked === undefined) return needs('fee');
  if (request.feeLocked < request.amount) return { pass: course };
  return refuse('amount_below_network_fee', `amount: the network fee alone is ${formatAmount(request.feeLocked)}`);
};
