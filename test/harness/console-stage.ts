import { randomBytes, randomUUID } from 'node:crypto';
import { openFollowedPages } from '#api/console/followed-pages.ts';
import { remotePeopleDesk } from '#api/people/remote-desk.ts';
import { newTotpSecret } from '#api/gateways/totp.ts';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import { newToken } from '#api/people/one-time-token.ts';
import { createConsoleApp } from '#api/http/console-app.ts';
import { createPeopleDeskApp } from '#api/http/people-desk-app.ts';
import { closeHttpServer, createHttpServer } from '#api/http/server.ts';
import type { Deps, Mail } from '#api/deps.ts';
import { insertAuthenticator, seedPlace } from '#api/store/authenticators.ts';
import { freePort } from '#ops/dev/services/wait.ts';
import { readApiConfig } from '#shared/platform/config.ts';
import { POLICY } from '#shared/core/policy.ts';
import { keyId, masterKeys } from '#shared/platform/key-ring.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { seal, wrappingKey } from '#shared/platform/sealed-secrets.ts';
import { bareDeps } from './bare-deps.ts';
import { type FreshDatabase, freshDatabase } from './database.ts';
import { totpCode } from './totp-code.ts';

/** How often changes are looked for: nobody waits for a test. */
const LOOK_MS = 200;
const GATEWAY = '6f1b2a3c-0000-4000-8000-000000000001';

/** Who signs people in beside their passkeys, and which claims give which roles at the stage's gateway. */
interface SigningProvider {
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
  rules(gateway: string): object[];
}

/** The console as it is served, over a database of its own, as a login that may do what the console may; beside it the http role's desk, over a wire as in a deployment. */
export interface ConsoleStage {
  origin: string;
  database: FreshDatabase;
  /** Those of the http role, who says who people are. */
  deps: Deps;
  /** As the console has it. */
  desk: PeopleDesk;
  /** Where the http role listens for the console, and the key that it comes with. */
  internal: { url: string; key: string };
  /** What was mailed. */
  mails: Mail[];
  /** A gateway that people may be invited to. */
  gatewayId: string;
  stop(): Promise<void>;
}

/**
 * Opens one on a port of its own, at http://localhost: the one name that passkeys work on without a certificate. Its limits are those of a deployment times `scale`;
 * `provider` is who signs people in there.
 */
export async function aConsoleStage({ scale = '1000', provider }: { scale?: string; provider?: SigningProvider } = {}): Promise<ConsoleStage> {
  const [port, database] = [await freePort(), await freshDatabase()];
  const origin = `http://localhost:${port}`;
  const secret = (): string => randomBytes(32).toString('hex');
  const [internal, key] = [await freePort(), secret()];
  const common = {
    NODE_ENV: 'test',
    DATABASE_URL: database.url,
    REDIS_URL: 'redis://127.0.0.1:1',
    SLUICE_NETWORKS: 'ops/dev/networks.json',
    SLUICE_LOG_LEVEL: 'silent',
    SLUICE_RATE_LIMIT_SCALE: scale,
    SLUICE_CONSOLE_URL: origin,
    SLUICE_INTERNAL_KEY: key,
    ...(provider && { SLUICE_OIDC_NAME: provider.name }),
  };
  const log = createLogger({ component: 'console', level: process.env.SLUICE_TEST_LOGS ? 'debug' : 'silent' });
  const http = readApiConfig({
    ...common,
    SLUICE_ROLES: 'http',
    SLUICE_STREAM_KEY: secret(),
    SLUICE_API_KEY_PEPPER: secret(),
    SLUICE_OPERATOR_TOKEN: secret(),
    SLUICE_MASTER_KEY: secret(),
    SLUICE_INTENT_KEY: secret(),
    ...(provider && {
      SLUICE_OIDC_ISSUER: provider.issuer,
      SLUICE_OIDC_CLIENT_ID: provider.clientId,
      SLUICE_OIDC_CLIENT_SECRET: provider.clientSecret,
      SLUICE_OIDC_RULES: JSON.stringify(provider.rules(GATEWAY)),
    }),
  });
  const console = readApiConfig({ ...common, SLUICE_ROLES: 'console', SLUICE_INTERNAL_URL: `http://127.0.0.1:${internal}` });
  const mails: Mail[] = [];
  const mail = { send: async (one: Mail) => void mails.push(one) };
  const deps: Deps = { ...bareDeps({ config: http, log }), db: database.as('http'), mail };
  const desk = createHttpServer(createPeopleDeskApp(deps, openPeopleDesk(deps)));
  await new Promise<void>((resolve) => desk.listen(internal, '127.0.0.1', resolve));
  const own: Deps = { ...bareDeps({ config: console, log }), db: database.as('console') };
  const url = `http://127.0.0.1:${internal}`;
  const asked = remotePeopleDesk({ url, key, log });
  const followed = openFollowedPages(own, { lookMs: LOOK_MS, admitMs: LOOK_MS });
  const server = createHttpServer(await createConsoleApp(own, { desk: asked, followed }));
  await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve));
  const gatewayId = GATEWAY;
  await database.sql`insert into gateways (id, name, status, billing, settings) values (${gatewayId}, 'Acme <Books>', 'VERIFIED', 'STANDARD', '{}')`;
  return {
    origin,
    database,
    deps,
    desk: asked,
    internal: { url, key },
    mails,
    gatewayId,
    async stop() {
      followed.stop();
      await closeHttpServer(server);
      await closeHttpServer(desk);
      await database.drop();
    },
  };
}

