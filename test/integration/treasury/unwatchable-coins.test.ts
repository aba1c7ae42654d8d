import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { createPayment } from '#api/payments/create.ts';
import { listGatewayAssets } from '#api/payments/list-assets.ts';
import { selectOffer } from '#api/payments/select-offer.ts';
import { showNetworks } from '#api/operator/networks.ts';
import { watchTraces } from '#api/treasury/watch-traces.ts';
import { aTreasury, type Treasury } from '#test/fixtures/treasury.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import { type LesserNode, startLesserNode } from '#test/harness/lesser-node.ts';

let lesser: LesserNode;
let treasury: Treasury;
let shop: Gateway;
beforeEach(async () => {
  lesser = await startLesserNode('', ['traces']);
});
afterEach(async () => {
  try {
    await treasury.audit();
  } finally {
    await treasury.stop();
    await lesser.stop();
  }
});

async function open(accepts?: boolean): Promise<void> {
  treasury = await aTreasury({
    configure(network) {
      lesser.target = network.rpcUrls[0] as string;
      return { ...network, rpcUrls: [lesser.url], ...(accepts === undefined ? {} : { acceptsUnseenInternalTransfers: accepts }) };
    },
  });
  shop = await treasury.world.aGateway();
}

interface Offered {
  id: string;
  offers: { id: string; assetSymbol: string }[];
}

async function pay(): Promise<Offered> {
  const body = { currencyCode: 'USD', amount: '10', checkoutMode: 'API' as const, webhookUrl: 'http://127.0.0.1:4242/hook' };
  const created = await createPayment(treasury.deps, { gateway: shop, body, clientIp: '127.0.0.1', commit: plainCommit(treasury.deps) });
  return (created.data as { payment: Offered }).payment;
}
const offered = async (): Promise<string[]> => (await pay()).offers.map((one) => one.assetSymbol);

describe('the native coin of a network of which no node traces', () => {
  it('is not offered, and not given an address, while tokens are; and comes back by itself with a node that does', async () => {
    await open();
    const before = await pay();
    const offerOf = (symbol: string) => ({
      paymentId: before.id,
      offerId: before.offers.find((one) => one.assetSymbol === symbol)?.id as string,
      clientIp: '127.0.0.1',
    });
    expect(await watchTraces(treasury.deps)).toBe(1);
    expect(await watchTraces(treasury.deps)).toBe(0);
    expect((await offered()).sort()).toEqual(['USDC', 'USDT']);
    await expect(selectOffer(treasury.deps, offerOf('ETH'))).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await listGatewayAssets(treasury.deps, shop)).toContainEqual(
      expect.objectContaining({ symbol: 'ETH', health: 'PAUSED', healthReasons: expect.arrayContaining(['transfers_unseen']) }),
    );
    expect(JSON.stringify((await showNetworks(treasury.deps)).data)).toContain('no endpoint traces: ETH is not offered, tokens are');
    // Its blocks are read without traces, and its tokens are credited all the same.
    await treasury.earn(shop, 'USDT', '30');

    lesser.lacks = [];
    await treasury.chain.payAndMine(treasury.wallet('hot'), null, 1n);
    await treasury.mine();
    expect(await watchTraces(treasury.deps)).toBe(1);
    expect(await offered()).toContain('ETH');
  });

  it('does not come back while the indexer still reads blocks that show nothing', async () => {
    await open();
    await watchTraces(treasury.deps);
    lesser.lacks = [];
    const { sql } = treasury.world.database;
    await sql`insert into blind_blocks (network_id, from_height, to_height) select network_id, height, height from chain_tips where network_id = ${treasury.network.id}
      and not exists (select 1 from blind_blocks b where b.network_id = chain_tips.network_id and b.to_height >= height)`;
    expect(await watchTraces(treasury.deps)).toBe(0);
    expect(await offered()).not.toContain('ETH');
  });

  it('is taken out again when the indexer reads blind because a node traces no more', async () => {
    lesser.lacks = [];
    await open();
    expect(await watchTraces(treasury.deps)).toBe(0);
    expect(await offered()).toContain('ETH');
    lesser.lacks = ['traces'];
    await treasury.chain.payAndMine(treasury.wallet('hot'), null, 1n);
    await treasury.follow();
    expect(await watchTraces(treasury.deps)).toBe(1);
    expect(await offered()).not.toContain('ETH');
  });

  it('is offered where the networks file accepts it by name', async () => {
    await open(true);
    expect(await watchTraces(treasury.deps)).toBe(0);
    expect(await offered()).toContain('ETH');
    expect(JSON.stringify((await showNetworks(treasury.deps)).data)).toContain('which acceptsUnseenInternalTransfers accepts');
  });

  it('is offered when the node does not answer, because nobody said that it cannot', async () => {
    await open();
    lesser.target = 'http://127.0.0.1:1';
    expect(await watchTraces(treasury.deps)).toBe(0);
    expect(await offered()).toContain('ETH');
    lesser.target = treasury.chain.url;
  });
});
