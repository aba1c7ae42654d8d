import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyMempool } from '#api/consumers/apply-mempool.ts';
import { openHostedCheckout } from '#api/checkout/hosted.ts';
import { readHosted } from '#api/checkout/read-snapshot.ts';
import type { Offer, Snapshot } from '#api/checkout/page/snapshot.ts';
import type { Gateway } from '#api/deps.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { type CreatePaymentBody, createPayment } from '#api/payments/create.ts';
import { selectHostedOffer } from '#api/payments/select-offer.ts';
import { type Simulation, simulatePayment } from '#api/payments/simulate.ts';
import { publicPayment } from '#api/payments/view.ts';
import { POLICY } from '#shared/core/policy.ts';
import { type Books, type BooksAsset, someBooks, STRANGER, type TestPayment } from '#test/fixtures/books.ts';
import { type HeldBooks, heldBooks } from '#test/fixtures/held-books.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

let world: InProcess;
let shop: Gateway;
const clientIp = '127.0.0.1';

beforeAll(async () => {
  world = await inProcess();
  shop = await world.aGateway({
    branding: { displayName: 'Acme', logoUrl: 'https://shop.example/logo.png', supportUrl: 'https://shop.example/help', language: 'tr', qrMode: 'URI' },
  });
});
afterAll(() => world.stop());

/** A payment as its creation left it. */
async function created(data: object): Promise<{ id: string; offers: Offer[] }> {
  const { paymentUid: id } = data as { paymentUid: string };
  const { offers } = (await publicPayment(world.deps, { paymentId: id, clientIp })) as { offers: Offer[] };
  return { id, offers };
}

async function aHosted(body: Partial<CreatePaymentBody> = {}, gateway = shop): Promise<{ id: string; offers: Offer[] }> {
  const hosted = { currencyCode: 'USD', amount: '25', callbackUrl: 'https://shop.example/thanks?order=7#paid', isSandbox: true, ...body };
  const reply = await createPayment(world.deps, { gateway, body: hosted, clientIp, commit: plainCommit(world.deps) });
  return created(reply.data);
}

const read = async (id: string): Promise<Snapshot> => (await readHosted(world.deps, id)).snapshot;
const play = async (id: string, simulation: Simulation): Promise<Snapshot> => {
  await simulatePayment(world.deps, { paymentId: id, clientIp, simulation });
  return read(id);
};
/** What differs from one situation to another. */
const gist = ({ payment, pendingDeposit, mismatchSide, lateCapture, paid }: Snapshot) => ({
  status: payment.status,
  pending: pendingDeposit !== null,
  mismatchSide,
  lateCapture,
  otherCoin: paid?.otherCoin ?? null,
});

