import { expect, vi } from 'vitest';
import { createWebhookHttp } from '#api/clients/webhook-http.ts';
import { pricePolicy, storedPrices } from '#api/clients/prices.ts';
import type { Deps } from '#api/deps.ts';
import { deliverWebhook, resendWebhook, webhookJobs } from '#api/jobs/deliver-webhook.ts';
import { refreshPrices } from '#api/jobs/refresh-prices.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { expireDuePayments } from '#api/payments/expire.ts';
import { resendPaymentWebhook } from '#api/payments/resend-webhook.ts';
import { webhookPolicy } from '#api/payments/webhook-policy.ts';
import { approveSettlement } from '#api/settlements/approve.ts';
import { deletePrice } from '#api/store/prices.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { formatAmount } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { followDatabaseClock } from '#shared/platform/database-clock.ts';
import { listen } from '#test/contract/service.ts';
import type { ShopPayment, TestShop } from '#test/fixtures/shop.ts';
import { FULL, times } from '#test/harness/counts.ts';
import { faultProxy } from '#test/harness/fault-proxy.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import { totpCode } from '#test/harness/totp-code.ts';
import type { Arena } from '#test/races/arena.ts';
import { aMortal, Died } from '#test/simulation/mortal.ts';
import { openFront } from './front.ts';
import type { BookRow } from './rows-without-chain.ts';

const [MINUTE, HOUR] = [60, 3_600];

/** A payment that is about to expire, whose webhooks go to this receiver. */
async function aShort({ deps, world }: Arena, shop: TestShop, receiver: Pick<WebhookReceiver, 'url'>): Promise<ShopPayment> {
  const payment = await shop.create({ webhookUrl: receiver.url, timeoutSeconds: 10 * MINUTE });
  await world.advance(11 * MINUTE);
  await expireDuePayments(deps);
  return payment;
}

async function eventOf({ deps }: Arena, payment: ShopPayment, status = 'EXPIRED') {
  const [row] = await deps.db.sql<{ id: string; state: string; attempts: number; secondsToGo: number; age: number }[]>`
    select id, state, attempts, extract(epoch from next_attempt_at - sluice_now())::float as "secondsToGo", extract(epoch from sluice_now() - created_at)::float as age
    from webhook_events where payment_id = ${payment.id} and status = ${status}`;
  if (row === undefined) throw new Error(`there is no ${status} webhook of ${payment.id}`);
  return row;
}

/** Three markets that say what they are told to, in place of all HTTP of this process. */
function markets(says: Record<'coinbase' | 'kraken' | 'bitstamp', { eth: string; secondsOld?: number } | 'nothing'>): () => void {
  const bodies = {
    'api.coinbase.com': () => told('coinbase', (eth) => ({ data: { currency: 'USD', rates: { ETH: inverse(eth) } } })),
    'api.kraken.com': () => told('kraken', (eth) => ({ error: [], result: { XETHZUSD: { c: [eth, '1'] } } })),
    'www.bitstamp.net': () =>
      told('bitstamp', (last, secondsOld) => [{ pair: 'ETH/USD', market_type: 'SPOT', last, timestamp: String(Math.floor(Date.now() / 1_000) - secondsOld) }]),
  };
  const told = (name: keyof typeof says, body: (eth: string, secondsOld: number) => object): Response => {
    const say = says[name];
    return say === 'nothing' ? new Response('', { status: 503 }) : Response.json(body(say.eth, say.secondsOld ?? 0));
  };
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    const host = new URL(String(input)).host;
    const body = bodies[host as keyof typeof bodies];
    if (body === undefined) throw new TypeError(`nobody asks ${host}`);
    return body();
  });
  return () => spy.mockRestore();
}

function inverse(price: string): string {
  return Number(price) > 0 ? (1 / Number(price)).toFixed(12) : price;
}

