import { concatBytes } from 'viem';
import { atOnce, type Steps } from '#shared/core/turns.ts';
import type { Receipt } from './replies.ts';
import { bytes, encodeRlp, quantity, type Rlp } from './rlp.ts';
import { findTrieRoot } from './trie-root.ts';

/** A deposit on the OP stack, whose receipt says more than others do. */
const DEPOSIT = 0x7e;
/**
 * Receipts whose form is known: legacy and the envelopes of EIP-2930, 1559, 4844 and 7702; what Arbitrum's own transactions leave; the OP
 * stack's deposits; Polygon's state syncs since they are transactions of a block. All but the deposits are written alike.
 */
const KNOWN_TYPES = new Set([0, 1, 2, 3, 4, 0x64, 0x65, 0x66, 0x68, 0x69, 0x6a, DEPOSIT, 0x7f]);

type Deposited = Pick<Receipt, 'depositNonce' | 'depositReceiptVersion'>;
type Rooted = Pick<Receipt, 'type' | 'succeeded' | 'cumulativeGasUsed' | 'logsBloom' | 'logs'> & Partial<Deposited>;

/**
 * The root a block's header must name for exactly these receipts, in this order (EIP-2718, Ethereum's receipts trie): it
 * covers outcomes, gas and every byte of every log. Pure.
 * @returns null when a receipt is of a type whose form is not known here
 */
export function receiptsRoot(receipts: readonly Rooted[]): string | null {
  return atOnce(findReceiptsRoot(receipts));
}

/** The same in steps. */
export function* findReceiptsRoot(receipts: readonly Rooted[]): Steps<string | null> {
  if (receipts.some(({ type }) => !KNOWN_TYPES.has(type))) return null;
  const values: Uint8Array[] = [];
  for (const receipt of receipts) {
    values.push(yield* encode(receipt));
    yield;
  }
  return yield* findTrieRoot(values);
}

function* encode({ type, succeeded, cumulativeGasUsed, logsBloom, logs, depositNonce = null, depositReceiptVersion = null }: Rooted): Steps<Uint8Array> {
  const items: Rlp[] = [];
  for (const log of logs) {
    items.push([bytes(log.emitter), log.topics.map(bytes), bytes(log.data)]);
    yield;
  }
  const fields: Rlp[] = [quantity(succeeded ? 1n : 0n), quantity(cumulativeGasUsed), bytes(logsBloom), items];
  if (type === DEPOSIT && depositNonce !== null)
    fields.push(quantity(depositNonce), ...(depositReceiptVersion === null ? [] : [quantity(depositReceiptVersion)]));
  const body = encodeRlp(fields);
  return type === 0 ? body : concatBytes([Uint8Array.of(type), body]);
}
