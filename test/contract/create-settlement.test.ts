import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { screenCredit } from '#api/aml/screen-credit.ts';
import { matureCredits } from '#api/ledger/mature-credits.ts';
import { upsertScreeningScore } from '#api/store/screenings.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import type { Answer } from './client.ts';
import type { Context } from './context.ts';
import { describeOperation } from './describe-operation.ts';
import { listen, type Shop } from './service.ts';

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const OPERATOR = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
/** One that screening is set to know nothing about. */
const UNKNOWABLE = '0x00000000000000000000000000000000cafe0001';

interface Tools {
  id(symbol: string): string;
  cashout(over?: Record<string, unknown>): Record<string, unknown>;
  create(body: Record<string, unknown>, idempotencyKey?: string, from?: Shop): Promise<Answer>;
}

/** What every block needs, and money to withdraw. */
function tools({ service, shop, send }: Context): Tools {
  const id = (symbol: string): string => service.world.assets[symbol]?.id ?? '';
  beforeAll(() => shop.fund('USDT', '100.5'));
  return {
    id,
    cashout: (over = {}) => ({ assetId: id('USDT'), amount: '5', address: ADDRESS, ...over }),
    create: (body, idempotencyKey, from = shop) => send({ body, from, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) }),
  };
}

describeOperation('createSettlement', {
  200: (context) => {
    const { service, shop, send } = context;
    const { cashout, create } = tools(context);

    it('claims the amount and queues it (contract 2.8, 4.3)', async () => {
      const { status, data } = await create(cashout({ amount: '5.0', metadata: { requester: 'ana', order: 7, urgent: true, note: null } }));
      expect(status).toBe(200);
      expect(data).toMatchObject({
        assetName: 'USDT',
        network: 'ethereum',
        address: ADDRESS,
        source: 'API',
        status: 'REQUESTED',
        route: 'GREEN',
        amount: '5.0',
        receivedAmount: '',
        txHash: '',
        blockchainUrl: '',
        metadata: { requester: 'ana', order: 7, urgent: true, note: null },
      });
      expect(Number(data.netAmount)).toBeCloseTo(5 - Number(data.feeLocked), 6);
      for (const field of ['routedBy', 'destinationRiskScore', 'shortfall', 'shortfallUsd', 'expiresAt']) expect(data).not.toHaveProperty(field);
      expect((await create(cashout())).data).not.toHaveProperty('metadata');
    });

    it('echoes metadata as it was sent, to the last digit, whatever its keys are called (contract 2.8, 4.3)', async () => {
      const metadata = '{"zeta":12345678901234567890,"__proto__":"x","constructor":1.50,"a":1e3,"accent":"\\u00e9"}';
      const body = JSON.stringify(cashout()).replace(/}$/, `, "metadata": ${metadata.replaceAll(',', ' ,\n')}}`);
      const created = await send({ raw: body, from: shop });
      expect([created.status, created.text.includes(`"metadata":${metadata}`)]).toEqual([200, true]);
      for (const path of [`/merchant/settlements/${created.data.id}`, '/merchant/settlements'])
        expect((await shop.signed('GET', path)).text).toContain(`"metadata":${metadata}`);
      const shown = await service.ask('GET', `/operator/v1/settlements/${created.data.id}`, { headers: OPERATOR });
      expect((shown.data as { metadata: unknown }).metadata).toContainEqual({ key: 'zeta', value: '12345678901234567890' });
    });

    it('holds one whose destination did not pass its screen, and says by whom and why SMART chose its pool (contract 3.2)', async () => {
      const screened = await service.aShop({ screening: { enabled: true, credits: 5 } });
      await screened.fund('USDT', '20');
      for (const { id: credit } of await service.world.database.sql<{ id: string }[]>`select id from credits where gateway_id = ${screened.id}`)
        await screenCredit(service.worker, credit);
      await matureCredits(service.worker);
      const flagged = '0x00000000000000000000000000000000cafe0002';
      await upsertScreeningScore(service.deps.db.sql, { address: flagged, score: 90 });
      expect((await create(cashout({ address: flagged }), undefined, screened)).data.status).toBe('PENDING_APPROVAL');
      const smart = await create(cashout({ route: 'SMART' }), undefined, screened);
      expect([smart.status, smart.data]).toMatchObject([200, { status: 'REQUESTED', route: 'GREEN', routedBy: 'SMART_ROUTE', destinationRiskScore: 0 }]);
    });

    it('reads route null and GREEN as the same', async () => {
      for (const route of [null, 'GREEN']) expect((await create(cashout({ route }))).data).toMatchObject({ route: 'GREEN', status: 'REQUESTED' });
    });

    it('reads a label and metadata that are null as left out, as typed clients write them', async () => {
      const { status, data } = await create(cashout({ label: null, metadata: null }));
      expect([status, data.status, 'metadata' in data]).toEqual([200, 'REQUESTED', false]);
    });

    it('holds one that is over the approval cap (contract 3.2)', async () => {
      const capped = await service.aShop({ cashout: { enabled: true, allowlist: ['127.0.0.1'], approvalCapUsd: '5' } });
      await capped.fund('USDT', '20');
      expect((await create(cashout({ amount: '5' }), undefined, capped)).data.status).toBe('REQUESTED');
      expect((await create(cashout({ amount: '5.01' }), undefined, capped)).data.status).toBe('PENDING_APPROVAL');
    });

    it('replays a repeated key byte for byte, even when the balance is gone by then', async () => {
      const once = await service.aShop();
      await once.fund('USDT', '10.5');
      const [first, again] = [await create(cashout({ amount: '10' }), 'payout-1', once), await create(cashout({ amount: '10' }), 'payout-1', once)];
      expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 200, 'true']);
      expect(again.text).toBe(first.text);
    });

    it('creates one cashout for 200 identical requests at once', async () => {
      const answers = await Promise.all(Array.from({ length: 200 }, () => create(cashout(), 'payout-2')));
      expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
      expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === null)).toHaveLength(1);
    });

    it("keeps the keys of one operation apart from those of another, and of one gateway from another's", async () => {
      const other = await service.aShop();
      await other.fund('USDT', '10.5');
      const mine = await create(cashout(), 'same-key');
      const theirs = await create(cashout(), 'same-key', other);
      expect(theirs.data.id).not.toBe(mine.data.id);
      expect(
        (
          await shop.call('POST', '/payments', {
            body: { currencyCode: 'USD', amount: '1', callbackUrl: 'http://localhost/x' },
            headers: { 'idempotency-key': 'same-key' },
          })
        ).status,
      ).toBe(201);
    });
  },
  202: (context) => {
    const { service } = context;
    const { cashout, create } = tools(context);
    const CASHOUT = { enabled: true, allowlist: ['127.0.0.1'], parkingEnabled: true };

    it('parks what the pool does not cover: UNDERFUNDED, nothing claimed, no shortfall yet (contract 2.8)', async () => {
      const poor = await service.aShop({ cashout: CASHOUT });
      await poor.fund('USDT', '5.5');
      const { status, data } = await create(cashout({ amount: '5.01' }), undefined, poor);
      expect([status, data]).toMatchObject([202, { status: 'UNDERFUNDED', route: 'GREEN', amount: '5.01', feeLocked: '', netAmount: '', receivedAmount: '' }]);
      expect(data.expiresAt).toEqual(expect.any(String));
      for (const field of ['shortfall', 'shortfallUsd', 'routedBy', 'destinationRiskScore']) expect(data).not.toHaveProperty(field);
      const { items } = (await poor.signed('GET', '/merchant/settlements/balances')).data as { items: { totalAvailable: string }[] };
      expect(items.map((item) => item.totalAvailable)).toEqual(['5']);
    });

    it.each(['SMART', 'AML_HELD'])('parks %s without screening credit: WAITING_AML_CREDIT, and it reads the route as asked', async (route) => {
      const broke = await service.aShop({ screening: { enabled: true, credits: 0 } });
      const { status, data } = await create(cashout({ route }), undefined, broke);
      expect([status, data]).toMatchObject([202, { status: 'WAITING_AML_CREDIT', route, feeLocked: '', netAmount: '' }]);
    });

    it('is replayed with the same id while it is parked, and conflicts with another body (contract 4.3)', async () => {
      const poor = await service.aShop({ cashout: CASHOUT });
      const [first, again] = [await create(cashout(), 'parked', poor), await create(cashout(), 'parked', poor)];
      expect([first.status, again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([202, 202, first.text, 'true']);
      expect((await create(cashout({ amount: '6' }), 'parked', poor)).error.code).toBe('idempotency_conflict');
    });
  },
  409: (context) => {
    const { service } = context;
    const { cashout, create } = tools(context);

    it('refuses more than the pool holds and says how much there is (contract 4.3)', async () => {
      const poor = await service.aShop();
      await poor.fund('USDT', '10.5');
      const { status, error } = await create(cashout({ amount: '10.000001' }), undefined, poor);
      expect([status, error.code]).toEqual([409, 'insufficient_balance']);
      expect(error.message).toMatch(/10\.000001/);
      expect(error.message).toMatch(/\b10\b(?!\.)/);
    });

    it('refuses one more parked cashout than the cap, and keeps nothing under its key (contract 4.3)', async () => {
      const full = await service.aShop({ cashout: { enabled: true, allowlist: ['127.0.0.1'], parkingEnabled: true, parkedCap: 1 } });
      const parked = await create(cashout(), undefined, full);
      expect(parked.status).toBe(202);
      expect((await create(cashout(), 'one more', full)).error.code).toBe('too_many_parked_cashouts');
      expect((await full.signed('POST', `/merchant/settlements/${parked.data.id}/cancel`)).status).toBe(200);
      expect((await create(cashout(), 'one more', full)).status).toBe(202);
    });

    it('refuses SMART without screening, and with a provider that gives no verdict (contract 4.3)', async () => {
      const { status, error } = await create(cashout({ route: 'SMART' }));
      expect([status, error.code]).toEqual([409, 'screening_required']);
      const screened = await service.aShop({ screening: { enabled: true, credits: 5 } });
      await upsertScreeningScore(service.deps.db.sql, { address: UNKNOWABLE, score: null });
      expect((await create(cashout({ route: 'SMART', address: UNKNOWABLE }), undefined, screened)).error.code).toBe('screening_required');
    });

    it('refuses AML_HELD as an over-request where nobody screens (contract 4.3)', async () => {
      expect((await create(cashout({ route: 'AML_HELD' }))).error.code).toBe('insufficient_balance');
    });

    it('refuses a used key with another body, and stores no failure under a key', async () => {
      await create(cashout(), 'payout-3');
      const { status, error } = await create(cashout({ amount: '6' }), 'payout-3');
      expect([status, error.code]).toEqual([409, 'idempotency_conflict']);
      expect((await create(cashout({ amount: '0' }), 'payout-4')).status).toBe(422);
      expect((await create(cashout(), 'payout-4')).status).toBe(200);
    });
  },
  422: (context) => {
    const { service, send } = context;
    const { id, cashout, create } = tools(context);

    it.each([
      ['assetId', { assetId: undefined }],
      ['assetId', { assetId: randomUUID() }],
      ['amount', { amount: undefined }],
      ['amount', { amount: 5 }],
      ['amount', { amount: '0' }],
      ['amount', { amount: '-5' }],
      ['amount', { amount: '1.0000001' }],
      ['address', { address: undefined }],
      ['address', { address: 'nowhere' }],
      ['address', { address: `0x${'0'.repeat(40)}` }],
      ['route', { route: 'RED' }],
      ['route', { route: 1 }],
      ['route', { isQuarantined: true }],
      ['label', { label: '' }],
      ['metadata', { metadata: [] }],
      ['metadata', { metadata: { note: 'é'.repeat(2_100) } }],
      ['metadata.deep', { metadata: { deep: { er: 1 } } }],
      ['metadata.list', { metadata: { list: [1] } }],
    ] as [string, Record<string, unknown>][])('names %s in %j', async (field, over) => {
      const { status, error } = await create(cashout(over));
      expect([status, error.code], error.message).toEqual([422, 'validation_error']);
      expect(error.message).toMatch(new RegExp(`^${field.replaceAll('.', '\\.')}: `));
    });

    it('refuses what is below the minimum, and what does not cover its own fee', async () => {
      expect((await create(cashout({ amount: '0.999999' }))).error.code).toBe('below_minimum_settlement');
      const rich = await service.aShop();
      await rich.fund('ETH', '1.0005');
      const dear = await listen({
        ...service.deps,
        chains: new Map(
          [...service.deps.chains].map(([name, chain]) => [
            name,
            { ...chain, payer: { ...chain.payer, estimate: async () => ({ ok: true, quote: { rawFee: 10n ** 18n, fields: {}, expiresAtMs: null } }) } },
          ]),
        ),
      });
      const { status, error } = await send({ from: rich, through: dear.ask, body: cashout({ assetId: id('ETH'), amount: '0.5' }) });
      expect([status, error.code]).toEqual([422, 'amount_below_network_fee']);
      await dear.close();
    });
  },
  503: (context) => {
    const { service, send } = context;
    const { cashout } = tools(context);

    it('asks to come back when the chain cannot be reached, and keeps nothing under the key', async () => {
      const chains = [...service.deps.chains].map(([name, chain]) => {
        const estimate = async () => {
          throw new ChainUnavailable('no endpoint answers');
        };
        return [name, { ...chain, payer: { ...chain.payer, estimate } }] as const;
      });
      const dark = await listen({ ...service.deps, chains: new Map(chains) });
      const { status, error } = await send({ through: dark.ask, body: cashout(), idempotencyKey: 'while it was dark' });
      expect([status, error.code]).toEqual([503, 'fee_estimation_unavailable']);
      await dark.close();
      expect((await send({ body: cashout(), idempotencyKey: 'while it was dark' })).status).toBe(200);
    });

    it('asks to come back when there is no fresh price', async () => {
      const dark = await listen({ ...service.deps, prices: { fresh: async () => undefined } });
      const { status, error } = await send({ through: dark.ask, body: cashout() });
      expect([status, error.code]).toEqual([503, 'fee_estimation_unavailable']);
      await dark.close();
    });
  },
});
