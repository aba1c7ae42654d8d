import { closeSync, fdatasyncSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { JournalEntry } from '../journal-entry.ts';
import { entryOfLine, firstHash, headerLine, JournalCorrupt, type JournalHead, type JournalHeader, readHeader, readRecord, recordLine } from './record.ts';

const CHUNK = 4 * 1024 * 1024;
const HASH_BYTES = 32;
const LINE_FEED = 10;
/** At most this many entries are kept in memory as objects; the others are read from the file when needed. */
const KEPT = 100_000;

/**
 * A journal on disk: a header line, then one line per signature, each with a hash over everything before it.
 * Memory holds about 100 bytes per entry, which are what it takes to find and to verify it; the entry itself stays in the file.
 */
export class JournalFile {
  readonly header: JournalHeader;
  readonly #fd: number;
  #size: number;
  #hash: string;
  #count = 0;
  /** Position in the file at which each record begins, and after the last one the position of the next. */
  #offsets = new Float64Array(1_024);
  #hashes = Buffer.alloc(1_024 * HASH_BYTES);
  #times = new Float64Array(1_024);
  /**
   * The newest record of each order and slot; each record links to the one before it with the same key. Keys are hashes, so other orders may share
   * them.
   */
  readonly #newestOfOrder = new Map<number, number>();
  readonly #newestOfSlot = new Map<number, number>();
  #beforeOfOrder = new Int32Array(1_024);
  #beforeOfSlot = new Int32Array(1_024);
  readonly #newestOfTxid = new Map<number, number>();
  #beforeOfTxid = new Int32Array(1_024);
  readonly #kept = new Map<number, JournalEntry>();

  private constructor(fd: number, line: string) {
    this.#fd = fd;
    this.header = readHeader(line);
    this.#hash = firstHash(line);
    this.#size = Buffer.byteLength(line) + 1;
    this.#offsets[0] = this.#size;
  }

  /** Makes a journal of `entries`, in place of any file at `path`. The journal is on disk under that name when this returns. */
  static create(path: string, header: JournalHeader, entries: Iterable<JournalEntry> = []): JournalHead {
    const part = `${path}.part`;
    const fd = openSync(part, 'w', 0o600);
    let hash = firstHash(headerLine(header));
    let seq = 0;
    try {
      let lines = [headerLine(header)];
      for (const entry of entries) {
        const record = recordLine(hash, entry);
        lines.push(record.line);
        hash = record.hash;
        seq += 1;
        if (lines.length < 1_000) continue;
        writeAll(fd, `${lines.join('\n')}\n`);
        lines = [];
      }
      if (lines.length > 0) writeAll(fd, `${lines.join('\n')}\n`);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(part, path);
    syncDirectory(dirname(path));
    return { id: header.id, seq, hash };
  }

  /**
   * Reads a journal from its first line to its last and verifies each. With `write`, an incomplete last record is cut off: the signer crashed while
   * it wrote, before it released that signature.
   * @throws JournalCorrupt when any other line is not as it was written; Error with code ENOENT when there is no file
   */
  static open(path: string, { write }: { write: boolean }): JournalFile {
    const fd = openSync(path, write ? 'r+' : 'r');
    try {
      let file: JournalFile | undefined;
      let position = 0;
      let rest: Buffer = Buffer.alloc(0);
      const chunk = Buffer.allocUnsafe(CHUNK);
      for (;;) {
        const read = readSync(fd, chunk, 0, CHUNK, position);
        if (read === 0) break;
        position += read;
        const bytes = rest.length === 0 ? chunk.subarray(0, read) : Buffer.concat([rest, chunk.subarray(0, read)]);
        let begin = 0;
        for (let end = bytes.indexOf(LINE_FEED, begin); end >= 0; end = bytes.indexOf(LINE_FEED, begin)) {
          const line = bytes.toString('utf8', begin, end);
          if (file === undefined) file = new JournalFile(fd, line);
          else file.#load(line, end - begin + 1);
          begin = end + 1;
        }
        rest = Buffer.from(bytes.subarray(begin));
      }
      if (file === undefined) throw new JournalCorrupt('it does not even have a first line');
      // The line feed is written last. Without it the write did not finish, so that signature was never released.
      if (rest.length > 0 && write) {
        ftruncateSync(fd, file.#size);
        fsyncSync(fd);
      }
      return file;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  get head(): JournalHead {
    return { id: this.header.id, seq: this.#count, hash: this.#hash };
  }

  /** Hash of the chain after `seq` records; undefined beyond the end. */
  hashAt(seq: number): string | undefined {
    if (seq === this.#count) return this.#hash;
    return seq >= 0 && seq < this.#count ? this.#hashes.toString('hex', seq * HASH_BYTES, (seq + 1) * HASH_BYTES) : undefined;
  }

  /** Everything signed for an order, oldest first. */
  ofOrder(order: string): JournalEntry[] {
    return this.#chain(this.#newestOfOrder.get(keyOf(order)), this.#beforeOfOrder).filter((entry) => entry.order === order);
  }

  /** Everything signed in a slot of a network, oldest first. */
  ofSlot(network: string, slot: string): JournalEntry[] {
    const found = this.#chain(this.#newestOfSlot.get(keyOf(`${network} ${slot}`)), this.#beforeOfSlot);
    return found.filter((entry) => entry.network === network && entry.slot === slot);
  }

  /** Everything signed with a transaction id, oldest first. */
  ofTxid(txid: string): JournalEntry[] {
    return this.#chain(this.#newestOfTxid.get(keyOf(txid)), this.#beforeOfTxid).filter((entry) => entry.txid === txid);
  }

  /** Everything signed at or after a time of the signer's clock (Unix milliseconds), in the order of signing. */
  since(sinceMs: number): JournalEntry[] {
    const found: JournalEntry[] = [];
    for (let at = 0; at < this.#count; at++) if ((this.#times[at] as number) >= sinceMs) found.push(this.#at(at));
    return found;
  }

  /** Every entry, oldest first. */
  *entries(): Generator<JournalEntry> {
    for (let at = 0; at < this.#count; at++) yield this.#at(at);
  }

  /** Every line as it is on disk, header first. */
  *lines(): Generator<string> {
    yield headerLine(this.header);
    for (let at = 0; at < this.#count; at++) yield this.#line(at);
  }

  /**
   * Writes a record and blocks the process until it is on disk, because no signature may be released before.
   * @throws Error when the disk fails. The content of the file is unknown then, so the process must end
   */
  append(entry: JournalEntry): void {
    if (fstatSync(this.#fd).size !== this.#size) throw new Error('somebody else wrote to the journal');
    const { line, hash } = recordLine(this.#hash, entry);
    const bytes = Buffer.from(`${line}\n`);
    crashPoint('journal.before-append');
    const half = bytes.length >> 1;
    writeAll(this.#fd, bytes.subarray(0, half), this.#size);
    crashPoint('journal.torn');
    writeAll(this.#fd, bytes.subarray(half), this.#size + half);
    crashPoint('journal.appended');
    fdatasyncSync(this.#fd);
    crashPoint('journal.synced');
    this.#add(entry, hash, bytes.length);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #load(line: string, bytes: number): void {
    let read: ReturnType<typeof readRecord>;
    try {
      read = readRecord(this.#hash, line);
    } catch (error) {
      if (error instanceof JournalCorrupt) throw new JournalCorrupt(`record ${this.#count + 1}: ${error.message}`);
      throw error;
    }
    this.#add(read.entry, read.hash, bytes);
  }

  #add(entry: JournalEntry, hash: string, bytes: number): void {
    const at = this.#count;
    if (at + 1 >= this.#offsets.length) this.#grow();
    this.#hashes.write(this.#hash, at * HASH_BYTES, 'hex');
    this.#times[at] = entry.signedAtMs;
    link(this.#newestOfOrder, this.#beforeOfOrder, keyOf(entry.order), at);
    link(this.#newestOfSlot, this.#beforeOfSlot, keyOf(`${entry.network} ${entry.slot}`), at);
    link(this.#newestOfTxid, this.#beforeOfTxid, keyOf(entry.txid), at);
    this.#size += bytes;
    this.#count = at + 1;
    this.#offsets[at + 1] = this.#size;
    this.#hash = hash;
  }

  #grow(): void {
    const length = this.#offsets.length * 2;
    this.#offsets = grown(this.#offsets, new Float64Array(length));
    this.#times = grown(this.#times, new Float64Array(length));
    this.#beforeOfOrder = grown(this.#beforeOfOrder, new Int32Array(length));
    this.#beforeOfSlot = grown(this.#beforeOfSlot, new Int32Array(length));
    this.#beforeOfTxid = grown(this.#beforeOfTxid, new Int32Array(length));
    this.#hashes = grown(this.#hashes, Buffer.alloc(length * HASH_BYTES));
  }

  #chain(newest: number | undefined, before: Int32Array): JournalEntry[] {
    const found: JournalEntry[] = [];
    for (let at = newest ?? -1; at >= 0; at = before[at] as number) found.push(this.#at(at));
    return found.reverse();
  }

  #at(at: number): JournalEntry {
    const known = this.#kept.get(at);
    if (known !== undefined) return known;
    const entry = entryOfLine(this.#line(at));
    if (this.#kept.size >= KEPT) this.#kept.clear();
    this.#kept.set(at, entry);
    return entry;
  }

  #line(at: number): string {
    const [from, to] = [this.#offsets[at] as number, this.#offsets[at + 1] as number];
    const bytes = Buffer.allocUnsafe(to - from - 1);
    if (readSync(this.#fd, bytes, 0, bytes.length, from) !== bytes.length) throw new JournalCorrupt(`record ${at + 1} is gone`);
    return bytes.toString('utf8');
  }
}

/** Puts a file in the place of another. A crash leaves either the old or the new one. */
export function replaceFile(from: string, to: string): void {
  renameSync(from, to);
  syncDirectory(dirname(to));
}

/** A new name of a file survives a crash only once its folder is synced. */
function syncDirectory(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function writeAll(fd: number, data: string | Buffer, position: number | null = null): void {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, position === null ? null : position + done);
}

function grown<T extends Float64Array | Int32Array | Uint8Array>(from: T, to: T): T {
  to.set(from as never);
  return to;
}

function link(newest: Map<number, number>, before: Int32Array, key: number, at: number): void {
  before[at] = newest.get(key) ?? -1;
  newest.set(key, at);
}

/** 30-bit hash of a text (FNV-1a). A number this small takes no memory of its own. */
function keyOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 30)) & 0x3fffffff;
}
