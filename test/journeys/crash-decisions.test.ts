import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, newKey, operator } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { amount as amountOf, formatAmount, parseTrusted } from '#shared/core/money.ts';
import { DRIVERS } from '#test/chains/conformance/families.ts';
import { FULL } from '#test/harness/counts.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { demoNetwork } from '#test/harness/networks.ts';
import { totpCode } from '#test/harness/totp-code.ts';
import { TEST_PEOPLE } from '#test/harness/world.ts';
import { type Crash, dieAtEach } from './crash.ts';
import { aScene, type Scene } from './scene.ts';

const PARKED_AND_APPROVED: Crash[] = [
  ['api', 'park.inserted'],
  ['api', 'settle.reserved'],
  ['api', 'park.activated'],
  ['api', 'approve.totp-consumed'],
  ['api', 'approve.committed'],
];
const ENDED: Crash[] = [
  ['api', 'park.cancelled'],
  ['api', 'fail.voided'],
];
const EXPIRED: Crash[] = [['api', 'park.expired']];
const HELD: Crash[] = [
  ['api', 'aml.asking'],
  ['api', 'aml.verdict-stored'],
  ['api', 'aml.verdict-applied'],
  ['api', 'aml.resolved'],
  ['api', 'aml.refund-completed'],
];
const WITHHELD: Crash[] = [
  ['api', 'proposal.created'],
  ['api', 'proposal.executed'],
  ['api', 'proposal.confirmed'],
  ['api', 'withheld.completed'],
];
const HERE = ['127.0.0.1', '::1'];
/** Above the cap, and more than there is before somebody pays. */
const DOLLARS = 60n;
const PATIENCE_MS = 120_000;

/** What is decided knows no chain, so `npm test` asks one family; `npm run test:long` asks them all. */
const FAMILIES = (FULL ? DRIVERS : DRIVERS.slice(0, 1)).map((driver) => [driver.family, driver] as const);

