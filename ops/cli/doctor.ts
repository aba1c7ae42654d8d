import { readFileSync } from 'node:fs';
import { DEV_FILE, type DevFile } from '#ops/dev/dev-file.ts';
import { profileOf } from '#shared/chains/networks.ts';
import type { Family } from '#shared/core/assets.ts';
import { ROLES } from '#shared/platform/config.ts';
import { inspectRights, isSound, mayMigrate, rightsProblem } from '#shared/platform/database-roles.ts';
import { connect } from '#shared/platform/postgres.ts';
import { checkNode } from './check-node.ts';
import { checkAudit, checkDispatch, checkJobs } from './check-operations.ts';
import { checkBackup, checkProcesses } from './check-processes.ts';
import { checkRedis } from './check-redis.ts';
import { checkPostgres, checkSigner } from './check-server.ts';
import { checkWallets } from './check-wallets.ts';
import { type Command, type Context, UnreachableError } from './command.ts';
import { describeEndpoint, type Endpoint } from './endpoints.ts';
import { attempt, bad, type Finding, good, warn } from './finding.ts';

const TIMEOUT_MILLISECONDS = 5_000;
/** A tip older than this, or than the network may be silent for, means that nothing arrives any more. */
const STALE_SECONDS = 60;

interface NetworkStatus {
  name: string;
  family: Family;
  chainId: string;
  nativeSymbol: string;
  indexed: boolean;
  pausedAt: string | null;
  tipHeight: number | null;
  headHeight: number | null;
  appliedAt: string | null;
  endpoints: Endpoint[];
  /** What its configuration brings with it; absent from the answer of an older release. */
  warnings?: string[];
}

export const doctorCommands: readonly Command[] = [
  {
    name: 'doctor',
    args: '',
    summary: 'check every dependency and say what to fix; exit code 1 when something is wrong',
    arity: [0, 0],
    async run(open) {
      const findings: Finding[] = [node()];
      const context = await open().catch((error: Error) => error);
      if (context instanceof Error) findings.push(bad('service', context.message, 'start it: npm start'));
      else findings.push(...(await checkService(context)), ...(context.dev === undefined ? [] : await checkDevelopment(context, context.dev)));
      const dev = context instanceof Error ? undefined : context.dev;
      if (dev === undefined) findings.push(...(await checkServers()));
      const url = dev === undefined ? setting('DATABASE_URL') : dev.databaseUrl;
      if (url !== undefined) findings.push(await checkRights(url, dev !== undefined));
      const lines = findings.flatMap((one) => [
        `${LEVELS[one.level]}  ${one.check.padEnd(24)}  ${one.seen}`,
        ...(one.fix === null ? [] : [`      ${' '.repeat(24)}  fix: ${one.fix}`]),
      ]);
      return { data: findings, text: lines.join('\n'), good: findings.every((one) => one.good) };
    },
  },
];

const LEVELS = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const;

/** A setting of this process, given by itself or as a file. */
function setting(name: string): string | undefined {
  const file = process.env[`${name}_FILE`];
  return process.env[name] || (file ? readFileSync(file, 'utf8').trim() : undefined);
}

/** Postgres and Redis as the environment names them. */
async function checkServers(): Promise<Finding[]> {
  const [database, redis] = [setting('DATABASE_URL'), setting('REDIS_URL')];
  return [
    database === undefined ? elsewhere('postgres', 'DATABASE_URL') : await checkPostgres(database),
    redis === undefined ? elsewhere('redis', 'REDIS_URL') : await checkRedis(redis, { administers: false }),
  ];
}

/** The service's own word on it is the line of its roles; how the server itself is, only somebody who reaches it can say. */
function elsewhere(check: string, name: string): Finding {
  return warn(check, `not looked at: ${name} is not set here`, 'run it where a process of the service runs, with its environment');
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const fits = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
  return fits ? good('node', process.versions.node) : bad('node', process.versions.node, 'install Node 20.19 or newer');
}

