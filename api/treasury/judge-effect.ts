/** A transfer that left the paying wallet in the transaction being judged. */
export interface OutgoingTransfer {
  recipient: string | null;
  contract: string | null;
  rawAmount: bigint;
}

export type Effect =
  /** Exactly what was meant happened, and nothing else. */
  | { outcome: 'done' }
  /** Nothing left the wallet: it may be paid again. */
  | { outcome: 'nothing'; reason: string }
  /** Something left the wallet, but not what was meant: paying again could pay twice. */
  | { outcome: 'other'; reason: string };

/** Judges a final transaction that was only to use a nonce up: nothing of the payout's may have moved. Pure. */
export function judgeClose(moved: readonly OutgoingTransfer[]): Effect {
  if (moved.some((transfer) => transfer.rawAmount > 0n)) return { outcome: 'other', reason: 'it was to use a nonce up, and moved something' };
  return { outcome: 'nothing', reason: 'closed: the transfer could not be sent any more, so its nonce was used up' };
}

/**
 * Judges a final transaction by what it moved, never by its status alone: a token may report success and move nothing
 * (chains 1.2, reliability I19). Pure.
 */
export function judgeEffect(
  meant: { recipient: string; contract: string | null; rawAmount: bigint },
  succeeded: boolean,
  moved: readonly OutgoingTransfer[],
): Effect {
  const left = moved.filter((transfer) => transfer.rawAmount > 0n);
  if (left.length === 0) return { outcome: 'nothing', reason: succeeded ? 'it succeeded but moved nothing' : 'it failed on the chain' };
  const [only] = left;
  const exact = left.length === 1 && only?.recipient === meant.recipient && only.contract === meant.contract && only.rawAmount === meant.rawAmount;
  return exact && succeeded ? { outcome: 'done' } : { outcome: 'other', reason: 'it moved something else than was meant' };
}
