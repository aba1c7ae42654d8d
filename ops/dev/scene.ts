import { createHmac } from 'node:crypto';
import { formatAmount, parseTrusted, usdToCoins } from '#shared/core/money.ts';
import { type Answer, type Merchant, merchant, must, newKey, type Operator, operator } from './client.ts';
import type { DevFile } from './dev-file.ts';
import { familyOf } from './families.ts';
import type { LocalChain } from './local-chain.ts';
import { waitFor } from './services/wait.ts';
import type { ReceivedWebhook } from './webhook-receiver.ts';

export type Asset = DevFile['assets'][number];

/** An offer of a payment, as far as the stories read it. */
export interface Offer {
  id: string;
  assetSymbol: string;
  assetNetwork: string;
  totalValue: string;
}

/** One running deployment as the demo sees it: a merchant, an operator, a payer with a faucet. */
export interface Scene {
  dev: DevFile;
  network: string;
  chain: LocalChain;
  shop: Merchant;
  control: Operator;
  /** What payments are priced in: a token where there is one. */
  asset: Asset;
  /** Another asset to pay by mistake, a token where there is another one; undefined where a network has one coin only. */
  otherAsset: Asset | undefined;
  /** Where a cashout goes: a stranger to the deployment. */
  destination: string;
}

/** Something that happens on a network, told in one line. */
export interface Story {
  name: string;
  tell(scene: Scene): Promise<string>;
  /** Whether a network has what the story needs; every network has when absent. */
  fits?(scene: Scene): boolean;
}

/** How long anything may take on a local chain. */
export const PATIENCE_MS = 90_000;

/** Prepares the demo on one network. @throws when the network has no faucet */
export function setScene(dev: DevFile, network: string): Scene {
  const found = dev.networks[network];
  if (found === undefined || !dev.localNetworks.includes(network)) throw new Error(`${network} has no faucet`);
  const assets = dev.assets.filter((one) => one.network === network);
  const asset = usualAsset(assets);
  if (asset === undefined) throw new Error(`${network} has no asset`);
  const others = assets.filter((one) => one !== asset);
  const { open, outsider } = familyOf(found.family);
  return {
    dev,
    network,
    chain: open(found.rpcUrl),
    destination: outsider,
    shop: merchant(dev.api.baseUrl, dev.gateway),
    control: operator(dev.operatorUrl, dev.operatorToken),
    asset,
    otherAsset: others.find((one) => one.contract !== null) ?? others[0],
  };
}

/** What a network's examples are told with: USDT, else another token, else its coin. */
export function usualAsset(assets: readonly Asset[]): Asset | undefined {
  return assets.find((one) => one.symbol === 'USDT') ?? assets.find((one) => one.contract !== null) ?? assets[0];
}

/** A payment whose offer is selected and whose address is known. */
export interface SelectedPayment {
  id: string;
  depositAddress: string;
  totalValue: string;
}

/** Creates a payment of 10 US dollars, unless told otherwise, and selects the usual asset. */
export async function createAndSelect(scene: Scene, overrides: Record<string, unknown> = {}): Promise<SelectedPayment> {
  const created = (await scene.shop.must('POST', '/payments', {
    body: { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl: scene.dev.webhookReceiver.url, ...overrides },
  })) as { paymentUid: string; payment: { offers: Offer[] } };
  const offer = created.payment.offers.find((one) => one.assetSymbol === scene.asset.symbol && one.assetNetwork === scene.network);
  if (offer === undefined) throw new Error(`no offer in ${scene.asset.symbol} on ${scene.network}`);
  const url = `${scene.dev.api.baseUrl}/public/payments/${created.paymentUid}/offers/${offer.id}/select`;
  const depositAddress = await waitFor(async () => (await must(url, 'POST')).depositAddress as string | undefined, {
    what: 'a deposit address',
    timeoutMs: PATIENCE_MS,
  });
  return { id: created.paymentUid, depositAddress, totalValue: offer.totalValue };
}

/** Pays a selected payment from the faucet. */
export async function payFrom(scene: Scene, payment: SelectedPayment, asset: Asset, coins: string): Promise<void> {
  await scene.chain.pay(payment.depositAddress, asset.contract, rawUnits(coins, asset.decimals));
}

/** What an asset is worth `usd` of now, rounded up to its decimals. @throws when it has no price */
export async function coinsWorth({ control }: Pick<Scene, 'control'>, asset: Asset, usd: string): Promise<string> {
  const { items } = (await control.must('GET', '/prices')) as { items: { symbol: string; usd: string | null }[] };
  const price = items.find((one) => one.symbol === asset.symbol)?.usd;
  if (price === undefined || price === null) throw new Error(`${asset.symbol} has no price`);
  return formatAmount(usdToCoins(parseTrusted<'usd'>(usd), parseTrusted<'usd'>(price), asset.decimals, 'up'));
}

