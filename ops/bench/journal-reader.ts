import { JournalFile } from '#api/signer/journal/journal-file.ts';
import { answerLines } from './tool.ts';

// Opens a journal as a signer does when it starts, in a process whose memory is nothing else.

/** Which journal, and an order to look for. */
export interface Reading {
  path: string;
  order: string;
}

/** What came of it. */
export interface Read {
  seconds: number;
  rssMib: number;
  seq: number;
  hash: string;
  /** Signatures of that order. */
  found: number;
}

answerLines(async ({ path, order }: Reading): Promise<Read> => {
  const began = performance.now();
  const file = JournalFile.open(path, { write: true });
  const seconds = (performance.now() - began) / 1_000;
  const { seq, hash } = file.head;
  return { seconds, rssMib: process.memoryUsage().rss / 2 ** 20, seq, hash, found: file.ofOrder(order).length };
});
