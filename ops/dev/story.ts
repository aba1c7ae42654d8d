import { createHmac } from 'node:crypto';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { type Answer, type Merchant, merchant, must, newKey, type Operator, operator } from './client.ts';
import type { DevFile } from './dev-file.ts';
import { familyOf } from './families.ts';
import type { LocalChain } from './local-chain.ts';
import { waitFor } from './services/wait.ts';
import type { ReceivedWebhook } from './webhook-receiver.ts';

type Asset = DevFile['assets'][number];

interface Offer {
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
  /** What payments are priced in, and another asset to pay by mistake: a token where there is another one. */
  asset: Asset;
  otherAsset: Asset;
  /** Where a cashout goes: a stranger to the deployment. */
  destination: string;
}

/** How long anything may take on a local chain. */
export const PATIENCE_MS = 90_000;

/** Prepares the demo on one network. @throws when the network has no faucet, no token, or nothing to confuse it with */
export function setScene(dev: DevFile, network: string): Scene {
  const found = dev.networks[network];
  if (found?.faucetPrivateKey === undefined) throw new Error(`${network} has no faucet`);
  const assets = dev.assets.filter((one) => one.network === network);
  const asset = assets.find((one) => one.symbol === 'USDT') ?? assets.find((one) => one.contract !== null);
  const others = assets.filter((one) => one !== asset);
  const otherAsset = others.find((one) => one.contract !== null) ?? others[0];
  if (asset === undefined || otherAsset === undefined) throw new Error(`${network} has no token and another asset beside it`);
  const { open, outsider } = familyOf(found.family);
  return {
    dev,
    network,
    chain: open(found.rpcUrl),
    destination: outsider,
    shop: merchant(dev.api.baseUrl, dev.gateway),
    control: operator(dev.operatorUrl, dev.operatorToken),
    asset,
    otherAsset,
  };
}

/** create → select → pay → confirm → webhook → verify → cashout → SETTLED. */
export async function payAndCashOut(scene: Scene): Promise<string> {
  const payment = await createAndSelect(scene);
  await payFrom(scene, payment, scene.asset, payment.totalValue);
  await resolved(scene, payment.id, 'SUCCESS');
  await webhookArrived(scene, payment.id, 'SUCCESS');
  const verified = await scene.shop.must('POST', `/payments/${payment.id}/verify`);
  expectEqual('status on verify', verified.status, 'SUCCESS');
  const settlement = await cashOut(scene, '5');
  return `${verified.receivedAmount} ${verified.receivedAssetSymbol} received, ${settlement.receivedAmount} cashed out in ${short(settlement.txHash)}`;
}

/** Half of what was asked: MISMATCH. */
export async function payTooLittle(scene: Scene): Promise<string> {
  const payment = await createAndSelect(scene);
  await payFrom(scene, payment, scene.asset, '5');
  await resolved(scene, payment.id, 'MISMATCH');
  await webhookArrived(scene, payment.id, 'MISMATCH');
  const verified = await scene.shop.must('POST', `/payments/${payment.id}/verify`);
  expectEqual('amount received', verified.receivedAmount, '5');
  expectEqual('deviation', verified.deviationUsd, '-5.00');
  return `received ${verified.receivedAmount} of ${verified.expectedAmount}, deviation ${verified.deviationUsd} USD`;
}

/** Another token than the one selected: judged at its own price and credited in what arrived. */
export async function payWrongAsset(scene: Scene): Promise<string> {
  const payment = await createAndSelect(scene);
  await payFrom(scene, payment, scene.otherAsset, await worth(scene, payment.totalValue));
  await resolved(scene, payment.id, 'SUCCESS');
  await webhookArrived(scene, payment.id, 'SUCCESS');
  const verified = await scene.shop.must('POST', `/payments/${payment.id}/verify`);
  expectEqual('asset selected', verified.assetSymbol, scene.asset.symbol);
  expectEqual('asset received', verified.receivedAssetSymbol, scene.otherAsset.symbol);
  return `selected ${scene.asset.symbol}, received ${verified.receivedAmount} ${verified.receivedAssetSymbol}`;
}

/** Nobody pays until the deadline, then somebody does: EXPIRED, then captured late with a second webhook. */
export async function payLate(scene: Scene): Promise<string> {
  const timeoutSeconds = 120;
  const payment = await createAndSelect(scene, { timeoutSeconds });
  await scene.control.must('POST', '/clock/advance', { body: { seconds: timeoutSeconds + 1 } });
  await resolved(scene, payment.id, 'EXPIRED');
  await webhookArrived(scene, payment.id, 'EXPIRED');
  await payFrom(scene, payment, scene.asset, payment.totalValue);
  await resolved(scene, payment.id, 'SUCCESS');
  await webhookArrived(scene, payment.id, 'SUCCESS');
  const verified = await scene.shop.must('POST', `/payments/${payment.id}/verify`);
  expectEqual('deposit path', verified.depositPath, 'late_capture');
  expectEqual('webhooks', [...new Set(await webhooksOf(scene, payment.id))].join(', '), 'EXPIRED, SUCCESS');
  return 'EXPIRED, then captured late; two webhooks';
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

/** How much of the other asset is worth as much as `coins` of the usual one, rounded up to its decimals. */
async function worth({ control, asset, otherAsset }: Scene, coins: string): Promise<string> {
  const { items } = (await control.must('GET', '/prices')) as { items: { symbol: string; usd: string | null }[] };
  const priceOf = (symbol: string): bigint => parseTrusted(items.find((one) => one.symbol === symbol)?.usd ?? '0');
  const otherPrice = priceOf(otherAsset.symbol);
  if (otherPrice === 0n) throw new Error(`${otherAsset.symbol} has no price`);
  const step = 10n ** BigInt(18 - otherAsset.decimals);
  const exact = (parseTrusted(coins) * priceOf(asset.symbol)) / otherPrice;
  return formatAmount(((exact + step - 1n) / step) * step);
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
async function webhookArrived(scene: Scene, paymentId: string, status: string): Promise<void> {
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
async function webhooksOf(scene: Scene, paymentId: string): Promise<string[]> {
  const received = (await (await fetch(scene.dev.webhookReceiver.log)).json()) as ReceivedWebhook[];
  const bodies = received.map((one) => JSON.parse(one.body) as { paymentId: string; status: string });
  return bodies.filter((one) => one.paymentId === paymentId).map((one) => one.status);
}

async function cashOut(scene: Scene, coins: string): Promise<Settled> {
  const { asset } = scene;
  await inPool(scene, 'totalAvailable', coins);
  const { answer, before } = await askCashout(scene, { amount: coins });
  if (!answer.success) throw new Error(`cashout of ${asset.symbol}: ${answer.status} ${answer.error.code}: ${answer.error.message}`);
  return settled(scene, String(answer.data.id), before);
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

function rawUnits(coins: string, decimals: number): bigint {
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
