import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from 'redis';
import { runAudit } from '#api/audit/run-audit.ts';
import type { Deps } from '#api/deps.ts';
import { webhookBody } from '#api/payments/enqueue-webhook.ts';
import { expireNow } from '#api/payments/expire.ts';
import { lockPayment } from '#api/store/payments.ts';
import { readWebhook } from '#ops/client/webhooks.ts';
import type { Merchant } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { Database, Tx } from '#shared/platform/postgres.ts';
import { WORKER_CHANNEL } from '#shared/platform/redis-streams.ts';
import type { BareQuestion, BareWebhook } from './bare-webhooks.ts';
import { type Bench, type Figures, type Found, median, percentile, ratio, rounded, type Size } from './bench.ts';
import { busyEvm } from './chains.ts';
import { aShop } from './http.ts';
import { networkAt } from './indexing.ts';
import { cpuSince, readCpu, usageOf } from './machine.ts';
import { nowMs } from './monotonic.ts';
import type { Stage, Tool } from './stage.ts';
import type { Arrival, ReceiverQuestion } from './webhook-receiver.ts';

/** Each with a receiver of its own, so many that a lane of a host or a gateway (decision 0108) is hardly ever waited for. */
const MANY = { tiny: 3, full: 64 };
/** Webhooks in flight at once, of the bare loop as of a worker. */
const CLIENTS = 64;
const ROUNDS = { tiny: 1, full: 3 };
const BACKLOG = { tiny: 12, full: 1_024 };
/** One host has four lanes, which are what is measured there. */
const BACKLOG_OF_ONE = { tiny: 4, full: 128 };
const WARM_UP = { tiny: 3, full: 512 };
const SINGLE = { tiny: 2, full: 100 };
const SINGLE_WARM_UP = { tiny: 0, full: 20 };
const CHANNEL = 'bench_webhooks';

/** Where the webhooks of a gateway go, and the payments that they are about. */
interface Shop {
  id: string;
  secret: string;
  url: string;
  /** Payments that nothing was announced of yet. */
  open: string[];
}

