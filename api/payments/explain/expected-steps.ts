import type { ExpectedArrival } from '#api/store/deposit-addresses.ts';
import { formatAmount } from '#shared/core/money.ts';
import { type ExplanationStep, step } from './step.ts';

/** Tells of a transfer that was seen before a block held it, and what became of it. Pure. */
export function expectedStep(arrival: ExpectedArrival): ExplanationStep {
  const { txid, state, replacedBy, endedAt, assetId, symbol, networkName, amount, firstSeenAt } = arrival;
  const seen = `${formatAmount(amount)} ${symbol} were seen on their way on ${networkName}, transaction ${txid}`;
  const figures = { txHash: txid, assetId, asset: symbol, network: networkName, amount, firstSeenAt, state, replacedBy, endedAt };
  switch (state) {
    case 'waiting':
      return step(firstSeenAt, 'deposit', 'deposit_waiting', `${seen}; no block holds it yet, and until one does another may take its place.`, figures);
    case 'mined':
      return step(firstSeenAt, 'deposit', 'deposit_found', `${seen}, before a block held it.`, figures);
    case 'replaced':
      return step(firstSeenAt, 'deposit', 'deposit_replaced', `${seen}; transaction ${replacedBy}, which spends the same coins, took its place.`, figures);
    case 'gone':
      return step(firstSeenAt, 'deposit', 'deposit_vanished', `${seen}; since ${endedAt?.toISOString()} the node has it no more.`, figures);
  }
}
