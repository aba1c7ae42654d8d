import { walkBodies as walk, END, START, TOLD } from '../kernel.ts';
import type { Unread } from '../unread.ts';
import type { Bodies, ChainRules } from './content.ts';
import { encodeTransaction } from './envelope.ts';
import { type Header, readTransaction, type Transaction } from './replies.ts';

/**
 * Walks once over a block told with its transactions, and makes objects of those at `positions` alone. Undefined unless every check of crossCheckBodies
 * would pass and the root in the header covers all of them (decisions 0046 and 0090): then nothing is known.
 */
export function walkBodies(answer: Unread, header: Header, { chainId, stateSyncs }: ChainRules, positions: readonly number[]): Bodies | undefined {
  if (header.rootless === true) return undefined;
  const encode = (from: number, end: number, type: number, into: Uint8Array): number => {
    const encoded = encodeTransaction(answer.read(from, end) as Record<string, unknown>, type, chainId);
    if (encoded === null || encoded.length > into.length) return 0;
    into.set(encoded);
    return encoded.length;
  };
  const walked = walk(answer.bytes, header, stateSyncs, encode);
  if (walked === undefined || walked.root !== header.transactionsRoot) return undefined;
  const told: Record<string, unknown>[] = [];
  const read: Transaction[] = [];
  for (const i of positions) {
    told[i] = answer.read(walked.told[i * TOLD + START], walked.told[i * TOLD + END]) as Record<string, unknown>;
    read[i] = readTransaction(told[i]);
  }
  return { told, read, covered: header.transactions.length };
}
