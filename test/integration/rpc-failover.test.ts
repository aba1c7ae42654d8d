import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Merchant } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { type FlawedRpc, startFlawedRpc } from '#test/fixtures/flawed-rpc.ts';
import type { Deployable, RunningApi } from '#test/harness/deployables.ts';
import { aPayment, aWorld, type World } from '#test/harness/world.ts';

describe('a network with two endpoints', () => {
  let world: World;
  let api: RunningApi;
  let indexer: Deployable;
  let shop: Merchant;
  let receiver: WebhookReceiver;
  let first: FlawedRpc;
  let second: FlawedRpc;

  beforeAll(async () => {
    [first, second, receiver] = await Promise.all([startFlawedRpc(), startFlawedRpc(), startWebhookReceiver()]);
    world = await aWorld({
      blockSeconds: 1,
      configure: (network) => {
        first.target = second.target = network.rpcUrls[0] as string;
        return { ...network, rpcUrls: [first.url, second.url], secondOpinionUsd: '50' };
      },
    });
    api = await world.startApi();
    indexer = await world.startIndexer();
    await world.setPrices(api);
    shop = await world.aGateway(api);
  });
  afterAll(async () => {
    await world?.stop();
    await Promise.all([first, second, receiver].map((one) => one?.stop()));
  });
  beforeEach(() => {
    first.flaw = second.flaw = 'none';
  });

  /** Creates a payment, has it paid exactly in USDT or with one coin of ether, and answers its id. */
  const paid = async (amount: string, symbol: 'USDT' | 'ETH' = 'USDT'): Promise<string> => {
    const created = await shop.must('POST', '/payments', { body: aPayment(receiver.url, { amount }) });
    const { offers } = created.payment as { offers: { id: string; assetSymbol: string }[] };
    const offer = offers.find((one) => one.assetSymbol === symbol);
    const selected = await waitFor(
      async () => {
        const answer = await shop.call('POST', `/public/payments/${created.paymentUid}/offers/${offer?.id}/select`);
        return answer.status === 200 && answer.data;
      },
      { what: 'an address', timeoutMs: 60_000 },
    );
    const [contract, units] = symbol === 'ETH' ? [null, 10n ** 18n] : [world.chain.tokens.USDT, BigInt(amount) * 1_000_000n];
    await world.chain.payAndMine(selected.depositAddress as string, contract, units);
    return created.paymentUid as string;
  };
  const statusOf = async (id: string): Promise<unknown> => (await shop.must('POST', `/payments/${id}/verify`)).status;
  const succeeded = (id: string, timeoutMs = 60_000): Promise<unknown> =>
    waitFor(async () => (await statusOf(id)) === 'SUCCESS', { what: 'the payment to succeed', timeoutMs });
  const doubtful = (id: string): Promise<unknown> =>
    waitFor(async () => (await world.database.sql`select 1 from deposits where payment_id = ${id} and doubted_since is not null`).length === 1, {
      what: 'the deposit to wait',
      timeoutMs: 60_000,
    });
  const endpointsSeen = async (): Promise<{ provider: string; state: string }[]> => {
    const { items } = (await world.operator(api).must('GET', '/networks')) as { items: { endpoints: { provider: string; state: string }[] }[] };
    return items[0]?.endpoints ?? [];
  };

  it('credits while both are well, a large deposit by the word of both', async () => {
    await succeeded(await paid('100'));
    expect(await endpointsSeen()).toMatchObject([
      { provider: new URL(first.url).host, state: 'well' },
      { provider: new URL(second.url).host, state: 'well' },
    ]);
    expect(await (await fetch(`${api.opsUrl}/metrics`)).text()).toContain('sluice_second_opinions_total{chain="ethereum",result="agreed"}');
  });

  it('goes on when the preferred one shows no logs', async () => {
    first.flaw = 'without-logs';
    await succeeded(await paid('10'));
    await world.audit();
  });

  it.each(['down', 'busy', 'lagging'] as const)('goes on reading when the preferred one is %s, and credits once two tell of the block', async (flaw) => {
    first.stuckAt = await world.chain.node.height();
    first.flaw = flaw;
    const id = await paid('10');
    await doubtful(id);
    expect(await statusOf(id)).toBe('PENDING');
    first.flaw = 'none';
    await succeeded(id);
    await world.audit();
  });

  it('leaves a large deposit uncredited while nobody confirms its block, and credits it afterwards', async () => {
    const id = await paid('80');
    second.flaw = 'down';
    const large = await paid('90');
    await doubtful(large);
    expect(await statusOf(large)).toBe('PENDING');
    second.flaw = 'none';
    await Promise.all([succeeded(id), succeeded(large)]);
    await world.audit();
  });

  it('believes no amount that one of them made up under a true block', async () => {
    first.flaw = 'inflating';
    const id = await paid('100', 'ETH');
    const seen = await waitFor(async () => (await world.database.sql`select raw_amount from deposits where payment_id = ${id}`)[0], {
      what: 'the deposit to be seen',
      timeoutMs: 60_000,
    });
    expect(seen).toMatchObject({ rawAmount: (10n ** 18n).toString() });
    expect(first.asked).toContain('eth_getBlockByHash');
    first.flaw = 'none';
    await waitFor(async () => (await statusOf(id)) !== 'PENDING', { what: 'the payment to be judged by the word of both', timeoutMs: 60_000 });
  });

  it('follows the one whose headers are proven while the other has a field that nobody knows', async () => {
    first.flaw = 'unknown-field';
    const id = await paid('10');
    await doubtful(id);
    expect(await (await fetch(`${indexer.opsUrl}/metrics`)).text()).not.toMatch(/sluice_indexer_unknown_header_field\{.*\} 1/);
    // What it says of the block is nobody's word, and two must tell of it.
    expect(await statusOf(id)).toBe('PENDING');
    first.flaw = 'none';
    await succeeded(id);
  });

  it('never reads from one that serves another chain, says so where people look, and credits once both serve this one', async () => {
    await Promise.all([indexer.stop(), api.stop()]);
    first.flaw = 'foreign';
    first.asked.length = 0;
    api = await world.startApi({ port: Number(new URL(api.origin).port) });
    indexer = await world.startIndexer({ untilReady: false });
    const id = await paid('10');
    // The block is read from the other one, whose word alone is not enough.
    await doubtful(id);
    const ready = await waitFor(
      async () => {
        const response = await fetch(`${indexer.opsUrl}/readyz`);
        return (await response.text()).includes(`${new URL(first.url).host}: the node serves chain 5`) && response;
      },
      { what: 'readiness to name the endpoint' },
    );
    expect(ready.status).toBe(503);
    expect(indexer.lines.join('\n')).toMatch(/"state":"foreign"/);
    expect(first.asked.filter((method) => method !== 'eth_chainId' && method !== 'eth_getBlockByNumber')).toEqual([]);
    expect(await statusOf(id)).toBe('PENDING');
    first.flaw = 'none';
    // Which chain an endpoint serves is asked once a minute.
    await succeeded(id, 150_000);
  });
});
