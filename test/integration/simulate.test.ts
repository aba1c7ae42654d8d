import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAudit } from '#api/audit/run-audit.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { type CreatePaymentBody, createPayment } from '#api/payments/create.ts';
import { expireDuePayments, expirePayment } from '#api/payments/expire.ts';
import { selectHostedOffer, selectOffer } from '#api/payments/select-offer.ts';
import { confirmDueSimulations, type Simulation, simulatePayment } from '#api/payments/simulate.ts';
import { verifyPayment } from '#api/payments/verify.ts';
import { explainPayment } from '#api/payments/explain.ts';
import { publicPayment } from '#api/payments/view.ts';
import { POLICY } from '#shared/core/policy.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { connect } from '#shared/platform/postgres.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

let world: InProcess;
let shop: Gateway;
let deps: Deps;
const metrics = createApiMetrics('test');
const clientIp = '127.0.0.1';

beforeAll(async () => {
  world = await inProcess({ moreNetworks: (demo) => [{ ...demo, name: 'sidechain', chainId: '31338', assets: demo.assets.slice(0, 1) }] });
  deps = { ...world.deps, metrics };
  shop = await world.aGateway();
});
afterAll(async () => {
  await assertCleanAudit(world.database);
  await world.stop();
});

interface OfferJson {
  id: string;
  assetId: string;
  assetSymbol: string;
  assetNetwork: string;
  totalValue: string;
}
interface PaymentJson {
  id: string;
  status: string;
  expiresAt: string;
  offers: OfferJson[];
  [field: string]: unknown;
}

async function aPayment(body: Partial<CreatePaymentBody> = {}, gateway = shop): Promise<PaymentJson> {
  const api = { currencyCode: 'USD', amount: '25', checkoutMode: 'API' as const, webhookUrl: 'http://127.0.0.1:4242/webhook', isSandbox: true, ...body };
  const reply = await createPayment(world.deps, { gateway, body: api, clientIp, commit: plainCommit(world.deps) });
  return (reply.data as { payment: PaymentJson }).payment;
}

const simulate = (payment: { id: string }, simulation: Simulation) => simulatePayment(deps, { paymentId: payment.id, clientIp, simulation });
const statusAfter = async (payment: { id: string }, simulation: Simulation): Promise<string> =>
  ((await simulate(payment, simulation)) as { status: string }).status;
const verify = async (payment: { id: string }, gateway = shop) =>
  (await verifyPayment(deps, { gateway, paymentId: payment.id })) as Record<string, unknown> & { deposits: Record<string, unknown>[] };
const read = async (payment: { id: string }) => (await publicPayment(deps, { paymentId: payment.id, clientIp })) as PaymentJson;
const offerIn = (payment: PaymentJson, symbol: string, network = 'ethereum'): OfferJson =>
  payment.offers.find((offer) => offer.assetSymbol === symbol && offer.assetNetwork === network) as OfferJson;
const webhooks = async (payment: { id: string }): Promise<string[]> =>
  (await world.database.sql<{ status: string }[]>`select status from webhook_events where payment_id = ${payment.id} order by seq`).map((row) => row.status);
const events = async (payment: { id: string }) =>
  world.database.sql<{ event: string; to: string; actor: string; facts: Record<string, unknown> }[]>`
    select event, to_status as to, actor, facts from payment_events where payment_id = ${payment.id} order by id`;

/** Everything in which money is counted. */
async function booked(): Promise<Record<string, number>> {
  const [row] = await world.database.sql<Record<string, number>[]>`
    select (select count(*) from ledger_transactions) as transactions, (select count(*) from ledger_entries) as entries, (select count(*) from credits) as credits,
      (select count(*) from deposits) as deposits, (select count(*) from sightings) as sightings, (select count(*) from deposit_addresses) as addresses`;
  return row as Record<string, number>;
}

