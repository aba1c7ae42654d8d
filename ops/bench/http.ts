import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { runAudit } from '#api/audit/run-audit.ts';
import { merchant, type Merchant, must, operator, type GatewayCredentials } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { openBareBounds } from './bare-bounds.ts';
import { type Bench, type Figures, type Found, median, ratio, rounded, type Size } from './bench.ts';
import type { Load, Loaded } from './load.ts';
import { cpuSince, readCpu, usageOf } from './machine.ts';
import { type ApiProcess, SECRETS, setLogging, type Stage } from './stage.ts';
import { freshValues, ranTheSame, readStatements, replay, type Requested } from './statements.ts';

const CLIENTS = 50;
/** The connections that statements are replayed on: as many as the api has for transactions. */
const CONNECTIONS = 20;
const ROUNDS = { tiny: 1, full: 3 };
const SECONDS = { tiny: 0.4, full: 2 };
const PAYMENTS = { tiny: 4, full: 200 };
/** Slower than this tells more of the hypervisor than of us. */
const MOST_STEAL = 0.05;

const PRICES: Readonly<Record<string, string>> = { ETH: '2000', USDT: '1', USDC: '1' };
const PAYMENT = {
  currencyCode: 'USD',
  amount: '49.90',
  checkoutMode: 'API',
  webhookUrl: 'https://shop.example/hooks/sluice',
  webhookParams: { order: 'A-1001' },
};

