import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FULL } from '#test/harness/counts.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { type Crash, dieAtEach, dieTwice } from './crash.ts';
import { aScene, expectWebhooks, type OpenPayment, type Scene } from './scene.ts';

const ADDRESS: Crash[] = [
  ['api', 'address.index-reserved'],
  ['api', 'address.committed'],
];

const DEPOSIT: Crash[] = [
  ['indexer', 'publish.before'],
  ['indexer', 'publish.after'],
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
  ['api', 'webhook.taken'],
  ['api', 'webhook.attempt-started'],
  ['api', 'webhook.sent'],
  ['api', 'webhook.result-written'],
];

const EXPIRY: Crash[] = [
  ['api', 'expiry.taken'],
  ['api', 'expiry.committed'],
];

describe('a payment survives SIGKILL', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await aScene({ blockMs: 250 });
  });
  afterAll(() => scene?.stop());

  const open = (): Promise<OpenPayment> => scene.open('USDT', { amount: '10' });
  const pay = ({ address, rawAmount }: OpenPayment): Promise<string> => scene.world.chain.pay(address, scene.contract('USDT'), rawAmount);
  const expectPaidOnce = async ({ id }: OpenPayment): Promise<void> => {
    expect(await scene.resting(id)).toMatchObject({ status: 'SUCCESS', receivedAmount: '10' });
    await expectWebhooks(scene, id, ['SUCCESS']);
    const { sql } = scene.world.database;
    expect(await sql`select 1 from credits where payment_id = ${id}`).toHaveLength(1);
    expect(await sql`select 1 from webhook_events where payment_id = ${id}`).toHaveLength(1);
    await assertBooksMatchChain(scene.world);
    await scene.world.audit();
  };
  const expectExpiredOnce = async (id: string): Promise<void> => {
    const { sql } = scene.world.database;
    expect(await sql`select 1 from payment_events where payment_id = ${id} and to_status = 'EXPIRED'`).toHaveLength(1);
    expect(await sql`select 1 from webhook_events where payment_id = ${id}`).toHaveLength(1);
    await scene.world.audit();
  };
  /** Waits for the end of an unpaid payment. */
  const expire = async (id: string): Promise<string> => {
    expect((await scene.resting(id)).status).toBe('EXPIRED');
    await expectWebhooks(scene, id, ['EXPIRED']);
    return id;
  };

  if (FULL) {
    it.each([...ADDRESS, ...DEPOSIT])('of the %s at %s: one credit, one webhook, books equal to the chain', async (part, point) => {
      const payment = await dieTwice(scene, [part, point], async () => {
        const payment = await open();
        await pay(payment);
        await scene.resting(payment.id);
        await expectWebhooks(scene, payment.id, ['SUCCESS']);
        return payment;
      });
      await expectPaidOnce(payment);
    });

    it.each(EXPIRY)('of the %s at %s: expired once, one webhook', async (part, point) => {
      await expectExpiredOnce(await dieTwice(scene, [part, point], async () => expire((await scene.open('USDT', { amount: '10', timeoutSeconds: 6 })).id)));
    });
    return;
  }

  it('at every point of giving it an address: one address', async () => {
    const payments = await dieAtEach(scene, ADDRESS, { prepare: async () => undefined, work: open });
    for (const { id } of payments) expect(await scene.world.database.sql`select 1 from deposit_addresses where payment_id = ${id}`).toHaveLength(1);
  });

  it('at every point from its block to its webhook: one credit, one webhook, books equal to the chain', async () => {
    const payments = await dieAtEach(scene, DEPOSIT, {
      // No block until the points are armed: the first message that anybody dies over is the one with the money.
      async prepare() {
        const payment = await open();
        const goOn = await scene.holdBlocks();
        await pay(payment);
        return { payment, goOn };
      },
      async work({ payment, goOn }) {
        goOn();
        await scene.resting(payment.id);
        await expectWebhooks(scene, payment.id, ['SUCCESS']);
        return payment;
      },
    });
    for (const payment of payments) await expectPaidOnce(payment);
  });

  it('at every point of its expiry: expired once, one webhook', async () => {
    const ids = await dieAtEach(scene, EXPIRY, {
      // Overdue just before the api is started anew: it looks for such payments when it starts, and then every quarter of a minute.
      async prepare() {
        const { id } = await open();
        await scene.world.database.sql`update payments set expires_at = sluice_now() - interval '1 minute' where id = ${id}`;
        return id;
      },
      work: expire,
    });
    for (const id of ids) await expectExpiredOnce(id);
  });
});