async function checkService(context: Context): Promise<Finding[]> {
  try {
    const answer = await context.operator.call('GET', '/clock');
    if (answer.status === 401) return [bad('operator api', 'the token was refused', 'SLUICE_OPERATOR_TOKEN must be that of the running service')];
    if (!answer.success) return [bad('operator api', `${answer.status} ${answer.error.code}`, 'look at the log of the api process')];
    const { offsetSeconds } = answer.data as { offsetSeconds: number };
    const reached = good('operator api', `${context.operatorUrl}, service clock ${offsetSeconds === 0 ? 'on time' : `${offsetSeconds} s ahead`}`);
    return [
      reached,
      ...(await checkProcesses(context)),
      ...(await checkNetworks(context)),
      await checkUnexplained(context),
      await checkPrices(context),
      await checkScreening(context),
      await checkSigner(context),
      await checkDispatch(context),
      await checkJobs(context),
      await checkAudit(context),
      await checkBackup(context),
    ];
  } catch (error) {
    if (error instanceof UnreachableError) return [bad('operator api', error.message, 'start it: npm start')];
    return [bad('operator api', (error as Error).message, 'look at the log of the api process')];
  }
}

async function checkNetworks(context: Context): Promise<Finding[]> {
  const { items } = (await context.operator.must('GET', '/networks')) as { items: NetworkStatus[] };
  const networks = items.flatMap((network) => [
    checkNetwork(context, network),
    ...network.endpoints.map((endpoint) => checkEndpoint(network, endpoint)),
    // Chosen, or lacking and not broken: it is said each time, and fails nothing.
    ...(network.warnings ?? []).map((warning) =>
      warn(`warning of ${network.name}`, warning, 'more endpoints in its rpcUrls, or ones that offer it; or accept it'),
    ),
  ]);
  return [...networks, ...(await checkWallets(context, new Map(items.map(({ name, nativeSymbol }) => [name, nativeSymbol]))))];
}

const ENDPOINT_FIXES: Record<string, string> = {
  foreign: 'take it out of rpcUrls and start anew: it is never asked again',
  failing: 'is it up, and can this host reach it? It is tried again by itself',
  lagging: 'it is behind the others or on another branch; it is used again once it has caught up',
  quiet: 'it asked to be left alone for a while: a larger plan, or another provider beside it',
};

function checkEndpoint(network: NetworkStatus, endpoint: Endpoint): Finding {
  const fix = ENDPOINT_FIXES[endpoint.state];
  const check = `endpoint of ${network.name}`;
  return fix === undefined ? good(check, describeEndpoint(endpoint)) : bad(check, describeEndpoint(endpoint), fix);
}

function checkNetwork(context: Context, network: NetworkStatus): Finding {
  const check = `network ${network.name}`;
  if (network.pausedAt !== null)
    return bad(check, `paused since ${network.pausedAt}`, `resume it when the reason is gone: POST ${context.operatorUrl}/networks/${network.name}/resume`);
  if (!network.indexed)
    return bad(check, 'no indexer is at work on it', 'start one: node dist/indexer.js (npm start does); one that runs says in its log why it stands still');
  if (network.tipHeight === null) return bad(check, 'its indexer has not delivered a block yet', 'look at /readyz of the indexer: RPC endpoint or Redis');
  const age = Date.now() - Date.parse(network.appliedAt ?? '');
  const behind = (network.headHeight ?? network.tipHeight) - network.tipHeight;
  const seen = `block ${network.tipHeight}, ${behind} behind its head, last one ${Math.round(age / 1000)} s ago`;
  return age > Math.max(STALE_SECONDS, profileOf(network.family, network.chainId).stallSeconds) * 1_000
    ? bad(check, seen, 'nothing arrives: look at /readyz of its indexer (RPC endpoint) and of the worker (Redis)')
    : good(check, seen);
}

/** Native coins at addresses of ours that no transfer explains; they are credited to nobody until somebody looks. */
async function checkUnexplained(context: Context): Promise<Finding> {
  const { items, pagination } = (await context.operator.must('GET', '/deposits?state=unexplained&limit=1')) as {
    items: { amount: string; assetSymbol: string; network: string; address: string }[];
    pagination: { total: number };
  };
  const [newest] = items;
  if (newest === undefined) return good('balances', 'nothing unexplained');
  const seen = `${pagination.total} unexplained, such as ${newest.amount} ${newest.assetSymbol} at ${newest.address} on ${newest.network}`;
  return bad('balances', seen, 'npx sluice deposit list --state unexplained; an inquiry through an endpoint with traces credits them');
}

interface PricesAnswer {
  mode: 'static' | 'http';
  items: { symbol: string; ageSeconds: number | null; usable: boolean }[];
  sources: { name: string; failures: number; lastError: string | null }[];
}