it('a payment keeps so many simulated deposits that decide nothing and no more, also of many at once, and can be paid all the same', async () => {
  const payment = await aPayment();
  const { assetId } = offerIn(payment, 'USDT');
  const dust = { scenario: 'underpaid', amount: '0.000001', assetId } as const;
  await world.database.sql`
    insert into sandbox_deposits (id, payment_id, asset_id, scenario, txid, amount, state, first_seen_at)
    select gen_random_uuid(), ${payment.id}, ${assetId}, 'underpaid', 'sandbox-' || n, 0.000001, 'dust', sluice_now() from generate_series(1, ${POLICY.sandboxDust - 2}) n`;
  const answers = await Promise.allSettled(Array.from({ length: 6 }, () => simulate(payment, dust)));
  expect(answers.map((one) => (one.status === 'fulfilled' ? 'kept' : one.reason.code)).sort()).toEqual([...Array(4).fill('conflict'), 'kept', 'kept']);
  expect((await verify(payment)).deposits).toHaveLength(POLICY.sandboxDust);
  expect(await statusAfter(payment, { scenario: 'success' })).toBe('SUCCESS');
});

it('a simulation asks for nothing that it knows already', async () => {
  const payment = await aPayment();
  const asked: string[] = [];
  const db = connect(world.database.url, { name: 'sluice-test', observe: (work) => asked.push(work) });
  try {
    await simulatePayment({ ...deps, db }, { paymentId: payment.id, clientIp, simulation: { scenario: 'success' } });
  } finally {
    await db.end();
  }
  const counts = Object.fromEntries([...new Set(asked)].map((work) => [work, asked.filter((one) => one === work).length]));
  expect(counts).toEqual({ select: 7, insert: 4, update: 2, other: 1, transaction: 1 });
});

