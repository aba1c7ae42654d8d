import { randomBytes, randomUUID } from 'node:crypto';
import { newToken } from '#api/console/one-time-token.ts';
import { createConsoleApp } from '#api/http/console-app.ts';
import { closeHttpServer, createHttpServer } from '#api/http/server.ts';
import type { Deps } from '#api/deps.ts';
import { freePort } from '#ops/dev/services/wait.ts';
import { readApiConfig } from '#shared/platform/config.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { bareDeps } from './bare-deps.ts';
import { type FreshDatabase, freshDatabase } from './database.ts';

/** The console as it is served, over a database of its own, as a login that may do what the console may. */
export interface ConsoleStage {
  origin: string;
  database: FreshDatabase;
  deps: Deps;
  /** A gateway that people may be invited to. */
  gatewayId: string;
  stop(): Promise<void>;
}

/** Opens one on a port of its own, at http://localhost: the one name that passkeys work on without a certificate. */
export async function aConsoleStage(scale = '1000'): Promise<ConsoleStage> {
  const [port, database] = [await freePort(), await freshDatabase()];
  const origin = `http://localhost:${port}`;
  const secret = (): string => randomBytes(32).toString('hex');
  const config = readApiConfig({
    NODE_ENV: 'test',
    DATABASE_URL: database.url,
    REDIS_URL: 'redis://127.0.0.1:1',
    SLUICE_NETWORKS: 'ops/dev/networks.json',
    SLUICE_ROLES: 'http',
    SLUICE_LOG_LEVEL: 'silent',
    SLUICE_RATE_LIMIT_SCALE: scale,
    SLUICE_CONSOLE_URL: origin,
    SLUICE_STREAM_KEY: secret(),
    SLUICE_API_KEY_PEPPER: secret(),
    SLUICE_OPERATOR_TOKEN: secret(),
    SLUICE_MASTER_KEY: secret(),
    SLUICE_INTENT_KEY: secret(),
  });
  const log = createLogger({ component: 'console', level: process.env.SLUICE_TEST_LOGS ? 'debug' : 'silent' });
  const deps: Deps = { ...bareDeps({ config, log }), db: database.as('console') };
  const server = createHttpServer(await createConsoleApp(deps));
  await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve));
  const gatewayId = '6f1b2a3c-0000-4000-8000-000000000001';
  await database.sql`insert into gateways (id, name, status, billing, settings) values (${gatewayId}, 'Acme <Books>', 'VERIFIED', 'STANDARD', '{}')`;
  return {
    origin,
    database,
    deps,
    gatewayId,
    async stop() {
      await closeHttpServer(server);
      await database.drop();
    },
  };
}

/** Serves the console of a deployment whose other parts run already; what it may do in the database is what the console may. */
export async function serveConsole(deps: Deps, database: FreshDatabase): Promise<{ origin: string; stop(): Promise<void> }> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const server = createHttpServer(await createConsoleApp({ ...deps, config: { ...deps.config, SLUICE_CONSOLE_URL: origin }, db: database.as('console') }));
  await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve));
  return { origin, stop: () => closeHttpServer(server) };
}

/** Makes somebody a member and signs them in, past every page; answers the cookie's value. */
export async function aMember(
  { sql }: Pick<FreshDatabase, 'sql'>,
  { email, gatewayId, role }: { email: string; gatewayId: string | null; role: string },
): Promise<string> {
  const token = newToken(randomBytes);
  const [personId, ids] = [randomUUID(), { membership: randomUUID(), session: randomUUID() }];
  await sql`insert into people (id, email) values (${personId}, ${email})`;
  await sql`insert into memberships (id, person_id, gateway_id, role) values (${ids.membership}, ${personId}, ${gatewayId}, ${role})`;
  await sql`insert into sessions (id, token_hash, person_id, address, browser) values (${ids.session}, ${token.hash}, ${personId}, '127.0.0.1', 'a test')`;
  return token.text;
}