/** Requests per second and latency of what merchants' servers and payers' browsers ask most, against the bare statements of each. */
export const http: Bench = {
  what: 'create, keyed create, public read and verify: requests per second and p99 at 50 clients, against the same statements without a service around them',
  async run(stage, size) {
    const networks = await evmOnly();
    const database = await stage.database();
    const environment = { ...stage.environment(database, await stage.networksFile(networks)), SLUICE_ROLES: 'http' };
    // Written at once, to be able to record every statement of a request; sessions opened later log nothing.
    await setLogging(database.url, true);
    const recorded = await withApi(stage, environment, async (api) => {
      const shop = await aShop(api);
      const ids = await somePayments(shop, PAYMENTS[size]);
      const requested: Record<string, Requested> = {};
      for (const [kind, load] of chosen(loadsOf(api, shop, ids), size)) requested[kind] = await recordStatements(stage, api, load);
      return { requested, gateway: shop.gateway, ids };
    });
    await setLogging(database.url, false);
    const figures: Record<string, Figures> = {};
    const ratios: Record<string, number> = {};
    const p99s: Record<string, number> = {};
    const load = await stage.startTool('load.ts', []);
    await withApi(stage, environment, async (api) => {
      const loads = loadsOf(api, merchant(`${api.origin}/api/v1`, recorded.gateway), recorded.ids);
      for (const [kind, asked] of chosen(loads, size)) {
        // What is compiled and prepared once is no part of the figure.
        await load.ask<Loaded>({ ...asked, seconds: SECONDS[size] / 2 });
        const rounds: Round[] = [];
        const requested = recorded.requested[kind] as Requested;
        const bounds = await openBareBounds(stage, { url: database.url, connections: CONNECTIONS, requested }, { ...asked, seconds: SECONDS[size] / 2 }, load);
        for (let round = 0; round < ROUNDS[size]; round++) {
          const bare = await replay(database.url, requested, { clients: CONNECTIONS, seconds: Math.max(1, SECONDS[size]), directory: stage.directory });
          const [statements, layers] = [await bounds.statements(SECONDS[size]), await bounds.layers(SECONDS[size])];
          rounds.push({
            ...(await oneRound(api, () => load.ask<Loaded>({ ...asked, seconds: SECONDS[size] }))),
            bare: bare.perSecond,
            by: bare.by,
            statements,
            layers,
          });
        }
        await bounds.stop();
        const of = (name: 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuUs' | 'bare' | 'statements' | 'layers'): number => median(rounds.map((one) => one[name]));
        const share = median(rounds.map((one) => one.perSecond / one.bare));
        ratios[`${kind} ÷ its statements`] = ratio(share, 1);
        ratios[`${kind}, a bare server ÷ its statements`] = ratio(median(rounds.map((one) => one.statements / one.bare)), 1);
        ratios[`${kind} ÷ a bare server`] = ratio(median(rounds.map((one) => one.perSecond / one.statements)), 1);
        ratios[`${kind} ÷ an empty handler`] = ratio(median(rounds.map((one) => one.perSecond / one.layers)), 1);
        p99s[kind] = of('p99Ms');
        figures[kind] = {
          perSecond: rounded(of('perSecond')),
          p50Ms: rounded(of('p50Ms')),
          p99Ms: rounded(of('p99Ms')),
          cpuUsPerRequest: rounded(of('cpuUs')),
          statements: (recorded.requested[kind] as Requested).statements.length,
          statementsPerSecondBare: rounded(of('bare')),
          bareBy: rounds[0]?.by ?? 'none',
          bareServerPerSecond: rounded(of('statements')),
          emptyHandlerPerSecond: rounded(of('layers')),
          refused: rounds.reduce((sum, { refused }) => sum + refused, 0),
          steal: rounded(Math.max(...rounds.map(({ steal }) => steal))),
        };
        stage.say(`${kind}: ${JSON.stringify(figures[kind])}`);
      }
    });
    await load.stop();
    return { figures, ratios, goals: goalsOf(figures, ratios), proofs: await proofsOf(stage, database, figures) };
  },
};

/** A write and a read are enough to show that the bench works. */
function chosen(loads: Record<string, Load>, size: Size): [string, Load][] {
  return Object.entries(loads).filter(([kind]) => size === 'full' || kind === 'create' || kind === 'public read');
}

interface Round extends Loaded {
  cpuUs: number;
  steal: number;
  bare: number;
  by: string;
  /** Requests a second of a bare server that runs the same statements. */
  statements: number;
  /** Requests a second of the packages of the HTTP side with nothing behind them. */
  layers: number;
}

async function oneRound(api: ApiProcess, run: () => Promise<Loaded>): Promise<Omit<Round, 'bare' | 'by' | 'statements' | 'layers'>> {
  const [before, cpu] = [usageOf(api.pid), readCpu()];
  const loaded = await run();
  return { ...loaded, cpuUs: ((usageOf(api.pid).cpuSeconds - before.cpuSeconds) * 1e6) / Math.max(1, loaded.answers), steal: cpuSince(cpu).steal };
}

function loadsOf(api: ApiProcess, shop: Merchant, ids: string[]): Record<string, Load> {
  const common = { port: Number(new URL(api.origin).port), clients: CLIENTS, seconds: 1 };
  const key = { 'x-api-key': shop.gateway.apiKey };
  const create = { ...common, method: 'POST', path: '/api/v1/payments', headers: key, body: JSON.stringify(PAYMENT) };
  return {
    create,
    'create with Idempotency-Key': { ...create, keyed: true },
    'public read': { ...common, method: 'GET', path: '/api/v1/public/payments/{id}', headers: {}, ids },
    verify: { ...common, method: 'POST', path: '/api/v1/payments/{id}/verify', headers: key, ids },
  };
}

/** Only EVM coins, so that three offers are made whatever the machine runs beside. */
export async function evmOnly(): Promise<NetworkConfig[]> {
  const { networks } = JSON.parse(await readFile('ops/dev/networks.json', 'utf8')) as { networks: NetworkConfig[] };
  return networks.filter(({ family }) => family === 'evm');
}

async function withApi<T>(stage: Stage, environment: Record<string, string>, work: (api: ApiProcess) => Promise<T>): Promise<T> {
  const api = await stage.startApi(environment);
  try {
    return await work(api);
  } finally {
    await api.stop();
  }
}

export async function aShop(api: Pick<ApiProcess, 'origin'>): Promise<Merchant> {
  const desk = operator(`${api.origin}/operator/v1`, SECRETS.SLUICE_OPERATOR_TOKEN);
  const created = await desk.must('POST', '/gateways', { body: { name: 'Acme Books', apiAllowlist: ['127.0.0.1'] } });
  const { gateway, apiKey, cashoutSigningSecret, webhookSecret } = created as { gateway: { id: string } } & Record<string, string>;
  for (const [symbol, usd] of Object.entries(PRICES)) await desk.must('PUT', `/prices/${symbol}`, { body: { usd } });
  return merchant(`${api.origin}/api/v1`, { id: gateway.id, apiKey, cashoutSigningSecret, webhookSecret } as GatewayCredentials);
}

/** Sandbox payments that were paid, as a shop verifies them; half of them, and half that wait. */
async function somePayments(shop: Merchant, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const { paymentUid } = await shop.must('POST', '/payments', { body: { ...PAYMENT, isSandbox: true } });
    ids.push(paymentUid as string);
    if (i % 2 === 0) await shop.must('POST', `/public/payments/${paymentUid}/sandbox/simulate`, { body: { scenario: 'success' } });
  }
  return ids;
}

