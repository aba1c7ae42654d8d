import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { aScene, expectWebhooks, type Part, type Scene, toRaw } from './scene.ts';

/** A process, and the point at which it dies (SIGKILL) while the money moves. */
type Crash = [part: Part, point: string];

const PAYMENT: Crash[] = [
  ['indexer', 'publish.before'],
  ['indexer', 'publish.after'],
  ['api', 'address.index-reserved'],
  ['api', 'address.committed'],
  ['api', 'ingest.received'],
  ['api', 'ingest.mac-checked'],
  ['api', 'ingest.transfers-written'],
  ['api', 'ingest.tip-written'],
  ['api', 'ingest.committed'],
  ['api', 'xack.before'],
  ['api', 'xack.after'],
  ['api', 'credit.ledger-written'],
  ['api', 'credit.payment-transitioned'],
  ['api', 'credit.outbox-written'],
  ['api', 'credit.committed'],
  ['api', 'webhook.claimed'],
  ['api', 'webhook.sent'],
  ['api', 'webhook.result-written'],
];

const CASHOUT: Crash[] = [
  ['api', 'settle.reserved'],
  ['api', 'dispatch.locked'],
  ['api', 'sweep.planned'],
  ['api', 'dispatch.nonce-allocated'],
  ['api', 'dispatch.committed'],
  ['signer', 'sign.requested'],
  ['signer', 'sign.done'],
  ['signer', 'attempt.inserted'],
  ['signer', 'attempt.committed'],
  ['api', 'broadcast.before'],
  ['api', 'broadcast.after'],
  ['api', 'sent.marked'],
  ['api', 'confirm.seen'],
  ['api', 'confirm.final'],
  ['api', 'settle.effect-checked'],
  ['api', 'settle.posted'],
];

/** The process dies at the point, is started with the same point armed, and is left alone the third time. */
async function dieTwice(scene: Scene, [part, point]: Crash, work: Promise<unknown>): Promise<void> {
  const first = await scene[part].exited;
  expect(first.signal).toBe('SIGKILL');
  await scene.restart(part, { crashAt: point, untilReady: false });
  // Whether it comes past the point again depends on what had been committed: either it dies once more, or the work gets done.
  await Promise.race([scene[part].exited, work]);
  await scene.restart(part);
}

describe('a payment survives SIGKILL', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await aScene({ blockMs: 250 });
  });
  afterAll(() => scene?.stop());

  it.each(PAYMENT)('of the %s at %s: one credit, one webhook, books equal to the chain', async (part, point) => {
    await scene.restart(part, { crashAt: point, untilReady: false });
    const work = (async () => {
      const payment = await scene.open('USDT', { amount: '10' });
      await scene.world.chain.pay(payment.address, scene.contract('USDT'), payment.rawAmount);
      const seen = await scene.resting(payment.id);
      await expectWebhooks(scene, payment.id, ['SUCCESS']);
      return { payment, seen };
    })();
    await dieTwice(scene, [part, point], work);
    const { payment, seen } = await work;
    expect(seen).toMatchObject({ status: 'SUCCESS', receivedAmount: '10' });
    const { sql } = scene.world.database;
    expect(await sql`select 1 from credits where payment_id = ${payment.id}`).toHaveLength(1);
    expect(await sql`select 1 from webhook_events where payment_id = ${payment.id}`).toHaveLength(1);
    await assertBooksMatchChain(scene.world);
    await scene.world.audit();
  });
});

describe('a cashout survives SIGKILL', () => {
  let scene: Scene;
  let destinations = 0;
  beforeAll(async () => {
    scene = await aScene({ blockMs: 250 });
  });
  afterAll(() => scene?.stop());

  it.each(CASHOUT)('of the %s at %s: exactly one payout, books equal to the chain', async (part, point) => {
    // Every cashout finds the hot wallet short of coins, so that a gas top-up and a sweep come before the payout.
    const payment = await scene.open('USDT', { amount: '40' });
    await scene.world.chain.pay(payment.address, scene.contract('USDT'), payment.rawAmount);
    await scene.resting(payment.id);
    const balance = await scene.balance('USDT', '39');
    destinations += 1;
    const destination = `0x${(0xd15ea000 + destinations).toString(16).padStart(40, '0')}`;

    await scene.restart(part, { crashAt: point, untilReady: false });
    const work = (async () => {
      const created = await scene.cashout('USDT', balance.totalAvailable as string, destination);
      return scene.settled(created.id as string);
    })();
    await dieTwice(scene, [part, point], work);
    const settled = await work;
    const { chain, database } = scene.world;
    expect(await chain.tokenBalance(chain.tokens.USDT, destination)).toBe(toRaw(settled.netAmount as string, 6));
    const effects = await database.sql`select distinct txid from sightings where kind = 'token' and canonical and recipient = ${destination}`;
    expect(effects).toHaveLength(1);
    await waitFor(() => assertBooksMatchChain(scene.world).then(() => true), { what: 'books to match the chain' });
    await scene.world.audit();
  });
});
