import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { readGateway } from '#api/gateways/gateway-settings.ts';
import { newToken } from '#api/people/one-time-token.ts';
import { freePort, waitFor } from '#ops/dev/services/wait.ts';
import { openDeriver } from '#shared/chains/codecs.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { applyRoles } from '#shared/platform/database-roles.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import { type Bench, type Figures, type Found, median, ratio, rounded, type Size } from './bench.ts';
import { writeHistory } from './history.ts';
import { setLogging, type Stage } from './stage.ts';
import { inlined, readStatements, type Statement } from './statements.ts';

/** Payments of each history, ascending; `SLUICE_BENCH_PAYMENTS` names others. */
const SIZES: Record<Size, number[]> = { tiny: [300], full: [10_000, 100_000] };
const ROUNDS = { tiny: 2, full: 40 };
const LOGIN = 'sluice_bench_console';

/** A page, and who looks at it. */
interface Asked {
  path: string;
  cookie: string;
}

/** Time to the first byte of the console's heaviest pages, against the bare statements that read what is on them, in a short and in a long history. */
export const consolePages: Bench = {
  what: 'first byte of the heaviest pages of the console, against the statements that read what is on them, in a short and in a long history',
  async run(stage, size) {
    const sizes = process.env.SLUICE_BENCH_PAYMENTS?.split(',').map(Number) ?? SIZES[size];
    const measured = new Map<number, Record<string, Measured>>();
    for (const payments of sizes) measured.set(payments, await measureAll(stage, payments, ROUNDS[size]));
    return foundOf(sizes, measured);
  },
};

interface Measured {
  /** From the request to the first byte of the answer, and the same statements by themselves. */
  firstByteMs: number;
  bareMs: number;
  /** Of both, taken in turns. */
  share: number;
  statements: number;
  bytes: number;
  succeeded: boolean;
}

async function measureAll(stage: Stage, payments: number, rounds: number): Promise<Record<string, Measured>> {
  const { url } = await stage.database();
  const database = connect(url, { name: 'sluice-bench-console', max: 1, deadlines: 'none' });
  try {
    stage.say(`${payments} payments are written`);
    await database.transaction((tx) => writeHistory(tx, payments));
    const { environment, pages } = await prepare(stage, database, url);
    await database.sql.unsafe('vacuum (analyze, parallel 0)');
    // Written at once, to be able to record every statement of a request; sessions opened later log nothing.
    await setLogging(url, true);
    const read = await withConsole(stage, environment, (ask) => recordAll(stage, ask, pages));
    await setLogging(url, false);
    return await withConsole(stage, environment, async (ask) => {
      const measured: Record<string, Measured> = {};
      for (const [name, page] of Object.entries(pages)) {
        measured[name] = await inTurns(() => ask(page), database, read[name] as Statement[], rounds);
        stage.say(`${name} of ${payments}: ${JSON.stringify(measured[name])}`);
      }
      return measured;
    });
  } finally {
    await database.end();
  }
}

/** One page and one turn of its statements after the other; what is compiled and prepared once is no part of the figure. */
async function inTurns(page: () => Promise<Answer>, { sql }: Database, statements: readonly Statement[], rounds: number): Promise<Measured> {
  const texts = statements.map((one) => inlined(one, [], () => ''));
  const bare = async (): Promise<number> => {
    const from = performance.now();
    for (const text of texts) await sql.unsafe(text, [], { prepare: true });
    return performance.now() - from;
  };
  for (let round = 0; round < rounds; round++) await Promise.all([page(), bare()]);
  const turns: { answer: Answer; bareMs: number }[] = [];
  for (let round = 0; round < rounds; round++) turns.push({ bareMs: await bare(), answer: await page() });
  return {
    firstByteMs: median(turns.map(({ answer }) => answer.firstByteMs)),
    bareMs: median(turns.map(({ bareMs }) => bareMs)),
    share: median(turns.map(({ answer, bareMs }) => answer.firstByteMs / bareMs)),
    statements: texts.length,
    bytes: turns[0]?.answer.bytes ?? 0,
    succeeded: turns.every(({ answer }) => answer.status === 200),
  };
}

