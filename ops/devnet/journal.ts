import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** After so many appended steps the file is written anew. */
const COMPACT_AFTER = 50_000;
const BIGINT = 'bigint:';

/** A chain's life in one file: what `compact` wrote, then every step since. */
export interface Journal<Step> {
  /** The steps found when it was opened; a last line cut short by a crash is left out. */
  found: Step[];
  append(step: Step): void;
  /** Replaces the file by the fewest steps that lead to the same chain; whole or not at all. */
  compact(steps: Iterable<Step>): void;
  /** Whether it has grown enough to be worth compacting. */
  grown(): boolean;
  close(): void;
}

/**
 * Opens the journal below `folder`. Appending is one write and no flush: it survives the death of the process, not of the
 * machine, which is what a local chain needs.
 */
export function openJournal<Step>(folder: string): Journal<Step> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'chain.jsonl');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) truncateSync(path, Buffer.byteLength(whole));
  let file = openSync(path, 'a');
  let appended = 0;
  return {
    found: whole.split('\n').flatMap((line) => (line === '' ? [] : [read<Step>(line)])),
    append: (step) => {
      writeSync(file, write(step));
      appended += 1;
    },
    compact: (steps) => {
      const fresh = `${path}.new`;
      rmSync(fresh, { force: true });
      const written = openSync(fresh, 'a');
      for (const step of steps) writeSync(written, write(step));
      renameSync(fresh, path);
      closeSync(file);
      file = written;
      appended = 0;
    },
    grown: () => appended > COMPACT_AFTER,
    close: () => closeSync(file),
  };
}

function write(step: unknown): string {
  return `${JSON.stringify(step, (_key, value) => (typeof value === 'bigint' ? `${BIGINT}${value}` : value))}\n`;
}

function read<Step>(line: string): Step {
  return JSON.parse(line, (_key, value) => (typeof value === 'string' && value.startsWith(BIGINT) ? BigInt(value.slice(BIGINT.length)) : value));
}
