import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { expireDuePayments, expirePayment } from '#api/payments/expire.ts';
import { createPayment } from '#api/payments/create.ts';
import { selectOffer } from '#api/payments/select-offer.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

let world: InProcess;
let shop: Gateway;
const clientIp = '127.0.0.1';

beforeEach(async () => {
  world = await inProcess();
  shop = await world.aGateway();
});
afterEach(() => world.stop());

async function aPayment(body: Record<string, unknown> = {}): Promise<{ id: string; offers: { id: string }[] }> {
  const api = { currencyCode: 'USD', amount: '25', checkoutMode: 'API' as const, webhookUrl: 'http://127.0.0.1:4242/webhook', timeoutSeconds: 60, ...body };
  const reply = await createPayment(world.deps, { gateway: shop, body: api, clientIp, commit: plainCommit(world.deps) });
  return (reply.data as { payment: { id: string; offers: { id: string }[] } }).payment;
}

/** A payment whose address is watched. */
async function aSelectedPayment(): Promise<{ id: string; address: string; addressId: string }> {
  const payment = await aPayment();
  const acknowledging = setInterval(() => void world.acknowledge().catch(() => undefined), 20);
  await selectOffer(world.deps, { paymentId: payment.id, offerId: payment.offers[0]?.id as string, clientIp });
  clearInterval(acknowledging);
  const [row] = await world.database.sql<{ id: string; address: string }[]>`select id, address from deposit_addresses where payment_id = ${payment.id}`;
  return { id: payment.id, address: row?.address as string, addressId: row?.id as string };
}

/** The indexer's word that it was at the head at this service time, and how far the consumer has got behind it. */
async function caughtUp(at: 'now' | 'never', heights: { published: number; applied: number } = { published: 10, applied: 10 }): Promise<void> {
  await world.database.sql`
    insert into indexer_leases (network_id, holder, epoch, expires_at, published_height, caught_up_at)
    values (${world.network.id}, 'test', 1, now(), ${heights.published}, case when ${at === 'now'} then sluice_now() end)
    on conflict (network_id) do update set published_height = excluded.published_height, caught_up_at = excluded.caught_up_at`;
  await world.database.sql`
    insert into chain_tips (network_id, height, hash, block_time, safe_height, final_height, head_height, epoch, seq)
    values (${world.network.id}, ${heights.applied}, '0x', now(), 0, 0, 10, 1, 1)
    on conflict (network_id) do update set height = excluded.height`;
}

async function aSighting(payment: { id: string; addressId: string }, firstSeen: 'before' | 'after', state = 'seen'): Promise<void> {
  await world.database.sql`
    insert into deposits (id, network_id, txid, kind, ordinal, address_id, payment_id, asset_id, sender, raw_amount, amount, height, block_hash, position, block_time, first_seen_at, state)
    select gen_random_uuid(), ${world.network.id}, ${`0x${firstSeen}`}, 'native', 0, ${payment.addressId}, id, ${world.assets.ETH?.id as string}, '0xa', 1, 0.000000000000000001, 5, '0xb', 0,
      expires_at + ${firstSeen === 'before' ? '-1 second' : '1 second'}::interval, expires_at + ${firstSeen === 'before' ? '-1 second' : '1 second'}::interval, ${state}
    from payments where id = ${payment.id}`;
}

const status = async (id: string): Promise<string> =>
  (await world.database.sql<{ status: string }[]>`select status from payments where id = ${id}`)[0]?.status as string;
const expire = (id: string) => expirePayment(world.deps, { paymentId: id, clientIp });

describe('a payment nobody selected', () => {
  it('expires once its deadline has passed by service time, with one event and one webhook', async () => {
    const payment = await aPayment();
    expect(await expireDuePayments(world.deps)).toBe(0);
    expect(await expire(payment.id)).toMatchObject({ paymentUid: payment.id, status: 'PENDING' });
    await world.advance(60);
    expect(await expireDuePayments(world.deps)).toBe(1);
    expect(await expireDuePayments(world.deps)).toBe(0);
    expect(await expire(payment.id)).toEqual({ paymentUid: payment.id, status: 'EXPIRED', isVerified: false, verifiedAt: null });
    expect(
      await world.database.sql`select event, from_status, to_status, actor from payment_events where payment_id = ${payment.id} order by id`,
    ).toMatchObject([
      { event: 'CREATED', fromStatus: null, toStatus: 'PENDING', actor: 'merchant' },
      { event: 'DEADLINE_PASSED', fromStatus: 'PENDING', toStatus: 'EXPIRED', actor: 'sweeper' },
    ]);
    expect(await world.database.sql`select status, body, state from webhook_events where payment_id = ${payment.id}`).toEqual([
      { status: 'EXPIRED', body: `{"paymentId":"${payment.id}","status":"EXPIRED"}`, state: 'pending' },
    ]);
    expect(await world.database.sql`select topic, state from outbox`).toEqual([{ topic: 'webhook.deliver', state: 'due' }]);
    expect(world.calls.wake).toBe(1);
  });

  it('is expired by the endpoint too, and repeating the call changes nothing', async () => {
    const payment = await aPayment();
    await world.advance(60);
    const replies = await Promise.all(Array.from({ length: 10 }, () => expire(payment.id)));
    for (const reply of replies) expect(reply).toMatchObject({ status: 'EXPIRED' });
    expect(await world.database.sql`select 1 from webhook_events`).toHaveLength(1);
    expect(await world.database.sql`select actor from payment_events where event = 'DEADLINE_PASSED'`).toEqual([{ actor: 'payer' }]);
  });

  it('without a webhookUrl expires silently', async () => {
    await aPayment({ checkoutMode: 'HOSTED', callbackUrl: 'https://shop.example/', webhookUrl: undefined });
    await world.advance(60);
    expect(await expireDuePayments(world.deps)).toBe(1);
    expect(await world.database.sql`select 1 from outbox`).toHaveLength(0);
  });

  it('does not expire at once for a timeout no timer can hold (trap I)', async () => {
    const payment = await aPayment({ timeoutSeconds: 2 ** 31 });
    await world.advance(86_400);
    expect(await expireDuePayments(world.deps)).toBe(0);
    expect(await expire(payment.id)).toMatchObject({ status: 'PENDING' });
  });
});