interface Answer {
  status: number;
  firstByteMs: number;
  /** As they travel. */
  bytes: number;
}

type Ask = (page: Asked) => Promise<Answer>;

/** Runs the console as it is deployed: a process of its own with a login that may do what the console may. */
async function withConsole<T>(stage: Stage, environment: Record<string, string>, work: (ask: Ask) => Promise<T>): Promise<T> {
  const port = await freePort();
  const api = await stage.startApi({ ...environment, SLUICE_CONSOLE_PORT: String(port), SLUICE_CONSOLE_URL: `http://localhost:${port}` });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask: Ask = ({ path, cookie }) =>
    new Promise((resolve, reject) => {
      const headers = {
        host: `localhost:${port}`,
        cookie: `__Host-sluice=${cookie}`,
        accept: 'text/html',
        'accept-encoding': 'br, gzip',
        'sec-fetch-site': 'same-origin',
      };
      const from = performance.now();
      const request = get({ agent, host: '127.0.0.1', port, path, headers }, (answer) => {
        const firstByteMs = performance.now() - from;
        let bytes = 0;
        answer.on('data', (part: Buffer) => {
          bytes += part.length;
        });
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, firstByteMs, bytes }));
      });
      request.once('error', reject);
    });
  try {
    return await work(ask);
  } finally {
    agent.destroy();
    await api.stop();
  }
}

/** Of each page, the statements that read what is on it: those of every page read who asks, and are no part of it. */
async function recordAll(stage: Stage, ask: Ask, pages: Readonly<Record<string, Asked>>): Promise<Record<string, Statement[]>> {
  const recorded: Record<string, Statement[]> = {};
  for (const [name, page] of Object.entries(pages)) {
    await ask(page);
    recorded[name] = await recordOnce(stage, () => ask(page));
  }
  const all = Object.values(recorded);
  const ofEvery = (text: string): boolean => all.every((statements) => statements.some((one) => one.text === text));
  return Object.fromEntries(Object.entries(recorded).map(([name, statements]) => [name, statements.filter(({ text }) => !ofEvery(text))]));
}

