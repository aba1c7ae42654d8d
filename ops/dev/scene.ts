import { type Calls, createClient, readWebhook, selectAddress, SluiceError } from '#ops/client/index.ts';
import { formatAmount, parseTrusted, usdToCoins } from '#shared/core/money.ts';
import { type GatewayCredentials, type Operator, operator } from './client.ts';
import type { DevFile } from './dev-file.ts';
import { familyOf } from './families.ts';
import type { LocalChain } from './local-chain.ts';
import { isSigned } from './read-webhook.ts';
import { waitFor } from './services/wait.ts';
import type { ReceivedWebhook } from './webhook-receiver.ts';

export type Asset = DevFile['assets'][number];

/** One running deployment as the demo sees it: a merchant, an operator, a payer with a faucet. */
export interface Scene {
  dev: DevFile;
  network: string;
  chain: LocalChain;
  /** The shop's server. */
  shop: Calls;
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
    shop: shopOf(dev, dev.gateway),
    control: operator(dev.operatorUrl, dev.operatorToken),
    asset,
    otherAsset: others.find((one) => one.contract !== null) ?? others[0],
  };
}

/** The client a shop with these credentials uses. */
export function shopOf({ api }: DevFile, { apiKey, cashoutSigningSecret }: Pick<GatewayCredentials, 'apiKey' | 'cashoutSigningSecret'>): Calls {
  return createClient({ baseUrl: api.baseUrl, apiKey, cashoutSigningSecret });
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

/** What a shop may say of a payment it creates. */
export type PaymentRequest = Parameters<Calls['createPayment']>[0]['body'];

/** Creates a payment of 10 US dollars, unless told otherwise, and selects the usual asset. */
export async function createAndSelect(scene: Scene, overrides: Partial<PaymentRequest> = {}): Promise<SelectedPayment> {
  const { shop, dev } = scene;
  const body: PaymentRequest = { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl: dev.webhookReceiver.url, ...overrides };
  const { paymentUid, payment } = await shop.createPayment({ body });
  const offer = offerOf(scene, payment?.offers ?? []);
  const { depositAddress } = await selectAddress(shop, { paymentId: paymentUid, offerId: offer.id }, { timeoutMs: PATIENCE_MS });
  if (depositAddress === undefined || depositAddress === null) throw new Error(`no address for ${paymentUid} after ${PATIENCE_MS / 1_000} s`);
  return { id: paymentUid, depositAddress, totalValue: offer.totalValue };
}

/** The offer in the usual asset. @throws when there is none */
export function offerOf<Offer extends { assetSymbol: string; assetNetwork: string }>({ asset, network }: Scene, offers: readonly Offer[]): Offer {
  const offer = offers.find((one) => one.assetSymbol === asset.symbol && one.assetNetwork === network);
  if (offer === undefined) throw new Error(`no offer in ${asset.symbol} on ${network}`);
  return offer;
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
export async function resolved({ shop }: Scene, paymentId: string, status: string): Promise<void> {
  const initial = status === 'SUCCESS' ? ['PENDING', 'EXPIRED'] : ['PENDING'];
  const seen = await waitFor(
    async () => {
      const { status: now } = await shop.getPublicPayment({ paymentId, statusOnly: true });
      return initial.includes(now) ? undefined : now;
    },
    { what: `payment ${paymentId} to be ${status}`, timeoutMs: PATIENCE_MS, everyMs: 200 },
  );
  expectEqual('payment status', seen, status);
}

/** The webhook came, and was signed with the gateway's secret. */
export async function webhookArrived({ dev }: Scene, paymentId: string, status: string): Promise<void> {
  const body = JSON.stringify({ paymentId, status });
  const webhook = await waitFor(async () => (await received(dev)).find((one) => one.body === body), {
    what: `the ${status} webhook of ${paymentId}`,
    timeoutMs: PATIENCE_MS,
    everyMs: 200,
  });
  // By both of its signatures; what it says by the client.
  expectEqual('webhook signatures are genuine', isSigned(webhook, dev.gateway.webhookSecret), true);
  const at = Number(webhook.headers['webhook-timestamp']) * 1_000;
  expectEqual('what the webhook says', JSON.stringify(readWebhook(webhook, dev.gateway.webhookSecret, { now: () => at })), body);
}

async function received(dev: DevFile): Promise<ReceivedWebhook[]> {
  return (await (await fetch(dev.webhookReceiver.log)).json()) as ReceivedWebhook[];
}

/** Statuses in the order their webhooks arrived. */
export async function webhooksOf({ dev }: Scene, paymentId: string): Promise<string[]> {
  const bodies = (await received(dev)).map((one) => JSON.parse(one.body) as { paymentId: string; status: string });
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
      const { items } = await shop.listBalances();
      const held = items.find((item) => item.assetId === asset.id)?.[pool];
      return held !== undefined && parseTrusted(held) >= parseTrusted(coins) ? held : undefined;
    },
    { what: `${coins} ${asset.symbol} in ${pool}`, timeoutMs: PATIENCE_MS, everyMs: 200 },
  );
}

/** What a shop may say of a cashout it asks for. */
export type CashoutRequest = Parameters<Calls['createSettlement']>[0]['body'];

/** Asks for a cashout of the usual asset; answers what became of it and what the destination held before. */
export async function askCashout(scene: Scene, body: Pick<CashoutRequest, 'amount'> & Partial<CashoutRequest>) {
  const { asset, shop, destination, chain } = scene;
  const before = await chain.balance(destination, asset.contract);
  const { id, status } = await shop.createSettlement({ body: { assetId: asset.id, address: destination, ...body } });
  return { id, status, before };
}

/** How the service refuses a call: `401 totp_required`. @throws when it does not refuse */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (error instanceof SluiceError) return `${error.status} ${error.code}`;
    throw error;
  }
  throw new Error('the service accepted what it should have refused');
}

/** Waits for a cashout to be SETTLED and checks that exactly what it says arrived. @throws when it was rejected */
export async function settled({ shop, chain, asset, destination }: Scene, id: string, before: bigint): Promise<Settled> {
  const settlement = await waitFor(
    async () => {
      const { status, receivedAmount, txHash } = await shop.getSettlement({ settlementId: id });
      if (status === 'REJECTED') throw new Error('the settlement was rejected');
      return status === 'SETTLED' && receivedAmount && txHash ? { receivedAmount, txHash } : undefined;
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
