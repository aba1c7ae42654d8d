import { type Log, type Receipt, type Transaction, unsure } from './replies.ts';
import { tokenTransferOf } from './token-transfer.ts';
import type { CoinMove } from './traces.ts';

/** Emits one Transfer for each movement of the native coin where EIP-7708 is active; no contract can ever be there. */
const SYSTEM_ADDRESS = '0xfffffffffffffffffffffffffffffffffffffffe';

/** Whether the chain itself logged it: then it is about the native coin and never about a token. */
export function isCoinLog(log: Log): boolean {
  return log.emitter === SYSTEM_ADDRESS;
}

/**
 * The movements that a receipt's coin logs tell. The transaction's own value comes first and is left out, as it is in
 * traces; the rest have the very same ordinals. `tx` is needed for that; without it the first log may be the own value.
 */
export function movesOfLogs(receipt: Receipt, tx: Transaction): CoinMove[] {
  const moved = receipt.logs.filter(isCoinLog).flatMap((log) => tokenTransferOf(log) ?? []);
  const recipient = receipt.to ?? receipt.created;
  const ownValue = tx.value > 0n && recipient !== receipt.from;
  if (ownValue) {
    const first = moved.shift();
    if (first?.sender !== receipt.from || first.recipient !== recipient || BigInt(first.rawAmount) !== tx.value)
      unsure(`transaction ${receipt.txid} moved coins that no log tells of; is coinLogs right for this network?`);
  }
  return moved.map(({ sender, recipient: to, rawAmount }, i) => ({ ordinal: i + 1, sender, recipient: to, value: BigInt(rawAmount) }));
}
