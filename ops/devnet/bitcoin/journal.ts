import { closeSync, existsSync, mkdirSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Step } from './node.ts';

/** A chain's life in one file, step by step. */
export interface Journal {
  /** The steps found when it was opened; a last line cut short by a crash is left out. */
  found: Step[];
  append(step: Step): void;
  close(): void;
}

/**
 * Opens the journal below `folder`. Appending is one write and no flush: it survives the death of the process, not of the
 * machine, which is what a local chain needs.
 */
export function openJournal(folder: string): Journal {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'chain.jsonl');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) truncateSync(path, Buffer.byteLength(whole));
  const found = whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Step);
  const file = openSync(path, 'a');
  return { found, append: (step) => writeSync(file, `${JSON.stringify(step)}\n`), close: () => closeSync(file) };
}
