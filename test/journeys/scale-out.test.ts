import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Merchant, merchant, newKey } from '#ops/dev/client.ts';
import { freePort, waitFor } from '#ops/dev/services/wait.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import type { TestChain } from '#test/harness/chain.ts';
import { times } from '#test/harness/counts.ts';
import type { Deployable } from '#test/harness/deployables.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { anotherEvm, demoNetwork } from '#test/harness/networks.ts';
import { aPayment, aWorld, type World } from '#test/harness/world.ts';
import { randomFrom } from '#test/simulation/random.ts';
import { toRaw } from './scene.ts';

const SEED = Number(process.env.SLUICE_SCALE_SEED ?? 1);
const APIS = 3;
const INDEXERS_PER_NETWORK = 2;
const KILLS = times(80);
const PAYMENTS = times(240);
const CASHOUTS = times(60);
const NETWORKS = ['ethereum', 'bsc'];
const BLOCK_MS = 500;
const PATIENCE_MS = 120_000;

/** One place in the deployment where a process runs; another is started there when it dies. */
interface Post {
  running: Deployable;
  start(): Promise<Deployable>;
}

interface Opened {
  id: string;
  network: string;
  address: string;
  value: string;
}

describe(`three apis and two indexers per network under load, while any of them are killed (SLUICE_SCALE_SEED=${SEED})`, () => {
  const random = randomFrom(SEED);
  let world: World;
  let receiver: WebhookReceiver;
  const posts: Post[] = [];
  const doors: Merchant[] = [];
  let mining = true;
  let mined: Promise<void> | undefined;

  beforeAll(async () => {
    const demo = await demoNetwork();
    world = await aWorld({ networks: [demo, bscBeside(demo)], blockSeconds: 0 });
    receiver = await startWebhookReceiver();
    const occupy = async (start: () => Promise<Deployable>): Promise<void> => void posts.push({ running: await start(), start });
    const ports = await Promise.all(Array.from({ length: APIS }, () => freePort()));
    const first = await world.startApi({ port: ports[0] as number });
    posts.push({ running: first, start: () => world.startApi({ port: ports[0] as number }) });
    const others = ports.slice(1).map((port) => occupy(() => world.startApi({ port })));
    const indexers = NETWORKS.flatMap((network) => Array.from({ length: INDEXERS_PER_NETWORK }, () => occupy(() => world.startIndexer({ network }))));
    await Promise.all([world.startSigner(), ...others, ...indexers]);
    await world.setPrices(first, { ETH: '2000', BNB: '600', USDT: '1', USDC: '1' });
    const { gateway } = await world.aGateway(first);
    doors.push(...ports.map((port) => merchant(`http://127.0.0.1:${port}/api/v1`, gateway)));
    mined = mineBlocks();
  });
  afterAll(async () => {
    mining = false;
    await mined;
    await world?.stop();
    await receiver?.stop();
  });

  const chainOf = (network: string): TestChain => world.networks.get(network)?.chain as TestChain;

  const mineBlocks = async (): Promise<void> => {
    while (mining) {
      await Promise.allSettled(NETWORKS.map((network) => chainOf(network).mine()));
      await new Promise((resolve) => setTimeout(resolve, BLOCK_MS));
    }
  };

  /** Asks whoever answers, as behind a load balancer, and again under the same key while nobody does or somebody says to come back. */
  const ask = (what: string, request: (door: Merchant) => Promise<Answer>): Promise<Record<string, unknown>> =>
    waitFor(
      async () => {
        const answer = await request(doors[Math.floor(Math.random() * doors.length)] as Merchant);
        if (answer.success && answer.status !== 202) return answer.data;
        if (answer.status === 202 || answer.status === 503 || answer.error.code === 'conflict') return false;
        throw new Error(`${what}: ${answer.status} ${answer.text}`);
      },
      { what, timeoutMs: PATIENCE_MS },
    );

  const open = async (network: string, amount: string): Promise<Opened> => {
    const key = newKey();
    const body = aPayment(receiver.url, { amount });
    const created = await ask('a payment', (door) => door.call('POST', '/payments', { body, headers: { 'idempotency-key': key } }));
    const { id, offers } = created.payment as { id: string; offers: { id: string; assetSymbol: string; assetNetwork: string }[] };
    const offer = offers.find((one) => one.assetSymbol === 'USDT' && one.assetNetwork === network);
    const selected = await ask('an address', (door) => door.call('POST', `/public/payments/${id}/offers/${offer?.id}/select`));
    return { id, network, address: selected.depositAddress as string, value: selected.amount as string };
  };

  const decimalsOf = (network: string): number => {
    const usdt = world.networks.get(network)?.network.assets.find((asset) => asset.symbol === 'USDT');
    return (usdt as { decimals: number }).decimals;
  };

  const pay = async ({ network, address, value }: Opened): Promise<void> => {
    const chain = chainOf(network);
    await chain.pay(address, chain.tokens.USDT, toRaw(value, decimalsOf(network)));
  };

  const cashOut = async (network: string, amount: string): Promise<string> => {
    const { items } = (await ask('the assets', (door) => door.call('GET', '/assets'))) as { items: { assetId: string; symbol: string; network: string }[] };
    const assetId = items.find((one) => one.symbol === 'USDT' && one.network === network)?.assetId;
    const key = newKey();
    const body = { assetId, amount, address: chainOf(network).outsider };
    const settlement = await ask('a cashout', (door) => door.signed('POST', '/merchant/settlements', { idempotencyKey: key, body }));
    return settlement.id as string;
  };

  const killAndReplace = async (): Promise<void> => {
    const post = random.pick(posts);
    await post.running.kill();
    post.running = await post.start();
  };

  it('credits every payment once, tells every merchant once and pays every cashout once', { timeout: 900_000 }, async () => {
    const kills = (async () => {
      for (let done = 0; done < KILLS; done++) await killAndReplace();
    })();
    const payments = await Promise.all(
      Array.from({ length: PAYMENTS }, async (_, at) => {
        const opened = await open(NETWORKS[at % NETWORKS.length] as string, String(20 + at));
        await pay(opened);
        return opened;
      }),
    );
    const resting = await Promise.all(
      payments.map(({ id }) =>
        waitFor(
          async () => {
            const seen = await ask('a verdict', (door) => door.call('POST', `/payments/${id}/verify`));
            return seen.status !== 'PENDING' && seen;
          },
          { what: `payment ${id} to rest`, timeoutMs: PATIENCE_MS, everyMs: 300 },
        ),
      ),
    );
    expect(resting.map((seen) => [seen.status, seen.receivedAmount])).toEqual(payments.map((_, at) => ['SUCCESS', String(20 + at)]));

    const settlements = await Promise.all(Array.from({ length: CASHOUTS }, (_, at) => cashOut(NETWORKS[at % NETWORKS.length] as string, '5')));
    await Promise.all(
      settlements.map((id) =>
        waitFor(async () => (await ask('a settlement', (door) => door.signed('GET', `/merchant/settlements/${id}`))).status === 'SETTLED', {
          what: `settlement ${id} to be settled`,
          timeoutMs: PATIENCE_MS,
          everyMs: 300,
        }),
      ),
    );
    await kills;

    const { sql } = world.database;
    expect(await sql`select 1 from credits`).toHaveLength(PAYMENTS);
    expect(await sql`select 1 from settlements`).toHaveLength(CASHOUTS);
    expect(await sql`select settlement_id from payouts where purpose = 'settlement' and status = 'SETTLED' group by 1 having count(*) > 1`).toHaveLength(0);
    for (const network of NETWORKS) {
      const chain = chainOf(network);
      const [{ net }] = await sql<[{ net: string }]>`
        select sum(s.net_amount)::text as net from settlements s join assets a on a.id = s.asset_id join networks n on n.id = a.network_id
        where n.name = ${network}`;
      expect(await chain.tokenBalance(chain.tokens.USDT, chain.outsider), `what ${network} paid out`).toBe(toRaw(net, decimalsOf(network)));
    }
    await waitFor(async () => (await sql`select 1 from webhook_events where state <> 'delivered'`).length === 0, {
      what: 'the webhooks',
      timeoutMs: PATIENCE_MS,
    });
    expect(await sql`select payment_id from webhook_events group by 1 having count(*) <> 1`).toHaveLength(0);
    await assertBooksMatchChain(world);
    await world.audit();
  });
});

/** BNB Smart Chain beside Ethereum: the same keys, its own coin, tokens of its own standard. */
function bscBeside(demo: NetworkConfig): NetworkConfig {
  const beside = anotherEvm(demo, 'bsc', '56');
  const assets = beside.assets.map((asset) => (asset.type === 'NATIVE' ? { ...asset, symbol: 'BNB', name: 'BNB' } : { ...asset, type: 'BEP20' as const }));
  return { ...beside, nativeSymbol: 'BNB', assets };
}
