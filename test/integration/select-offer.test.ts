import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { type CreatePaymentBody, createPayment } from '#api/payments/create.ts';
import { expireDuePayments } from '#api/payments/expire.ts';
import { selectHostedOffer, selectOffer } from '#api/payments/select-offer.ts';
import { simulatePayment } from '#api/payments/simulate.ts';
import { publicPayment } from '#api/payments/view.ts';
import { setNetworkPaused } from '#api/store/networks.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

let world: InProcess;
let shop: Gateway;
let acknowledging: NodeJS.Timeout | undefined;

beforeAll(async () => {
  world = await inProcess({ moreNetworks: (demo) => [{ ...demo, name: 'sidechain', chainId: '31338', assets: demo.assets.slice(0, 1) }] });
  shop = await world.aGateway();
});
afterAll(async () => {
  clearInterval(acknowledging);
  await assertCleanAudit(world.database);
  await world.stop();
});

const clientIp = '127.0.0.1';
interface OfferJson extends Record<string, string> {}
interface PaymentJson extends Record<string, unknown> {
  id: string;
  offers: OfferJson[];
}

async function aPayment(body: Partial<CreatePaymentBody> = {}): Promise<PaymentJson> {
  const api: CreatePaymentBody = { currencyCode: 'USD', amount: '25', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:4242/webhook', ...body };
  const reply = await createPayment(world.deps, { gateway: shop, body: api, clientIp, commit: plainCommit(world.deps) });
  return (reply.data as { payment: PaymentJson }).payment;
}

const offerIn = (payment: PaymentJson, symbol: string, network = 'ethereum'): OfferJson =>
  payment.offers.find((offer) => offer.assetSymbol === symbol && offer.assetNetwork === network) as OfferJson;
const select = (payment: PaymentJson, offer: OfferJson, ip = clientIp) =>
  selectOffer(world.deps, { paymentId: payment.id, offerId: offer.id as string, clientIp: ip });

/** Plays an indexer that acknowledges quickly, for as long as `work` takes. */
async function withIndexer<T>(work: () => Promise<T>): Promise<T> {
  acknowledging = setInterval(() => void world.acknowledge().catch(() => undefined), 20);
  try {
    return await work();
  } finally {
    clearInterval(acknowledging);
  }
}

describe('select', () => {
  it("answers ASSIGNED with the watched address, in people's form, and the full offer", async () => {
    const payment = await aPayment();
    const offer = offerIn(payment, 'USDT');
    const reply = await withIndexer(() => select(payment, offer));
    expect(reply.status).toBe(200);
    const depositAddress = (reply.data as { depositAddress: string }).depositAddress;
    expect(depositAddress).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect(reply.data).toEqual({
      assignmentStatus: 'ASSIGNED',
      depositAddress,
      amount: '25',
      paymentStatus: 'PENDING',
      expiresAt: payment.expiresAt,
      offer: { ...offer, depositAddress },
    });
    const read = (await publicPayment(world.deps, { paymentId: payment.id, clientIp })) as PaymentJson;
    expect(read.selectedOfferId).toBe(offer.id);
    expect(offerIn(read, 'USDT').depositAddress).toBe(depositAddress);
    expect(offerIn(read, 'USDC')).not.toHaveProperty('depositAddress');
  });

  it('never shows an address nobody watches: 202 after about 5 s, and the same call again is the recovery', async () => {
    const payment = await aPayment();
    const offer = offerIn(payment, 'USDC');
    const started = performance.now();
    const pending = await select(payment, offer);
    expect(performance.now() - started).toBeGreaterThan(4_500);
    expect(pending.status).toBe(202);
    expect(pending.data).toMatchObject({ assignmentStatus: 'PENDING', retryAfterMs: 2_000, amount: '25', paymentStatus: 'PENDING' });
    expect(pending.data).not.toHaveProperty('depositAddress');
    expect((pending.data as { offer: object }).offer).not.toHaveProperty('depositAddress');
    expect(offerIn((await publicPayment(world.deps, { paymentId: payment.id, clientIp })) as PaymentJson, 'USDC')).not.toHaveProperty('depositAddress');

    await world.acknowledge();
    const late = offerIn((await publicPayment(world.deps, { paymentId: payment.id, clientIp })) as PaymentJson, 'USDC').depositAddress;
    expect(late).toMatch(/^0x/);
    const again = await select(payment, offer);
    expect(again).toMatchObject({ status: 200, data: { assignmentStatus: 'ASSIGNED', depositAddress: late } });
  });

  it('asks the database less and less often while it waits, so that many who wait for an indexer that is away are no load', async () => {
    const payment = await aPayment();
    let statements = 0;
    const sql = new Proxy(world.deps.db.sql, {
      apply(target, self, parts: unknown[]) {
        statements += 1;
        return Reflect.apply(target, self, parts);
      },
    });
    const deps = { ...world.deps, db: { ...world.deps.db, sql } };
    expect(await selectOffer(deps, { paymentId: payment.id, offerId: offerIn(payment, 'USDT').id as string, clientIp })).toMatchObject({ status: 202 });
    expect(statements).toBeGreaterThan(10);
    expect(statements).toBeLessThan(35);
  });

  it('is one address per payment and network, whatever the asset and however often', async () => {
    const payment = await aPayment();
    await withIndexer(async () => {
      const usdt = await select(payment, offerIn(payment, 'USDT'));
      const usdc = await select(payment, offerIn(payment, 'USDC'));
      const again = await select(payment, offerIn(payment, 'USDT'));
      const other = await select(payment, offerIn(payment, 'ETH', 'sidechain'));
      const address = (reply: { data: object }): string => (reply.data as { depositAddress: string }).depositAddress;
      expect(address(usdc)).toBe(address(usdt));
      expect(address(again)).toBe(address(usdt));
      expect(address(other)).not.toBe(address(usdt));
    });
    expect(await world.database.sql`select count(*) as n from deposit_addresses where payment_id = ${payment.id}`).toEqual([{ n: 2 }]);
  });

  it('in parallel leads to one address: forty calls, two assets, one row', async () => {
    const payment = await aPayment();
    const replies = await withIndexer(() =>
      Promise.all(Array.from({ length: 40 }, (_, index) => select(payment, offerIn(payment, index % 2 === 0 ? 'USDT' : 'ETH')))),
    );
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200]));
    expect(new Set(replies.map((reply) => (reply.data as { depositAddress: string }).depositAddress)).size).toBe(1);
    expect(await world.database.sql`select count(*) as n from deposit_addresses where payment_id = ${payment.id}`).toEqual([{ n: 1 }]);
  });

  it('gives different payments different addresses, from one sequence of the family', async () => {
    const payments = await Promise.all(Array.from({ length: 10 }, () => aPayment()));
    await withIndexer(() => Promise.all(payments.map((payment) => select(payment, offerIn(payment, 'ETH')))));
    const rows = await world.database.sql<
      { address: string; index: number }[]
    >`select address, derivation_index as index from deposit_addresses where payment_id = any(${payments.map((payment) => payment.id)})`;
    expect(new Set(rows.map((row) => row.address)).size).toBe(10);
    const deriver = world.deps.chains.get('ethereum')?.deriver;
    for (const row of rows) expect(row.address).toBe(deriver?.depositAddress(row.index));
  });

  it('has the address watched on every network of the family until 90 days after the payment, and nudges their indexers', async () => {
    const payment = await aPayment();
    world.calls.nudged.length = 0;
    await withIndexer(() => select(payment, offerIn(payment, 'USDT')));
    expect(new Set(world.calls.nudged)).toEqual(new Set(['ethereum', 'sidechain']));
    const watches = await world.database.sql<{ until: Date }[]>`
      select w.watch_until as until from watches w join deposit_addresses d on d.address = w.address where d.payment_id = ${payment.id}`;
    expect(watches).toHaveLength(2);
    for (const watch of watches) expect(watch.until.getTime() - Date.parse(payment.expiresAt as string)).toBe(90 * 86_400_000);
  });

  it('works for a payment whose deadline is the end of time', async () => {
    const payment = await aPayment({ timeoutSeconds: 1e18 });
    expect((await withIndexer(() => select(payment, offerIn(payment, 'USDT')))).status).toBe(200);
  });

  it('of a sandbox payment answers an address nobody can pay, and derives none', async () => {
    const payment = await aPayment({ isSandbox: true });
    expect(await select(payment, offerIn(payment, 'USDT'))).toMatchObject({
      status: 200,
      data: { assignmentStatus: 'ASSIGNED', depositAddress: `sandbox-${payment.id}` },
    });
    expect(await world.database.sql`select 1 from deposit_addresses where payment_id = ${payment.id}`).toHaveLength(0);
    const read = (await publicPayment(world.deps, { paymentId: payment.id, clientIp })) as PaymentJson;
    expect(offerIn(read, 'USDT').depositAddress).toBe(`sandbox-${payment.id}`);
  });
});