/** How fast webhooks leave, and how soon: a backlog of many gateways and of one, and single ones of a worker that does nothing else. */
export const webhooks: Bench = {
  what: 'webhooks delivered and recorded a second, and from the commit of one to its receiver having it, against signed POSTs that nobody records',
  async run(stage, size) {
    const chain = await busyEvm({ blocks: 1, perBlock: 1, oneIn: 1, recipients: 1 });
    const database = await stage.database();
    const environment = stage.environment(database, await stage.networksFile([await networkAt('evm', chain.url)]));
    const [receiver, bare] = await Promise.all([stage.startTool('webhook-receiver.ts', []), stage.startTool('bare-webhooks.ts', [])]);
    const ask = <T>(question: ReceiverQuestion): Promise<T> => receiver.ask<T>(question);
    const { ports } = await ask<{ ports: number[] }>({ ask: 'listen', ports: MANY[size] });
    // Each webhook is delivered by the service, and another one by the least way.
    const each = 2 * Math.ceil((WARM_UP[size] + ROUNDS[size] * BACKLOG[size]) / MANY[size]);
    const more = ROUNDS[size] * BACKLOG_OF_ONE[size] + SINGLE_WARM_UP[size] + SINGLE[size];
    const shops = await shopsOf(stage, environment, ports, (at) => (at === 0 ? each + more : each));
    const redis = createClient({ url: stage.redisUrl });
    // A bench that cannot tell the worker fails by what never came.
    redis.on('error', () => undefined);
    await redis.connect();
    const worker = await stage.startApi({ ...environment, SLUICE_ROLES: 'worker' });
    const announce = announcer(database, () => redis.publish(WORKER_CHANNEL, ''));
    const arrivals: Arrival[] = [];
    const collect = async (): Promise<Arrival[]> => (await ask<{ arrivals: Arrival[] }>({ ask: 'told' })).arrivals;

    const oneRound = async (of: readonly Shop[], count: number): Promise<Round> => {
      const due = someOf(of, count);
      const hooks: BareWebhook[] = due.map(({ shop, payment }) => ({
        id: randomUUID(),
        url: shop.url,
        secret: shop.secret,
        body: webhookBody(payment, 'EXPIRED'),
      }));
      const { perSecond: barePerSecond } = await bare.ask<{ perSecond: number }>({ ask: 'post', webhooks: hooks, clients: CLIENTS } satisfies BareQuestion);
      await collect();
      const [usage, cpu] = [usageOf(worker.pid), readCpu()];
      const began = await announce(due.map(({ payment }) => payment));
      await ask({ ask: 'came', count });
      await waitFor(() => noneIsDue(database), { what: 'the last attempt to be stored', everyMs: 5, timeoutMs: 60_000 });
      const seconds = (nowMs() - began) / 1_000;
      const runs = await runsOf(
        database,
        due.map(({ payment }) => payment),
      );
      arrivals.push(...(await collect()));
      return {
        perSecond: count / seconds,
        barePerSecond,
        cpuMs: ((usageOf(worker.pid).cpuSeconds - usage.cpuSeconds) * 1_000) / count,
        runs: runs / count,
        steal: cpuSince(cpu).steal,
      };
    };
    /** As many by the least way. */
    const leastWay = async (of: readonly Shop[], count: number): Promise<number> => {
      const outboxIds = await keptAside(
        database,
        someOf(of, count).map(({ payment }) => payment),
      );
      const secrets = Object.fromEntries(of.map(({ id, secret }) => [id, secret]));
      const { perSecond } = await bare.ask<{ perSecond: number }>({
        ask: 'deliver',
        url: database.url,
        outboxIds,
        secrets,
        clients: CLIENTS,
      } satisfies BareQuestion);
      arrivals.push(...(await collect()));
      return perSecond;
    };
    /** Rounds of the service, and of the least way beside each where that is asked for. */
    const rounds = async (of: readonly Shop[], count: number, least: boolean): Promise<Round[]> => {
      const measured: Round[] = [];
      for (let round = 0; round < ROUNDS[size]; round++)
        measured.push({ ...(await oneRound(of, count)), ...(least && { leastPerSecond: await leastWay(of, count) }) });
      return measured;
    };
    await oneRound(shops, WARM_UP[size]);
    await leastWay(shops, WARM_UP[size]);
    const figures: Record<string, Figures> = {};
    const ratios: Record<string, number> = {};
    const many = `${shops.length} gateways, a host each`;
    for (const [name, of, count, least] of [
      [many, shops, BACKLOG[size], true],
      ['one gateway, one host', shops.slice(0, 1), BACKLOG_OF_ONE[size], false],
    ] as const) {
      const measured = await rounds(of, count, least);
      figures[name] = figuresOf(measured);
      ratios[`${name} ÷ bare`] = ratio(median(measured.map(({ perSecond, barePerSecond }) => perSecond / barePerSecond)), 1);
      const leastShares = measured.flatMap(({ perSecond, barePerSecond, leastPerSecond }) =>
        leastPerSecond === undefined ? [] : [{ ofBare: leastPerSecond / barePerSecond, ofIt: perSecond / leastPerSecond }],
      );
      if (leastShares.length > 0) {
        ratios['the least way ÷ bare'] = ratio(median(leastShares.map(({ ofBare }) => ofBare)), 1);
        ratios[`${name} ÷ the least way`] = ratio(median(leastShares.map(({ ofIt }) => ofIt)), 1);
      }
      stage.say(`${name}: ${JSON.stringify(figures[name])}, ${JSON.stringify(ratios)}`);
    }
    const single = await singles(stage, { size, database, shop: shops[0] as Shop, announce, bare, receiver, arrivals });
    Object.assign(figures, single.figures);
    await Promise.all([worker.stop(), receiver.stop(), bare.stop(), redis.close(), chain.stop()]);
    const goals: Found['goals'] = [
      {
        goal: 'P13: webhooks a second, attempts stored, ≥ 0.60 of bare signed POSTs',
        measured: ratios[`${many} ÷ bare`] as number,
        met: (ratios[`${many} ÷ bare`] as number) >= 0.6,
      },
      { goal: 'P13: from commit to receiver p50 ≤ 5 ms', measured: single.p50Ms, met: single.p50Ms <= 5 },
      { goal: 'P13: from commit to receiver p99 ≤ 30 ms', measured: single.p99Ms, met: single.p99Ms <= 30 },
    ];
    return { figures, ratios, goals, proofs: await proofsOf(database, shops, arrivals) };
  },
};

