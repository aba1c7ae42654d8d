import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, type Merchant } from '#ops/dev/client.ts';
import type { RunningApi } from '#test/harness/deployables.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { aPayment, aWorld, type World } from '#test/harness/world.ts';

let world: World;
let api: RunningApi;
let merchant: Merchant;

beforeAll(async () => {
  world = await aWorld({ blockSeconds: 1 });
  [api] = await Promise.all([world.startApi(), world.startIndexer()]);
  merchant = await world.aGateway(api);
});
afterAll(() => world?.stop());

interface Created {
  paymentUid: string;
  payment: { offers: { id: string; assetSymbol: string }[] };
}

/** A payment of 10 USDT with an address shown to its payer. */
async function selected(): Promise<{ id: string; address: string }> {
  const { paymentUid: id, payment } = (await merchant.must('POST', '/payments', { body: aPayment('http://127.0.0.1:9999/hook') })) as unknown as Created;
  const offer = payment.offers.find((one) => one.assetSymbol === 'USDT')?.id as string;
  const address = await waitFor(
    async () => (await call(`${api.baseUrl}/public/payments/${id}/offers/${offer}/select`, 'POST')).data.depositAddress as string | undefined,
    { what: 'an address' },
  );
  return { id, address };
}

async function status(id: string): Promise<unknown> {
  return (await call(`${api.baseUrl}/public/payments/${id}?statusOnly=true`, 'GET')).data.status;
}

describe('advancing the clock', () => {
  it('past a deadline expires a payment with an address before it answers, and a late payment still resolves it', async () => {
    const { id, address } = await selected();
    await world.operator(api).must('POST', '/clock/advance', { body: { seconds: 3_700 } });
    expect(await status(id)).toBe('EXPIRED');
    await world.chain.pay(address, world.chain.tokens.USDT, 10_000_000n);
    await waitFor(async () => (await status(id)) === 'SUCCESS', { what: 'the late payment to resolve' });
    expect(await merchant.must('POST', `/payments/${id}/verify`)).toMatchObject({ status: 'SUCCESS', depositPath: 'late_capture' });
  });

  it('never expires a payment that was paid in time', async () => {
    const { id, address } = await selected();
    await world.chain.payAndMine(address, world.chain.tokens.USDT, 10_000_000n);
    await world.operator(api).must('POST', '/clock/advance', { body: { seconds: 3_700 } });
    await waitFor(async () => (await status(id)) !== 'PENDING', { what: 'the payment to resolve' });
    expect(await merchant.must('POST', `/payments/${id}/verify`)).toMatchObject({ status: 'SUCCESS' });
  });

  it('many times at once adds up', async () => {
    const operator = world.operator(api);
    const before = (await operator.must('GET', '/clock')) as { offsetSeconds: number };
    await Promise.all([1, 2, 3, 4].map((seconds) => operator.must('POST', '/clock/advance', { body: { seconds } })));
    expect(await operator.must('GET', '/clock')).toMatchObject({ offsetSeconds: before.offsetSeconds + 10 });
  });
});
