import type { WatchSet } from '../chain.ts';
import { CREATED, END, FROM, GAS, LOGS, NAMED, START, STATUS, TO, TOLD, walkReceipts as walk } from '../kernel.ts';
import type { Unread } from '../unread.ts';
import { type Header, type Outcome, readReceipt, type Receipt } from './replies.ts';
import { watchedKeys } from './watched-keys.ts';

/** Receipts of a block that the root in its header proves, nearly all of which nobody made an object of. */
export interface WalkedReceipts {
  logs: number;
  /** What a trace must agree with, of each. */
  outcomes(): Outcome[];
  /** Those in which a watched address is named where coins or tokens move, and those of these transactions, read whole; in order. */
  named(also: (txid: string) => boolean): Receipt[];
}

const ADDRESS_TEXT = 44;
const QUOTE = '"';

/**
 * Walks once over the receipts of a block as its node told them. Undefined unless every check of readReceipt and crossCheck would pass and the root in the
 * header covers all of them (decisions 0046 and 0090): then nothing is known.
 */
export function walkReceipts(answer: Unread, header: Header, watched: WatchSet): WalkedReceipts | undefined {
  const walked = header.rootless === true ? undefined : walk(answer.bytes, header, watchedKeys(watched));
  if (walked === undefined || walked.root !== header.receiptsRoot) return undefined;
  const { logs, told } = walked;
  const of = (i: number, what: number): number => told[i * TOLD + what] as number;
  const addressAt = (at: number): string | null => (at === 0 ? null : answer.bytes.toString('latin1', at + 1, at + ADDRESS_TEXT - 1));
  return {
    logs,
    outcomes: () =>
      header.transactions.map((txid, i) => ({
        txid,
        succeeded: of(i, STATUS) === 1,
        from: addressAt(of(i, FROM)) as string,
        to: addressAt(of(i, TO)),
        created: addressAt(of(i, CREATED)),
        gasUsed: BigInt(answer.bytes.toString('latin1', of(i, GAS) + 1, answer.bytes.indexOf(QUOTE, of(i, GAS) + 1))),
        logs: { length: of(i, LOGS) },
      })),
    named(also) {
      const found: Receipt[] = [];
      for (const [i, txid] of header.transactions.entries())
        if (of(i, NAMED) === 1 || also(txid)) found.push(readReceipt(answer.read(of(i, START), of(i, END))));
      return found;
    },
  };
}