interface Round {
  perSecond: number;
  barePerSecond: number;
  /** Of whoever only does what has to be stored. */
  leastPerSecond?: number;
  /** CPU of the worker for each webhook. */
  cpuMs: number;
  /** How often a webhook was taken in hand: more than once where it found no lane. */
  runs: number;
  steal: number;
}

function figuresOf(measured: readonly Round[]): Figures {
  const of = (name: keyof Round): number => rounded(median(measured.flatMap((round) => round[name] ?? [])));
  return {
    perSecond: of('perSecond'),
    barePerSecond: of('barePerSecond'),
    ...(measured[0]?.leastPerSecond !== undefined && { leastPerSecond: of('leastPerSecond') }),
    cpuMsPerWebhook: of('cpuMs'),
    runsPerWebhook: of('runs'),
    steal: rounded(Math.max(...measured.map(({ steal }) => steal))),
  };
}

/** Gateways with payments of the sandbox, which the service itself creates; it takes no part in what is measured. */
async function shopsOf(stage: Stage, environment: Record<string, string>, ports: readonly number[], payments: (at: number) => number): Promise<Shop[]> {
  const api = await stage.startApi({ ...environment, SLUICE_ROLES: 'http' });
  try {
    const open = async (port: number, at: number): Promise<Shop> => {
      const shop = await aShop(api);
      const url = `http://127.0.0.1:${port}/hooks`;
      return { id: shop.gateway.id, secret: shop.gateway.webhookSecret, url, open: await somePayments(shop, url, payments(at)) };
    };
    return await Promise.all(ports.map(open));
  } finally {
    await api.stop();
  }
}

async function somePayments(shop: Merchant, webhookUrl: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  const body = { currencyCode: 'USD', amount: '10', checkoutMode: 'API', isSandbox: true, webhookUrl };
  for (let i = 0; i < count; i++) ids.push((await shop.must('POST', '/payments', { body })).paymentUid as string);
  return ids;
}

/** Payments of which nothing was announced yet, of each shop about as many. */
function someOf(shops: readonly Shop[], count: number): { shop: Shop; payment: string }[] {
  return Array.from({ length: count }, (_, at) => {
    const shop = shops[at % shops.length] as Shop;
    return { shop, payment: shop.open.pop() as string };
  });
}

type Announce = (payments: readonly string[]) => Promise<number>;

/** Expires payments in one transaction, as their sandbox does, so that all their webhooks are due with its commit; says when that was, and tells the worker as any other process does. */
function announcer(database: Database, wake: () => Promise<unknown>): Announce {
  return async (payments) => {
    await database.transaction((tx) => expireAll(tx, database, payments));
    const committed = nowMs();
    await wake();
    return committed;
  };
}

async function expireAll(tx: Tx, database: Database, payments: readonly string[]): Promise<void> {
  const deps = { db: database, randomBytes, wallClock: Date.now } as unknown as Deps;
  for (const id of payments) {
    await lockPayment(tx, id);
    await expireNow(tx, deps, id, 'bench');
  }
}

/** Does the same, but so that the service takes none of them: they are handed to somebody else. Returns the rows of the outbox. */
async function keptAside(database: Database, payments: readonly string[]): Promise<string[]> {
  return database.transaction(async (tx) => {
    await expireAll(tx, database, payments);
    const rows = await tx<{ id: string }[]>`
      update outbox set handed_until = now() + interval '1 hour' where ref_id in (select id from webhook_events where payment_id = any(${[...payments]}::uuid[])) returning id`;
    return rows.map(({ id }) => id);
  });
}

async function noneIsDue({ sql }: Database): Promise<boolean> {
  const [{ some }] = await sql<[{ some: boolean }]>`select exists (select 1 from outbox where topic = 'webhook.deliver' and state = 'due') as some`;
  return !some;
}

async function runsOf({ sql }: Database, payments: readonly string[]): Promise<number> {
  const [{ runs }] = await sql<[{ runs: number }]>`
    select sum(o.claims)::int as runs from webhook_events e join outbox o on o.ref_id = e.id where e.payment_id = any(${[...payments]}::uuid[])`;
  return runs;
}

interface Singly {
  size: Size;
  database: Database & { url: string };
  shop: Shop;
  announce: Announce;
  bare: Tool;
  receiver: Tool;
  arrivals: Arrival[];
}

