import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { TEST_SECRETS } from '#test/harness/world.ts';
import type { Answer } from './client.ts';
import type { Context } from './context.ts';
import { describeOperation } from './describe-operation.ts';
import { selectAddress } from './service.ts';

const OPERATOR = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
const NOT_FOUND = '{"success":false,"error":{"code":"not_found","message":"Not found."}}';
const codeOf = ({ status, error }: Answer): [number, string | undefined] => [status, error?.code];

const selecting =
  ({ send }: Context) =>
  (paymentId: string, offer: { id: string } | string | undefined): Promise<Answer> =>
    send({ params: { paymentId, offerId: typeof offer === 'string' ? offer : (offer?.id ?? '') } });

describeOperation('selectOffer', {
  200: (context) => {
    const { service, shop } = context;
    const select = selecting(context);

    it('answers a watched address, the same one for every asset of the network and on every repeat (contract 4.2)', async () => {
      const { paymentUid, payment } = await shop.payment();
      const address = await selectAddress(service, paymentUid, payment.offers[0]?.id ?? '');
      for (const offer of [...payment.offers, ...payment.offers]) {
        const { status, data } = await select(paymentUid, offer);
        expect([status, data.assignmentStatus, data.depositAddress, data.paymentStatus]).toEqual([200, 'ASSIGNED', address, 'PENDING']);
        expect([data.amount, (data.offer as { id: string }).id]).toEqual([(data.offer as { totalValue: string }).totalValue, offer.id]);
        expect(data).not.toHaveProperty('retryAfterMs');
      }
    });

    it('answers the deadline of the payment and the offer as the public read shows it (contract 2.5)', async () => {
      const { paymentUid, payment } = await shop.payment();
      await selectAddress(service, paymentUid, payment.offers[0]?.id ?? '');
      const { data } = await select(paymentUid, payment.offers[0]);
      const read = (await service.ask('GET', `/api/v1/public/payments/${paymentUid}`)).data;
      expect([data.expiresAt, data.offer]).toEqual([read.expiresAt, (read.offers as object[])[0]]);
      expect(read.selectedOfferId).toBe(payment.offers[0]?.id);
    });

    it('takes the ids in any case, and ignores a body', async () => {
      const { paymentUid, payment } = await shop.payment({ isSandbox: true });
      expect((await select(paymentUid.toUpperCase(), payment.offers[0]?.id.toUpperCase())).status).toBe(200);
      const params = { paymentId: paymentUid, offerId: payment.offers[0]?.id ?? '' };
      expect((await context.send({ params, raw: 'not json' })).status).toBe(200);
    });

    it('answers a sandbox payment with an address nobody can pay (decisions 9)', async () => {
      const { paymentUid, payment } = await shop.payment({ isSandbox: true });
      expect((await select(paymentUid, payment.offers[0])).data).toMatchObject({ assignmentStatus: 'ASSIGNED', depositAddress: `sandbox-${paymentUid}` });
    });
  },

  202: (context) => {
    const { service, shop } = context;
    const select = selecting(context);

    it('says when to call again while nobody watches the address, and shows it nowhere until then (contract 2.5)', async () => {
      const { paymentUid, payment } = await shop.payment();
      const started = performance.now();
      const { status, data } = await select(paymentUid, payment.offers[0]);
      expect(performance.now() - started).toBeGreaterThan(4_500);
      expect([status, data.assignmentStatus, data.paymentStatus]).toEqual([202, 'PENDING', 'PENDING']);
      expect(data.retryAfterMs).toBeGreaterThan(0);
      expect(data).not.toHaveProperty('depositAddress');
      const read = (): Promise<Answer> => service.ask('GET', `/api/v1/public/payments/${paymentUid}`);
      expect(JSON.stringify((await read()).data)).not.toContain('depositAddress');
      await service.world.acknowledge();
      const late = (await read()).data.offers as { id: string; depositAddress?: string }[];
      const again = await select(paymentUid, payment.offers[0]);
      expect([again.status, again.data.depositAddress]).toEqual([200, late.find((one) => one.id === payment.offers[0]?.id)?.depositAddress]);
    });
  },

  404: (context) => {
    const { shop } = context;
    const select = selecting(context);

    it('knows no offer of another payment, whatever its state, all in the same bytes', async () => {
      const [one, other] = [await shop.payment(), await shop.payment()];
      const hosted = await shop.call('POST', '/payments', { body: { currencyCode: 'USD', amount: '1', callbackUrl: 'http://localhost/x' } });
      for (const [payment, offer] of [
        [one.paymentUid, other.payment.offers[0]?.id],
        [one.paymentUid, one.paymentUid],
        [one.paymentUid, 'x'],
        [randomUUID(), one.payment.offers[0]?.id],
        [String(hosted.data.paymentUid), one.payment.offers[0]?.id],
      ] as [string, string][]) {
        const { status, text } = await select(payment, offer);
        expect([status, text]).toEqual([404, NOT_FOUND]);
      }
    });
  },

  409: (context) => {
    const { service, shop } = context;
    const select = selecting(context);

    it('refuses a hosted payment (contract 4.2)', async () => {
      const { data } = await shop.call('POST', '/payments', { body: { currencyCode: 'USD', amount: '1', callbackUrl: 'http://localhost/x' } });
      const read = async () =>
        (await service.ask('GET', `/api/v1/public/payments/${data.paymentUid}`)).data as { offers: { id: string }[]; selectedOfferId: null };
      expect(codeOf(await select(String(data.paymentUid), (await read()).offers[0]))).toEqual([409, 'conflict']);
      expect((await read()).selectedOfferId).toBeNull();
    });

    it('refuses a payment that is overdue though nobody expired it yet, and then the expired one', async () => {
      const { paymentUid, payment } = await shop.payment({ timeoutSeconds: 60 });
      await service.world.advance(61);
      expect(codeOf(await select(paymentUid, payment.offers[0]))).toEqual([409, 'conflict']);
      expect((await service.ask('POST', `/api/v1/public/payments/${paymentUid}/expire`)).data.status).toBe('EXPIRED');
      expect(codeOf(await select(paymentUid, payment.offers[0]))).toEqual([409, 'conflict']);
    });

    it('refuses a payment that is resolved', async () => {
      const { paymentUid, payment } = await shop.payment({ isSandbox: true });
      await service.ask('POST', `/api/v1/public/payments/${paymentUid}/sandbox/simulate`, { body: { scenario: 'success' } });
      expect(codeOf(await select(paymentUid, payment.offers[0]))).toEqual([409, 'conflict']);
    });
  },

  503: (context) => {
    const { service, shop } = context;
    const select = selecting(context);

    it('refuses new addresses on a network that an operator has paused, and still answers the ones there are', async () => {
      const [late, early] = [await shop.payment(), await shop.payment()];
      const address = await selectAddress(service, early.paymentUid, early.payment.offers[0]?.id ?? '');
      const set = (what: 'pause' | 'resume'): Promise<Answer> => service.ask('POST', `/operator/v1/networks/ethereum/${what}`, { headers: OPERATOR });
      await set('pause');
      try {
        expect(codeOf(await select(late.paymentUid, late.payment.offers[0]))).toEqual([503, 'service_unavailable']);
        expect((await select(early.paymentUid, early.payment.offers[0])).data.depositAddress).toBe(address);
      } finally {
        await set('resume');
      }
    });
  },
});
