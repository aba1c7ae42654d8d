import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';
import { createClient } from 'redis';
import { runAudit } from '#api/audit/run-audit.ts';
import { must } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { blockStream } from '#shared/core/chain-events.ts';
import type { Database } from '#shared/platform/postgres.ts';
import { type Bench, type Found, percentile, ratio, rounded } from './bench.ts';
import { type BusyChain, busyEvm } from './chains.ts';
import { aShop } from './http.ts';
import { networkAt } from './indexing.ts';
import { type LeastHop, openLeastHop } from './least-hop.ts';
import { logWork } from './logged-work.ts';

const SAMPLES = { tiny: 1, full: 60 };
/** Payments of which Postgres logs what it does: how long it works for one of them, whatever waits for it. */
const LOGGED = { tiny: 1, full: 20 };
/** Payments that are told apart: the code that a payment goes through is hardly compiled until some tens have gone through it. */
const WARM_UP = { tiny: 0, full: 40 };

interface Due {
  id: string;
  hex: string;
  rawAmount: bigint;
}

/** How long a payer waits after the block: until the payment is resolved in Postgres, and until the merchant's server heard of it. */
export const head: Bench = {
  what: 'from a block being there to its payment being credited in Postgres and its webhook being received, against asking the node and writing one row',
  async run(stage, size) {
    const found: Found = { figures: {}, ratios: {}, goals: [], proofs: {} };
    const chain = await busyEvm({ blocks: 1, perBlock: 1, oneIn: 1, recipients: 1 });
    const database = await stage.database();
    const heard = new Map<string, number>();
    const hooks = createServer((request, response) => {
      let text = '';
      request.on('data', (part: Buffer) => {
        text += part.toString();
      });
      request.once('end', () => {
        const at = performance.now();
        const { paymentId } = JSON.parse(text) as { paymentId: string };
        if (!heard.has(paymentId)) heard.set(paymentId, at);
        response.end();
      });
    });
    hooks.listen(0, '127.0.0.1');
    await once(hooks, 'listening');
    const rule = { blocks: 1 };
    const network = { ...(await networkAt('evm', chain.url)), headUrl: chain.url.replace('http', 'ws'), finality: { resolve: [{ rule }], mature: rule } };
    const environment = stage.environment(database, await stage.networksFile([network]));
    const api = await stage.startApi({ ...environment, SLUICE_ROLES: 'http,worker' });
    const indexer = await stage.startIndexer(environment);
    const shop = await aShop(api);
    const webhookUrl = `http://127.0.0.1:${(hooks.address() as AddressInfo).port}/`;
    const due: Due[] = [];
    for (let i = 0; i < WARM_UP[size] + SAMPLES[size] + LOGGED[size]; i++) {
      const body = { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl };
      const { paymentUid, payment } = (await shop.must('POST', '/payments', { body })) as {
        paymentUid: string;
        payment: { offers: { id: string; assetSymbol: string; totalValue: string }[] };
      };
      const offer = payment.offers.find(({ assetSymbol }) => assetSymbol === 'USDC');
      if (offer === undefined) throw new Error('there is no offer in USDC');
      const url = `${api.origin}/api/v1/public/payments/${paymentUid}/offers/${offer.id}/select`;
      const address = await waitFor(async () => (await must(url, 'POST')).depositAddress as string | undefined, { what: 'a deposit address' });
      due.push({ id: paymentUid, hex: address.slice(2).toLowerCase(), rawAmount: BigInt(Math.round(Number(offer.totalValue) * 1e6)) });
    }
    const credited: number[] = [];
    const webhooks: number[] = [];
    const bare: number[] = [];
    const streamed: number[] = [];
    const bareStreamed: number[] = [];
    const stream = await listenTo(stage.redisUrl, blockStream(network.name));
    const resolved = await listenForResolved(database);
    await database.sql`create table bench_floor (id bigint generated always as identity primary key, block text not null)`;
    for (const one of due.slice(0, WARM_UP[size] + SAMPLES[size])) {
      const minedAt = await pay(chain, one);
      // Nobody is asked again and again meanwhile: it would share two cores with what is measured.
      streamed.push((await stream.toldAt(one.hex)) - minedAt);
      credited.push((await resolved.toldAt(one.id)) - minedAt);
      await waitFor(() => heard.has(one.id), { what: 'the webhook', timeoutMs: 30_000 });
      webhooks.push((heard.get(one.id) as number) - minedAt);
      bare.push(await bareHop(chain, (hash) => database.sql`insert into bench_floor (block) values (${hash})`));
      bareStreamed.push(await bareHop(chain, (hash) => stream.add(hash)));
      // Neither in step with the indexer's questions nor with anything else.
      await pause(50 + Math.random() * 300);
    }
    const worked: { creditedMs: number; webhookMs: number }[] = [];
    const work = await logWork(database, stage.postgresLog, 'sluice-api');
    for (const one of due.slice(WARM_UP[size] + SAMPLES[size])) {
      await work.mark();
      await pay(chain, one);
      await resolved.toldAt(one.id);
      const creditedMs = await work.mark();
      await waitFor(() => heard.has(one.id), { what: 'the webhook', timeoutMs: 30_000 });
      worked.push({ creditedMs, webhookMs: creditedMs + (await work.mark()) });
    }
    await work.end();
    await resolved.close();
    await database.sql`drop table bench_floor`;
    await Promise.all([api.stop(), indexer.stop()]);
    const first = { creditedMs: rounded(credited[0] as number), webhookReceivedMs: rounded(webhooks[0] as number) };
    for (const samples of [streamed, credited, webhooks, bare, bareStreamed]) samples.splice(0, WARM_UP[size]);
    // Alone with the node, so that it answers nobody else meanwhile.
    const least: LeastHop[] = [];
    const bareAlone: number[] = [];
    const leastHop = await openLeastHop(chain.url, stream.add);
    for (const one of due.slice(0, SAMPLES[size])) {
      least.push(await leastHop.hop(() => pay(chain, one)));
      bareAlone.push(await bareHop(chain, (hash) => stream.add(hash)));
    }
    leastHop.close();
    await stream.close();
    hooks.close();
    await chain.stop();
    const spread = (samples: readonly number[]): { p50Ms: number; p95Ms: number } => ({
      p50Ms: rounded(percentile(samples, 0.5)),
      p95Ms: rounded(percentile(samples, 0.95)),
    });
    found.figures = {
      'in the stream': spread(streamed),
      credited: spread(credited),
      'webhook received': spread(webhooks),
      'bare: node asked, one entry added': spread(bareStreamed),
      'bare: node asked, one row written': spread(bare),
      'least: block heard of': spread(least.map(({ heardMs }) => heardMs)),
      'least: and header, receipts and traces told': spread(least.map(({ answeredMs }) => answeredMs)),
      'least: and transactions told': spread(least.map(({ bodiesMs }) => bodiesMs)),
      'least: and one entry added': spread(least.map(({ addedMs }) => addedMs)),
      'bare in turns with least': spread(bareAlone),
      'Postgres at work until credited': spread(worked.map(({ creditedMs }) => creditedMs)),
      'Postgres at work until the webhook is received': spread(worked.map(({ webhookMs }) => webhookMs)),
    };
    for (const [name, { p50Ms, p95Ms }] of Object.entries(found.figures)) stage.say(`${name}: p50 ${p50Ms} ms, p95 ${p95Ms} ms`);
    found.figures['the first payment of a service just started'] = first;
    const [p50, p95] = [0.5, 0.95].map((share) => percentile(credited, share) / percentile(bare, share)) as [number, number];
    const hop = percentile(streamed, 0.5) / percentile(bareStreamed, 0.5);
    const bound = percentile(
      least.map(({ addedMs }) => addedMs),
      0.5,
    );
    found.ratios = {
      'in the stream p50 ÷ bare': ratio(hop, 1),
      'least p50 ÷ bare': ratio(bound, percentile(bareAlone, 0.5)),
      'credited p50 ÷ bare': ratio(p50, 1),
      // What nobody can leave out who stores what is stored here, were every round trip free.
      'least until credited p50 ÷ bare': ratio(
        bound +
          percentile(
            worked.map(({ creditedMs }) => creditedMs),
            0.5,
          ),
        percentile(bare, 0.5),
      ),
      'credited p95 ÷ bare': ratio(p95, 1),
    };
    const paid = await database.sql<
      [{ count: number; sum: string }]
    >`select count(*)::int as count, sum(amount)::text as sum from deposits where state = 'credited'`;
    const sum = due.reduce((total, { rawAmount }) => total + rawAmount, 0n);
    found.proofs = {
      everyPaymentCreditedOnce: paid[0].count === due.length,
      sumExact: BigInt(Math.round(Number(paid[0].sum) * 1e6)) === sum,
      auditClean: (await runAudit(database.sql)).every(({ rows }) => rows.length === 0),
    };
    found.goals = [
      { goal: 'in the stream p50 ≤ 2x two questions and an XADD', measured: ratio(hop, 1), met: hop <= 2 },
      { goal: 'P5: credited p50 ≤ 3x the bare hop', measured: ratio(p50, 1), met: p50 <= 3 },
      { goal: 'P5: credited p95 ≤ 4x the bare hop', measured: ratio(p95, 1), met: p95 <= 4 },
      { goal: 'P14: webhook received p50 ≤ 15 ms', measured: rounded(percentile(webhooks, 0.5)), met: percentile(webhooks, 0.5) <= 15 },
      { goal: 'P14: webhook received p95 ≤ 50 ms', measured: rounded(percentile(webhooks, 0.95)), met: percentile(webhooks, 0.95) <= 50 },
    ];
    return found;
  },
};