describe('each scenario, judged by the rules of real deposits', () => {
  it('success: exactly what the first offer asks, selected on the way, with every figure of a real one', async () => {
    const payment = await aPayment();
    const offer = payment.offers[0] as OfferJson;
    expect(await simulate(payment, { scenario: 'success' })).toEqual({ paymentUid: payment.id, status: 'SUCCESS', isVerified: false, verifiedAt: null });
    const txHash = expect.stringMatching(/^sandbox-[0-9a-f]{64}$/);
    const shown = await read(payment);
    expect(shown).toMatchObject({
      status: 'SUCCESS',
      selectedOfferId: offer.id,
      paidAssetId: offer.assetId,
      paidAssetSymbol: offer.assetSymbol,
      receivedAmount: offer.totalValue,
      txHash,
    });
    expect(shown.explorerTxUrl).toContain(shown.txHash);
    const verified = await verify(payment);
    expect(verified).toMatchObject({
      status: 'SUCCESS',
      expectedAmount: offer.totalValue,
      receivedAssetId: offer.assetId,
      receivedAmount: offer.totalValue,
      receivedAmountUsd: '25.00',
      deviationUsd: '0.00',
      depositPath: 'standard',
      txHash: shown.txHash,
      isVerified: true,
      txFeePayer: 'MERCHANT',
    });
    expect(verified.deposits).toMatchObject([{ assetId: offer.assetId, amount: offer.totalValue, confirmations: 2, depositPath: 'standard', txHash }]);
    expect(await webhooks(payment)).toEqual(['SUCCESS']);
  });

  it.each([
    ['underpaid', 'MISMATCH', { underAcceptableDiff: '1' }, '22.5'],
    ['underpaid', 'MISMATCH', { underAcceptableDiff: '20', acceptableDiffKind: 'PERCENTAGE' }, '12.5'],
    ['underpaid', 'SUCCESS', { checkAmountDeviation: false }, '22.5'],
    ['underpaid', 'ACCEPTABLE', { underAcceptableDiff: '100' }, '22.5'],
    ['overpaid', 'MISMATCH', {}, '27.5'],
    ['overpaid', 'MISMATCH', { overAcceptableDiff: '10' }, '37.5'],
    ['overpaid', 'SUCCESS', { checkAmountDeviation: false }, '27.5'],
    ['acceptable', 'ACCEPTABLE', { underAcceptableDiff: '0.5' }, '24.5'],
    ['acceptable', 'ACCEPTABLE', { overAcceptableDiff: '2', acceptableDiffKind: 'PERCENTAGE' }, '25.5'],
    ['acceptable', 'ACCEPTABLE', { underAcceptableDiff: '1000' }, '2.5'],
  ] as const)('%s is %s with %o: %s arrives', async (scenario, status, terms, received) => {
    const payment = await aPayment({ ...terms });
    expect(await statusAfter(payment, { scenario, assetId: offerIn(payment, 'USDT').assetId })).toBe(status);
    expect(await verify(payment)).toMatchObject({ status, receivedAmount: received });
  });

  it.each([
    ['success', '24.99', 'MISMATCH'],
    ['success', '24.5', 'ACCEPTABLE'],
    ['underpaid', '25', 'SUCCESS'],
    ['overpaid', '0.01', 'MISMATCH'],
    ['acceptable', '24.49', 'MISMATCH'],
  ] as const)('%s with an amount of %s is what that amount is: %s', async (scenario, received, status) => {
    const payment = await aPayment({ underAcceptableDiff: received === '24.99' ? '0' : '0.5' });
    expect(await statusAfter(payment, { scenario, amount: received, assetId: offerIn(payment, 'USDT').assetId })).toBe(status);
    expect(await verify(payment)).toMatchObject({ receivedAmount: received });
  });

  it('wrong_asset: another asset of the network at its market price, or the one that is named', async () => {
    const payment = await aPayment();
    const usdt = offerIn(payment, 'USDT');
    await selectOffer(deps, { paymentId: payment.id, offerId: usdt.id, clientIp });
    expect(await statusAfter(payment, { scenario: 'wrong_asset', assetId: offerIn(payment, 'ETH').assetId, amount: '0.0126' })).toBe('MISMATCH');
    expect(await verify(payment)).toMatchObject({
      assetSymbol: 'USDT',
      expectedAmount: '25',
      receivedAssetSymbol: 'ETH',
      receivedAmount: '0.0126',
      receivedAmountUsd: '31.50',
      deviationUsd: '6.50',
    });
    const other = await aPayment();
    await selectOffer(deps, { paymentId: other.id, offerId: offerIn(other, 'USDT').id, clientIp });
    expect(await statusAfter(other, { scenario: 'wrong_asset' })).toBe('SUCCESS');
    const { receivedAssetSymbol, network } = await verify(other);
    expect([receivedAssetSymbol === 'USDT', network]).toEqual([false, 'ethereum']);
  });

  it('wrong_asset: one that has a price, as long as there is one', async () => {
    for (const [without, arrives] of [
      ['ETH', 'USDC'],
      ['USDC', 'ETH'],
    ] as const) {
      const partly: Deps = { ...deps, prices: { fresh: async (symbol) => (symbol === without ? undefined : deps.prices.fresh(symbol)) } };
      const other = await aPayment();
      await selectOffer(deps, { paymentId: other.id, offerId: offerIn(other, 'USDT').id, clientIp });
      await simulatePayment(partly, { paymentId: other.id, clientIp, simulation: { scenario: 'wrong_asset' } });
      expect(await verify(other)).toMatchObject({ receivedAssetSymbol: arrives, network: 'ethereum' });
    }
  });

  it('seen_then_confirmed: shown as on its way, not expirable, and confirmed by periodic work', async () => {
    const payment = await aPayment({ timeoutSeconds: 60 });
    expect(await statusAfter(payment, { scenario: 'seen_then_confirmed' })).toBe('PENDING');
    const { deposits, status } = await verify(payment);
    expect([status, deposits.length, deposits[0]?.confirmations, deposits[0]?.creditedAt]).toEqual(['PENDING', 1, 0, null]);
    await expect(simulate(payment, { scenario: 'success' })).rejects.toMatchObject({ code: 'conflict' });
    expect(await confirmDueSimulations(deps)).toBe(0);
    await world.advance(3_600);
    expect(await expireDuePayments(deps)).toBe(0);
    expect(await expirePayment(deps, { paymentId: payment.id, clientIp })).toMatchObject({ status: 'PENDING' });
    // That nobody confirms it must not stay unnoticed.
    const overdue = (await runAudit(world.deps.db.sql)).find((result) => result.check === 'A11');
    expect(overdue?.rows.map((row) => row.id)).toEqual([payment.id]);
    expect(await confirmDueSimulations(deps)).toBe(1);
    expect(await confirmDueSimulations(deps)).toBe(0);
    expect(await verify(payment)).toMatchObject({ status: 'SUCCESS', depositPath: 'late_confirmation' });
    expect(await webhooks(payment)).toEqual(['SUCCESS']);
  });

  it('seen_then_confirmed: confirmed at once by calling it again, and due by itself after its wait', async () => {
    const [twice, waiting] = [await aPayment(), await aPayment()];
    await simulate(twice, { scenario: 'seen_then_confirmed' });
    expect(await statusAfter(twice, { scenario: 'seen_then_confirmed' })).toBe('SUCCESS');
    expect(await verify(twice)).toMatchObject({ depositPath: 'standard' });
    await simulate(waiting, { scenario: 'seen_then_confirmed', amount: '1' });
    await world.advance(POLICY.sandboxConfirmSeconds);
    expect(await confirmDueSimulations(deps)).toBe(1);
    expect(await verify(waiting)).toMatchObject({ status: 'MISMATCH', receivedAmount: '1' });
  });

  it('expired: brings the deadline forward, says so in the history, and sends the webhook', async () => {
    const payment = await aPayment();
    expect(await statusAfter(payment, { scenario: 'expired' })).toBe('EXPIRED');
    expect(Date.parse((await read(payment)).expiresAt)).toBeLessThan(Date.parse(payment.expiresAt));
    expect((await events(payment)).slice(1)).toMatchObject([{ event: 'DEADLINE_PASSED', to: 'EXPIRED', actor: 'sandbox', facts: { scenario: 'expired' } }]);
    expect(await webhooks(payment)).toEqual(['EXPIRED']);
    await expect(simulate(payment, { scenario: 'expired' })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('late_capture: on an open payment it expires first, then captures, with both webhooks in order', async () => {
    const payment = await aPayment();
    expect(await statusAfter(payment, { scenario: 'late_capture' })).toBe('SUCCESS');
    expect(await webhooks(payment)).toEqual(['EXPIRED', 'SUCCESS']);
    expect((await events(payment)).map((event) => event.to)).toEqual(['PENDING', 'EXPIRED', 'SUCCESS']);
    expect(await verify(payment)).toMatchObject({ depositPath: 'late_capture' });
  });

  it('late_capture: values at the market price, because the deadline is past', async () => {
    const payment = await aPayment();
    const eth = offerIn(payment, 'ETH');
    await world.setPrice('ETH', '5000');
    try {
      expect(await statusAfter(payment, { scenario: 'expired' })).toBe('EXPIRED');
      expect(await statusAfter(payment, { scenario: 'late_capture', assetId: eth.assetId })).toBe('MISMATCH');
      expect(await verify(payment)).toMatchObject({ receivedAmountUsd: '50.00', deviationUsd: '25.00' });
    } finally {
      await world.setPrice('ETH', '2500');
    }
  });

  it('late_capture: not after the grace period', async () => {
    const hasty = await world.aGateway({ settings: { lateCaptureGraceSeconds: 0 } });
    const payment = await aPayment({}, hasty);
    await expect(simulate(payment, { scenario: 'late_capture' })).rejects.toMatchObject({ code: 'conflict' });
    expect((await read(payment)).status).toBe('PENDING');
    const late = await aPayment({ timeoutSeconds: 60 });
    await world.advance(86_400 + 61);
    expect(await expireDuePayments(deps)).toBeGreaterThan(0);
    await expect(simulate(late, { scenario: 'late_capture' })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('dust is recorded and resolves nothing, so the payment can still be paid', async () => {
    const payment = await aPayment();
    const usdt = offerIn(payment, 'USDT').assetId;
    expect(await statusAfter(payment, { scenario: 'success', amount: '0.000001', assetId: usdt })).toBe('PENDING');
    expect(await statusAfter(payment, { scenario: 'seen_then_confirmed', amount: '0.000001', assetId: usdt })).toBe('PENDING');
    expect((await verify(payment)).deposits).toHaveLength(2);
    expect(await statusAfter(payment, { scenario: 'success', assetId: usdt })).toBe('SUCCESS');
  });
});

it.each(['success', 'acceptable', 'underpaid', 'overpaid', 'wrong_asset', 'seen_then_confirmed', 'late_capture', 'expired'] as const)(
  '%s is explained step by step like a real payment',
  async (scenario) => {
    const payment = await aPayment({ underAcceptableDiff: '1' });
    const status = await statusAfter(payment, { scenario });
    const explained = await explainPayment(deps, { gateway: shop, paymentId: payment.id });
    expect([explained.status, explained.steps.length > 1]).toEqual([status, true]);
    if (status !== 'PENDING' && status !== 'EXPIRED') expect(explained.steps.map((one) => one.step)).toContain('decision');
  },
);

describe('what cannot be', () => {
  it('409 on a payment that is not sandbox', async () => {
    await expect(simulate(await aPayment({ isSandbox: false }), { scenario: 'success' })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('409 once it is resolved, and for anything but a late capture once it is expired or overdue', async () => {
    const resolved = await aPayment();
    await simulate(resolved, { scenario: 'success' });
    for (const scenario of ['success', 'late_capture', 'expired', 'seen_then_confirmed'] as const)
      await expect(simulate(resolved, { scenario })).rejects.toMatchObject({ code: 'conflict' });
    const overdue = await aPayment({ timeoutSeconds: 60 });
    await world.advance(61);
    await expect(simulate(overdue, { scenario: 'success' })).rejects.toMatchObject({ code: 'conflict' });
    await simulate(overdue, { scenario: 'expired' });
    for (const scenario of ['success', 'underpaid', 'wrong_asset', 'expired'] as const)
      await expect(simulate(overdue, { scenario })).rejects.toMatchObject({ code: 'conflict' });
    expect(await statusAfter(overdue, { scenario: 'late_capture' })).toBe('SUCCESS');
  });

  it('403 from an address off the allowlist in API mode, 404 for an unknown id', async () => {
    const payment = await aPayment();
    const elsewhere = { paymentId: payment.id, clientIp: '203.0.113.9', simulation: { scenario: 'success' } as const };
    await expect(simulatePayment(deps, elsewhere)).rejects.toMatchObject({ code: 'forbidden', message: expect.stringContaining('203.0.113.9') });
    await expect(simulate({ id: randomUUID() }, { scenario: 'success' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each([
    ['an amount of zero', { scenario: 'success', amount: '0' }, 'amount'],
    ['more decimals than the asset has', { scenario: 'success', amount: '1.0000001' }, 'amount'],
    ['an asset that is not offered', { scenario: 'success', assetId: randomUUID() }, 'assetId'],
    ['a wrong asset that nobody knows', { scenario: 'wrong_asset', assetId: randomUUID() }, 'assetId'],
    ['acceptable without a tolerance', { scenario: 'acceptable' }, 'scenario'],
  ] as const)('422 for %s, and nothing happens', async (_what, simulation, field) => {
    const payment = await aPayment();
    const named = simulation.scenario === 'success' && !('assetId' in simulation) ? { ...simulation, assetId: offerIn(payment, 'USDT').assetId } : simulation;
    await expect(simulate(payment, named)).rejects.toMatchObject({ code: 'validation_error', field });
    expect(await read(payment)).toMatchObject({ status: 'PENDING', selectedOfferId: null });
  });

  it('422 for a wrong asset that is selected, and for acceptable where every amount succeeds', async () => {
    const payment = await aPayment();
    const usdt = offerIn(payment, 'USDT');
    await selectOffer(deps, { paymentId: payment.id, offerId: usdt.id, clientIp });
    await expect(simulate(payment, { scenario: 'wrong_asset', assetId: usdt.assetId })).rejects.toMatchObject({ code: 'validation_error', field: 'assetId' });
    const lenient = await aPayment({ checkAmountDeviation: false, underAcceptableDiff: '5' });
    await expect(simulate(lenient, { scenario: 'acceptable' })).rejects.toMatchObject({ code: 'validation_error', field: 'scenario' });
  });

  it('422 for a wrong asset where none could be noticed: on a chain with one coin, or on a network that was not selected', async () => {
    const payment = await aPayment();
    await selectOffer(deps, { paymentId: payment.id, offerId: offerIn(payment, 'ETH', 'sidechain').id, clientIp });
    await expect(simulate(payment, { scenario: 'wrong_asset' })).rejects.toMatchObject({ code: 'validation_error', field: 'assetId' });
    const elsewhere = { scenario: 'wrong_asset', assetId: offerIn(payment, 'USDT').assetId } as const;
    await expect(simulate(payment, elsewhere)).rejects.toMatchObject({ code: 'validation_error', field: 'assetId' });
    await selectOffer(deps, { paymentId: payment.id, offerId: offerIn(payment, 'USDC').id, clientIp });
    expect(await statusAfter(payment, elsewhere)).toBe('SUCCESS');
  });

  it('422 for amounts that no ledger could hold, given or made of extreme terms', async () => {
    const most = '9'.repeat(38);
    const dear = await aPayment({ amount: most, assets: [{ assetId: world.assets.ETH?.id as string, assetPriceUsd: most }] });
    await expect(simulate(dear, { scenario: 'success', amount: most })).rejects.toMatchObject({ code: 'validation_error', field: 'amount' });
    const lenient = await aPayment({ amount: most, acceptableDiffKind: 'PERCENTAGE', overAcceptableDiff: most });
    for (const scenario of ['acceptable', 'overpaid'] as const)
      await expect(simulate(lenient, { scenario })).rejects.toMatchObject({ code: 'validation_error', field: 'scenario' });
    expect(await statusAfter(dear, { scenario: 'success' })).toBe('SUCCESS');
  });

  it('503 while a market price is needed and none is fresh', async () => {
    const blind: Deps = { ...deps, prices: { ...deps.prices, fresh: async () => undefined } };
    const payment = await aPayment();
    const call = { paymentId: payment.id, clientIp, simulation: { scenario: 'wrong_asset' } as const };
    await expect(simulatePayment(blind, call)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await read(payment)).toMatchObject({ status: 'PENDING', selectedOfferId: null });
    expect(await simulatePayment(blind, { ...call, simulation: { scenario: 'success' } })).toMatchObject({ status: 'SUCCESS' });
    expect(await verify(payment)).not.toHaveProperty('receivedAmountUsd');
    const late = await aPayment();
    const lateCall = { paymentId: late.id, clientIp, simulation: { scenario: 'late_capture', amount: '1' } as const };
    await expect(simulatePayment(blind, lateCall)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect([await webhooks(late), (await read(late)).status]).toEqual([[], 'PENDING']);
  });
});

describe('at the same time', () => {
  it('twenty simulations resolve a payment once, and the others are refused', async () => {
    const payment = await aPayment({ underAcceptableDiff: '1' });
    const scenarios = ['success', 'underpaid', 'overpaid', 'acceptable', 'late_capture'] as const;
    const answers = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => simulate(payment, { scenario: scenarios[index % 5] ?? 'success' })));
    const won = answers.filter((answer) => answer.status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const answer of answers) if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'conflict' });
    expect((await verify(payment)).deposits).toHaveLength(1);
    expect(await world.database.sql`select 1 from payment_events where payment_id = ${payment.id} and event = 'DEPOSIT_CONFIRMED'`).toHaveLength(1);
  });

  it('periodic work and second calls confirm a seen deposit once', async () => {
    const payment = await aPayment();
    await simulate(payment, { scenario: 'seen_then_confirmed' });
    await world.advance(POLICY.sandboxConfirmSeconds);
    const answers = await Promise.allSettled([
      ...Array.from({ length: 4 }, () => confirmDueSimulations(deps)),
      ...Array.from({ length: 4 }, () => simulate(payment, { scenario: 'seen_then_confirmed' })),
    ]);
    for (const answer of answers) if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'conflict' });
    expect(await webhooks(payment)).toEqual(['SUCCESS']);
    expect((await verify(payment)).deposits).toHaveLength(1);
  });

  it('a simulation and periodic work give an overdue payment one end', async () => {
    const payment = await aPayment({ timeoutSeconds: 60 });
    await world.advance(61);
    await Promise.allSettled([expireDuePayments(deps), simulate(payment, { scenario: 'expired' }), expirePayment(deps, { paymentId: payment.id, clientIp })]);
    expect(await webhooks(payment)).toEqual(['EXPIRED']);
  });
});

describe('money', () => {
  it('is never touched: no scenario posts, credits, or stores a deposit, whoever bears the fees', async () => {
    const before = await booked();
    const monthly = await world.aGateway({ billing: 'MONTHLY', settings: { commissionBps: 100 } });
    for (const scenario of ['success', 'underpaid', 'overpaid', 'wrong_asset', 'late_capture', 'expired', 'seen_then_confirmed'] as const)
      await simulate(await aPayment({}, monthly), { scenario });
    await world.advance(POLICY.sandboxConfirmSeconds);
    await confirmDueSimulations(deps);
    expect(await booked()).toEqual(before);
    expect(before).toMatchObject({ transactions: 0, credits: 0, deposits: 0 });
  });

  it('is reported as it would have been: fees as a real deposit of that size pays them', async () => {
    const dear = await world.aGateway({ settings: { commissionBps: 100, txFeePayer: 'CUSTOMER', commissionFeePayer: 'CUSTOMER' } });
    const payment = await aPayment({ amount: '100' }, dear);
    const usdt = offerIn(payment, 'USDT') as OfferJson & { txFee: string; commissionFee: string };
    await simulate(payment, { scenario: 'success', assetId: usdt.assetId });
    expect(await verify(payment, dear)).toMatchObject({
      receivedAmount: usdt.totalValue,
      txFee: usdt.txFee,
      commissionFee: usdt.commissionFee,
      txFeePayer: 'CUSTOMER',
    });
    const covered = await world.aGateway({ billing: 'MONTHLY', settings: { commissionBps: 100 } });
    const free = await aPayment({ amount: '100' }, covered);
    await simulate(free, { scenario: 'success', assetId: offerIn(free, 'USDT').assetId });
    expect(await verify(free, covered)).toMatchObject({ commissionFee: '1', txFeePayer: 'PLATFORM', commissionFeePayer: 'PLATFORM' });
  });
});

it('a hosted sandbox payment is selected through the checkout and simulated from anywhere', async () => {
  const body: CreatePaymentBody = { currencyCode: 'USD', amount: '25', callbackUrl: 'https://shop.example/', isSandbox: true };
  const reply = await createPayment(world.deps, { gateway: shop, body, clientIp, commit: plainCommit(world.deps) });
  const id = (reply.data as { paymentUid: string }).paymentUid;
  const offer = (await read({ id })).offers[0] as OfferJson;
  expect(await selectHostedOffer(deps, { paymentId: id, offerId: offer.id })).toMatchObject({ status: 200, data: { depositAddress: `sandbox-${id}` } });
  expect(await simulatePayment(deps, { paymentId: id, clientIp: '203.0.113.9', simulation: { scenario: 'success' } })).toMatchObject({ status: 'SUCCESS' });
  expect(await webhooks({ id })).toEqual([]);
});

it('resolutions are counted apart from real ones', async () => {
  await simulate(await aPayment(), { scenario: 'success' });
  const { body } = await metrics.scrape();
  expect(body).toMatch(/sluice_payments_resolved_total\{status="SUCCESS",deposit_path="standard",sandbox="true"\} \d+/);
  expect(body).not.toContain('sandbox="false"');
  // There was no address to wait for, so none was quick to come either.
  expect(body).not.toMatch(/sluice_address_assign_duration_seconds_count\{/);
});
