import { expect } from 'vitest';
import { type Merchant, newKey } from '#ops/dev/client.ts';
import { freePort, waitFor } from '#ops/dev/services/wait.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import type { AssetConfig } from '#shared/core/assets.ts';
import { formatAmount } from '#shared/core/money.ts';
import { type CommonChain, EVM_OUTSIDER } from '#test/harness/chain.ts';
import type { Deployable, DeployableOptions, RunningApi } from '#test/harness/deployables.ts';
import { aPayment, aWorld, WORLD_PRICES, type World, type WorldNetwork, type WorldOptions } from '#test/harness/world.ts';

/** A payment somebody is about to pay. */
export interface OpenPayment {
  id: string;
  offerId: string;
  address: string;
  /** Exactly what the offer asks for. */
  totalValue: string;
  /** The same in chain units. */
  rawAmount: bigint;
}

/** Everything below that takes a symbol means it on the first network, or on another one as `USDT@tron`. */
export interface Scene {
  world: World;
  api: RunningApi;
  indexer: Deployable;
  signer: RunningApi;
  shop: Merchant;
  receiver: WebhookReceiver;
  /** Creates an API-mode payment and selects `symbol`, waiting for its address. */
  open(symbol?: string, body?: Record<string, unknown>): Promise<OpenPayment>;
  /** Contract address of a token, null for the native coin. */
  contract(symbol: string): string | null;
  /** The chain an asset is on. */
  chainOf(symbol: string): CommonChain;
  /** Chain units of an asset's decimal text. */
  raw(symbol: string, amount: string): bigint;
  /** Decimal text of as much of an asset as these dollars buy. */
  worth(symbol: string, dollars: bigint): string;
  /** Chain units of an asset an address holds at the head. */
  held(symbol: string, address: string): Promise<bigint>;
  verify(id: string): Promise<Record<string, unknown>>;
  /** Waits for a payment to rest and returns what verify says. */
  resting(id: string): Promise<Record<string, unknown>>;
  /** Waits until `symbol`'s matured balance covers `atLeast` (decimal text), and returns the item. */
  balance(symbol: string, atLeast?: string): Promise<Record<string, unknown>>;
  assetId(symbol: string): Promise<string>;
  /** Asks for a cashout, again and again under one Idempotency-Key until the api answers. */
  cashout(symbol: string, amount: string, address?: string, key?: string): Promise<Record<string, unknown>>;
  settled(id: string): Promise<Record<string, unknown>>;
  /** Statuses of the webhooks received for a payment, in order of arrival. */
  webhooks(id: string): string[];
  /** Kills one process with SIGKILL and starts it again, at the same address, perhaps with a crash point armed. */
  restart(part: Part, options?: DeployableOptions): Promise<void>;
  /** Stops one process in order, so that it gives up what it leases, and starts it with a crash point armed, or none. */
  arm(part: Part, crashAt: string | undefined): Promise<void>;
  /** No block is mined, on any chain, until the returned function is called. @throws in a scene without `blockMs` */
  holdBlocks(): Promise<() => void>;
  stop(options?: { audit?: boolean }): Promise<void>;
}

export type Part = 'api' | 'signer' | 'indexer';

export interface SceneOptions extends WorldOptions {
  gateway?: Record<string, unknown>;
  /** Milliseconds between blocks, for a chain that is faster than its own clock. */
  blockMs?: number;
}

/** Somebody on an EVM chain who never had to do with this deployment. */
export const OUTSIDER = EVM_OUTSIDER;
/** Long enough for a process to die at twenty points, one after another, on a machine that has other things to do. */
const PATIENCE_MS = 240_000;

