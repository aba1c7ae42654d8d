import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { type Crash, dieTwice } from './crash.ts';
import { aScene, expectWebhooks, type Scene } from './scene.ts';

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
  ['api', 'webhook.attempt-started'],
  ['api', 'webhook.sent'],
  ['api', 'webhook.result-written'],
];

const EXPIRY: Crash[] = [
  ['api', 'expiry.claimed'],
  ['api', 'expiry.committed'],
];

describe('a payment survives SIGKILL', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await aScene({ blockMs: 250 });
  });
  afterAll(() => scene?.stop());

  it.each(PAYMENT)('of the %s at %s: one credit, one webhook, books equal to the chain', async (part, point) => {
    const { payment, seen } = await dieTwice(scene, [part, point], async () => {
      const payment = await scene.open('USDT', { amount: '10' });
      await scene.world.chain.pay(payment.address, scene.contract('USDT'), payment.rawAmount);
      const seen = await scene.resting(payment.id);
      await expectWebhooks(scene, payment.id, ['SUCCESS']);
      return { payment, seen };
    });
    expect(seen).toMatchObject({ status: 'SUCCESS', receivedAmount: '10' });
    const { sql } = scene.world.database;
    expect(await sql`select 1 from credits where payment_id = ${payment.id}`).toHaveLength(1);
    expect(await sql`select 1 from webhook_events where payment_id = ${payment.id}`).toHaveLength(1);
    await assertBooksMatchChain(scene.world);
    await scene.world.audit();
  });

  it.each(EXPIRY)('of the %s at %s: expired once, one webhook', async (part, point) => {
    const id = await dieTwice(scene, [part, point], async () => {
      const { id } = await scene.open('USDT', { amount: '10', timeoutSeconds: 6 });
      expect((await scene.resting(id)).status).toBe('EXPIRED');
      await expectWebhooks(scene, id, ['EXPIRED']);
      return id;
    });
    const { sql } = scene.world.database;
    expect(await sql`select 1 from payment_events where payment_id = ${id} and to_status = 'EXPIRED'`).toHaveLength(1);
    expect(await sql`select 1 from webhook_events where payment_id = ${id}`).toHaveLength(1);
    await scene.world.audit();
  });
});
