import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { FULL } from '#test/harness/counts.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { type Crash, dieAtEach, dieTwice } from './crash.ts';
import { aScene, expectWebhooks, type Scene } from './scene.ts';

const COUNTED: Crash = ['api', 'inquiry.attempt-counted'];
const CLAIM: Crash[] = [['api', 'claim.written'], COUNTED, ['api', 'credit.ledger-written'], ['api', 'credit.outbox-written'], ['api', 'credit.committed']];
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
      { what: `an answer about ${txHash}`, timeoutMs: 120_000 },
    );
  const { sql } = { sql: (...args: Parameters<Scene['world']['database']['sql']>) => scene.world.database.sql(...args) };

  /** An expired payment, and a transfer that came too late for it. */
  const late = async (): Promise<{ id: string; txHash: string }> => {
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
    return { id: payment.id, txHash };
  };
  const claim = async ({ id, txHash }: { id: string; txHash: string }): Promise<string> => {
    await inquire(id, txHash, (data) => data.resultCode === 'matched' || data.resultCode === 'already_credited');
    await expectWebhooks(scene, id, ['EXPIRED', 'SUCCESS']);
    return id;
  };
  const expectCreditedOnce = async (id: string): Promise<void> => {
    expect(await scene.verify(id)).toMatchObject({ status: 'SUCCESS', depositPath: 'manual_inquiry', receivedAmount: '10' });
    expect(await sql`select 1 from credits where payment_id = ${id}`).toHaveLength(1);
    expect(await sql`select inquiry_attempts from payments where id = ${id}`).toEqual([{ inquiryAttempts: 0 }]);
    await assertBooksMatchChain(scene.world);
    await scene.world.audit();
  };

  if (FULL) {
    it.each(CLAIM)('of the %s at %s: a deposit that was set aside is credited once, with one more webhook', async (part, point) => {
      const made = await late();
      await expectCreditedOnce(await dieTwice(scene, [part, point], () => claim(made)));
    });

    it('at inquiry.attempt-counted, twice: what was counted stays counted, and each verdict once', async () => {
      const { id } = await scene.open('USDT', { amount: '10' });
      const answer = await dieTwice(scene, COUNTED, () => inquire(id, UNKNOWN, () => true));
      expect(answer).toMatchObject({ resultCode: 'tx_not_found', attemptsUsed: 3, attemptsRemaining: 97 });
    });
    return;
  }

  it('at every point: a deposit that was set aside is credited once, with one more webhook', async () => {
    for (const id of await dieAtEach(scene, CLAIM, { prepare: late, work: claim })) await expectCreditedOnce(id);
  });

  it('at inquiry.attempt-counted: what was counted stays counted, and each verdict once', async () => {
    const answers = await dieAtEach(scene, [COUNTED], {
      prepare: async () => (await scene.open('USDT', { amount: '10' })).id,
      work: (id) => inquire(id, UNKNOWN, () => true),
    });
    expect(answers).toMatchObject([{ resultCode: 'tx_not_found', attemptsUsed: 2, attemptsRemaining: 98 }]);
  });
});