/** A whole deployment as production runs it: api (http + worker), signer and indexer as processes of their own. */
export async function aScene(options: SceneOptions = {}): Promise<Scene> {
  const world = await aWorld({ blockSeconds: options.blockMs === undefined ? 1 : 0, ...options });
  const mining = options.blockMs === undefined ? undefined : mineEvery(world, options.blockMs);
  const port = await freePort();
  const api = await world.startApi({ port });
  const [indexer, signer, receiver] = await Promise.all([world.startIndexer(), world.startSigner(), startWebhookReceiver()]);
  await world.setPrices(api);
  const shop = await world.aGateway(api, options.gateway);
  const find = (symbol: string): WorldNetwork & { asset: AssetConfig } => {
    const [ticker, name = world.network.name] = symbol.split('@');
    const on = world.networks.get(name);
    const asset = on?.network.assets.find((one) => one.symbol === ticker);
    if (on === undefined || asset === undefined) throw new Error(`nothing here is called ${symbol}`);
    return { ...on, asset };
  };
  const raw = (symbol: string, amount: string): bigint => toRaw(amount, find(symbol).asset.decimals);

  /** Calls until there is an answer, as a client does whose server may be restarting. @throws with the last lines of an api that is gone */
  const insist = async <T>(attempt: () => Promise<T | undefined>, what: string): Promise<NonNullable<Exclude<T, false>>> => {
    try {
      return await waitFor(attempt as () => Promise<T>, { what, timeoutMs: PATIENCE_MS });
    } catch (error) {
      if (scene.api.running()) throw error;
      const { code, signal } = await scene.api.exited;
      throw new Error(`${(error as Error).message}: the api is gone (${signal ?? `exit ${code}`})\n${scene.api.lines.slice(-5).join('\n')}`, { cause: error });
    }
  };

  const scene: Scene = {
    world,
    api,
    indexer,
    signer,
    shop,
    receiver,
    contract: (symbol) => find(symbol).asset.contract,
    chainOf: (symbol) => find(symbol).chain,
    raw,
    worth(symbol, dollars) {
      const { asset } = find(symbol);
      const micros = toRaw(WORLD_PRICES[asset.symbol] as string, 6);
      return formatAmount((dollars * 10n ** BigInt(6 + 18)) / micros);
    },
    held(symbol, address) {
      const { chain, asset } = find(symbol);
      return asset.contract === null ? chain.balance(address) : chain.tokenBalance(asset.contract, address);
    },
    async open(symbol = 'USDT', body = {}) {
      const key = newKey();
      const created = await insist(
        () => shop.must('POST', '/payments', { body: aPayment(receiver.url, body), headers: { 'idempotency-key': key } }),
        'a payment',
      );
      const id = created.paymentUid as string;
      const { offers } = created.payment as { offers: { id: string; assetSymbol: string; assetNetwork: string }[] };
      const { asset, network } = find(symbol);
      const offer = offers.find((one) => one.assetSymbol === asset.symbol && one.assetNetwork === network.name);
      if (offer === undefined) throw new Error(`no ${symbol} among ${JSON.stringify(offers)}`);
      const selected = await waitFor(
        async () => {
          const answer = await shop.call('POST', `/public/payments/${id}/offers/${offer.id}/select`);
          return answer.status === 200 && answer.data;
        },
        { what: 'an address', timeoutMs: PATIENCE_MS },
      );
      const totalValue = selected.amount as string;
      return { id, offerId: offer.id, address: selected.depositAddress as string, totalValue, rawAmount: raw(symbol, totalValue) };
    },
    verify: (id) => shop.must('POST', `/payments/${id}/verify`),
    resting: (id) =>
      waitFor(
        async () => {
          const seen = await scene.verify(id);
          return seen.status !== 'PENDING' && seen;
        },
        { what: `payment ${id} to rest`, timeoutMs: PATIENCE_MS },
      ),
    balance: (symbol, atLeast = '0') =>
      waitFor(
        async () => {
          const { data } = await shop.signed('GET', '/merchant/settlements/balances');
          const { asset, network } = find(symbol);
          const item = (data.items as Record<string, unknown>[]).find((one) => one.symbol === asset.symbol && one.networkName === network.name);
          return item !== undefined && toRaw(item.totalAvailable as string, 18) >= toRaw(atLeast, 18) && item;
        },
        { what: `${atLeast} ${symbol} to mature`, timeoutMs: PATIENCE_MS },
      ),
    async assetId(symbol) {
      const { items } = (await shop.must('GET', '/assets')) as { items: { assetId: string; symbol: string; network: string }[] };
      const { asset, network } = find(symbol);
      return items.find((one) => one.symbol === asset.symbol && one.network === network.name)?.assetId as string;
    },
    async cashout(symbol, amount, address = find(symbol).chain.outsider, key = newKey()) {
      const answer = await insist(async () => {
        const body = { assetId: await scene.assetId(symbol), amount, address };
        const answer = await shop.signed('POST', '/merchant/settlements', { idempotencyKey: key, body });
        // Busy (503) and a duplicate still running (409 conflict) are for asking again; everything else is an answer.
        return answer.status === 503 || answer.error?.code === 'conflict' ? undefined : answer;
      }, 'an answer to a cashout');
      if (!answer.success) throw new Error(`cashout: ${answer.status} ${answer.text}`);
      return answer.data;
    },
    settled: (id) =>
      waitFor(
        async () => {
          const { data } = await shop.signed('GET', `/merchant/settlements/${id}`);
          return data.status === 'SETTLED' && data;
        },
        { what: `settlement ${id} to settle`, timeoutMs: PATIENCE_MS },
      ),
    webhooks: (id) =>
      receiver.received
        .map((one) => JSON.parse(one.body) as { paymentId: string; status: string })
        .filter((one) => one.paymentId === id)
        .map((one) => one.status),
    async restart(part, restartOptions = {}) {
      await scene[part].kill();
      if (part === 'api') scene.api = await world.startApi({ port, ...restartOptions });
      else if (part === 'signer') scene.signer = await world.startSigner(restartOptions);
      else scene.indexer = await world.startIndexer(restartOptions);
    },
    async arm(part, crashAt) {
      await scene[part].stop();
      await scene.restart(part, crashAt === undefined ? {} : { crashAt, untilReady: false });
    },
    async holdBlocks() {
      if (mining === undefined) throw new Error('the chains of this scene mine by themselves');
      await mining.hold();
      return mining.goOn;
    },
    async stop(stopOptions) {
      await mining?.hold();
      await world.stop(stopOptions);
      await receiver.stop();
    },
  };
  return scene;
}

