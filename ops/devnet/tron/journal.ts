import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from './chain-state.ts';

/** After so many appended steps the file is written anew. */
const COMPACT_AFTER = 50_000;
const BIGINT = 'bigint:';

/** A chain's life in one file: what `compact` wrote, then every step since. */
export interface Journal {
  /** The steps found when it was opened; a last line cut short by a crash is left out. */
  found: Entry[];
  append(entry: Entry): void;
  /** Replaces the file by the fewest entries that lead to the same chain; whole or not at all. */
  compact(entries: Iterable<Entry>): void;
  /** Whether it has grown enough to be worth compacting. */
  grown(): boolean;
  close(): void;
}

/**
 * Opens the journal below `folder`. Appending is one write and no flush: it survives the death of the process, not of the
 * machine, which is what a local chain needs.
 */
export function openJournal(folder: string): Journal {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'chain.jsonl');
  const found = existsSync(path) ? read(readFileSync(path, 'utf8')) : [];
  let file = openSync(path, 'a');
  let appended = 0;
  return {
    found,
    append: (entry) => {
      writeSync(file, line(entry));
      appended += 1;
    },
    compact: (entries) => {
      const fresh = `${path}.new`;
      rmSync(fresh, { force: true });
      const written = openSync(fresh, 'a');
      for (const entry of entries) writeSync(written, line(entry));
      renameSync(fresh, path);
      closeSync(file);
      file = written;
      appended = 0;
    },
    grown: () => appended > COMPACT_AFTER,
    close: () => closeSync(file),
  };
}

function line(entry: Entry): string {
  return `${JSON.stringify(entry, (_key, value) => (typeof value === 'bigint' ? `${BIGINT}${value}` : value))}\n`;
}

function read(text: string): Entry[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((each) => each !== '')
    .map((each) => JSON.parse(each, (_key, value) => (typeof value === 'string' && value.startsWith(BIGINT) ? BigInt(value.slice(BIGINT.length)) : value)));
}
