import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openHostedCheckout } from '#api/checkout/hosted.ts';
import { openLive } from '#api/checkout/live.ts';
import { openPaymentSockets } from '#api/http/payment-socket.ts';
import { listening } from '#test/harness/live-server.ts';
import { openSocket, refusedSocket } from '#test/harness/socket-client.ts';
import { describeOperation } from './describe-operation.ts';
import type { Shop } from './service.ts';

const hosted = async (shop: Shop, body: Record<string, unknown> = {}): Promise<string> => {
  const { data } = await shop.call('POST', '/payments', { body: { currencyCode: 'USD', amount: '10', callbackUrl: 'https://shop.example/thanks', ...body } });
  return String(data.paymentUid);
};

// How sockets behave whatever they are about is in unit/http/payment-socket.test.ts, what reaches them in integration/live.test.ts.
describeOperation(
  'openPaymentSocket',
  {
    101: ({ service, shop, anotherShop }) => {
      let origin = '';
      let close: () => Promise<void> = async () => undefined;
      beforeAll(async () => {
        const { deps } = service;
        const checkout = openHostedCheckout(deps);
        const live = openLive({ read: async (id) => (await checkout.read(deps, id)).snapshot, log: deps.log });
        const sockets = openPaymentSockets(deps, { live, hosted: checkout });
        const server = await listening(createServer(), sockets);
        origin = server.origin;
        close = async () => {
          await sockets.close();
          live.stop();
          await server.close();
        };
      });
      afterAll(() => close());

      it('begins with the public payment object, as the public read answers it, and what else a payer is shown (ux 0.1)', async () => {
        const id = await hosted(shop, { isSandbox: true, callbackParams: { order: '7' } });
        const page = await openSocket(origin, id);
        const { payment, ...more } = page.shown()[0] as unknown as { payment: object };
        expect(payment).toEqual((await service.ask('GET', `/api/v1/public/payments/${id}`)).data);
        expect(more).toMatchObject({
          type: 'snapshot',
          pendingDeposit: null,
          mismatchSide: null,
          lateCapture: false,
          paid: null,
          merchant: { name: 'Acme Books' },
        });
        expect(more).toMatchObject({ returnUrl: `https://shop.example/thanks?order=7&paymentUid=${id}&status=PENDING` });
        page.socket.terminate();
      });

      it('selects an offer and plays scenarios, by the rules of their own calls', async () => {
        const id = await hosted(shop, { isSandbox: true });
        const page = await openSocket(origin, id);
        const offerId = page.shown()[0]?.payment.offers[1]?.id;
        page.send({ type: 'select', offerId });
        await page.shows(({ payment }) => payment.selectedOfferId === offerId && payment.offers[1]?.depositAddress === `sandbox-${id}`);
        page.send({ type: 'simulate', scenario: 'underpaid' });
        await page.shows(({ payment, mismatchSide }) => payment.status === 'MISMATCH' && mismatchSide === 'UNDER');
        page.send({ type: 'select', offerId });
        expect(await page.heard('error')).toMatchObject({ command: 'select', error: { code: 'conflict' } });
        const others = await openSocket(origin, await hosted(shop));
        others.send({ type: 'select', offerId });
        expect(await others.heard('error')).toMatchObject({ command: 'select', error: { code: 'not_found' } });
        others.send({ type: 'simulate', scenario: 'success' });
        expect(await others.heard('error', ({ command }) => command === 'simulate')).toMatchObject({ error: { code: 'conflict' } });
        for (const one of [page, others]) one.socket.terminate();
      });

      it('is open to anybody who knows the id of a hosted payment, and to nobody for one in API mode, not even to its servers', async () => {
        const closed = await anotherShop();
        (await openSocket(origin, (await hosted(closed)).toUpperCase())).socket.terminate();
        const { paymentUid } = await shop.payment();
        expect(await refusedSocket(origin, paymentUid)).toMatchObject({ status: 403, code: 'forbidden' });
        for (const id of ['nope', '%00', '00000000-0000-0000-0000-000000000000'])
          expect(await refusedSocket(origin, id)).toMatchObject({ status: 404, code: 'not_found' });
      });
    },

    426: ({ send, shop }) => {
      it('asks for a WebSocket, of which version', async () => {
        const answer = await send({ params: { paymentId: await hosted(shop) } });
        expect([answer.status, answer.error.code]).toEqual([426, 'upgrade_required']);
        expect([answer.headers.get('upgrade'), answer.headers.get('sec-websocket-version')]).toEqual(['websocket', '13']);
      });
    },
  },
  { example: async (_service, shop) => ({ params: { paymentId: await hosted(shop) } }) },
);