/** One webhook after the other, in turns with a row that is inserted, notified of and posted by somebody who only listens. */
async function singles(
  stage: Stage,
  { size, database, shop, announce, bare, receiver, arrivals }: Singly,
): Promise<{ figures: Record<string, Figures>; p50Ms: number; p99Ms: number }> {
  await database.sql`create table bench_webhooks (id bigint generated always as identity primary key, body text not null)`;
  await bare.ask({ ask: 'listen', url: database.url, channel: CHANNEL } satisfies BareQuestion);
  const [own, listened]: [number[], number[]] = [[], []];
  const soon = async (send: () => Promise<number>): Promise<{ ms: number; came: Arrival[] }> => {
    const committed = await send();
    const { atMs } = await receiver.ask<{ atMs: number }>({ ask: 'came', count: 1 } satisfies ReceiverQuestion);
    // Neither in step with anything of the worker nor with what the one before it left to do.
    await pause(30 + Math.random() * 70);
    return { ms: atMs - committed, came: (await receiver.ask<{ arrivals: Arrival[] }>({ ask: 'told' } satisfies ReceiverQuestion)).arrivals };
  };
  for (let i = 0; i < SINGLE_WARM_UP[size] + SINGLE[size]; i++) {
    const payment = shop.open.pop() as string;
    const { ms, came } = await soon(() => announce([payment]));
    own.push(ms);
    arrivals.push(...came);
    const body = webhookBody(payment, 'EXPIRED');
    listened.push((await soon(() => notified(database, { id: randomUUID(), url: shop.url, secret: shop.secret, body }))).ms);
  }
  await waitFor(() => noneIsDue(database), { what: 'the last attempt to be stored' });
  await database.sql`drop table bench_webhooks`;
  const spread = (samples: readonly number[]): { p50Ms: number; p99Ms: number } => ({
    p50Ms: rounded(percentile(samples.slice(SINGLE_WARM_UP[size]), 0.5)),
    p99Ms: rounded(percentile(samples.slice(SINGLE_WARM_UP[size]), 0.99)),
  });
  const [measured, bareMeasured] = [spread(own), spread(listened)];
  stage.say(`from commit to receiver: ${JSON.stringify(measured)}, bare ${JSON.stringify(bareMeasured)}`);
  return { figures: { 'from commit to receiver': measured, 'bare: notified of and posted': bareMeasured }, ...measured };
}

async function notified(database: Database, webhook: BareWebhook): Promise<number> {
  await database.transaction(async (tx) => {
    await tx`insert into bench_webhooks (body) values (${webhook.body})`;
    await tx`select pg_notify(${CHANNEL}, ${JSON.stringify(webhook)})`;
  });
  return nowMs();
}

/** Whether everything arrived, by whom it was signed, and what is written of it. */
async function proofsOf({ sql }: Database, shops: readonly Shop[], arrivals: readonly Arrival[]): Promise<Found['proofs']> {
  const [stored] = await sql<[{ events: number; delivered: number; attempts: number; succeeded: number }]>`
    select (select count(*)::int from webhook_events) as events, (select count(*)::int from webhook_events where state = 'delivered' and attempts = 1) as delivered,
      (select count(*)::int from webhook_attempts) as attempts, (select count(*)::int from webhook_attempts where result = '2xx' and finished_at is not null) as succeeded`;
  const known = await sql<{ id: string; body: string; url: string }[]>`select id, body, url from webhook_events`;
  const secrets = new Map(shops.map(({ url, secret }) => [new URL(url).host, secret]));
  const came = new Map(arrivals.map((arrival) => [arrival.id, arrival]));
  const audit = (await runAudit(sql)).filter(({ rows }) => rows.length > 0).map(({ check }) => check);
  return {
    everyWebhookArrived: known.length > 0 && known.every(({ id, body }) => came.get(id)?.body === body),
    arrivedMoreThanOnce: arrivals.length - came.size,
    everyAttemptStored: stored.events === stored.delivered && stored.events === stored.succeeded && stored.attempts === stored.succeeded,
    everySignatureVerifies: arrivals.every(({ body, headers }) => isSigned(body, headers, secrets.get(headers.host as string) as string)),
    auditClean: audit.length === 0,
    ...(audit.length === 0 ? {} : { auditViolated: audit.join(', ') }),
  };
}

function isSigned(body: string, headers: Record<string, string>, secret: string): boolean {
  try {
    readWebhook({ body, headers }, secret);
    return headers['x-webhook-signature'] === createHmac('sha256', secret).update(body).digest('hex');
  } catch {
    return false;
  }
}