describe('while select waits for the indexer', () => {
  it('it holds neither a lock nor a connection: more calls than connections wait, and everybody else goes on', async () => {
    const payments = await Promise.all(Array.from({ length: 30 }, () => aPayment()));
    const selecting = Promise.all(payments.map((payment) => select(payment, offerIn(payment, 'USDT'))));
    const assigned = async () =>
      (await world.database.sql`select 1 from deposit_addresses where payment_id = any(${payments.map((payment) => payment.id)})`).length;
    while ((await assigned()) < payments.length);
    await world.deps.db.transaction(async (tx) => {
      await tx`select 1 from payments where id = any(${payments.map((payment) => payment.id)}) for update nowait`;
    });
    // A look at the watches is a statement of its own and over at once; what is waited in is idle.
    const open = await world.database.sql`
      select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in transaction%'`;
    expect(open).toHaveLength(0);
    await world.acknowledge();
    expect(new Set((await selecting).map((reply) => reply.status))).toEqual(new Set([200]));
  });

  it('a payment that expires meanwhile is refused: nobody is shown where to pay too late', async () => {
    const payment = await aPayment({ timeoutSeconds: 60 });
    const selecting = select(payment, offerIn(payment, 'USDT'));
    const refused = expect(selecting).rejects.toMatchObject({ code: 'conflict', message: 'The payment has expired.' });
    while ((await world.database.sql`select 1 from deposit_addresses where payment_id = ${payment.id}`).length === 0);
    await world.advance(61);
    await world.acknowledge();
    await refused;
  });

  it('it goes on when the acknowledgement comes at the last moment, with the public read saying the same', async () => {
    const payment = await aPayment();
    const selecting = select(payment, offerIn(payment, 'USDT'));
    while ((await world.database.sql`select 1 from deposit_addresses where payment_id = ${payment.id}`).length === 0);
    await world.acknowledge();
    const { status, data } = await selecting;
    const read = (await publicPayment(world.deps, { paymentId: payment.id, clientIp })) as PaymentJson;
    expect([status, (data as OfferJson).depositAddress]).toEqual([200, offerIn(read, 'USDT').depositAddress]);
  });
});