/** Serves the console of a deployment whose other parts run already; what it may do in the database is what the console may. */
export async function serveConsole(deps: Deps, database: FreshDatabase): Promise<{ origin: string; stop(): Promise<void> }> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const config = { ...deps.config, SLUICE_CONSOLE_URL: origin };
  const desk = openPeopleDesk({ ...deps, config, db: database.as('http') });
  const own = { ...deps, config, db: database.as('console') };
  const followed = openFollowedPages(own, { lookMs: LOOK_MS, admitMs: LOOK_MS });
  const server = createHttpServer(await createConsoleApp(own, { desk, followed }));
  await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve));
  return {
    origin,
    async stop() {
      followed.stop();
      await closeHttpServer(server);
    },
  };
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

/** Gives a member an authenticator that counts already; answers its codes, of the present time step or one near it: each counts once. */
export async function withAuthenticator(
  { deps, desk, database: { sql, transaction } }: Pick<ConsoleStage, 'deps' | 'desk' | 'database'>,
  { email, cookie }: { email: string; cookie: string },
): Promise<(step?: number) => string> {
  const [{ id: personId }] = (await sql`select id from people where email = ${email}`) as unknown as [{ id: string }];
  const secret = newTotpSecret(deps.randomBytes);
  const { current } = masterKeys(deps.config);
  const sealed = seal(wrappingKey(current), seedPlace(personId), secret, deps.randomBytes);
  await transaction((tx) => insertAuthenticator(tx, { id: personId, personId, sealed, sealedUnder: keyId(current) }));
  const code = (step = 0): string => totpCode(secret, Math.floor(Date.now() / 1_000) + step * POLICY.totpStepSeconds);
  // The code before the current one is the oldest that counts: where half a minute ends just now, it does no longer.
  const start = () => desk.startAuthenticator({ cookie, address: '198.51.100.7', code: code(-1) });
  await start().catch(start);
  return code;
}

/** Somebody of a gateway, or with null of the deployment, who is signed in and has an authenticator. */
export interface Member {
  email: string;
  cookie: string;
  /** What it shows now, or so many half minutes later: codes of one person ascend. */
  code(step?: number): string;
}

/** Makes one, with an address of their own. */
export async function aMemberWithCodes(
  stage: Pick<ConsoleStage, 'deps' | 'desk' | 'database'>,
  { role, gatewayId }: { role: string; gatewayId: string | null },
): Promise<Member> {
  const email = `${role}-${randomUUID()}@example.com`;
  const cookie = await aMember(stage.database, { email, gatewayId, role });
  return { email, cookie, code: await withAuthenticator(stage, { email, cookie }) };
}