describe('the snapshot of a payment nobody paid', () => {
  it('holds the public payment, the merchant as it wants to be called, the networks, and where to return to', async () => {
    const { id, offers } = await aHosted({ callbackParams: { basket: 3, items: ['a'] }, language: 'es' });
    const { snapshot, languages } = await readHosted(world.deps, id);
    expect(languages).toEqual(['es', 'tr']);
    expect(snapshot.payment).toMatchObject({ id, status: 'PENDING', checkoutMode: 'HOSTED', isSandbox: true, selectedOfferId: null });
    expect(snapshot.payment.offers.map((offer) => offer.id)).toEqual(offers.map((offer) => offer.id));
    expect(snapshot.merchant).toEqual({ name: 'Acme', host: 'shop.example', logoPath: `/p/${id}/logo`, supportUrl: 'https://shop.example/help' });
    expect(snapshot.networks).toEqual({
      ethereum: { displayName: expect.stringMatching(/Ethereum/), family: 'evm', chainId: '31337', nativeSymbol: 'ETH', expectedSeconds: expect.any(Number) },
    });
    expect(snapshot.returnUrl).toBe(`https://shop.example/thanks?order=7&basket=3&items=%5B%22a%22%5D&paymentUid=${id}&status=PENDING#paid`);
    expect([snapshot.qrMode, snapshot.pendingDeposit, snapshot.paid, snapshot.mismatchSide, snapshot.lateCapture]).toEqual(['URI', null, null, null, false]);
    expect(Date.parse(snapshot.graceEndsAt)).toBe(Date.parse(snapshot.payment.expiresAt) + POLICY.lateCaptureGraceSeconds * 1_000);
    expect(snapshot.serverTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('has the same fields in the same order every time, so that a change can be told by its text', async () => {
    const { id } = await aHosted();
    const text = async (): Promise<string> => JSON.stringify({ ...(await read(id)), serverTime: '' });
    expect(await text()).toBe(await text());
  });

  it('is later than everything it tells of, and by the service clock', async () => {
    const { id } = await aHosted();
    const before = Date.parse((await read(id)).serverTime);
    await world.advance(30);
    expect(Date.parse((await read(id)).serverTime)).toBeGreaterThanOrEqual(before + 30_000);
  });

  it('calls the gateway by its own name and knows no logo where nothing was set', async () => {
    const { id } = await aHosted({}, await world.aGateway({ name: 'Plain Shop' }));
    const { snapshot, languages } = await readHosted(world.deps, id);
    expect(snapshot.merchant).toEqual({ name: 'Plain Shop', host: 'shop.example', logoPath: null, supportUrl: null });
    expect([snapshot.qrMode, languages]).toEqual(['SAFE', [null, null]]);
  });

  it('shows an address once it is watched, and not before', async () => {
    const { id, offers } = await aHosted({ isSandbox: false });
    await selectHostedOffer(world.deps, { paymentId: id, offerId: offers[0]?.id ?? '' });
    const addresses = async () => (await read(id)).payment.offers.map((offer) => 'depositAddress' in offer);
    expect((await addresses()).includes(true)).toBe(false);
    await world.acknowledge();
    expect((await addresses())[0]).toBe(true);
  });

  it('never ends after the last moment that dates can name', async () => {
    const { id } = await aHosted({ timeoutSeconds: Number.MAX_SAFE_INTEGER });
    const { payment, graceEndsAt } = await read(id);
    expect([payment.expiresAt, graceEndsAt]).toEqual(['9999-12-31T23:59:59.000Z', '9999-12-31T23:59:59.000Z']);
  });

  it('is refused for a payment in API mode, and unknown for what is none', async () => {
    const inApiMode = await aHosted({ checkoutMode: 'API', callbackUrl: null, webhookUrl: 'http://127.0.0.1:8099/hook' });
    await expect(read(inApiMode.id)).rejects.toMatchObject({ code: 'forbidden' });
    for (const id of [randomUUID(), 'x', '']) await expect(read(id)).rejects.toMatchObject({ code: 'not_found' });
  });
});

it('pages that ask at once share reads, and leave half of the transactions to those who pay', async () => {
  const payments = await Promise.all(Array.from({ length: 15 }, () => aHosted()));
  let [reads, running, most] = [0, 0, 0];
  const snapshot: typeof world.deps.db.snapshot = async (work) => {
    [reads, running] = [reads + 1, running + 1];
    most = Math.max(most, running);
    return world.deps.db.snapshot(work).finally(() => {
      running -= 1;
    });
  };
  const deps = { ...world.deps, db: { ...world.deps.db, snapshot } };
  const hosted = openHostedCheckout(deps);
  const pages = payments.flatMap(({ id }) => Array.from({ length: 20 }, () => hosted.read(deps, id)));
  expect(new Set((await Promise.all(pages)).map(({ snapshot }) => snapshot.payment.id)).size).toBe(15);
  expect([reads, most]).toEqual([15, 10]);
});

it('a database that says nothing at all is told to the payer while they still wait', async () => {
  const deps = { ...world.deps, db: { ...world.deps.db, snapshot: () => new Promise<never>(() => undefined) } };
  const hosted = openHostedCheckout(deps, { patienceMs: 50 });
  for (let times = 0; times < 2; times++) {
    const pages = Array.from({ length: 15 }, () => hosted.read(deps, randomUUID()));
    expect((await Promise.allSettled(pages)).map((one) => one.status === 'rejected' && one.reason.code)).toEqual(pages.map(() => 'service_unavailable'));
  }
});

describe('the deadline', () => {
  it('expires an overdue payment on the way to being read, so that no page shows it as open', async () => {
    const { id } = await aHosted({ timeoutSeconds: 60 });
    await world.advance(61);
    const snapshot = await read(id);
    expect(gist(snapshot)).toEqual({ status: 'EXPIRED', pending: false, mismatchSide: null, lateCapture: false, otherCoin: null });
    expect(snapshot.returnUrl).toContain('status=EXPIRED');
    expect(Date.parse(snapshot.graceEndsAt)).toBeGreaterThan(Date.parse(snapshot.serverTime));
  });

  it('leaves one open that coins are on their way to, and says that they were in time', async () => {
    const { id } = await aHosted({ timeoutSeconds: 60 });
    await play(id, { scenario: 'seen_then_confirmed' });
    await world.advance(61);
    const { payment, pendingDeposit } = await read(id);
    expect([payment.status, pendingDeposit?.inTime]).toEqual(['PENDING', true]);
  });
});

describe('the snapshot after each way to pay', () => {
  it.each<[Simulation['scenario'], Partial<CreatePaymentBody>, ReturnType<typeof gist>]>([
    ['success', {}, { status: 'SUCCESS', pending: false, mismatchSide: null, lateCapture: false, otherCoin: false }],
    ['acceptable', { underAcceptableDiff: '2' }, { status: 'ACCEPTABLE', pending: false, mismatchSide: null, lateCapture: false, otherCoin: false }],
    ['underpaid', {}, { status: 'MISMATCH', pending: false, mismatchSide: 'UNDER', lateCapture: false, otherCoin: false }],
    ['overpaid', {}, { status: 'MISMATCH', pending: false, mismatchSide: 'OVER', lateCapture: false, otherCoin: false }],
    ['wrong_asset', {}, { status: 'SUCCESS', pending: false, mismatchSide: null, lateCapture: false, otherCoin: true }],
    ['seen_then_confirmed', {}, { status: 'PENDING', pending: true, mismatchSide: null, lateCapture: false, otherCoin: null }],
    ['late_capture', {}, { status: 'SUCCESS', pending: false, mismatchSide: null, lateCapture: true, otherCoin: false }],
    ['expired', {}, { status: 'EXPIRED', pending: false, mismatchSide: null, lateCapture: false, otherCoin: null }],
  ])('%s', async (scenario, body, expected) => {
    const { id, offers } = await aHosted(body);
    const stable = offers.find((offer) => offer.assetSymbol === 'USDT');
    await selectHostedOffer(world.deps, { paymentId: id, offerId: stable?.id ?? '' });
    const snapshot = await play(id, { scenario });
    expect(gist(snapshot)).toEqual(expected);
    if (snapshot.paid === null) return;
    expect(snapshot.paid).toMatchObject({ network: 'ethereum', requested: { amount: stable?.totalValue, assetSymbol: 'USDT', network: 'ethereum' } });
    expect(snapshot.paid.amount).toBe(snapshot.payment.receivedAmount);
    expect(snapshot.paid.assetSymbol).toBe(snapshot.payment.paidAssetSymbol);
    expect(new URL(snapshot.returnUrl).searchParams.get('status')).toBe(expected.status);
  });
});

describe('coins on a chain', () => {
  let books: Books;
  let held: HeldBooks;
  beforeAll(async () => {
    books = await someBooks();
    held = await heldBooks(books);
  });
  afterAll(() => books.drop());

  const hosted = async (payment: TestPayment): Promise<TestPayment> => {
    await books.db.sql`update payments set checkout_mode = 'HOSTED', callback_url = 'https://shop.example/' where id = ${payment.id}`;
    return payment;
  };
  /** Has coins arrive and resolve the payment. */
  const pay = async (payment: TestPayment, asset: BooksAsset, units: bigint): Promise<void> => {
    await books.chain.mine([books.chain.transfer(payment.address, asset, units)]);
    await books.chain.mine();
    await creditFinalDeposits(books.deps, books.network.id);
  };
  const look = async (payment: TestPayment): Promise<Snapshot> => (await readHosted(held.deps, payment.id)).snapshot;

  it('count their confirmations, from the moment they wait to be mined', async () => {
    const payment = await hosted(await books.aPayment());
    const txid = `0x${'ab'.repeat(32)}`;
    const transfer = {
      kind: 'token' as const,
      txid,
      ordinal: 0,
      sender: STRANGER,
      recipient: payment.address,
      contract: books.assets.USDT.contract,
      rawAmount: '100000000',
    };
    const now = Date.now();
    await applyMempool(held.deps, books.network, {
      network: books.network.name,
      epoch: 1,
      seq: 1,
      takenAt: now,
      transactions: [{ txid, firstSeenAt: now, spends: [], transfers: [transfer] }],
    });
    const waiting = {
      assetSymbol: 'USDT',
      network: 'ethereum',
      amount: '100',
      required: 2,
      txHash: txid,
      explorerTxUrl: `http://localhost/${txid}`,
      inTime: true,
    };
    expect((await look(payment)).pendingDeposit).toEqual({ ...waiting, confirmations: 0 });
    await books.chain.mine([books.chain.transfer(payment.address, books.assets.USDT, 100_000_000n, { txid })]);
    expect((await look(payment)).pendingDeposit).toEqual({ ...waiting, confirmations: 1 });
  });

  it('that are dust are no payment that was found', async () => {
    const payment = await hosted(await books.aPayment());
    await books.chain.mine([books.chain.transfer(payment.address, books.assets.USDT, 9_999n)]);
    expect((await look(payment)).pendingDeposit).toBeNull();
    await books.chain.mine([books.chain.transfer(payment.address, books.assets.USDT, 100_000_000n)]);
    expect((await look(payment)).pendingDeposit?.amount).toBe('100');
  });

  it('that come after the deadline are shown until the grace period is over', async () => {
    const within = await hosted(await books.aPayment({ expiresIn: -60, status: 'EXPIRED' }));
    const beyond = await hosted(await books.aPayment({ expiresIn: -60, graceSeconds: 10, status: 'EXPIRED' }));
    await books.chain.mine([within, beyond].map((one) => books.chain.transfer(one.address, books.assets.USDT, 100_000_000n)));
    expect((await look(within)).pendingDeposit).toMatchObject({ amount: '100', inTime: false });
    expect((await look(beyond)).pendingDeposit).toBeNull();
  });

  it('differ by less than a cent on the side on which the coins do', async () => {
    for (const [units, side] of [
      [39n * 10n ** 16n, 'UNDER'],
      [41n * 10n ** 16n, 'OVER'],
    ] as const) {
      const payment = await hosted(await books.aPayment({ assetId: books.assets.ETH.id, total: '0.4', priceUsd: '0.01' }));
      await pay(payment, books.assets.ETH, units);
      const { payment: shown, mismatchSide } = await look(payment);
      expect([shown.status, mismatchSide]).toEqual(['MISMATCH', side]);
    }
  });

  it('of an open amount are less than the minimum, and than nothing that was requested', async () => {
    const payment = await hosted(await books.aPayment({ openAmountFrom: '10' }));
    await pay(payment, books.assets.USDT, 5_000_000n);
    const snapshot = await look(payment);
    expect(gist(snapshot)).toEqual({ status: 'MISMATCH', pending: false, mismatchSide: 'UNDER', lateCapture: false, otherCoin: false });
    expect(snapshot.paid).toMatchObject({ amount: '5', requested: null });
  });

  it('that screening holds back look like any others (ux 0.6)', async () => {
    const [clean, flagged] = [await hosted(await held.aPayment()), await hosted(await held.aPayment())];
    await held.earn(clean, '100', 0);
    await held.earn(flagged, '100', 99);
    expect([await held.amlState(clean), await held.amlState(flagged)]).toEqual([null, 'HELD']);
    const shown = [await look(clean), await look(flagged)];
    expect(shown.map(gist)).toEqual(Array(2).fill({ status: 'SUCCESS', pending: false, mismatchSide: null, lateCapture: false, otherCoin: false }));
    const fields = (value: unknown): string[] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([name, one]) => [name, ...fields(one).map((inner) => `${name}.${inner}`)])
        : [];
    expect(fields(shown[1])).toEqual(fields(shown[0]));
    expect(JSON.stringify(shown)).not.toMatch(/aml|held|screen|risk|quarantin/i);
  });
});