/** Requests of a kind, beside the first, of which two that follow each other must run the same statements. */
const RECORDINGS = 5;

/** The statements of one request of a kind, and which values in them are new each time: two requests tell. */
async function recordStatements(stage: Stage, api: ApiProcess, load: Load): Promise<Requested> {
  let answer = '';
  const once = async (): Promise<ReturnType<typeof readStatements>> => {
    const from = stage.postgresLog.length;
    const key = load.keyed === true ? { 'idempotency-key': `order-${randomUUID()}` } : {};
    const url = `${api.origin}${load.path.replace('{id}', load.ids?.[0] ?? '')}`;
    answer = JSON.stringify({
      success: true,
      data: await must(url, load.method, { headers: { ...load.headers, ...key }, ...(load.body === undefined ? {} : { rawBody: load.body }) }),
    });
    // Postgres writes its log beside its answers.
    return waitFor(() => settled(stage, from), { what: 'the log of Postgres', everyMs: 100 });
  };
  await once();
  let first = await once();
  // What the process does by itself now and then, such as saying that it lives, may fall beside a request; it falls beside no two that follow each other.
  for (let left = RECORDINGS; left > 0; left--) {
    const second = await once();
    if (ranTheSame(first, second)) return { statements: first, fresh: freshValues(first, second), answer };
    first = second;
  }
  throw new Error(`no two of ${RECORDINGS + 1} requests of a kind ran the same statements: ${first.map(({ text }) => text).join('; ')}`);
}

let seen = 0;

function settled(stage: Stage, from: number): ReturnType<typeof readStatements> | undefined {
  const { length } = stage.postgresLog;
  const quiet = length > from && length === seen;
  seen = length;
  return quiet ? readStatements(stage.postgresLog.slice(from)) : undefined;
}

async function proofsOf(
  stage: Stage,
  database: Parameters<typeof runAudit>[0] extends infer S ? { sql: S } : never,
  figures: Record<string, Figures>,
): Promise<Found['proofs']> {
  const sql = database.sql;
  const [settings] = await sql<[{ fsync: string; commit: string }]>`select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`;
  // The replayed statements are the service's own, so that whatever they wrote must satisfy every check as well.
  const audit = (await runAudit(sql)).filter(({ rows }) => rows.length > 0).map(({ check }) => check);
  return {
    fsync: settings.fsync === 'on' || !stage.durable,
    synchronousCommit: settings.commit === 'on',
    auditClean: audit.length === 0,
    ...(audit.length === 0 ? {} : { auditViolated: audit.join(', ') }),
    everyAnswerSucceeded: Object.values(figures).every(({ refused }) => refused === 0),
    stealBelowLimit: Object.values(figures).every(({ steal }) => Number(steal) < MOST_STEAL),
  };
}

function goalsOf(figures: Record<string, Figures>, ratios: Record<string, number>): Found['goals'] {
  const create = figures.create as Figures;
  const cpuUs = Number(create.cpuUsPerRequest);
  const shares = [
    { goal: 'P9: create', kind: 'create', least: 0.6 },
    { goal: 'public read', kind: 'public read', least: 0.4 },
    { goal: 'verify', kind: 'verify', least: 0.4 },
  ].flatMap(({ goal, kind, least }) => {
    const share = ratios[`${kind} ÷ its statements`];
    return share === undefined ? [] : [{ goal: `${goal} ÷ pgbench of our own statements ≥ ${least}`, measured: share, met: share >= least }];
  });
  const p99 = Number(create.p99Ms);
  return [
    ...shares,
    { goal: 'P10: CPU of the api per create ≤ 1,300 us', measured: cpuUs, met: cpuUs <= 1_300 },
    { goal: 'P10: p99 of create ≤ 58 ms (twice node:http)', measured: p99, met: p99 <= 58 },
  ];
}
