import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Deps, Gateway } from '#api/deps.ts';
import { type CreatePaymentBody, createPayment } from '#api/payments/create.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { selectOffer } from '#api/payments/select-offer.ts';
import { verifyPayment } from '#api/payments/verify.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import type { ServiceError } from '#shared/core/errors.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

let world: InProcess;
let shop: Gateway;
const clientIp = '127.0.0.1';

beforeEach(async () => {
  world = await inProcess({ moreNetworks: (demo) => [secondChain(demo)] });
  shop = await world.aGateway();
});
afterEach(() => world.stop());

/** The demo network once more under another name, with coins of its own. */
function secondChain(demo: NetworkConfig): NetworkConfig {
  return {
    ...demo,
    name: 'second',
    chainId: '31338',
    assets: demo.assets.map((asset) => ({ ...asset, symbol: asset.symbol === 'USDT' ? 'USDT2' : asset.symbol })),
  };
}

interface PaymentJson {
  id: string;
  offers: { id: string; assetSymbol: string; assetNetwork: string; totalValue: string }[];
}

async function create(body: Partial<CreatePaymentBody> = {}): Promise<PaymentJson> {
  const api: CreatePaymentBody = { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:4242/webhook', ...body };
  const reply = await createPayment(world.deps, { gateway: shop, body: api, clientIp, commit: plainCommit(world.deps) });
  return (reply.data as { payment: PaymentJson }).payment;
}
const verify = async (id: string, deps: Deps = world.deps) => (await verifyPayment(deps, { gateway: shop, paymentId: id })) as Record<string, unknown>;

describe('verify', () => {
  it.each([1, 2])('marks every resting status it reports, also when the payment comes to rest after statement %s of the call', async (during) => {
    const payment = await create({ timeoutSeconds: 1 });
    const { sql } = world.database;
    let statements = 0;
    const restingMeanwhile = new Proxy(sql, {
      apply: (target, self, parts: Parameters<typeof sql>) => {
        const query = Reflect.apply(target, self, parts) as Promise<unknown>;
        // What is a part of a statement is no statement, and must not be waited for.
        if (!/^\s*(select|with|update)\b/.test(String(parts[0]))) return query;
        statements += 1;
        return statements !== during
          ? query
          : query.then(async (rows) => {
              await sql`update payments set status = 'EXPIRED' where id = ${payment.id}`;
              return rows;
            });
      },
    });
    const answer = await verify(payment.id, { ...world.deps, db: { ...world.deps.db, sql: restingMeanwhile } });
    expect(answer.isVerified).toBe(answer.status !== 'PENDING');
    expect(answer.verifiedAt === null).toBe(answer.status === 'PENDING');
  });
});

describe('an amount below the dust floor of an asset', () => {
  it('is not offered in it, because nothing that small would resolve the payment', async () => {
    // 0.00001 ETH is 0.03 USD; 0.01 USDT is its own floor.
    const { offers } = await create({ amount: '0.01' });
    expect(offers.map((offer) => offer.assetSymbol)).not.toContain('ETH');
    expect(offers.map((offer) => offer.assetSymbol)).toContain('USDT');
  });

  it('is refused when no asset is left and each has a price', async () => {
    await world.setPrice('USDT2', '1');
    await expect(create({ amount: '0.001' })).rejects.toMatchObject({ code: 'validation_error', field: 'amount' } satisfies Partial<ServiceError>);
  });

  it('is told to come again while an asset that could take it has no price (decisions 2)', async () => {
    await expect(create({ amount: '0.001' })).rejects.toMatchObject({ code: 'service_unavailable' } satisfies Partial<ServiceError>);
  });
});

describe('of two deposits on two networks that became final together', () => {
  it('the one that was sent first decides, whatever the heights of their chains', async () => {
    await world.setPrice('USDT2', '1');
    const payment = await create();
    for (const network of ['ethereum', 'second']) {
      const offer = payment.offers.find((one) => one.assetNetwork === network && one.assetSymbol.startsWith('USDT'));
      const selecting = selectOffer(world.deps, { paymentId: payment.id, offerId: offer?.id as string, clientIp });
      await Promise.all([selecting, acknowledgeAll()]);
    }
    await receive(payment.id, 'ethereum', 'USDT', 1_000_000, 60);
    await receive(payment.id, 'second', 'USDT2', 5, 30);
    await creditFinalDeposits(world.deps, world.network.id);
    expect(await verify(payment.id)).toMatchObject({ status: 'SUCCESS', receivedAssetSymbol: 'USDT', network: 'ethereum' });
  });
});

/** Plays the indexers of both networks for the next address. */
async function acknowledgeAll(): Promise<void> {
  const acknowledged = async () =>
    (await world.database.sql`update watches set acked_epoch = 1, watched_from = 1 where acked_epoch is null returning 1`).length > 0;
  await waitFor(acknowledged, { what: 'an address to be watched' });
}

/** A final deposit of 10 coins, seen so many seconds ago. */
async function receive(paymentId: string, network: string, symbol: string, height: number, secondsAgo: number): Promise<void> {
  const { sql } = world.database;
  const txid = `0x${height.toString(16).padStart(64, '0')}`;
  await sql`
    insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, recipient, contract, raw_amount)
    select d.network_id, 'token', ${txid}, 0, ${height}, ${`0xb${height}`}, 0, sluice_now() - make_interval(secs => ${secondsAgo}), '0xpayer', d.address, a.contract, 10000000
    from deposit_addresses d join networks n on n.id = d.network_id join assets a on a.network_id = n.id
    where d.payment_id = ${paymentId} and n.name = ${network} and a.symbol = ${symbol}`;
  await sql`
    insert into deposits (id, network_id, txid, kind, ordinal, address_id, payment_id, asset_id, sender, raw_amount, amount, height, block_hash, position, block_time, first_seen_at, state)
    select gen_random_uuid(), d.network_id, ${txid}, 'token', 0, d.id, d.payment_id, a.id, '0xpayer', 10000000, 10, ${height}, ${`0xb${height}`}, 0,
      sluice_now() - make_interval(secs => ${secondsAgo}), sluice_now() - make_interval(secs => ${secondsAgo}), 'seen'
    from deposit_addresses d join networks n on n.id = d.network_id join assets a on a.network_id = n.id
    where d.payment_id = ${paymentId} and n.name = ${network} and a.symbol = ${symbol}`;
  await sql`
    insert into chain_tips (network_id, height, hash, block_time, safe_height, final_height, head_height, epoch, seq)
    select id, ${height + 1}, '0x', sluice_now(), ${height}, ${height}, ${height + 1}, 1, 1 from networks where name = ${network}`;
}