/** The reading statements of one request. Postgres writes its log beside its answers. */
async function recordOnce({ postgresLog }: Stage, ask: () => Promise<unknown>): Promise<Statement[]> {
  const from = postgresLog.length;
  await ask();
  let seen = from;
  const statements = await waitFor(
    () => {
      const quiet = postgresLog.length > from && postgresLog.length === seen;
      seen = postgresLog.length;
      return quiet ? readStatements(postgresLog.slice(from)) : undefined;
    },
    { what: 'the log of Postgres', everyMs: 100 },
  );
  return statements.filter(({ text }) => /^[\s(]*(select|with)\b/i.test(text));
}

/** Has a payment's offers show addresses that its indexes derive, as the service has it, on networks as they are configured. */
async function deriveAddresses({ transaction }: Database, payment: string, networks: readonly NetworkConfig[]): Promise<void> {
  await transaction(async (tx) => {
    await tx`set local session_replication_role = replica`;
    const rows = await tx<{ id: string; index: number; network: string }[]>`
      select a.id, a.derivation_index as index, n.name as network from deposit_addresses a join networks n on n.id = a.network_id where a.payment_id = ${payment}`;
    for (const { id, index, network } of rows) {
      const config = networks.find(({ name }) => name === network) as NetworkConfig;
      await tx`update deposit_addresses set address = ${openDeriver(config).depositAddress(index)} where id = ${id}`;
    }
  });
}

/** Makes the history one that a console can be run on: people who look at it, a login, and networks as they are configured. */
async function prepare(stage: Stage, database: Database, url: string): Promise<{ environment: Record<string, string>; pages: Record<string, Asked> }> {
  const { sql } = database;
  const { networks: all } = JSON.parse(await readFile('ops/dev/networks.json', 'utf8')) as { networks: NetworkConfig[] };
  // The history knows its tokens by other contracts.
  const networks = all.map((one) => ({ ...one, assets: one.assets.filter(({ contract }) => contract === null) }));
  for (const { name, chainId } of networks) await sql`update networks set chain_id = ${chainId} where name = ${name}`;
  const password = randomBytes(24).toString('hex');
  await applyRoles(database, [{ name: LOGIN, roles: ['console'], networks: [], password }]);
  const login = new URL(url);
  Object.assign(login, { username: LOGIN, password });
  const [{ id: gateway }] = await sql<[{ id: string }]>`select id from gateways where name = 'shop 1'`;
  const [{ id: payment }] = await sql<[{ id: string }]>`
    select p.id from payments p join deposits d on d.payment_id = p.id where p.gateway_id = ${gateway} and d.state = 'credited' order by p.created_at desc, p.id limit 1`;
  await deriveAddresses(database, payment, networks);
  const { settings } = readGateway({ name: 'shop 1' });
  await sql`update gateways set settings = ${sql.json(settings as unknown as Parameters<typeof sql.json>[0])}`;
  const [owner, operator] = [await aPerson(database, { gateway, role: 'owner' }), await aPerson(database, { gateway: null, role: 'operator' })];
  const of = (path: string): Asked => ({ path: `/g/${gateway}${path}`, cookie: owner });
  return {
    environment: {
      ...stage.environment({ url: login.href }, await stage.networksFile(networks)),
      SLUICE_ROLES: 'console',
      SLUICE_INTERNAL_KEY: randomBytes(32).toString('hex'),
      SLUICE_INTERNAL_URL: 'http://127.0.0.1:1',
    },
    pages: {
      payments: of('/payments'),
      'a payment': of(`/payments/${payment}`),
      balances: of('/balances'),
      ledger: of('/ledger'),
      'payments of operators': { path: '/ops/payments', cookie: operator },
    },
  };
}

/** Somebody who is signed in; answers the cookie of their session. */
async function aPerson({ sql }: Database, { gateway, role }: { gateway: string | null; role: string }): Promise<string> {
  const [id, token] = [randomUUID(), newToken(randomBytes)];
  await sql`insert into people (id, email) values (${id}, ${`${role}@example.com`})`;
  await sql`insert into memberships (id, person_id, gateway_id, role) values (${randomUUID()}, ${id}, ${gateway}, ${role})`;
  await sql`insert into sessions (id, token_hash, person_id, address, browser) values (${randomUUID()}, ${token.hash}, ${id}, '127.0.0.1', 'bench')`;
  return token.text;
}

function foundOf(sizes: readonly number[], measured: ReadonlyMap<number, Record<string, Measured>>): Found {
  const found: Found = { figures: {}, ratios: {}, goals: [], proofs: {} };
  const [few = 0, many = 0] = [sizes[0], sizes.at(-1)];
  let [worst, growth] = [0, 0];
  for (const name of Object.keys(measured.get(few) ?? {})) {
    const [least, most] = [measured.get(few)?.[name] as Measured, measured.get(many)?.[name] as Measured];
    const figures: Figures = { statements: most.statements, bytes: most.bytes };
    for (const [size, { firstByteMs, bareMs }] of [['few', least] as const, ['many', most] as const])
      Object.assign(figures, { [`${size}FirstByteMs`]: rounded(firstByteMs), [`${size}BareMs`]: rounded(bareMs) });
    found.figures[name] = { ...figures, few, many };
    found.ratios[`${name} ÷ its statements`] = ratio(most.share, 1);
    found.ratios[`${name}: long ÷ short history`] = ratio(most.firstByteMs, least.firstByteMs);
    worst = Math.max(worst, least.share, most.share);
    growth = Math.max(growth, most.firstByteMs / least.firstByteMs);
    found.proofs[`${name} is answered`] = least.succeeded && most.succeeded;
  }
  found.goals.push(
    { goal: 'first byte ÷ its statements ≤ 4', measured: ratio(worst, 1), met: worst <= 4 },
    { goal: 'first byte, long ÷ short history ≤ 1.5', measured: ratio(growth, 1), met: growth <= 1.5 },
  );
  return found;
}
