/** A transfer that left the paying wallet in the transaction being judged. */
export interface OutgoingTransfer {
  recipient: string | null;
  contract: string | null;
  rawAmount: bigint;
}

export type Effect =
  /** Exactly the intended transfer happened, and nothing else. */
  | { outcome: 'done' }
  /** Nothing left the wallet, so the order may be paid again. */
  | { outcome: 'nothing'; reason: string }
  /** Something else left the wallet than intended, so paying again could pay twice. */
  | { outcome: 'other'; reason: string };

/** Judges a final close, which only uses up a nonce: nothing of the payout may have moved. Pure. */
export function judgeClose(moved: readonly OutgoingTransfer[]): Effect {
  if (moved.some((transfer) => transfer.rawAmount > 0n)) return { outcome: 'other', reason: 'it was to use a nonce up, and moved something' };
  return { outcome: 'nothing', reason: 'closed: the transfer could not be sent any more, so its nonce was used up' };
}

/**
 * Judges a final transaction by what it moved, not by its status alone, because a token may report success and move nothing (chains 1.2,
 * reliability I19). Pure.
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

/**
 * Judges a final transaction by all outputs it made, where coins are outputs: exactly the payment, then the planned change.
 * A close (`meant` null) gives the anchor back, so all its outputs must belong to the wallet. Pure.
 */
export function judgeOutputs(
  meant: { recipient: string; rawAmount: bigint } | null,
  { wallet, change }: { wallet: string; change: { address: string; rawAmount: bigint } | null },
  made: readonly (OutgoingTransfer & { ordinal: number })[],
): Effect {
  const other: Effect = { outcome: 'other', reason: 'it moved something else than was meant' };
  if (meant === null) {
    if (made.length === 0 || made.some((output) => output.recipient !== wallet)) return other;
    return { outcome: 'nothing', reason: 'closed: the transfer could not be sent any more, so its anchor went back' };
  }
  const planned = [meant, ...(change === null ? [] : [{ recipient: change.address, rawAmount: change.rawAmount }])];
  const inOrder = [...made].sort((a, b) => a.ordinal - b.ordinal);
  const exact =
    inOrder.length === planned.length &&
    inOrder.every(({ ordinal, contract, recipient, rawAmount }, i) => {
      const one = planned[i];
      return ordinal === i && contract === null && recipient === one?.recipient && rawAmount === one.rawAmount;
    });
  return exact ? { outcome: 'done' } : other;
}
