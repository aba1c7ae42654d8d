import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Merchant } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import type { TestChain } from '#test/harness/chain.ts';
import type { Deployable, RunningApi } from '#test/harness/deployables.ts';
import { anotherEvm, demoNetwork } from '#test/harness/networks.ts';
import { aPayment, aWorld, type World } from '#test/harness/world.ts';

/** Blocks a deposit waits for on both networks, so that a reorganisation of two stays above finality. */
const FINAL_AFTER = 3;
const RIGHT = 'ethereum';
const WRONG = 'bsc';

/** BNB Smart Chain as a deployment has it beside Ethereum: the same keys, its own coin, tokens of its own standard. */
function bscBeside(demo: NetworkConfig): NetworkConfig {
  const beside = anotherEvm(demo, WRONG, '56');
  const assets = beside.assets.map((asset) => (asset.type === 'NATIVE' ? { ...asset, symbol: 'BNB', name: 'BNB' } : { ...asset, type: 'BEP20' as const }));
  return { ...beside, nativeSymbol: 'BNB', assets };
}

interface Opened {
  id: string;
  address: string;
  rawAmount: bigint;
}

describe('two EVM networks side by side', () => {
  let world: World;
  let api: RunningApi;
  let shop: Merchant;
  let indexers: Map<string, Deployable>;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    const demo = await demoNetwork();
    world = await aWorld({
      networks: [demo, bscBeside(demo)],
      blockSeconds: 0,
      configure: (network) => ({ ...network, finality: { resolve: [{ rule: { blocks: FINAL_AFTER } }], mature: { blocks: FINAL_AFTER } } }),
    });
    [api, receiver] = await Promise.all([world.startApi(), startWebhookReceiver()]);
    const following = async (network: string): Promise<[string, Deployable]> => [network, await world.startIndexer({ network })];
    indexers = new Map(await Promise.all([following(RIGHT), following(WRONG)]));
    await world.setPrices(api, { ETH: '2000', BNB: '600', USDT: '1', USDC: '1' });
    shop = await world.aGateway(api);
  });
  afterAll(async () => {
    await world?.stop();
    await receiver?.stop();
  });

  const on = (network: string): TestChain => world.networks.get(network)?.chain as TestChain;
  const usdt = (network: string): string => on(network).tokens.USDT;

  const followed = async (network: string): Promise<void> => {
    const hash = await on(network).headHash();
    const seen = () => world.database.sql`select 1 from chain_tips t join networks n on n.id = t.network_id where n.name = ${network} and t.hash = ${hash}`;
    await waitFor(async () => (await seen()).length === 1, { what: `${network} to be followed to its head` });
  };
  const mine = async (network: string, blocks = 1): Promise<void> => {
    for (let i = 0; i < blocks; i++) {
      await on(network).mine();
      await followed(network);
    }
  };
  const tip = async (network: string): Promise<Record<string, unknown>> => {
    const [row] = await world.database.sql`select t.height, t.hash, t.epoch from chain_tips t join networks n on n.id = t.network_id where n.name = ${network}`;
    return row as Record<string, unknown>;
  };
  /** The deposits of a payment by network: their states. */
  const deposits = async (payment: Opened): Promise<Record<string, string>> => {
    const rows = await world.database.sql<{ name: string; state: string }[]>`
      select n.name, d.state from deposits d join networks n on n.id = d.network_id where d.payment_id = ${payment.id}`;
    return Object.fromEntries(rows.map((row) => [row.name, row.state]));
  };
  const untilDeposits = (payment: Opened, wanted: Record<string, string>): Promise<unknown> =>
    waitFor(
      async () => {
        const seen = await deposits(payment);
        return Object.entries(wanted).every(([network, state]) => seen[network] === state);
      },
      { what: `deposits to be ${JSON.stringify(wanted)}` },
    );
  const verify = (payment: Opened) => shop.must('POST', `/payments/${payment.id}/verify`);

  /** Creates a payment of 10 USD and selects an asset on a network; every network watches its address then. */
  const open = async (symbol: string, network: string, watchedBy: readonly string[] = [RIGHT, WRONG]): Promise<Opened> => {
    const created = await shop.must('POST', '/payments', { body: aPayment(receiver.url) });
    const { offers } = created.payment as { offers: { id: string; assetSymbol: string; assetNetwork: string }[] };
    const offer = offers.find((one) => one.assetSymbol === symbol && one.assetNetwork === network);
    const pump = setInterval(() => void Promise.all([on(RIGHT).mine(), on(WRONG).mine()]), 200);
    try {
      const selected = await waitFor(
        async () => {
          const answer = await shop.call('POST', `/public/payments/${created.paymentUid}/offers/${offer?.id}/select`);
          return answer.status === 200 && answer.data;
        },
        { what: 'an address' },
      );
      const opened = { id: created.paymentUid as string, address: (selected.depositAddress as string).toLowerCase(), rawAmount: 10_000_000n };
      await watched(opened.address, watchedBy);
      return opened;
    } finally {
      clearInterval(pump);
    }
  };
  const watched = (address: string, by: readonly string[]): Promise<unknown> =>
    waitFor(
      async () => {
        const rows = await world.database.sql<{ name: string }[]>`
          select n.name from watches w join networks n on n.id = w.network_id where w.address = ${address} and w.acked_epoch is not null order by 1`;
        return by.every((network) => rows.some((row) => row.name === network));
      },
      { what: `${by.join(' and ')} to watch the address` },
    );

  it('are followed by a process each', async () => {
    await Promise.all([followed(RIGHT), followed(WRONG)]);
    const [leases] = await world.database.sql<
      { holders: number }[]
    >`select count(distinct holder)::int as holders from indexer_leases where expires_at > now()`;
    expect(leases?.holders).toBe(2);
  });

  it('keep what was paid on the wrong one apart, and still credit what comes on the right one', async () => {
    const payment = await open('USDT', RIGHT);
    await on(WRONG).payAndMine(payment.address, usdt(WRONG), payment.rawAmount);
    await mine(WRONG, FINAL_AFTER);
    await untilDeposits(payment, { [WRONG]: 'unallocated' });
    expect(await verify(payment)).toMatchObject({ status: 'PENDING' });

    await on(RIGHT).payAndMine(payment.address, usdt(RIGHT), payment.rawAmount);
    await mine(RIGHT, FINAL_AFTER);
    await untilDeposits(payment, { [RIGHT]: 'credited', [WRONG]: 'unallocated' });
    expect(await verify(payment)).toMatchObject({ status: 'SUCCESS', network: RIGHT, depositPath: 'standard' });
    await world.audit();
  });

  it('let an operator give what was paid on the wrong one to its payment', async () => {
    const payment = await open('USDT', RIGHT);
    await on(WRONG).payAndMine(payment.address, usdt(WRONG), payment.rawAmount);
    await mine(WRONG, FINAL_AFTER);
    await untilDeposits(payment, { [WRONG]: 'unallocated' });
    const operator = world.operator(api);
    const { items } = (await operator.must('GET', '/deposits?state=unallocated&limit=100')) as { items: { id: string; paymentId: string | null }[] };
    const [row] = await world.database.sql<{ id: string }[]>`select id from deposits where payment_id = ${payment.id}`;
    expect(items.map((one) => one.id)).toContain(row?.id);
    await operator.must('POST', `/deposits/${row?.id}/allocate`, { body: { paymentId: payment.id, reason: 'the payer chose the wrong network' } });
    expect(await verify(payment)).toMatchObject({ status: 'SUCCESS', network: WRONG, depositPath: 'manual_inquiry' });
    await world.audit();
  });

  it('do not mind each other’s reorganisations', async () => {
    const [here, there] = [await open('USDT', RIGHT), await open('USDT', WRONG)];
    await on(RIGHT).mine(FINAL_AFTER);
    await on(RIGHT).payAndMine(here.address, usdt(RIGHT), here.rawAmount);
    await on(WRONG).payAndMine(there.address, usdt(WRONG), there.rawAmount);
    await Promise.all([followed(RIGHT), followed(WRONG)]);
    await untilDeposits(here, { [RIGHT]: 'seen' });
    await untilDeposits(there, { [WRONG]: 'seen' });
    const before = await tip(WRONG);

    await on(RIGHT).reorg(1);
    await mine(RIGHT);
    await untilDeposits(here, { [RIGHT]: 'dropped' });
    expect(await deposits(there)).toEqual({ [WRONG]: 'seen' });
    expect(await tip(WRONG)).toEqual(before);

    await Promise.all([mine(RIGHT, FINAL_AFTER), mine(WRONG, FINAL_AFTER)]);
    await untilDeposits(there, { [WRONG]: 'credited' });
    expect(await verify(there)).toMatchObject({ status: 'SUCCESS', network: WRONG });
    expect(await verify(here)).toMatchObject({ status: 'PENDING' });
    await world.audit();
  });

  it('keep one transaction id apart that is on both, as one replayed without a chain id is', async () => {
    const payment = await open('ETH', RIGHT);
    const payer = privateKeyToAccount(`0x${'5e'.repeat(32)}`);
    const value = 5_000_000_000_000_000n;
    for (const network of [RIGHT, WRONG]) await on(network).payAndMine(payer.address.toLowerCase(), null, 10n * value);
    const raw = await payer.signTransaction({ type: 'legacy', nonce: 0, gas: 21_000n, gasPrice: 10_000_000_000n, to: payment.address as `0x${string}`, value });
    const txids = await Promise.all([RIGHT, WRONG].map((network) => on(network).node.call<string>('eth_sendRawTransaction', [raw])));
    expect(new Set(txids).size).toBe(1);
    await Promise.all([mine(RIGHT, FINAL_AFTER), mine(WRONG, FINAL_AFTER)]);
    await untilDeposits(payment, { [RIGHT]: 'credited', [WRONG]: 'unallocated' });
    expect(await verify(payment)).toMatchObject({ status: 'SUCCESS', network: RIGHT, txHash: txids[0] });
    expect(await world.database.sql`select 1 from credits where payment_id = ${payment.id}`).toHaveLength(1);
    await world.audit();
  });

  it('go on by themselves: one is credited while nobody follows the other, which catches up', async () => {
    await indexers.get(WRONG)?.kill();
    const payment = await open('USDT', RIGHT, [RIGHT]);
    await on(WRONG).payAndMine(payment.address, usdt(WRONG), payment.rawAmount);
    await on(RIGHT).payAndMine(payment.address, usdt(RIGHT), payment.rawAmount);
    await mine(RIGHT, FINAL_AFTER);
    await untilDeposits(payment, { [RIGHT]: 'credited' });
    expect(await verify(payment)).toMatchObject({ status: 'SUCCESS', network: RIGHT });

    indexers.set(WRONG, await world.startIndexer({ network: WRONG }));
    await mine(WRONG, FINAL_AFTER);
    // Its address was given out and paid while nobody looked.
    await untilDeposits(payment, { [WRONG]: 'unallocated' });
    await world.audit();
  });
});
