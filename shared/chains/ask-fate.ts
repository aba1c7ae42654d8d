import type { FinalityRule } from '#shared/core/assets.ts';
import { ChainUnavailable, type Head, type Reader, type TransactionFacts } from './chain.ts';

/** Signed bytes, asked about together with others of which only one can ever be mined. */
export interface SignedBytes {
  txid: string;
  /** A `close` does not pay the recipient that is asked about. */
  kind: 'transfer' | 'close';
  /** Canonical, like the two below. */
  sender: string;
  recipient: string;
  /** Null for native coins. */
  contract: string | null;
  /** The block that may hold it, by the books, because some nodes have no index of all transactions. */
  inBlock?: string | undefined;
}

/** The question about bytes that exclude each other. */
export interface FateQuestion {
  signed: readonly SignedBytes[];
  /** The output that they all spend, as `txid:vout`, and transactions that may have spent it instead, by the books; null where coins are balances. */
  anchor: { output: string; spenders: readonly { txid: string; inBlock: string }[] } | null;
  /** The nonce that they all use; null where there are no nonces, or they share something else. */
  nonce: { sender: string; nonce: number } | null;
  /** Unix milliseconds after which the chain accepts none of them; null where bytes never expire. */
  expiresAtMs: number | null;
  /** False when they were signed so long ago that nodes may have forgotten them; not finding them then proves nothing. */
  absenceCounts: boolean;
}

/** One provider's answer: none of them will ever pay, one of them did, or `open` for a reason. */
export type Fate = { is: 'dead' } | { is: 'paid'; txid: string } | { is: 'open'; why: string };

/**
 * Asks one provider what became of bytes that exclude each other (decisions 10).
 * They are dead when a final transaction, one of them or anybody's, took their place without paying, or when a final block is later than their
 * expiry and they were not found. `rule` decides what is final by the provider's own head.
 * @throws ChainUnavailable when its answer cannot be trusted
 */
export async function askFate(
  reader: Pick<Reader, 'transaction' | 'blockAt' | 'nonceAt'>,
  head: Head,
  rule: FinalityRule,
  question: FateQuestion,
): Promise<Fate> {
  const final = lastFinal(rule, head);
  if (final < 0) return { is: 'open', why: 'it tells of no final block' };
  let usedUp = false;
  let untold: ChainUnavailable | undefined;
  for (const bytes of question.signed) {
    const facts = await reader.transaction(bytes.txid, bytes.inBlock).catch(unlessUnavailable);
    if (facts instanceof ChainUnavailable) untold = facts;
    else if (facts?.height != null && facts.height > final && !hasPaid(bytes, facts))
      return { is: 'open', why: `transaction ${bytes.txid} failed in a block that is not final yet` };
    else if (facts?.height != null && hasPaid(bytes, facts)) return { is: 'paid', txid: bytes.txid };
    else if (facts?.height != null) usedUp = true;
  }
  for (const { txid, inBlock } of question.anchor?.spenders ?? []) {
    if (question.signed.some((bytes) => bytes.txid === txid)) continue;
    const facts = await reader.transaction(txid, inBlock).catch(unlessUnavailable);
    if (facts instanceof ChainUnavailable || facts?.height == null) continue;
    if (facts.height <= final && facts.spends?.includes(question.anchor?.output ?? '')) usedUp = true;
  }
  // Only one of them can ever be mined, and a final transaction took that place. So it does not matter that others could not be looked up.
  if (usedUp) return { is: 'dead' };
  if (untold !== undefined) throw untold;
  const { nonce, expiresAtMs, absenceCounts } = question;
  if (!absenceCounts) return { is: 'open', why: 'nothing of theirs is in a final block that it remembers' };
  if (expiresAtMs !== null) {
    const { time } = await reader.blockAt(final);
    return time * 1_000 > expiresAtMs ? { is: 'dead' } : { is: 'open', why: 'no final block is beyond their end yet' };
  }
  if (nonce === null || reader.nonceAt === undefined) return { is: 'open', why: 'nothing of theirs is in a final block' };
  return (await reader.nonceAt(nonce.sender, final)) > nonce.nonce ? { is: 'dead' } : { is: 'open', why: `nonce ${nonce.nonce} is not used in a final block` };
}

/** A node without an index of all transactions may know some of them and not others. */
function unlessUnavailable(error: unknown): ChainUnavailable {
  if (error instanceof ChainUnavailable) return error;
  throw error;
}

/** Whether a transaction moved anything that it was signed to move. Less than the intended amount is a payment too, and if unsure it counts as paid. */
function hasPaid({ kind, sender, recipient, contract }: SignedBytes, { succeeded, transfers }: TransactionFacts): boolean {
  if (kind === 'close' || succeeded === false) return false;
  // A native coin moves when its transaction succeeds; a token may report success and move nothing (chains 1.2).
  if (contract === null || succeeded === null) return true;
  return transfers.some((moved) => moved.contract === contract && (moved.sender === sender || moved.recipient === recipient));
}

/** Height up to which a provider's blocks are final; below 0 when none is known to be final. */
function lastFinal(rule: FinalityRule, { latest, safeHeight, finalizedHeight }: Head): number {
  if ('blocks' in rule) return latest.height - rule.blocks + 1;
  return (rule.tag === 'safe' ? (safeHeight ?? finalizedHeight) : finalizedHeight) ?? -1;
}
