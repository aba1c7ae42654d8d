import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

/** One numbered SQL file of the schema, and what its first lines say about it. */
export interface MigrationFile {
  name: string;
  text: string;
  checksum: string;
  /**
   * Number of the newest migration that a build has to know to run on a schema with this one: `-- needs-build: 0031`. Null
   * for one that only adds, which every earlier build may ignore.
   */
  needsBuild: number | null;
  /** Runs outside a transaction: `-- no-transaction`. Such a file is one `create index concurrently if not exists`. */
  alone: boolean;
}

/** A migration the database holds. */
export interface AppliedMigration {
  name: string;
  checksum: string;
  needsBuild: number | null;
}

/** The migrations in a folder, in their order. */
export async function readMigrations(directory: string): Promise<MigrationFile[]> {
  const names = (await readdir(directory)).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name)).sort();
  return Promise.all(names.map(async (name) => describeMigration(name, await readFile(`${directory}/${name}`, 'utf8'))));
}

/** What a migration's text says of itself. */
export function describeMigration(name: string, text: string): MigrationFile {
  const needed = /^-- needs-build: (\d{4})$/m.exec(text)?.[1];
  return {
    name,
    text,
    checksum: createHash('sha256').update(text).digest('hex'),
    needsBuild: needed === undefined ? null : Number(needed),
    alone: /^-- no-transaction$/m.test(text),
  };
}

/**
 * Compares what ran with what this build has; answers how many of its own ran. A newer schema is fine as long as it only
 * added (decision 0029): builds of two releases work on one database while one replaces the other.
 * @throws when the schema needs a newer build, holds a migration that was left out here, or one that was edited after it ran
 */
export function compareSchema(files: readonly MigrationFile[], applied: readonly AppliedMigration[]): number {
  const own = new Map(files.map((file) => [file.name, file.checksum]));
  const newest = numberOf(files.at(-1)?.name ?? '0000');
  let ran = 0;
  for (const { name, checksum, needsBuild } of applied) {
    const expected = own.get(name);
    if (expected !== undefined && expected !== checksum) throw new Error(`migration ${name} was changed after it ran; add a new one instead`);
    if (expected !== undefined) ran += 1;
    else if (numberOf(name) <= newest)
      throw new Error(`the database has ${name}, which this build knows nothing of: it is another program's, or another branch's`);
    else if (needsBuild !== null && needsBuild > newest) throw new Error(`the database schema is newer than this build: it has ${name}; run a newer build`);
  }
  return ran;
}

function numberOf(name: string): number {
  return Number(name.slice(0, 4));
}
