import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';

/** What a backup says about itself, in the file that is written last: without it the backup is not complete. */
export interface Manifest {
  format: 1;
  /** When its snapshot was taken, by the database's clock. */
  takenAt: string;
  /** Version of the build that made it. */
  version: string;
  /** The schema it is of, in order. */
  migrations: { name: string; checksum: string }[];
  /** In an order in which every row finds what it refers to. */
  tables: BackedUpTable[];
  sequences: { name: string; lastValue: number | null }[];
}

export interface BackedUpTable {
  name: string;
  columns: string[];
  rows: number;
  /** SHA-256, hex, of the rows as they are before they are compressed. */
  sha256: string;
}

export const MANIFEST = 'manifest.json';

/** The file with a table's rows: one JSON object per line, compressed. */
export function rowsFile(folder: string, table: string): string {
  return join(folder, `${table}.jsonl.gz`);
}

/** Reads the manifest. @throws Error when the folder holds no complete backup, or one of another format */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error(`${folder} holds no complete backup: there is no ${MANIFEST}`);
  const manifest = JSON.parse(text) as Manifest;
  if (manifest.format !== 1) throw new Error(`${folder} was made in format ${String(manifest.format)}, which this build does not read`);
  return manifest;
}

/** Hands a table's rows to `take`, some at a time, and checks that they are the ones that were written. @throws Error naming the table when they are not */
export async function readRows(folder: string, table: BackedUpTable, take: (lines: string[]) => Promise<void>, atOnce = 1_000): Promise<void> {
  const sum = createHash('sha256');
  let rows = 0;
  let batch: string[] = [];
  const source = createReadStream(rowsFile(folder, table.name));
  const unzipped = createGunzip();
  source.on('error', (error) => unzipped.destroy(error));
  const damaged = (what: string): Error => new Error(`the backup of ${table.name} is damaged: ${what}`);
  let rest = '';
  try {
    // Cut at line feeds only: texts may hold other characters that end a line, and JSON leaves those as they are.
    for await (const chunk of source.pipe(unzipped).setEncoding('utf8')) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        sum.update(line).update('\n');
        rows += 1;
        batch.push(line);
        if (batch.length < atOnce) continue;
        await take(batch);
        batch = [];
      }
    }
  } catch (error) {
    if (['Z_DATA_ERROR', 'Z_BUF_ERROR', 'ENOENT'].includes(String((error as { code?: unknown }).code))) throw damaged((error as Error).message);
    throw error;
  }
  if (rest !== '') throw damaged('its last row is cut off');
  if (batch.length > 0) await take(batch);
  if (rows !== table.rows) throw damaged(`it has ${rows} rows, and ${table.rows} were written`);
  if (sum.digest('hex') !== table.sha256) throw damaged('its rows are not the ones that were written');
}
