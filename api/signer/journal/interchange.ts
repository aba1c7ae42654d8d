import { createWriteStream, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import type { JournalEntry } from '../journal-entry.ts';
import type { JournalFile } from './journal-file.ts';
import { firstHash, headerLine, JournalCorrupt, type JournalHead, type JournalHeader, readHeader, recordLine } from './record.ts';

/** A journal as it is moved and kept elsewhere: JSON lines that say by name what each signature was. */
export interface Interchange {
  header: JournalHeader;
  entries: JournalEntry[];
  head: JournalHead;
  /** Hash of the chain after every record, the first before any. */
  hashes: string[];
}

/**
 * Writes a journal where it can be kept: its header, then a line per signature with the hash of the chain after it, so that nothing can be
 * left out, added or changed unnoticed. Complete like the interchange of validators' signers (EIP-3076), and never a mere watermark: an order
 * is not a number that only grows. Answers where it ends.
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

/** Reads one, and proves every line of it. @throws JournalCorrupt naming the first that is not as it was written */
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