async function checkPrices(context: Context): Promise<Finding> {
  const { mode, items, sources } = (await context.operator.must('GET', '/prices')) as unknown as PricesAnswer;
  const coins = items.filter((one) => !one.symbol.startsWith('fiat:'));
  const missing = coins
    .filter((one) => !one.usable)
    .map((one) => (one.ageSeconds === null ? `${one.symbol} has none` : `${one.symbol} is ${one.ageSeconds} s old`));
  const failing = sources.filter((one) => one.failures > 0).map((one) => `${one.name}: ${one.lastError}`);
  const rates = items.length - coins.length;
  const seen = `${coins.length} coins, ${items.filter((one) => one.symbol.startsWith('fiat:') && one.usable).length} of ${rates} currencies`;
  const trouble = failing.length === 0 ? '' : `; ${failing.join('; ')}`;
  const ages = coins.map((one) => `${one.symbol} ${one.ageSeconds ?? 0} s`).join(', ');
  if (missing.length === 0) return good('prices', `${mode}: ${seen}; age: ${ages}${trouble}`);
  const fix = mode === 'static' ? `set it: PUT ${context.operatorUrl}/prices/{symbol}` : 'a price needs two sources that agree: can this host reach them?';
  return bad('prices', `${missing.join(', ')}${trouble}`, fix);
}

interface ScreeningAnswer {
  provider: string;
  sanctionsList: { addresses: number } | null;
  gateways: { screening: number; withoutCredit: number };
}

async function checkScreening(context: Context): Promise<Finding> {
  const { provider, sanctionsList, gateways } = (await context.operator.must('GET', '/screening')) as unknown as ScreeningAnswer;
  const list = sanctionsList === null ? 'no sanctions list' : `${sanctionsList.addresses} sanctioned addresses`;
  const seen = `${provider}, ${list}, ${gateways.screening} gateways screen`;
  if (gateways.screening > 0 && provider === 'none') return bad('screening', seen, 'set SLUICE_SCREENING_PROVIDER: these gateways get no verdict');
  if (gateways.withoutCredit > 0)
    return bad('screening', `${seen}, ${gateways.withoutCredit} without a credit`, `POST ${context.operatorUrl}/gateways/{id}/screening-credits {"add": 100}`);
  return good('screening', seen);
}

async function checkDevelopment({ operator }: Context, dev: DevFile): Promise<Finding[]> {
  const { items = [] } = (await operator.must('GET', '/networks').catch(() => ({}))) as { items?: NetworkStatus[] };
  const chainIds = new Map(items.map(({ name, chainId }) => [name, chainId]));
  const findings = await Promise.all([
    checkReady(dev),
    checkPostgres(dev.databaseUrl),
    checkRedis(dev.redisUrl, { administers: true }),
    ...Object.entries(dev.networks).map(([name, network]) => checkNode(name, network, dev.localNetworks.includes(name), chainIds.get(name))),
    attempt('webhook receiver', 'restart npm start', async () => {
      const response = await fetch(dev.webhookReceiver.log, { signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) });
      if (!response.ok) throw new Error(`answers ${response.status}`);
      return dev.webhookReceiver.url;
    }),
  ]);
  return findings.flat();
}

async function checkReady(dev: DevFile): Promise<Finding> {
  return attempt('api readiness', `look at what is not ready, then restart npm start (${DEV_FILE} names every process)`, async () => {
    const response = await fetch(dev.metrics.api.replace(/\/metrics$/, '/readyz'), { signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) });
    const text = await response.text();
    if (!response.ok) throw new Error(text.slice(0, 300));
    return 'ready';
  });
}

/** What logins may do: of npm start all that were granted, elsewhere only this process's own. */
async function checkRights(url: string, administers: boolean): Promise<Finding> {
  const check = 'database rights';
  const database = connect(url, { name: 'sluice-doctor', max: 1 });
  try {
    const owns = await mayMigrate(database.sql);
    if (!owns) {
      const roles = ROLES.filter((role) => (process.env.SLUICE_ROLES ?? ROLES.join(',')).split(',').includes(role));
      const problem = await rightsProblem(database.sql, roles);
      return problem === null ? good(check, 'this login may do what its process needs, and owns nothing') : bad(check, problem, 'sluice db roles apply');
    }
    const report = await inspectRights(database.sql);
    if (administers && report.absentRoles.length === 0)
      return isSound(report)
        ? good(check, 'every role has exactly the rights it needs')
        : bad(check, 'not as they should be', 'npx sluice db roles shows what; sluice db roles apply');
    // It works, as it did before there were roles.
    return warn(check, 'this login owns the tables, which is more than any process needs', 'sluice db roles apply');
  } catch (error) {
    return bad(check, (error as Error).message, 'look at the database first');
  } finally {
    await database.end();
  }
}
