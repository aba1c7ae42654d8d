import type { Doubt } from '#api/store/deposits.ts';
import type { Payment } from '#api/store/payments.ts';
import { formatAmount } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { type ExplainedPayment, type ExplanationStep, step } from './step.ts';

const DOUBTS: Record<Doubt, string> = {
  unreachable: ': not enough of them tell of it as final',
  disputed: ': one of them tells otherwise of its block, its outcome or its amount, so one of them is wrong',
  unseen: ': the other one does not show coins that contracts pass on, so that it takes an endpoint which does (rpcUrls)',
};

/** What the payment waits for now, or that nothing more will happen by itself. Pure. */
export function nextStep(facts: ExplainedPayment): ExplanationStep {
  const { now, parts } = facts;
  const { payment, offers, addresses, deposits } = parts;
  if (payment.status === 'EXPIRED') return afterExpiry(facts);
  if (payment.status !== 'PENDING') return step(now, 'next', 'rests', `${payment.status} is final; a later deposit would be credited and change nothing.`, {});
  const open = deposits.filter((deposit) => deposit.state === 'seen');
  const first = open[0];
  const overdue = payment.expiresAt <= now;
  const until = { expiresAt: payment.expiresAt, secondsLeft: Math.max(0, Math.floor((payment.expiresAt.getTime() - now.getTime()) / 1_000)) };
  if (first !== undefined) {
    const pending = facts.pending.get(first.id);
    const what = `${formatAmount(first.amount)} ${first.symbol} (${first.txid})`;
    const coins = { amount: first.amount, asset: first.symbol };
    const figures = { depositId: first.id, txHash: first.txid, network: first.networkName, ...coins, confirmations: first.confirmations };
    if (payment.sandbox)
      return step(
        now,
        'next',
        'awaiting_simulation',
        `${what} is simulated and confirms by itself ${POLICY.sandboxConfirmSeconds} s after it was seen, or by another simulate call.`,
        figures,
      );
    if (pending === undefined) return step(now, 'next', 'awaiting_finality', `${what} waits until its block is final.`, figures);
    if (!pending.final) {
      const required = 'blocks' in pending.rule ? `${pending.rule.blocks} confirmations` : `a block the chain calls ${pending.rule.tag}`;
      return step(now, 'next', 'awaiting_finality', `${what} has ${first.confirmations} confirmations and waits for ${required}.`, {
        ...figures,
        ...('blocks' in pending.rule ? { requiredConfirmations: pending.rule.blocks } : { requiredTag: pending.rule.tag }),
      });
    }
    if (first.doubt !== null) {
      const text = `${what} is final and is booked once a second provider of ${first.networkName} confirms it${DOUBTS[first.doubt]}.`;
      return step(now, 'next', 'awaiting_booking', text, { ...figures, doubt: first.doubt });
    }
    return first.waits
      ? step(now, 'next', 'awaiting_price', `${what} is final and waits for a fresh price of ${first.symbol}, or of the invoice's currency.`, figures)
      : step(now, 'next', 'awaiting_booking', `${what} is final and about to be booked.`, figures);
  }
  const waiting = facts.expected.find((one) => one.state === 'waiting');
  if (waiting !== undefined) {
    const text = `${formatAmount(waiting.amount)} ${waiting.symbol} (${waiting.txid}) wait for a block of ${waiting.networkName} to hold them.`;
    const { txid: txHash, networkName: network, amount, symbol: asset, firstSeenAt } = waiting;
    return step(now, 'next', 'awaiting_block', text, { txHash, network, amount, asset, firstSeenAt, ...until });
  }
  if (overdue) {
    const text = `The deadline has passed; it expires within about a minute, once every chain it has an address on was read up to the deadline (${POLICY.expiryPatienceSeconds} s at most).`;
    return step(now, 'next', 'awaiting_expiry', text, { ...until, patienceSeconds: POLICY.expiryPatienceSeconds });
  }
  if (payment.sandbox)
    return step(now, 'next', 'awaiting_simulation', 'A sandbox payment waits for a simulated deposit; nothing sent on a chain reaches it.', until);
  const selected = offers.find((offer) => offer.id === payment.selectedOfferId);
  if (selected === undefined)
    return step(now, 'next', 'awaiting_select', `Waits for the payer to select an asset, until ${payment.expiresAt.toISOString()}.`, until);
  if (!addresses.some((address) => address.watched)) {
    const text = `Waits until the indexer of ${selected.networkName} watches the address, which can then be shown to the payer; payable until ${payment.expiresAt.toISOString()}.`;
    return step(now, 'next', 'awaiting_address', text, { network: selected.networkName, ...until });
  }
  return step(now, 'next', 'awaiting_deposit', `Waits for a deposit until ${payment.expiresAt.toISOString()}.`, until);
}

function afterExpiry({ now, parts }: ExplainedPayment): ExplanationStep {
  if (!parts.payment.sandbox && parts.addresses.length === 0)
    return step(now, 'next', 'rests', 'EXPIRED is final: no address was assigned before the deadline, so nothing can reach it.', {});
  const graceEndsAt = graceEnd(parts.payment);
  if (now > graceEndsAt)
    return step(now, 'next', 'closed', `The grace period ended at ${graceEndsAt.toISOString()}; a deposit now would be kept for the operator to allocate.`, {
      graceEndsAt,
    });
  return step(now, 'next', 'grace', `A deposit that lands until ${graceEndsAt.toISOString()} still reopens it.`, { graceEndsAt });
}

/** Until when a deposit still reopens an expired payment, capped at the end of year 9999 (decisions 4). */
export function graceEnd(payment: Pick<Payment, 'expiresAt' | 'graceSeconds'>): Date {
  return new Date(Math.min(payment.expiresAt.getTime() + payment.graceSeconds * 1_000, Date.parse(POLICY.latestDeadline)));
}