describe('a payment with an address', () => {
  it('waits until the network was read past the deadline', async () => {
    const payment = await aSelectedPayment();
    await caughtUp('now');
    await world.advance(61);
    expect(await expireDuePayments(world.deps)).toBe(0);
    expect(await expire(payment.id)).toMatchObject({ status: 'PENDING' });
    await caughtUp('now');
    expect(await expireDuePayments(world.deps)).toBe(1);
  });

  it('waits while the consumer is behind what the indexer published', async () => {
    const payment = await aSelectedPayment();
    await world.advance(61);
    await caughtUp('now', { published: 12, applied: 11 });
    expect(await expireDuePayments(world.deps)).toBe(0);
    await caughtUp('now', { published: 12, applied: 12 });
    expect(await expireDuePayments(world.deps)).toBe(1);
    expect(await status(payment.id)).toBe('EXPIRED');
  });

  it('waits 15 minutes at most for an indexer that never catches up', async () => {
    const payment = await aSelectedPayment();
    await world.advance(60 + 15 * 60 - 10);
    expect(await expireDuePayments(world.deps)).toBe(0);
    expect(await expire(payment.id)).toMatchObject({ status: 'PENDING' });
    await world.advance(10);
    expect(await expireDuePayments(world.deps)).toBe(1);
  });

  it('is not unpaid while a sighting from before the deadline is alive, however long that takes', async () => {
    const payment = await aSelectedPayment();
    await aSighting(payment, 'before');
    await world.advance(86_400);
    await caughtUp('now');
    expect(await expireDuePayments(world.deps)).toBe(0);
    expect(await expire(payment.id)).toMatchObject({ status: 'PENDING' });
    await world.database.sql`update deposits set state = 'dropped'`;
    expect(await expire(payment.id)).toMatchObject({ status: 'EXPIRED' });
  });

  it('is unpaid when the sighting came after the deadline, or was dust', async () => {
    const [late, dust] = [await aSelectedPayment(), await aSelectedPayment()];
    await world.advance(61);
    await caughtUp('now');
    await aSighting(late, 'after');
    await world.database.sql`update deposits set txid = '0xother'`;
    await aSighting(dust, 'before', 'dust');
    expect(await expireDuePayments(world.deps)).toBe(2);
  });
});

it('a deposit that is noticed while periodic work looks around is not overlooked', async () => {
  const [paid, unpaid] = [await aSelectedPayment(), await aPayment()];
  await world.advance(61);
  await caughtUp('now');
  // Who looks at the clock waits for whoever keeps this lock, so that something can happen between finding a payment and locking it.
  await world.database.sql.unsafe(`
    alter function sluice_now() rename to prompt_now;
    create function sluice_now() returns timestamptz language plpgsql volatile as $$ begin perform pg_advisory_xact_lock_shared(1); return prompt_now(); end $$`);
  const keeper = await world.database.sql.reserve();
  await keeper`select pg_advisory_lock(1)`;
  const expiring = expireDuePayments(world.deps);
  const looking = async () =>
    (await world.database.sql`select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`).length > 0;
  await waitFor(looking, { what: 'periodic work to look at the clock' });
  await aSighting(paid, 'before');
  await keeper`select pg_advisory_unlock(1)`;
  keeper.release();
  await expiring;
  expect([await status(paid.id), await status(unpaid.id)]).toEqual(['PENDING', 'EXPIRED']);
});

it('five hundred due at once, four workers: each expires exactly once', async () => {
  const { id } = await aPayment();
  await world.database.sql`
    insert into payments select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid()))).* from payments p, generate_series(1, 499) where p.id = ${id}`;
  await world.advance(61);
  const moved = await Promise.all(Array.from({ length: 4 }, () => expireDuePayments(world.deps)));
  const leftOver = await expireDuePayments(world.deps);
  expect(moved.reduce((sum, one) => sum + one, leftOver)).toBe(500);
  expect(await world.database.sql`select count(*) as n from payment_events where event = 'DEADLINE_PASSED'`).toEqual([{ n: 500 }]);
  expect(await world.database.sql`select count(*) as n from webhook_events`).toEqual([{ n: 500 }]);
  expect(await world.database.sql`select count(*) as n from outbox`).toEqual([{ n: 500 }]);
});

it('a payment that cannot be expired keeps no other one from it, and is said', async () => {
  const [broken, other] = [await aPayment(), await aPayment()];
  await world.database.sql.unsafe(`
    create function refuse_expiry() returns trigger language plpgsql as $$ begin raise exception 'nobody foresaw this'; end $$;
    create trigger refused before update on payments for each row when (new.id = '${broken.id}') execute function refuse_expiry()`);
  await world.advance(61);
  await expect(expireDuePayments(world.deps)).rejects.toThrow('nobody foresaw this');
  expect([await status(broken.id), await status(other.id)]).toEqual(['PENDING', 'EXPIRED']);
  await world.database.sql`drop trigger refused on payments`;
  expect(await expireDuePayments(world.deps)).toBe(1);
});