describe('select at the same time as an end', () => {
  it('of a sandbox payment: either it was selected in time, or it is refused; never both', async () => {
    for (let round = 0; round < 20; round++) {
      const payment = await aPayment({ isSandbox: true });
      const call = { paymentId: payment.id, clientIp, simulation: { scenario: 'expired' } as const };
      const [selected, ended] = await Promise.allSettled([select(payment, offerIn(payment, 'USDT')), simulatePayment(world.deps, call)]);
      expect(ended).toMatchObject({ status: 'fulfilled', value: { status: 'EXPIRED' } });
      const read = (await publicPayment(world.deps, { paymentId: payment.id, clientIp })) as PaymentJson;
      if (selected.status === 'fulfilled') expect(read.selectedOfferId).toBe(offerIn(payment, 'USDT').id);
      else {
        expect(selected.reason).toMatchObject({ code: 'conflict' });
        expect(read.selectedOfferId).toBeNull();
      }
    }
  });

  it('of many overdue payments: none gets an address, each expires once', async () => {
    const payments = await Promise.all(Array.from({ length: 10 }, () => aPayment({ timeoutSeconds: 60 })));
    await world.advance(61);
    const answers = await Promise.allSettled([...payments.map((payment) => select(payment, offerIn(payment, 'USDT'))), expireDuePayments(world.deps)]);
    for (const answer of answers.slice(0, -1)) expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } });
    // Periodic work skips what a select has locked at that moment and finds it the next time.
    await expireDuePayments(world.deps);
    const ids = payments.map((payment) => payment.id);
    expect(await world.database.sql`select 1 from deposit_addresses where payment_id = any(${ids})`).toHaveLength(0);
    expect(await world.database.sql`select 1 from payment_events where payment_id = any(${ids}) and event = 'DEADLINE_PASSED'`).toHaveLength(10);
  });
});

