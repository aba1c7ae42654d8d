import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { applyRoles, type Login } from '#shared/platform/database-roles.ts';
import { migrate } from '#shared/platform/migrate.ts';
import { connect } from '#shared/platform/postgres.ts';
import { redisAclFile, redisUser } from '#shared/platform/redis-acl.ts';

/** What each process of `npm start` is let in with. */
export interface ProcessLogins {
  /** Users of a Redis that is ours, for its ACL file. */
  redisAcl: string;
  /** The same Redis with every right, for whoever looks after it. */
  redisAdministrator(url: string): string;
  /** Redis as a process reaches it: `api`, `signer`, `console`, `indexer-<network>`. */
  redis(process: string, url: string): string;
  /** Postgres as a process reaches it, once `makeDatabaseLogins` has run. */
  database(process: string, url: string): string;
  password: string;
}

/** Reads the one password that the logins of a demo share, or makes it: they keep mistakes apart on one machine, not people. */
export async function processLogins(path: string, networks: readonly string[]): Promise<ProcessLogins> {
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  const password = kept === undefined ? randomBytes(24).toString('hex') : (JSON.parse(kept) as { password: string }).password;
  if (kept === undefined) await writeFile(path, `${JSON.stringify({ password }, null, 2)}\n`, { mode: 0o600 });
  const processes = ['api', 'signer', 'console', ...networks.map((network) => `indexer-${network}`)];
  const as = (user: string, url: string): string => {
    const changed = new URL(url);
    changed.username = user;
    changed.password = password;
    return changed.href;
  };
  return {
    redisAcl: redisAclFile(Object.fromEntries(processes.map((name) => [name, password])), password),
    redisAdministrator: (url) => as('default', url),
    redis: (name, url) => as(redisUser(name), url),
    database: (name, url) => as(databaseLogin(name), url),
    password,
  };
}

/** Brings the schema up to date and makes the logins: what a deployment has `sluice db migrate` and `sluice db roles apply` do. */
export async function makeDatabaseLogins(url: string, options: { logins: ProcessLogins; networks: readonly string[]; schemaDirectory: string }): Promise<void> {
  const { networks, schemaDirectory } = options;
  const { password } = options.logins;
  const logins: Login[] = [
    { name: databaseLogin('api'), roles: ['http', 'worker'], networks: [], password },
    { name: databaseLogin('console'), roles: ['console'], networks: [], password },
    { name: databaseLogin('signer'), roles: ['signer'], networks: [], password },
    ...networks.map((network): Login => ({ name: databaseLogin(`indexer-${network}`), roles: ['indexer'], networks: [network], password })),
  ];
  const database = connect(url, { name: 'sluice-setup', max: 1, deadlines: 'none' });
  try {
    await migrate(database.sql, schemaDirectory);
    await applyRoles(database, logins);
  } finally {
    await database.end();
  }
}

function databaseLogin(process: string): string {
  return `sluice_dev_${process.replaceAll('-', '_')}`;
}
