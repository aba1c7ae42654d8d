import { type Database, connect } from '#shared/platform/postgres.ts';
import type { Context } from './command.ts';
import { attempt, bad, type Finding, good } from './finding.ts';

/** Above this share of its connections Postgres soon refuses somebody; the alert DatabaseNearlyFull goes by the same. */
const NEARLY_FULL = 0.8;
/** A signer says something every minute; one that said nothing for longer than this is not running. */
const SILENT_SECONDS = 180;

/** Whether Postgres answers this login, what it is, and how many of its connections are in use, whoever's they are. */
export async function checkPostgres(url: string): Promise<Finding> {
  const check = 'postgres';
  const fix = 'start it, or let npm start bring one (unset DATABASE_URL)';
  let seen = '';
  let share = 0;
  const finding = await attempt(check, fix, async () => {
    const database: Database = connect(url, { name: 'sluice-doctor', max: 1 });
    try {
      const [row] = await database.sql<[{ version: string; durable: string; migrations: number; used: number; limit: number }]>`
        select current_setting('server_version') as version, current_setting('synchronous_commit') as durable,
          (select count(*)::int from schema_migrations) as migrations, (select sum(numbackends)::int from pg_stat_database) as used,
          current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as "limit"`;
      share = row.used / row.limit;
      seen = `${row.version}, ${row.used} of ${row.limit} connections, ${row.migrations} migrations, synchronous_commit ${row.durable}`;
      return seen;
    } finally {
      await database.end();
    }
  });
  return finding.good && share > NEARLY_FULL ? bad(check, seen, 'raise max_connections, or find out who holds them (runbook database)') : finding;
}

/** Whether a signer reports, and whether it signs, by what it told Postgres last. */
export async function checkSigner(context: Context): Promise<Finding> {
  const [{ report, known }, { now }] = (await Promise.all([
    context.operator.must('GET', '/signer/journal'),
    context.operator.must('GET', '/clock'),
  ])) as unknown as [{ report: { state: string; reason: string; reportedAt: string } | null; known: { signatures: number } | null }, { now: string }];
  const check = 'signer journal';
  if (report === null) return bad(check, 'no signer has ever reported', 'start one (SLUICE_ROLES=signer): without it no cashout is sent');
  const seconds = Math.max(0, Math.round((Date.parse(now) - Date.parse(report.reportedAt)) / 1_000));
  const seen = `${report.state}, ${known?.signatures ?? 0} signatures known, reported ${seconds} s ago`;
  if (seconds > SILENT_SECONDS) return bad(check, seen, 'the signer does not run, or cannot reach Postgres: start it and look at its log');
  if (report.state !== 'open') return bad(check, `${seen}: ${report.reason}`, 'nothing is signed: see the runbook signer-journal');
  return good(check, seen);
}