/** When its block was there, `performance.now()`. */
async function pay(chain: BusyChain, { hex, rawAmount }: Due): Promise<number> {
  await chain.payNow?.(hex, rawAmount);
  return performance.now();
}

/** Hears of each payment that succeeded as its transaction commits. */
async function listenForResolved({ sql, url }: Database & { url: string }): Promise<{ toldAt(id: string): Promise<number>; close(): Promise<void> }> {
  await sql`
    create function bench_resolved() returns trigger language plpgsql as $$ begin perform pg_notify('bench_resolved', new.id::text); return null; end $$`;
  await sql`create trigger bench_resolved after update of status on payments for each row when (new.status = 'SUCCESS') execute function bench_resolved()`;
  const heard = new Map<string, number>();
  const told = new EventEmitter();
  const listener = postgres(url, { max: 1 });
  await listener.listen('bench_resolved', (id) => {
    heard.set(id, performance.now());
    told.emit(id);
  });
  return {
    toldAt: async (id) => {
      if (!heard.has(id)) await once(told, id, { signal: AbortSignal.timeout(30_000) });
      return heard.get(id) as number;
    },
    close: async () => {
      await listener.end();
      await sql`drop function bench_resolved cascade`;
    },
  };
}

/** The least there is to do: learn of the block, read its receipts, write one thing. */
async function bareHop(chain: BusyChain, write: (hash: string) => PromiseLike<unknown>): Promise<number> {
  const started = performance.now();
  const ask = async (method: string, params: unknown[]): Promise<{ hash: string }> => {
    const response = await fetch(chain.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return ((await response.json()) as { result: { hash: string } }).result;
  };
  const { hash } = await ask('eth_getBlockByNumber', ['latest', false]);
  await ask('eth_getBlockReceipts', [hash]);
  await write(hash);
  return performance.now() - started;
}

/** Hears what the indexer appends when its consumer does, and adds entries of its own elsewhere. */
async function listenTo(
  url: string,
  key: string,
): Promise<{ toldAt(hex: string): Promise<number>; add(hash: string): Promise<unknown>; close(): Promise<void> }> {
  const [reader, writer] = [createClient({ url }), createClient({ url })];
  // A bench that cannot listen fails by what it did not hear.
  for (const client of [reader, writer]) client.on('error', () => undefined);
  await Promise.all([reader.connect(), writer.connect()]);
  const heard: { text: string; at: number }[] = [];
  const entries = new EventEmitter();
  let closed = false;
  const listening = (async () => {
    for (let id = '$'; !closed; ) {
      const answer = (await reader.xRead({ key, id }, { BLOCK: 500 })) as { messages: { id: string; message: Record<string, string> }[] }[] | null;
      const at = performance.now();
      for (const { id: next, message } of answer?.flatMap(({ messages }) => messages) ?? []) {
        heard.push({ text: String(message.payload), at });
        id = next;
      }
      entries.emit('more');
    }
  })();
  return {
    async toldAt(hex) {
      const signal = AbortSignal.timeout(30_000);
      for (;;) {
        const entry = heard.find(({ text }) => text.includes(`"recipient":"0x${hex}"`));
        if (entry !== undefined) return entry.at;
        await once(entries, 'more', { signal });
      }
    },
    add: (hash) => writer.xAdd('bench:floor', '*', { payload: hash }),
    async close() {
      closed = true;
      await listening;
      await Promise.all([reader.close(), writer.close()]);
    },
  };
}
