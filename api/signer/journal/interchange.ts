import { createWriteStream, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import type { JournalEntry } from '../journal-entry.ts';
import type { JournalFile } from './journal-file.ts';
import { firstHash, headerLine, JournalCorrupt, type JournalHead, type JournalHeader, readHeader, recordLine } from './record.ts';

/** A journal in the format it is exported in: JSON lines with named fields, one per signature. */
export interface Interchange {
  header: JournalHeader;
  entries: JournalEntry[];
  head: JournalHead;
  /** Hashes of the chain: the first before any record, then one after each record. */
  hashes: string[];
}

/**
 * Writes a journal to a file: its header, then one line per signature with the hash of the chain after it, so that a removed, added or changed line
 * is noticed.
 * Like the interchange format of validators' signers (EIP-3076, complete form) it holds every signature. A watermark would not do, because orders
 * are not numbers that only grow. Returns the head.
 */
export async function writeInterchange(file: JournalFile, path: string): Promise<JournalHead> {
  const stream = createWriteStream(path, { mode: 0o600, flush: true });
  const write = async (line: string): Promise<void> => {
    if (!stream.write(`${line}\n`)) await once(stream, 'drain');
  };
  await write(headerLine(file.header));
  let seq = 0;
  for (const { rawAmount, rawFee, ...entry } of file.entries()) {
    seq += 1;
    await write(JSON.stringify({ seq, hash: file.hashAt(seq), ...entry, rawAmount: String(rawAmount), rawFee: String(rawFee) }));
  }
  stream.end();
  await finished(stream);
  return file.head;
}

/** Reads an exported journal and checks the hash of every line. @throws JournalCorrupt naming the first signature that was changed */
export function readInterchange(path: string): Interchange {
  const [first = '', ...lines] = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const header = readHeader(first);
  const hashes = [firstHash(headerLine(header))];
  const entries = lines.map((line, at) => {
    const { seq, hash, ...read } = JSON.parse(line) as JournalEntry & { seq: number; hash: string };
    const entry: JournalEntry = { ...read, rawAmount: BigInt(read.rawAmount), rawFee: BigInt(read.rawFee) };
    const record = recordLine(hashes[at] as string, entry);
    if (seq !== at + 1 || record.hash !== hash) throw new JournalCorrupt(`signature ${at + 1} of the export is not the one that was written`);
    hashes.push(hash);
    return entry;
  });
  return { header, entries, hashes, head: { id: header.id, seq: entries.length, hash: hashes.at(-1) as string } };
}