describe('the channel of the hosted checkout', () => {
  const aHosted = async (): Promise<PaymentJson> => {
    const body: CreatePaymentBody = { currencyCode: 'USD', amount: '25', callbackUrl: 'https://shop.example/' };
    const reply = await createPayment(world.deps, { gateway: shop, body, clientIp, commit: plainCommit(world.deps) });
    return (await publicPayment(world.deps, { paymentId: (reply.data as { paymentUid: string }).paymentUid, clientIp })) as PaymentJson;
  };

  it('selects like the public one: forty calls at once for two assets, one address', async () => {
    const payment = await aHosted();
    const replies = await withIndexer(() =>
      Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          selectHostedOffer(world.deps, { paymentId: payment.id, offerId: offerIn(payment, index % 2 === 0 ? 'USDT' : 'ETH').id as string }),
        ),
      ),
    );
    expect(new Set(replies.map((reply) => (reply.data as { depositAddress: string }).depositAddress)).size).toBe(1);
    expect(await world.database.sql`select count(*) as n from deposit_addresses where payment_id = ${payment.id}`).toEqual([{ n: 1 }]);
  });

  it('is for hosted payments only', async () => {
    const payment = await aPayment();
    await expect(selectHostedOffer(world.deps, { paymentId: payment.id, offerId: offerIn(payment, 'USDT').id as string })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});

it('a network that this deployment no longer serves is 503, not a crash', async () => {
  const payment = await aPayment();
  const without = { ...world.deps, chains: new Map([...world.deps.chains].filter(([name]) => name !== 'sidechain')) };
  const offerId = offerIn(payment, 'ETH', 'sidechain').id as string;
  await expect(selectOffer(without, { paymentId: payment.id, offerId, clientIp })).rejects.toMatchObject({ code: 'service_unavailable' });
});

it('an address that somebody changed in the database is never handed out', async () => {
  const payment = await aPayment();
  await withIndexer(() => select(payment, offerIn(payment, 'USDT')));
  await world.database
    .sql`update watches set address = '0x00000000000000000000000000000000deadbeef' where address = (select address from deposit_addresses where payment_id = ${payment.id})`;
  await world.database.sql`update deposit_addresses set address = '0x00000000000000000000000000000000deadbeef' where payment_id = ${payment.id}`;
  await expect(select(payment, offerIn(payment, 'USDT'))).rejects.toThrow('is not the one its index derives');
  await expect(publicPayment(world.deps, { paymentId: payment.id, clientIp })).rejects.toThrow('is not the one its index derives');
});

describe('select is refused', () => {
  it('404 for an unknown payment, a malformed id, an unknown offer and an offer of another payment', async () => {
    const [payment, other] = [await aPayment(), await aPayment()];
    const missing = { code: 'not_found', message: 'Not found.' };
    await expect(
      selectOffer(world.deps, { paymentId: '00000000-0000-4000-8000-000000000000', offerId: offerIn(payment, 'USDT').id as string, clientIp }),
    ).rejects.toMatchObject(missing);
    await expect(selectOffer(world.deps, { paymentId: 'nope', offerId: 'nope', clientIp })).rejects.toMatchObject(missing);
    await expect(select(payment, { id: 'nope' })).rejects.toMatchObject(missing);
    await expect(select(payment, offerIn(other, 'USDT'))).rejects.toMatchObject(missing);
  });

  it('403 from a source address that is not on the allowlist, echoing it; the public read too', async () => {
    const payment = await aPayment();
    const refused = { code: 'forbidden', message: expect.stringContaining('203.0.113.9') };
    await expect(select(payment, offerIn(payment, 'USDT'), '203.0.113.9')).rejects.toMatchObject(refused);
    await expect(publicPayment(world.deps, { paymentId: payment.id, clientIp: '203.0.113.9' })).rejects.toMatchObject(refused);
  });

  it('409 for a hosted payment', async () => {
    const body: CreatePaymentBody = { currencyCode: 'USD', amount: '25', callbackUrl: 'https://shop.example/' };
    const reply = await createPayment(world.deps, { gateway: shop, body, clientIp, commit: plainCommit(world.deps) });
    const { paymentUid } = reply.data as { paymentUid: string };
    const hosted = (await publicPayment(world.deps, { paymentId: paymentUid, clientIp: '203.0.113.9' })) as PaymentJson;
    await expect(select(hosted, offerIn(hosted, 'USDT'))).rejects.toMatchObject({ code: 'conflict' });
  });

  it('409 once the payment is overdue or no longer PENDING, and assigns nothing', async () => {
    const payment = await aPayment({ timeoutSeconds: 60 });
    const ended = await aPayment({ isSandbox: true });
    await simulatePayment(world.deps, { paymentId: ended.id, clientIp, simulation: { scenario: 'success' } });
    await world.advance(61);
    await expect(select(payment, offerIn(payment, 'USDT'))).rejects.toMatchObject({ code: 'conflict' });
    await expect(select(ended, offerIn(ended, 'USDT'))).rejects.toMatchObject({ code: 'conflict' });
    expect(await world.database.sql`select 1 from deposit_addresses where payment_id = ${payment.id}`).toHaveLength(0);
  });

  it('503 while an operator has paused the network, unless the payment has its address already', async () => {
    const [assigned, late] = [await aPayment(), await aPayment()];
    await withIndexer(() => select(assigned, offerIn(assigned, 'USDT')));
    await world.deps.db.transaction((tx) => setNetworkPaused(tx, 'ethereum', true));
    await expect(select(late, offerIn(late, 'USDT'))).rejects.toMatchObject({ code: 'service_unavailable' });
    expect((await select(assigned, offerIn(assigned, 'USDT'))).status).toBe(200);
    await world.deps.db.transaction((tx) => setNetworkPaused(tx, 'ethereum', false));
  });

  it('503 for an asset whose coins could not be moved on, also where another asset of its network has an address already', async () => {
    const [payment, chosen] = [await aPayment(), await aPayment()];
    await withIndexer(() => Promise.all([select(payment, offerIn(payment, 'USDC')), select(chosen, offerIn(chosen, 'USDT'))]));
    const stopped = offerIn(payment, 'USDT');
    await world.database.sql`
      insert into issuer_refusals (asset_id, address, role, found_height, stopped_at) values (${stopped.assetId as string}, 'hot', 'hot', 1, sluice_now())`;
    try {
      await expect(select(payment, stopped)).rejects.toMatchObject({ code: 'service_unavailable' });
      const read = (await publicPayment(world.deps, { paymentId: payment.id, clientIp })) as PaymentJson;
      expect(read.selectedOfferId).toBe(offerIn(payment, 'USDC').id);
      expect(offerIn(read, 'USDT')).not.toHaveProperty('depositAddress');
      // Who chose it before it was stopped may have sent it already: the answer stays.
      expect((await select(chosen, offerIn(chosen, 'USDT'))).status).toBe(200);
    } finally {
      await world.database.sql`delete from issuer_refusals where asset_id = ${stopped.assetId as string}`;
    }
  });
});
