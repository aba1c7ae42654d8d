import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { dieTwice } from './crash.ts';
import { aScene, expectWebhooks, type Scene } from './scene.ts';

const UNKNOWN = `0x${'a'.repeat(64)}`;

describe('an inquiry survives SIGKILL of the api', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await aScene({ blockMs: 250, gateway: { settings: { lateCaptureGraceSeconds: 0, inquiryAttempts: 100 } } });
  });
  afterAll(() => scene?.stop());

  /** Asks until there is an answer, as a merchant does whose connection broke. */
  const inquire = (id: string, txHash: string, until: (data: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> =>
    waitFor(
      async () => {
        const { data } = await scene.shop.call('POST', `/payments/${id}/inquiry`, { body: { txHash } });
        return data !== undefined && until(data) && data;
      },
      { what: `an answer about ${txHash}`, timeoutMs: 120_000, everyMs: 100 },
    );
  const { sql } = { sql: (...args: Parameters<Scene['world']['database']['sql']>) => scene.world.database.sql(...args) };

  it.each(['claim.written', 'inquiry.attempt-counted', 'credit.ledger-written', 'credit.outbox-written', 'credit.committed'])(
    'at %s: a deposit that was set aside is credited once, with one more webhook',
    async (point) => {
      const payment = await scene.open('USDT', { amount: '10' });
      // Not by a short timeout, which could pass before there is an address; a minute ago, because block times are whole seconds.
      await sql`update payments set expires_at = sluice_now() - interval '1 minute' where id = ${payment.id}`;
      await waitFor(async () => (await scene.shop.call('POST', `/public/payments/${payment.id}/expire`)).data.status === 'EXPIRED', {
        what: 'the payment to expire',
        timeoutMs: 120_000,
      });
      const txHash = await scene.world.chain.pay(payment.address, scene.contract('USDT'), payment.rawAmount);
      await waitFor(async () => (await sql`select 1 from deposits where payment_id = ${payment.id} and state = 'unallocated'`).length === 1, {
        what: 'the deposit to be set aside',
        timeoutMs: 120_000,
      });
      await dieTwice(scene, ['api', point], async () => {
        await inquire(payment.id, txHash, (data) => data.resultCode === 'matched' || data.resultCode === 'already_credited');
        await expectWebhooks(scene, payment.id, ['EXPIRED', 'SUCCESS']);
      });
      expect(await scene.verify(payment.id)).toMatchObject({ status: 'SUCCESS', depositPath: 'manual_inquiry', receivedAmount: '10' });
      expect(await sql`select 1 from credits where payment_id = ${payment.id}`).toHaveLength(1);
      expect(await sql`select inquiry_attempts from payments where id = ${payment.id}`).toEqual([{ inquiry_attempts: 0 }]);
      await assertBooksMatchChain(scene.world);
      await scene.world.audit();
    },
  );

  it('at inquiry.attempt-counted: what was counted stays counted, and each verdict once', async () => {
    const payment = await scene.open('USDT', { amount: '10' });
    const answer = await dieTwice(scene, ['api', 'inquiry.attempt-counted'], () => inquire(payment.id, UNKNOWN, () => true));
    expect(answer).toMatchObject({ resultCode: 'tx_not_found', attemptsUsed: 3, attemptsRemaining: 97 });
  });
});