describe.each(FAMILIES)('what people decide about money on %s survives SIGKILL', (_family, driver) => {
  const { main } = driver;
  const amount = () => scene.worth(main, DOLLARS);
  let scene: Scene;
  let strangers = 700;
  beforeAll(async () => {
    scene = await aScene({
      blockMs: 250,
      networks: [await demoNetwork(driver.network)],
      gateway: {
        cashout: { enabled: true, allowlist: HERE, parkingEnabled: true, approvalCapUsd: '50' },
        screening: { enabled: true, credits: 1_000 },
      },
    });
  });
  afterAll(() => scene?.stop());

  const aStranger = (): string => {
    strangers += 1;
    return driver.stranger(strangers);
  };
  const settlementOf = async (id: string): Promise<Record<string, unknown>> => {
    const answer = await insist(() => scene.shop.signed('GET', `/merchant/settlements/${id}`));
    return answer.data;
  };
  /** Calls until something answers that is no sign of a process that is away. */
  const insist = (call: () => Promise<Answer>): Promise<Answer> =>
    waitFor(
      async () => {
        const answer = await call();
        return answer.status < 500 && answer;
      },
      { what: 'an answer', timeoutMs: PATIENCE_MS, everyMs: 150 },
    );
  const decide = (id: string, verb: 'retry' | 'cancel' | 'approve', body?: unknown, key = newKey()): Promise<Answer> =>
    insist(() => scene.shop.signed('POST', `/merchant/settlements/${id}/${verb}`, { idempotencyKey: key, ...(body !== undefined && { body }) }));
  const park = async (): Promise<{ id: string; destination: string }> => {
    const destination = aStranger();
    const { id, status } = await scene.cashout(main, amount(), destination);
    expect(status).toBe('UNDERFUNDED');
    return { id: id as string, destination };
  };
  const earn = async (amount: string): Promise<void> => {
    const payment = await scene.open(main, { amount });
    await scene.chainOf(main).pay(payment.address, scene.contract(main), payment.rawAmount);
    await scene.resting(payment.id);
  };
  const enrol = async (): Promise<string> => {
    const answer = await insist(() => scene.world.operator(scene.api).call('POST', `/gateways/${scene.shop.gateway.id}/totp`));
    return answer.data.secret as string;
  };
  /** Waits until a cashout reads one of these. */
  const until = (id: string, ...statuses: string[]): Promise<Record<string, unknown>> =>
    waitFor(
      async () => {
        const view = await settlementOf(id);
        return statuses.includes(view.status as string) && view;
      },
      { what: `settlement ${id} to be ${statuses.join(' or ')}`, timeoutMs: PATIENCE_MS, everyMs: 150 },
    );
  const activate = (id: string): Promise<unknown> =>
    waitFor(
      async () => {
        await decide(id, 'retry');
        return (await settlementOf(id)).status !== 'UNDERFUNDED';
      },
      { what: `settlement ${id} to be activated`, timeoutMs: PATIENCE_MS, everyMs: 300 },
    );
  const expectSound = async (): Promise<void> => {
    await waitFor(() => assertBooksMatchChain(scene.world).then(() => true), { what: 'books to match the chain', timeoutMs: PATIENCE_MS, everyMs: 300 });
    await scene.world.audit();
  };
  const eventsOf = async (id: string): Promise<string[]> =>
    (await scene.world.database.sql<{ event: string }[]>`select event from settlement_events where settlement_id = ${id} order by id`).map(
      ({ event }) => event,
    );

  it('at every point of parking, activating and approving a cashout: claimed once, approved once, paid once', async () => {
    const paid = await dieAtEach(scene, PARKED_AND_APPROVED, {
      prepare: enrol,
      async work(secret) {
        const { id, destination } = await park();
        await earn('70');
        await activate(id);
        expect((await settlementOf(id)).status).toBe('PENDING_APPROVAL');
        // A code that was consumed by nobody may be too old by the time the api is back: then another one is given.
        const approved = await waitFor(
          async () => {
            const answer = await decide(id, 'approve', { totpCode: totpCode(secret) });
            return answer.error?.code !== 'totp_required' && answer;
          },
          { what: `settlement ${id} to be approved`, timeoutMs: PATIENCE_MS, everyMs: 300 },
        );
        expect(approved.data).toMatchObject({ id });
        return { id, destination, settled: await until(id, 'SETTLED') };
      },
    });
    for (const { id, destination, settled } of paid) {
      expect(await scene.held(main, destination)).toBe(scene.raw(main, settled.netAmount as string));
      expect(await eventsOf(id)).toEqual(['CREATED', 'ACTIVATED', 'APPROVED', 'DISPATCHED', 'COMPLETED']);
    }
    await expectSound();
  });

  it('at every point of cancelling and rejecting one: ended once, its claim given back once', async () => {
    const ended = await dieAtEach(scene, ENDED, {
      prepare: async () => undefined,
      async work() {
        await waitFor(async () => Number((await scene.balance(main)).totalAvailable) < Number(amount()), { what: 'a pool that is short' });
        const cancelled = await park();
        expect((await decide(cancelled.id, 'cancel')).data.status ?? (await settlementOf(cancelled.id)).status).toBe('REJECTED');
        const rejected = await park();
        await earn('70');
        await activate(rejected.id);
        await insist(() => scene.world.operator(scene.api).call('POST', `/settlements/${rejected.id}/reject`, { body: { reason: 'a test' } }));
        await until(rejected.id, 'REJECTED');
        // What was given back would cover the next run's.
        const again = await scene.cashout(main, (await scene.balance(main, amount())).totalAvailable as string, aStranger());
        expect(again.status).toBe('PENDING_APPROVAL');
        return [cancelled.id, rejected.id] as const;
      },
    });
    for (const [cancelled, rejected] of ended) {
      expect(await eventsOf(cancelled)).toEqual(['CREATED', 'CANCELLED']);
      expect(await eventsOf(rejected)).toEqual(['CREATED', 'ACTIVATED', 'OPERATOR_REJECTED']);
    }
    await expectSound();
  });

  it('at the end of its parking time: rejected once, with one mail', async () => {
    const ids = await dieAtEach(scene, EXPIRED, {
      // Overdue before the api is started anew: it looks for such cashouts when it starts.
      async prepare() {
        const { id } = await park();
        await scene.world.database.sql`update settlements set expires_at = sluice_now() - interval '1 minute' where id = ${id}`;
        return id;
      },
      async work(id) {
        await until(id, 'REJECTED');
        return id;
      },
    });
    for (const id of ids) {
      expect(await eventsOf(id)).toEqual(['CREATED', 'PARKING_EXPIRED']);
      expect(await scene.world.database.sql`select 1 from outbox where ref_id = ${id} and topic = 'settlement.mail'`).toHaveLength(1);
    }
    await expectSound();
  });

  it('at every point of holding a payment and paying it back: one verdict, one refund', async () => {
    const refunds = await dieAtEach(scene, HELD, {
      prepare: async () => ({ payment: await scene.open(main, { amount: '25' }), destination: aStranger() }),
      async work({ payment, destination }) {
        const operator = () => scene.world.operator(scene.api);
        await insist(() => operator().call('PUT', `/screening/${payment.address}`, { body: { score: 90 } }));
        await scene.chainOf(main).pay(payment.address, scene.contract(main), payment.rawAmount);
        await waitFor(async () => (await scene.verify(payment.id)).amlState === 'HELD', {
          what: 'the payment to be held',
          timeoutMs: PATIENCE_MS,
          everyMs: 200,
        });
        await waitFor(
          async () => {
            const body = { action: 'REFUND', address: destination, reason: 'a test' };
            await insist(() => operator().call('POST', `/payments/${payment.id}/aml`, { body }));
            return (await scene.world.database.sql`select 1 from aml_refunds where payment_id = ${payment.id}`).length > 0;
          },
          { what: 'the refund to be ordered', timeoutMs: PATIENCE_MS, everyMs: 300 },
        );
        await waitFor(async () => (await scene.verify(payment.id)).amlState === 'REFUNDED', { what: 'the refund', timeoutMs: PATIENCE_MS, everyMs: 200 });
        return { payment, destination };
      },
    });
    const { sql } = scene.world.database;
    for (const { payment, destination } of refunds) {
      const [refund, ...more] = await sql<{ amount: string; status: string }[]>`select amount::text, status from aml_refunds where payment_id = ${payment.id}`;
      expect(more).toHaveLength(0);
      expect(refund?.status).toBe('paid');
      expect(await scene.held(main, destination)).toBe(scene.raw(main, refund?.amount as string));
    }
    await expectSound();
  });

  it('at every point of sending withheld coins: what two people want is done once, and paid once', async () => {
    const { sql } = scene.world.database;
    const by = (name: keyof typeof TEST_PEOPLE) => operator(scene.api.operatorUrl, TEST_PEOPLE[name]);
    const sent = await dieAtEach(scene, WITHHELD, {
      async prepare() {
        const payment = await scene.open(main, { amount: '25' });
        await insist(() => scene.world.operator(scene.api).call('PUT', `/screening/${payment.address}`, { body: { score: 90 } }));
        await scene.chainOf(main).pay(payment.address, scene.contract(main), payment.rawAmount);
        const withhold = () => scene.world.operator(scene.api).call('POST', `/payments/${payment.id}/aml`, { body: { action: 'WITHHOLD', reason: 'a test' } });
        await waitFor(async () => (await insist(withhold)).status === 200, { what: 'the payment to be withheld', timeoutMs: PATIENCE_MS, everyMs: 300 });
        return { destination: aStranger() };
      },
      async work({ destination }) {
        const { gatewayId, items } = (await insist(() => by('anna').call('GET', `/gateways/${scene.shop.gateway.id}/withheld`))).data as {
          gatewayId: string;
          items: { assetId: string; final: string; onItsWay: string }[];
        };
        const [kept] = items;
        const amount = formatAmount(amountOf(parseTrusted(kept?.final as string) - parseTrusted(kept?.onItsWay as string)));
        const body = { assetId: kept?.assetId, amount, address: destination, reason: destination };
        // An answer may be lost after it was stored: what is there twice is confirmed once, and withdrawn.
        await waitFor(async () => (await by('anna').call('POST', `/gateways/${gatewayId}/withheld`, { body })).status === 202, {
          what: 'the proposal',
          timeoutMs: PATIENCE_MS,
          everyMs: 300,
        });
        const [first, ...others] = await sql<{ id: string }[]>`select id from operator_proposals where reason = ${destination} order by created_at`;
        for (const { id } of others) await insist(() => by('ben').call('POST', `/proposals/${id}/withdraw`, { body: {} }));
        await insist(() => by('ben').call('POST', `/proposals/${first?.id}/confirm`, { body: {} }));
        await waitFor(async () => (await sql`select 1 from withheld_transfers where reason = ${destination} and status = 'paid'`).length > 0, {
          what: 'the withheld coins to leave',
          timeoutMs: PATIENCE_MS,
          everyMs: 300,
        });
        return { destination, amount };
      },
    });
    for (const { destination, amount } of sent) {
      expect(await sql`select status from withheld_transfers where reason = ${destination}`).toEqual([{ status: 'paid' }]);
      expect(await scene.held(main, destination)).toBe(scene.raw(main, amount));
    }
    await expectSound();
  });
});
