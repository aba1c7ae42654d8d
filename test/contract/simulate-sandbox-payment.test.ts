import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { TEST_SECRETS } from '#test/harness/world.ts';
import type { Answer } from './client.ts';
import type { Context } from './context.ts';
import { describeOperation } from './describe-operation.ts';

const codeOf = ({ status, error }: Answer): [number, string | undefined] => [status, error?.code];

/** A sandbox payment of 10 dollars, and how to play on it. */
async function aSandbox({ shop, send }: Context, body: Record<string, unknown> = {}) {
  const { paymentUid, payment } = await shop.payment({ isSandbox: true, ...body });
  const assetOf = (symbol: string): string => payment.offers.find((offer) => offer.assetSymbol === symbol)?.assetId ?? '';
  return { id: paymentUid, assetOf, simulate: (simulation: Record<string, unknown>) => send({ params: { paymentId: paymentUid }, body: simulation }) };
}

describeOperation('simulateSandboxPayment', {
  200: (context) => {
    const { service, shop } = context;
    const verified = async (id: string): Promise<Record<string, unknown>> => (await shop.call('POST', `/payments/${id}/verify`)).data;

    it.each([
      ['success', 'SUCCESS', 'standard'],
      ['acceptable', 'ACCEPTABLE', 'standard'],
      ['underpaid', 'MISMATCH', 'standard'],
      ['overpaid', 'MISMATCH', 'standard'],
      ['wrong_asset', 'SUCCESS', 'standard'],
      ['late_capture', 'SUCCESS', 'late_capture'],
    ] as const)(
      '%s resolves to %s by the path %s, and verify and the public read show it like a real one (decisions 9)',
      async (scenario, status, depositPath) => {
        const { id, simulate } = await aSandbox(context, { underAcceptableDiff: '0.5' });
        expect((await simulate({ scenario })).data).toEqual({ paymentUid: id, status, isVerified: false, verifiedAt: null });
        const outcome = await verified(id);
        expect(outcome).toMatchObject({ status, depositPath, network: 'ethereum', txHash: expect.stringMatching(/^sandbox-/) });
        expect(outcome.deposits).toMatchObject([{ txHash: outcome.txHash, amount: outcome.receivedAmount, depositPath }]);
        const read = (await service.ask('GET', `/api/v1/public/payments/${id}`)).data;
        expect(read).toMatchObject({ status, isSandbox: true, txHash: outcome.txHash, receivedAmount: outcome.receivedAmount });
        expect(String(read.explorerTxUrl)).toContain(outcome.txHash);
      },
    );

    it('expired ends the payment without a deposit, and a late capture reopens it', async () => {
      const { id, simulate } = await aSandbox(context);
      expect((await simulate({ scenario: 'expired' })).data.status).toBe('EXPIRED');
      expect(await verified(id)).toMatchObject({ status: 'EXPIRED', deposits: [] });
      expect((await simulate({ scenario: 'late_capture', amount: '1' })).data.status).toBe('MISMATCH');
      const events = await service.world.database.sql<{ status: string }[]>`select status from webhook_events where payment_id = ${id} order by seq`;
      expect(events.map((event) => event.status)).toEqual(['EXPIRED', 'MISMATCH']);
    });

    it('seen_then_confirmed stays PENDING until it is called again', async () => {
      const { id, simulate } = await aSandbox(context);
      expect((await simulate({ scenario: 'seen_then_confirmed' })).data.status).toBe('PENDING');
      expect((await verified(id)).deposits).toMatchObject([{ confirmations: 0, depositPath: null, creditedAt: null }]);
      expect((await simulate({ scenario: 'seen_then_confirmed' })).data.status).toBe('SUCCESS');
    });

    it('judges a given amount of a given asset by the rules, whatever the scenario is called', async () => {
      const { id, assetOf, simulate } = await aSandbox(context);
      expect((await simulate({ scenario: 'success', amount: '9.99', assetId: assetOf('USDC').toUpperCase() })).data.status).toBe('MISMATCH');
      expect(await verified(id)).toMatchObject({ receivedAssetSymbol: 'USDC', assetSymbol: 'USDC', receivedAmount: '9.99', deviationUsd: '-0.01' });
    });

    it('records dust and resolves nothing', async () => {
      const { assetOf, simulate } = await aSandbox(context);
      expect((await simulate({ scenario: 'underpaid', amount: '0.000001', assetId: assetOf('USDT') })).data.status).toBe('PENDING');
    });

    it('serves a hosted payment to its checkout page', async () => {
      const { data } = await shop.call('POST', '/payments', { body: { currencyCode: 'USD', amount: '1', callbackUrl: 'http://localhost/x', isSandbox: true } });
      const answer = await context.send({ params: { paymentId: String(data.paymentUid) }, body: { scenario: 'success', colour: 'blue' } });
      expect(answer.data.status).toBe('SUCCESS');
    });
  },

  403: ({ service, send }) => {
    it('comes before whatever is wrong with the body: every call of a stranger is refused (contract 5.7)', async () => {
      const closing = await service.aShop();
      const { paymentUid } = await closing.payment({ isSandbox: true });
      const headers = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
      await service.ask('PATCH', `/operator/v1/gateways/${closing.id}`, { headers, body: { apiAllowlist: ['203.0.113.7'] } });
      const params = { paymentId: paymentUid };
      for (const raw of ['', '{', '[]', '{}', '{"scenario":"nonsense"}'])
        expect([raw, ...codeOf(await send({ params, raw }))]).toEqual([raw, 403, 'forbidden']);
    });
  },

  409: (context) => {
    it('refuses a payment that is not sandbox', async () => {
      const { simulate } = await aSandbox(context, { isSandbox: false });
      expect(codeOf(await simulate({ scenario: 'success' }))).toEqual([409, 'conflict']);
    });

    it('refuses every scenario on a resolved payment, and all but late_capture on an expired one', async () => {
      const [resolved, expired] = [await aSandbox(context), await aSandbox(context)];
      await resolved.simulate({ scenario: 'success' });
      await expired.simulate({ scenario: 'expired' });
      for (const scenario of ['success', 'acceptable', 'underpaid', 'overpaid', 'wrong_asset', 'seen_then_confirmed', 'expired']) {
        expect([scenario, ...codeOf(await resolved.simulate({ scenario }))]).toEqual([scenario, 409, 'conflict']);
        expect([scenario, ...codeOf(await expired.simulate({ scenario }))]).toEqual([scenario, 409, 'conflict']);
      }
      expect(codeOf(await resolved.simulate({ scenario: 'late_capture' }))).toEqual([409, 'conflict']);
    });

    it('refuses another scenario while a seen deposit awaits its confirmation', async () => {
      const { simulate } = await aSandbox(context);
      await simulate({ scenario: 'seen_then_confirmed' });
      expect(codeOf(await simulate({ scenario: 'expired' }))).toEqual([409, 'conflict']);
    });

    it('lets one of many win', async () => {
      const { simulate } = await aSandbox(context);
      const answers = await Promise.all(Array.from({ length: 12 }, () => simulate({ scenario: 'success' })));
      expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array.from({ length: 11 }, () => 409)]);
    });
  },

  422: (context) => {
    it.each([
      ['no scenario', {}, 'scenario'],
      ['an unknown scenario', { scenario: 'late' }, 'scenario'],
      ['a scenario that is no text', { scenario: 1 }, 'scenario'],
      ['an amount of zero', { scenario: 'success', amount: '0.00' }, 'amount'],
      ['an amount that is a number', { scenario: 'success', amount: 1 }, 'amount'],
      ['a negative amount', { scenario: 'success', amount: '-1' }, 'amount'],
      ['an amount with an exponent', { scenario: 'success', amount: '1e3' }, 'amount'],
      ['an asset id that is none', { scenario: 'success', assetId: 'USDT' }, 'assetId'],
      ['an asset that is not offered', { scenario: 'success', assetId: randomUUID() }, 'assetId'],
      ['a wrong asset that nobody knows', { scenario: 'wrong_asset', assetId: randomUUID() }, 'assetId'],
      ['acceptable where nothing is tolerated', { scenario: 'acceptable' }, 'scenario'],
    ])('names the field for %s', async (_what, simulation, field) => {
      const { simulate } = await aSandbox(context);
      const answer = await simulate(simulation);
      expect(codeOf(answer)).toEqual([422, 'validation_error']);
      expect(answer.error.message).toMatch(new RegExp(`^${field}: `));
    });

    it('names the amount when it has more decimals than the asset', async () => {
      const { assetOf, simulate } = await aSandbox(context);
      const answer = await simulate({ scenario: 'success', amount: '1.0000001', assetId: assetOf('USDT') });
      expect([...codeOf(answer), answer.error.message.slice(0, 8)]).toEqual([422, 'validation_error', 'amount: ']);
      expect((await simulate({ scenario: 'success', amount: '10.0000000', assetId: assetOf('USDT') })).data.status).toBe('SUCCESS');
    });

    it('names the asset when the wrong one is the only one offered', async () => {
      const USDT = context.service.world.assets.USDT?.id;
      const { simulate } = await aSandbox(context, { assets: [{ assetId: USDT, assetPriceUsd: '1' }] });
      const answer = await simulate({ scenario: 'wrong_asset', assetId: USDT });
      expect([...codeOf(answer), answer.error.message.slice(0, 9)]).toEqual([422, 'validation_error', 'assetId: ']);
    });
  },
});