/** Waits for a payment to leave the status it has and checks that the new one is the expected one. */
export async function resolved(scene: Scene, paymentId: string, status: string): Promise<void> {
  const url = `${scene.dev.api.baseUrl}/public/payments/${paymentId}?statusOnly=true`;
  const initial = status === 'SUCCESS' ? ['PENDING', 'EXPIRED'] : ['PENDING'];
  const seen = await waitFor(
    async () => {
      const { status: now } = await must(url, 'GET');
      return initial.includes(String(now)) ? undefined : String(now);
    },
    { what: `payment ${paymentId} to be ${status}`, timeoutMs: PATIENCE_MS, everyMs: 200 },
  );
  expectEqual('payment status', seen, status);
}

/** The webhook came, and carries the signature of contract 6 over the very bytes of its body. */
export async function webhookArrived(scene: Scene, paymentId: string, status: string): Promise<void> {
  const body = JSON.stringify({ paymentId, status });
  const webhook = await waitFor(
    async () => {
      const received = (await (await fetch(scene.dev.webhookReceiver.log)).json()) as ReceivedWebhook[];
      return received.find((one) => one.body === body);
    },
    { what: `the ${status} webhook of ${paymentId}`, timeoutMs: PATIENCE_MS, everyMs: 200 },
  );
  expectEqual('webhook signature', webhook.headers['x-webhook-signature'], createHmac('sha256', scene.dev.gateway.webhookSecret).update(body).digest('hex'));
}

/** Statuses in the order their webhooks arrived. */
export async function webhooksOf(scene: Scene, paymentId: string): Promise<string[]> {
  const received = (await (await fetch(scene.dev.webhookReceiver.log)).json()) as ReceivedWebhook[];
  const bodies = received.map((one) => JSON.parse(one.body) as { paymentId: string; status: string });
  return bodies.filter((one) => one.paymentId === paymentId).map((one) => one.status);
}

/** What a settled cashout tells. */
export interface Settled {
  receivedAmount: string;
  txHash: string;
}

/** Waits until a pool of the usual asset holds at least `coins`; answers what it holds. */
export async function inPool({ shop, asset }: Scene, pool: 'totalAvailable' | 'totalQuarantinedAvailable', coins: string): Promise<string> {
  return waitFor(
    async () => {
      const { items } = (await shop.signed('GET', '/merchant/settlements/balances')).data as { items: Record<string, string>[] };
      const held = items.find((item) => item.assetId === asset.id)?.[pool];
      return held !== undefined && parseTrusted(held) >= parseTrusted(coins) ? held : undefined;
    },
    { what: `${coins} ${asset.symbol} in ${pool}`, timeoutMs: PATIENCE_MS, everyMs: 200 },
  );
}

/** Asks for a cashout of the usual asset; answers what the service said and what the destination held before. */
export async function askCashout(scene: Scene, body: { amount: string } & Record<string, unknown>): Promise<{ answer: Answer; before: bigint }> {
  const { asset, shop, destination, chain } = scene;
  const before = await chain.balance(destination, asset.contract);
  const answer = await shop.signed('POST', '/merchant/settlements', {
    body: { assetId: asset.id, address: destination, ...body },
    idempotencyKey: newKey(),
  });
  return { answer, before };
}

/** Waits for a cashout to be SETTLED and checks that exactly what it says arrived. @throws when it was rejected */
export async function settled({ shop, chain, asset, destination }: Scene, id: string, before: bigint): Promise<Settled> {
  const settlement = await waitFor(
    async () => {
      const { data } = await shop.signed('GET', `/merchant/settlements/${id}`);
      if (data.status === 'REJECTED') throw new Error('the settlement was rejected');
      return data.status === 'SETTLED' ? (data as unknown as Settled) : undefined;
    },
    { what: `settlement ${id} to be SETTLED`, timeoutMs: PATIENCE_MS, everyMs: 200 },
  );
  const arrived = (await chain.balance(destination, asset.contract)) - before;
  expectEqual('coins at the destination', arrived, rawUnits(settlement.receivedAmount, asset.decimals));
  return settlement;
}

/** Chain units of an amount of coins. */
export function rawUnits(coins: string, decimals: number): bigint {
  return parseTrusted(coins) / 10n ** BigInt(18 - decimals);
}

/** @throws naming both when they differ */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what}: expected ${String(expected)}, got ${String(actual)}`);
}

/** The beginning of a hash, for one line. */
export function short(hash: string): string {
  return `${hash.slice(0, 10)}…`;
}
