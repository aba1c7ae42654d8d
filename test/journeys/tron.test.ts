import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, newKey } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { demoNetwork } from '#test/harness/networks.ts';
import { expectGenuineWebhook } from './genuine-webhook.ts';
import { aScene, expectWebhooks, type Scene } from './scene.ts';

/** Nobody was ever paid there: 20 bytes that are no key's. */
const NEVER_SEEN = 'T9yD14Nj9j7xAB4dbGeiX9h8upVQ9mvNBo';
const UNKNOWN = 'ab'.repeat(32);

describe('TRON, from the payer to the merchant’s own wallet', () => {
  let scene: Scene;
  beforeAll(async () => {
    // Whoever asks before a transaction is in a block has used an attempt, and how often that happens is the machine's to say.
    scene = await aScene({ networks: [await demoNetwork('tron')], gateway: { settings: { inquiryAttempts: 100 } } });
  });
  afterAll(() => scene?.stop());

  const sql = () => scene.world.database.sql;
  const pay = (symbol: string, to: { address: string; rawAmount: bigint }) => scene.chainOf(symbol).pay(to.address, scene.contract(symbol), to.rawAmount);
  /** What was paid for one settlement, in the order it was planned. */
  const payoutsOf = (id: unknown) =>
    sql()<
      { purpose: string; status: string; symbol: string; fee: bigint }[]
    >`select purpose, payouts.status, symbol, raw_fee::text::bigint as fee from payouts join assets on assets.id = asset_id where settlement_id = ${String(id)} order by payouts.created_at`;
  const feeOf = async (symbol: string, address: string): Promise<bigint> => {
    const body = { assetId: await scene.assetId(symbol), amount: '50', address };
    const { data, text, success } = await scene.shop.signed('POST', '/merchant/settlements/estimate-fee', { body });
    if (!success) throw new Error(text);
    return scene.raw(symbol, data.feeLocked as string);
  };

  it('credits USDT, sweeps it with coins of the funding wallet, pays it out, and the books hold what the chain does', async () => {
    const payment = await scene.open('USDT', { amount: '25.50' });
    expect(payment.address).toMatch(/^T[1-9A-HJ-NP-Za-km-z]{33}$/);
    const txid = await pay('USDT', payment);
    expect(await scene.resting(payment.id)).toMatchObject({
      status: 'SUCCESS',
      receivedAmount: '25.5',
      receivedAssetSymbol: 'USDT',
      network: 'tron',
      depositPath: 'standard',
      txHash: txid,
    });
    await expectWebhooks(scene, payment.id, ['SUCCESS']);
    await expectGenuineWebhook(scene, payment.id, 'SUCCESS');

    await scene.balance('USDT', '20');
    const created = await scene.cashout('USDT', '20');
    expect(created).toMatchObject({ status: 'REQUESTED', amount: '20', network: 'tron' });
    const settled = await scene.settled(created.id as string);
    expect(settled.receivedAmount).toBe(settled.netAmount);
    expect(settled.blockchainUrl).toContain(settled.txHash);
    expect(await scene.held('USDT', scene.chainOf('USDT').outsider)).toBe(scene.raw('USDT', settled.netAmount as string));
    expect(await scene.held('USDT', payment.address)).toBe(0n);

    const payouts = await payoutsOf(created.id);
    expect(payouts.map(({ purpose, symbol, status }) => `${purpose} ${symbol} ${status}`)).toEqual(
      expect.arrayContaining(['top_up TRX CONFIRMED', 'sweep USDT CONFIRMED', 'settlement USDT CONFIRMED']),
    );
    // The top-up makes the deposit address an account (1.1 TRX); a token transfer burns energy, here at 100 sun each.
    for (const { purpose, fee } of payouts) expect(BigInt(fee), purpose).toBeGreaterThanOrEqual(purpose === 'top_up' ? 1_100_000n : 6_000_000n);
    await assertBooksMatchChain(scene.world);
  });

  it('does the same with TRX, for which it needs no other coin', async () => {
    const payment = await scene.open('TRX', { amount: '30' });
    expect(payment.totalValue).toBe('100');
    await pay('TRX', payment);
    expect(await scene.resting(payment.id)).toMatchObject({ status: 'SUCCESS', receivedAmount: '100', receivedAssetSymbol: 'TRX' });
    await expectWebhooks(scene, payment.id, ['SUCCESS']);
    const { outsider } = scene.chainOf('TRX');
    const before = await scene.held('TRX', outsider);
    await scene.balance('TRX', '40');
    const settled = await scene.settled((await scene.cashout('TRX', '40')).id as string);
    expect((await scene.held('TRX', outsider)) - before).toBe(scene.raw('TRX', settled.netAmount as string));
    await assertBooksMatchChain(scene.world);
  });

  it('quotes what the destination makes of it: an account that is new, or holds no USDT yet, costs more', async () => {
    const { outsider } = scene.chainOf('TRX');
    // 1 TRX for the account and 0.1 for making it (chains 3.5), which stands in for the price of the bytes, about 0.27.
    expect((await feeOf('TRX', NEVER_SEEN)) - (await feeOf('TRX', outsider))).toBeGreaterThan(800_000n);
    expect(await feeOf('USDT', NEVER_SEEN)).toBeGreaterThan(await feeOf('USDT', outsider));
  });

  it('refuses a cashout to anything but a base58check address', async () => {
    const assetId = await scene.assetId('USDT');
    for (const address of ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', `41${'0'.repeat(36)}cafe`, `${NEVER_SEEN.slice(0, -1)}p`, scene.contract('USDT')]) {
      const answer = await scene.shop.signed('POST', '/merchant/settlements', { idempotencyKey: newKey(), body: { assetId, amount: '1', address } });
      expect([answer.status, answer.error?.code, answer.error?.message.split(':')[0]], String(address)).toEqual([422, 'validation_error', 'address']);
    }
  });

  it('answers inquiries about TRON transactions, named with or without the network', async () => {
    const payment = await scene.open('USDT', { amount: '10' });
    const inquire = async (txHash: string, network?: string) =>
      (await scene.shop.call('POST', `/payments/${payment.id}/inquiry`, { body: { txHash, ...(network === undefined ? {} : { network }) } })).data;
    expect(await inquire(UNKNOWN, 'tron')).toMatchObject({ resultCode: 'tx_not_found', attemptsUsed: 1 });
    const elsewhere = await scene.chainOf('USDT').pay(NEVER_SEEN, scene.contract('USDT'), 1_000_000n);
    await waitFor(async () => (await inquire(elsewhere, 'tron')).resultCode === 'wrong_recipient', {
      what: 'the verdict on a stranger’s transfer',
      everyMs: 1_000,
    });
    const txid = await pay('USDT', payment);
    await scene.resting(payment.id);
    expect(await inquire(txid.toUpperCase())).toMatchObject({ resultCode: 'already_credited', txHash: txid, network: 'tron' });
    expect((await scene.shop.call('POST', `/payments/${payment.id}/inquiry`, { body: { txHash: `0x${txid}`, network: 'tron' } })).status).toBe(422);
  });

  it('assigns an address to the payer of a hosted payment', async () => {
    const body = { currencyCode: 'USD', amount: '12', callbackUrl: 'https://shop.example.com/back', webhookUrl: scene.receiver.url };
    const { paymentUid, paymentUrl } = await scene.shop.must('POST', '/payments', { body });
    const { offers } = (await call(`${scene.api.baseUrl}/public/payments/${paymentUid}`, 'GET')).data as { offers: { id: string; assetSymbol: string }[] };
    const offer = offers.find((one) => one.assetSymbol === 'TRX') ?? expect.fail('no offer in TRX');
    expect(offer).toMatchObject({ assetNetwork: 'tron', assetType: 'NATIVE', contractAddress: null, totalValue: '40' });
    const { depositAddress } = await waitFor(
      async () => {
        const answer = await call(`${paymentUrl}/select`, 'POST', { body: { offerId: offer.id } });
        return answer.status === 200 && answer.data;
      },
      { what: 'the address', timeoutMs: 60_000 },
    );
    await pay('TRX', { address: depositAddress as string, rawAmount: scene.raw('TRX', '40') });
    expect(await scene.resting(paymentUid as string)).toMatchObject({ status: 'SUCCESS', receivedAmount: '40' });
  });

  it('loses and doubles nothing when the indexer is killed and Redis is emptied while payments are under way', async () => {
    const symbols = ['USDT', 'TRX', 'USDT', 'TRX'];
    const payments = await Promise.all(symbols.map((symbol, index) => scene.open(symbol, { amount: String(10 + 3 * index) })));
    const havoc = (async () => {
      for (let round = 0; round < 3; round++) {
        await scene.world.redis.flush();
        await scene.restart('indexer');
        await scene.world.redis.flush();
      }
    })();
    const paid = (async () => {
      for (const [index, payment] of payments.entries()) await pay(symbols[index] as string, payment);
    })();
    await Promise.all([havoc, paid]);
    for (const payment of payments) {
      expect(await scene.resting(payment.id)).toMatchObject({ status: 'SUCCESS' });
      await expectWebhooks(scene, payment.id, ['SUCCESS']);
      expect(await sql()`select 1 from credits where payment_id = ${payment.id}`).toHaveLength(1);
    }
    await assertBooksMatchChain(scene.world);
  });
});
