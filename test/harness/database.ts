import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { databaseUrl } from '#ops/dev/services/postgres.ts';
import type { DatabaseRole } from '#shared/platform/database-rights.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import { urlFor } from './logins.ts';

/** The test's own connection, which owns everything: for what a test arranges, looks at and tampers with. Product code gets `as()`. */
export interface FreshDatabase extends Database {
  url: string;
  /**
   * The same database for product code: a login that is a member of these roles and of no other, of all that take part in the api's work
   * when none is named. Opened once for each set of roles, and closed by `drop`.
   */
  as(...roles: readonly DatabaseRole[]): Database;
  /** Closes the pool and drops the database. */
  drop(): Promise<void>;
}

/** What makes and drops the databases of a worker: one connection, because to make and drop those takes half as long as to open it. */
let opened: Database | undefined;

function administration(): Database {
  opened ??= connect(inject('services').postgresUrl, { name: 'sluice-test', max: 1, deadlines: 'none', lifetimeMs: Number.POSITIVE_INFINITY });
  return opened;
}

/** A migrated, empty database of its own on the run's Postgres; a copy of the template, made in some 50 ms. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const { postgresUrl, templateDatabase } = inject('services');
  const name = `sluice_${randomUUID().replaceAll('-', '')}`;
  const admin = await administration().sql.reserve();
  try {
    // One copy at a time, however many wait on a starved machine: Postgres refuses a template that another session is connected to.
    await admin`select pg_advisory_lock(7582002)`;
    try {
      // Files are copied in half the time that it takes to write the same pages through the log.
      await admin`create database ${admin(name)} template ${admin(templateDatabase)} strategy file_copy`;
    } finally {
      await admin`select pg_advisory_unlock(7582002)`;
    }
    // The one thing that a copy does not take over of what sluice db roles apply does.
    await admin`revoke temporary on database ${admin(name)} from public`;
  } finally {
    admin.release();
  }
  const url = databaseUrl(postgresUrl, name);
  const database = connect(url, { name: 'sluice-test', max: 10 });
  // A copy is another history, and nobody looks after it: it is to be trusted for as long as the test does.
  await database.sql`update database_epochs set history = database_history(), beat_at = 'infinity'`;
  const logins = new Map<string, Database>();
  return {
    ...database,
    url,
    as(...roles) {
      const least = roles.length === 0 ? urlFor(url) : urlFor(url, roles);
      const opened = logins.get(least) ?? connect(least, { name: 'sluice-test', max: 10 });
      logins.set(least, opened);
      return opened;
    },
    async drop() {
      await Promise.all([database, ...logins.values()].map((one) => one.end()));
      const { sql } = administration();
      await sql`drop database if exists ${sql(name)} with (force)`;
    },
  };
}