interface Mining {
  /** Answers when no block is under way any more. */
  hold(): Promise<void>;
  goOn(): void;
}

/** Mines a block on every chain every `ms`, unless held. */
function mineEvery(world: World, ms: number): Mining {
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<unknown> = Promise.resolve();
  const next = (): void => {
    timer = setTimeout(() => {
      underWay = Promise.allSettled([...world.networks.values()].map(({ chain }) => chain.mine()));
      void underWay.then(() => timer === undefined || next());
    }, ms);
  };
  next();
  return {
    async hold() {
      clearTimeout(timer);
      timer = undefined;
      await underWay;
    },
    goOn() {
      if (timer === undefined) next();
    },
  };
}

/** Decimal text in chain units. */
export function toRaw(text: string, decimals: number): bigint {
  const [whole, fraction = ''] = text.split('.');
  return BigInt(`${whole}${fraction.padEnd(decimals, '0').slice(0, decimals)}`);
}

/** Expects exactly these webhooks for a payment to have arrived, whatever else happens to be retried. */
export async function expectWebhooks(scene: Scene, id: string, statuses: string[]): Promise<void> {
  await waitFor(() => new Set(scene.webhooks(id)).size === statuses.length, { what: `webhooks of ${id}`, timeoutMs: PATIENCE_MS });
  expect([...new Set(scene.webhooks(id))]).toEqual(statuses);
}
