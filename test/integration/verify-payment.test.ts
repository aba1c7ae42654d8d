import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { type CreatePaymentBody, createPayment } from '#api/payments/create.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { expireDuePayments } from '#api/payments/expire.ts';
import { selectOffer } from '#api/payments/select-offer.ts';
import { verifyPayment } from '#api/payments/verify.ts';
import { publicPayment, statusOnly } from '#api/payments/view.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

let world: InProcess;
let shop: Gateway;
let height = 10;
const clientIp = '127.0.0.1';

beforeAll(async () => {
  world = await inProcess();
  shop = await world.aGateway({ settings: { commissionBps: 100, txFeePayer: 'CUSTOMER', underAcceptableDiff: '1', overAcceptableDiff: '1' } });
});
afterAll(() => world.stop());

interface PaymentJson {
  id: string;
  expiresAt: string;
  offers: Record<string, string>[];
}
type Json = Record<string, unknown>;

async function aPayment(body: Partial<CreatePaymentBody> = {}): Promise<PaymentJson> {
  const api: CreatePaymentBody = { currencyCode: 'EUR', amount: '100.00', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:4242/webhook', ...body };
  const reply = await createPayment(world.deps, { gateway: shop, body: api, clientIp, commit: plainCommit(world.deps) });
  return (reply.data as { payment: PaymentJson }).payment;
}
const offerIn = (payment: PaymentJson, symbol: string) => payment.offers.find((offer) => offer.assetSymbol === symbol) as Record<string, string>;

async function select(payment: PaymentJson, symbol: string): Promise<void> {
  const acknowledging = setInterval(() => void world.acknowledge().catch(() => undefined), 20);
  await selectOffer(world.deps, { paymentId: payment.id, offerId: offerIn(payment, symbol).id as string, clientIp });
  clearInterval(acknowledging);
}

/** What the consumer writes when a transfer is seen in a block; `final` mines two blocks on top and books it. */
async function receive(payment: PaymentJson, symbol: string, amount: string, options: { final: boolean }): Promise<string> {
  height += 10;
  const txid = `0x${height.toString(16).padStart(64, '0')}`;
  const asset = world.assets[symbol];
  await world.database.sql`
    insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, recipient, contract, raw_amount)
    select d.network_id, ${asset?.type === 'NATIVE' ? 'native' : 'token'}, ${txid}, 0, ${height}, ${`0xb${height}`}, 0, sluice_now(), '0xpayer', d.address, ${asset?.contract ?? null},
      trunc(${amount}::text::numeric * 10::numeric ^ ${asset?.decimals ?? 0}::int)
    from deposit_addresses d where d.payment_id = ${payment.id}`;
  await world.database.sql`
    insert into deposits (id, network_id, txid, kind, ordinal, address_id, payment_id, asset_id, sender, raw_amount, amount, height, block_hash, position, block_time, first_seen_at, state)
    select gen_random_uuid(), network_id, ${txid}, ${asset?.type === 'NATIVE' ? 'native' : 'token'}, 0, id, payment_id, ${asset?.id as string}, '0xpayer',
      trunc(${amount}::text::numeric * 10::numeric ^ ${asset?.decimals ?? 0}::int), ${amount}::text::numeric, ${height}, ${`0xb${height}`}, 0, sluice_now(), sluice_now(), 'seen'
    from deposit_addresses where payment_id = ${payment.id}`;
  await tipAt(options.final ? height + 1 : height);
  if (options.final) await creditFinalDeposits(world.deps, world.network.id);
  return txid;
}

async function tipAt(at: number): Promise<void> {
  await world.database.sql`
    insert into chain_tips (network_id, height, hash, block_time, safe_height, final_height, head_height, epoch, seq)
    values (${world.network.id}, ${at}, '0x', sluice_now(), ${at - 1}, ${at - 1}, ${at}, 1, 1)
    on conflict (network_id) do update set height = excluded.height, safe_height = excluded.safe_height, final_height = excluded.final_height, head_height = excluded.head_height`;
}

const verify = async (payment: PaymentJson): Promise<Json> => (await verifyPayment(world.deps, { gateway: shop, paymentId: payment.id })) as Json;
const RECEIVED = [
  'network',
  'receivedAssetId',
  'receivedAssetSymbol',
  'receivedAmount',
  'receivedAmountUsd',
  'deviationUsd',
  'depositPath',
  'txHash',
  'explorerTxUrl',
  'confirmedAt',
  'txFee',
  'commissionFee',
  'txFeePayer',
  'commissionFeePayer',
  'amlState',
];

describe('verify of a payment that has not resolved', () => {
  it('before a select: PENDING, no quote, nothing received, never verified however often it is called', async () => {
    const payment = await aPayment();
    for (let call = 0; call < 3; call++) {
      expect(await verify(payment)).toEqual({
        paymentUid: payment.id,
        status: 'PENDING',
        amount: '100.00',
        amountUsd: '108.00',
        currencyCode: 'EUR',
        isVerified: false,
        verifiedAt: null,
        callbackParams: null,
        webhookParams: null,
        deposits: [],
      });
    }
    expect(await statusOnly(world.deps, { paymentId: payment.id, clientIp })).toMatchObject({ isVerified: false, verifiedAt: null });
  });

  it('after a select: the last selected offer is what is expected', async () => {
    const payment = await aPayment();
    await select(payment, 'ETH');
    await select(payment, 'USDT');
    const answer = await verify(payment);
    expect(answer).toMatchObject({ status: 'PENDING', expectedAmount: '108.5', assetSymbol: 'USDT', isVerified: false });
    for (const field of RECEIVED) expect(answer).not.toHaveProperty(field);
  });

  it('with a deposit on its way: it is listed with its confirmations, and nothing is decided', async () => {
    const payment = await aPayment();
    await select(payment, 'USDT');
    const txHash = await receive(payment, 'USDT', '108.5', { final: false });
    const answer = await verify(payment);
    for (const field of RECEIVED) expect(answer).not.toHaveProperty(field);
    expect(answer.deposits).toEqual([
      {
        asset: 'USDT',
        assetId: world.assets.USDT?.id,
        network: 'ethereum',
        amount: '108.5',
        txHash,
        state: 'seen',
        confirmations: 1,
        depositPath: null,
        creditedAt: null,
      },
    ]);
  });
});

describe('verify of a resting payment', () => {
  it('SUCCESS: every figure, and verified once', async () => {
    const payment = await aPayment();
    await select(payment, 'USDT');
    const txHash = await receive(payment, 'USDT', '108.5', { final: true });
    const first = await verify(payment);
    expect(first).toEqual({
      paymentUid: payment.id,
      status: 'SUCCESS',
      amount: '100.00',
      amountUsd: '108.00',
      currencyCode: 'EUR',
      isVerified: true,
      verifiedAt: expect.stringMatching(/Z$/),
      expectedAmount: '108.5',
      assetSymbol: 'USDT',
      network: 'ethereum',
      receivedAssetId: world.assets.USDT?.id,
      receivedAssetSymbol: 'USDT',
      receivedAmount: '108.5',
      receivedAmountUsd: '108.50',
      deviationUsd: '0.00',
      depositPath: 'standard',
      txHash,
      explorerTxUrl: expect.stringContaining(txHash),
      confirmedAt: expect.stringMatching(/Z$/),
      txFee: '0.5',
      commissionFee: '1.085',
      txFeePayer: 'CUSTOMER',
      commissionFeePayer: 'MERCHANT',
      callbackParams: null,
      webhookParams: null,
      deposits: [
        {
          asset: 'USDT',
          assetId: world.assets.USDT?.id,
          network: 'ethereum',
          amount: '108.5',
          txHash,
          state: 'credited',
          confirmations: 2,
          depositPath: 'standard',
          creditedAt: expect.stringMatching(/Z$/),
        },
      ],
    });
    await world.advance(5);
    expect(await verify(payment)).toEqual(first);
    expect(await statusOnly(world.deps, { paymentId: payment.id, clientIp })).toEqual({
      paymentUid: payment.id,
      status: 'SUCCESS',
      isVerified: true,
      verifiedAt: first.verifiedAt,
    });
    expect(await publicPayment(world.deps, { paymentId: payment.id, clientIp })).toMatchObject({
      status: 'SUCCESS',
      paidAssetId: world.assets.USDT?.id,
      paidAssetSymbol: 'USDT',
      txHash,
      receivedAmount: '108.5',
      explorerTxUrl: expect.stringContaining(txHash),
    });
  });

  it('reading the status never verifies', async () => {
    const payment = await aPayment();
    await select(payment, 'USDT');
    await receive(payment, 'USDT', '107.5', { final: true });
    for (let call = 0; call < 3; call++)
      expect(await statusOnly(world.deps, { paymentId: payment.id, clientIp })).toMatchObject({ status: 'ACCEPTABLE', isVerified: false });
    expect(await verify(payment)).toMatchObject({ status: 'ACCEPTABLE', deviationUsd: '-1.00', isVerified: true });
  });

  it('a wrong asset: quoted in one, received in another', async () => {
    const payment = await aPayment();
    await select(payment, 'USDT');
    await receive(payment, 'ETH', '0.01', { final: true });
    const answer = await verify(payment);
    expect(answer).toMatchObject({
      status: 'MISMATCH',
      assetSymbol: 'USDT',
      expectedAmount: '108.5',
      receivedAssetSymbol: 'ETH',
      receivedAmount: '0.01',
      receivedAmountUsd: '25.00',
      deviationUsd: '-83.50',
    });
    expect(await publicPayment(world.deps, { paymentId: payment.id, clientIp })).toMatchObject({ paidAssetSymbol: 'ETH' });
  });

  it('EXPIRED, then a late capture: verified both times it rests, with the new figures', async () => {
    const payment = await aPayment({ timeoutSeconds: 60 });
    await select(payment, 'USDC');
    await world.advance(60 + 901);
    expect(await expireDuePayments(world.deps)).toBe(1);
    const expired = await verify(payment);
    expect(expired).toMatchObject({ status: 'EXPIRED', isVerified: true, expectedAmount: '108.5', assetSymbol: 'USDC', deposits: [] });
    for (const field of RECEIVED) expect(expired).not.toHaveProperty(field);
    await receive(payment, 'USDC', '108.5', { final: true });
    expect(await verify(payment)).toMatchObject({ status: 'SUCCESS', depositPath: 'late_capture', verifiedAt: expired.verifiedAt });
    expect(await world.database.sql`select status from webhook_events where payment_id = ${payment.id} order by seq`).toEqual([
      { status: 'EXPIRED' },
      { status: 'SUCCESS' },
    ]);
  });

  it('a second deposit is listed and credited but changes nothing', async () => {
    const payment = await aPayment();
    await select(payment, 'USDT');
    const txHash = await receive(payment, 'USDT', '108.5', { final: true });
    await receive(payment, 'USDT', '50', { final: true });
    const answer = await verify(payment);
    expect(answer).toMatchObject({ status: 'SUCCESS', txHash, receivedAmount: '108.5' });
    expect((answer.deposits as Json[]).map((deposit) => deposit.amount)).toEqual(['108.5', '50']);
    expect(await world.database.sql`select count(*) as n from webhook_events where payment_id = ${payment.id}`).toEqual([{ n: 1 }]);
  });
});

it("another gateway's payment, an unknown one and a malformed id are the same 404", async () => {
  const payment = await aPayment();
  const stranger = await world.aGateway();
  const missing = { code: 'not_found', message: 'Not found.' };
  for (const paymentId of [payment.id, '00000000-0000-4000-8000-000000000000', 'nope']) {
    await expect(verifyPayment(world.deps, { gateway: stranger, paymentId })).rejects.toMatchObject(missing);
  }
});