export const TIME_ROWS: readonly BookRow[] = [
  {
    row: 'F38',
    name: "a host whose clock is ten minutes off, or is set back: deadlines, codes and signatures go by the database's time",
    async play(arena, random) {
      const real = Date.now.bind(Date);
      let offMs = random.pick([-10, 10]) * MINUTE * 1_000;
      const skewed = vi.spyOn(Date, 'now').mockImplementation(() => real() + offMs);
      const clock = await followDatabaseClock(arena.deps.db.sql, arena.deps.log);
      const http = await listen({ ...arena.deps, wallClock: clock.now });
      const front = await openFront(http);
      try {
        const at = (minutes: number) => front.signed('GET', '/merchant/settlements', { timestamp: String(Math.floor(real() / 1_000) + minutes * MINUTE) });
        for (const back of [0, random.below(20) * MINUTE * 1_000]) {
          offMs -= back;
          expect((await at(0)).status).toBe(200);
          for (const minutes of [-10, 10]) expect((await at(minutes)).error.code).toBe('signature_stale');
        }
        const shop = await arena.rich({ green: [], held: [] });
        const deps: Deps = { ...arena.deps, wallClock: clock.now };
        const payment = await shop.create({ timeoutSeconds: 10 * MINUTE });
        const [row] = await arena.deps.db.sql<{ left: number }[]>`
          select extract(epoch from expires_at - sluice_now())::float as left from payments where id = ${payment.id}`;
        expect(row?.left).toBeGreaterThan(9 * MINUTE);
        expect(row?.left).toBeLessThanOrEqual(10 * MINUTE);
        await expireDuePayments(deps);
        expect(await shop.read(payment)).toMatchObject({ status: 'PENDING' });
        await arena.world.advance(10 * MINUTE + 1);
        await expireDuePayments(deps);
        expect(await shop.read(payment)).toMatchObject({ status: 'EXPIRED' });
        const { id, gateway, totpSecret } = await arena.next('awaiting approval', 0);
        const approve = (unixMs: number) =>
          approveSettlement(deps, { gateway, id, totpCode: totpCode(totpSecret, Math.floor(unixMs / 1_000)), commit: plainCommit(deps) });
        await expect(approve(real() + offMs)).rejects.toMatchObject({ code: 'totp_required' });
        expect(await approve(real())).toMatchObject({ status: 200 });
      } finally {
        clock.stop();
        skewed.mockRestore();
        await http.close();
      }
    },
  },
  {
    row: 'F39',
    name: 'a receiver that is down for three hours: six attempts within them, then exhausted, and sent again when somebody asks',
    async play(arena, random) {
      const shop = await arena.rich({ green: [], held: [] });
      const receiver = await startWebhookReceiver();
      try {
        const status = random.pick([500, 503, 404, 302]);
        receiver.answerWith(() => (random.chance(0.3) ? undefined : { status }));
        const payment = await aShort(arena, shop, receiver);
        for (let attempt = 1; attempt <= 6; attempt++) {
          await runDueJobs(arena.deps, [deliverWebhook]);
          const event = await eventOf(arena, payment);
          expect(event).toMatchObject({ attempts: attempt, state: attempt < 6 ? 'pending' : 'exhausted' });
          if (attempt < 6) await arena.world.advance(Math.ceil(event.secondsToGo) + 1);
          else expect(event.age / HOUR).toBeCloseTo(2.78, 0);
        }
        expect(receiver.received).toHaveLength(6);
        expect(new Set(receiver.received.map(({ headers, body }) => `${String(headers['webhook-id'])} ${body}`)).size).toBe(1);
        receiver.answerWith(() => ({ status: 200 }));
        await resendPaymentWebhook(arena.deps, { gateway: shop.gateway, paymentId: payment.id });
        await runDueJobs(arena.deps, [resendWebhook]);
        expect(receiver.received).toHaveLength(7);
        expect(await eventOf(arena, payment)).toMatchObject({ state: 'delivered', attempts: 6 });
      } finally {
        await receiver.stop();
      }
    },
  },
  {
    row: 'F40',
    name: 'a receiver whose answer comes too late or breaks off gets the same webhook again: the same id, the same bytes',
    async play(arena, random) {
      const shop = await arena.rich({ green: [], held: [] });
      const receiver = await startWebhookReceiver();
      const link = await faultProxy({ port: Number(new URL(receiver.url).port), random: random.next });
      const { deliver } = webhookJobs((deps) => createWebhookHttp({ policy: webhookPolicy(deps.config), deadlineMs: 1_000 }));
      try {
        // Not one byte of the status line, or a piece of it, or all of it when nobody listens any more.
        link.add(
          random.pick([
            { type: 'timeout', timeout: 0 },
            { type: 'limit_data', bytes: random.below(9) },
            { type: 'reset_peer', timeout: 10 },
            { type: 'latency', latency: 2_000 },
          ] as const),
        );
        const payment = await aShort(arena, shop, { url: link.url(receiver.url) });
        await runDueJobs(arena.deps, [deliver]);
        const event = await eventOf(arena, payment);
        expect(event).toMatchObject({ state: 'pending', attempts: 1 });
        expect(receiver.received).toHaveLength(1);
        link.mend();
        await arena.world.advance(Math.ceil(event.secondsToGo) + 1);
        // With the deadline of a deployment, which a machine that does other work keeps too.
        await runDueJobs(arena.deps, [deliverWebhook]);
        expect(await eventOf(arena, payment)).toMatchObject({ state: 'delivered', attempts: 2 });
        const [first, second] = receiver.received;
        expect([second?.headers['webhook-id'], second?.body]).toEqual([first?.headers['webhook-id'], first?.body]);
      } finally {
        await link.close();
        await receiver.stop();
      }
    },
  },
  {
    row: 'F41',
    name: 'a late deposit resolves a payment whose EXPIRED was not delivered yet: both are told, in their order',
    async play(arena, random) {
      const shop = await arena.rich({ green: [], held: [] });
      const receiver = await startWebhookReceiver();
      try {
        receiver.answerWith(() => ({ status: 503 }));
        const payment = await shop.create({ webhookUrl: receiver.url, timeoutSeconds: 10 * MINUTE });
        await shop.select(payment, 'USDT');
        await shop.finalise();
        await arena.world.advance(11 * MINUTE + POLICY.expiryPatienceSeconds);
        await expireDuePayments(arena.deps);
        for (let attempt = 0; attempt < 1 + random.below(2); attempt++) {
          await runDueJobs(arena.deps, [deliverWebhook]);
          await arena.world.advance(random.below(60));
        }
        await shop.receive(payment, 'USDT', payment.offers.find((one) => one.assetSymbol === 'USDT')?.totalValue as string);
        expect(await shop.read(payment)).toMatchObject({ status: 'SUCCESS' });
        await runDueJobs(arena.deps, [deliverWebhook]);
        expect(new Set(receiver.received.map(({ body }) => body))).toEqual(new Set([JSON.stringify({ paymentId: payment.id, status: 'EXPIRED' })]));
        receiver.received.length = 0;
        receiver.answerWith(() => ({ status: 200 }));
        await arena.world.advance(10 * MINUTE);
        await runDueJobs(arena.deps, [deliverWebhook]);
        expect(receiver.received.map(({ body }) => JSON.parse(body) as unknown)).toEqual(
          ['EXPIRED', 'SUCCESS'].map((status) => ({ paymentId: payment.id, status })),
        );
      } finally {
        await receiver.stop();
      }
    },
  },
  {
    row: 'F42',
    name: 'a hundred thousand payments are due at once and the periodic work dies in the middle: each expires once, all of them within a minute',
    async play(arena, random) {
      const { deps } = arena;
      const due = times(100_000);
      const shop = await arena.rich({ green: [], held: [] });
      const first = await shop.create({ timeoutSeconds: 10 * MINUTE });
      // Whoever sets the scene and counts reads whole tables, for longer than a statement of the service may take.
      const patient = deps.db.apart({ name: 'sluice-test', max: 1, deadlines: 'none' });
      await patient.sql`
        insert into payments select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid()))).* from payments p, generate_series(2, ${due}) where p.id = ${first.id}`;
      await arena.world.advance(11 * MINUTE);
      const mortal = aMortal(deps, new Map());
      mortal.dieAt(random.pick(['commit.before', 'commit.after']), 1 + random.below(Math.min(20, due / 200)));
      await expect(expireDuePayments(mortal.deps)).rejects.toThrow(Died);
      const startedAt = performance.now();
      // As two workers that both think it is theirs.
      await Promise.all([expireDuePayments(deps), expireDuePayments(deps)]);
      // Said of a hundred thousand, on a machine that does nothing else.
      if (FULL) expect((performance.now() - startedAt) / 1_000).toBeLessThan(60);
      const [counted] = await patient.sql<{ payments: number; events: number; webhooks: number; jobs: number }[]>`
        with ours as (select id, status from payments where gateway_id = ${shop.gateway.id})
        select (select count(*) from ours where status = 'EXPIRED') as payments,
          (select count(*) from payment_events e join ours on ours.id = e.payment_id where e.to_status = 'EXPIRED') as events,
          (select count(*) from webhook_events w join ours on ours.id = w.payment_id) as webhooks,
          (select count(*) from outbox o join webhook_events w on w.id = o.ref_id join ours on ours.id = w.payment_id) as jobs`;
      expect(counted).toEqual({ payments: due, events: due, webhooks: due, jobs: due });
      // Nobody listens there.
      await patient.sql`delete from outbox o using webhook_events w where w.id = o.ref_id and w.gateway_id = ${shop.gateway.id}`;
      await patient.end();
    },
  },
  {
    row: 'F43',
    name: 'prices that are stale, zero, negative or a thousandfold: no such price is believed, and without a fresh one nothing is offered or resolved',
    async play(arena, random) {
      const config = { ...arena.deps.config, SLUICE_PRICE_SOURCE: 'http' as const, SLUICE_PRICE_PROVIDERS: ['coinbase', 'kraken', 'bitstamp'] };
      const deps: Deps = { ...arena.deps, config, prices: storedPrices(arena.deps.db, pricePolicy(config)) };
      const says: Parameters<typeof markets>[0] = { coinbase: { eth: '2000' }, kraken: { eth: '2010' }, bitstamp: { eth: '1990' } };
      const restore = markets(says);
      const round = async (): Promise<string | undefined> => {
        await arena.world.advance(POLICY.pricePollSeconds + 1);
        await deps.db.sql`update price_sources set next_at = sluice_now()`;
        await refreshPrices.run(deps);
        const price = await deps.prices.fresh('ETH');
        return price && formatAmount(price.usd);
      };
      try {
        await deps.db.transaction((tx) => deletePrice(tx, 'ETH'));
        expect(await round()).toBe('2000');
        const broken = random.pick(['kraken', 'bitstamp'] as const);
        says[broken] = random.pick([{ eth: '0' }, { eth: '-2000' }, { eth: '2000000' }, { eth: '2' }, 'nothing'] as const);
        // What it said the round before may still count.
        expect(await round()).toMatch(/^(1995|2000|2005)/);
        // Two of three that slip by the same three places outvote the third, and are not believed for that.
        const wrong = random.pick(['2000000', '2', '20']);
        Object.assign(says, { coinbase: { eth: wrong }, kraken: { eth: wrong }, bitstamp: { eth: wrong } });
        const between = await round();
        expect(between === undefined || /^(1995|2000|2005)/.test(between)).toBe(true);
        for (let rounds = 0; rounds < 4; rounds++) await round();
        expect(await deps.prices.fresh('ETH')).toBeUndefined();
        Object.assign(says, { coinbase: { eth: '2100' }, kraken: { eth: '2110' }, bitstamp: { eth: '2090' } });
        expect(await round()).toMatch(/^2100/);
      } finally {
        restore();
        await arena.world.setPrice('ETH', '2000');
      }
    },
  },
];
