import { parseTrusted } from '#shared/core/money.ts';
import type { DevFile } from './dev-file.ts';
import { type PlannedPayment, planDay } from './history-plan.ts';
import { askCashout, coinsWorth, createAndSelect, payFrom, resolved, type Scene, type SelectedPayment, setScene, settled } from './scene.ts';

/** Days that `npm start -- --with-history` plays. */
export const HISTORY_DAYS = 30;
const DAY_SECONDS = 86_400;
/** How much of what was asked arrives where the wrong amount does. */
const PARTS = { paid: 1, short: 0.6, over: 1.25 } as const;
/** The day, counted from 0, on which the shop's server had moved away from where webhooks go. */
const DAY_UNHEARD = 1;
/** A cashout of less would go to its fee. */
const WORTH_CASHING_USD = '20';

export interface HistoryOptions {
  days?: number;
  /** Hears how far it is. */
  say(line: string): void;
  /** Ends it between two days. */
  signal: AbortSignal;
}

/**
 * Plays days of a shop, one after the other, through its own API and the local chains: orders that are paid, paid wrongly or left, webhooks,
 * cashouts. The service clock goes on by a day each time, so that afterwards it is that far ahead. What waits for somebody is left at the end: webhooks that were not
 * delivered, and a cashout that the balance does not cover.
 * @throws when something does not come out as it must
 */
export async function playHistory(dev: DevFile, { days = HISTORY_DAYS, say, signal }: HistoryOptions): Promise<void> {
  const scenes = dev.localNetworks.map((network) => setScene(dev, network));
  const [first] = scenes;
  if (first === undefined) return;
  for (let day = 0; day < days; day++) {
    signal.throwIfAborted();
    if (day % 5 === 0) say(`history: day ${day + 1} of ${days}`);
    const { payments, cashout } = planDay(day, scenes.length);
    // A faucet sends one transaction after the other; networks do not wait for each other.
    await Promise.all(
      scenes.map((scene, index) =>
        playPayments(
          scene,
          payments.filter(({ network }) => network === index),
          day === DAY_UNHEARD ? `${scene.dev.webhookReceiver.origin}/moved` : scene.dev.webhookReceiver.url,
        ),
      ),
    );
    const scene = cashout === null ? undefined : scenes[cashout];
    if (scene !== undefined) await cashOutHalf(scene);
    await first.control.must('POST', '/clock/advance', { body: { seconds: DAY_SECONDS } });
  }
  await parkCashout(first);
}

async function playPayments(scene: Scene, planned: readonly PlannedPayment[], webhookUrl: string): Promise<void> {
  const made: { id: string; status: string }[] = [];
  for (const { order, customer, amount, outcome } of planned) {
    const body = { amount, webhookUrl, webhookParams: { order, customer } };
    if (outcome === 'unopened') {
      await scene.shop.createPayment({ body: { currencyCode: 'USD', checkoutMode: 'API', ...body } });
      continue;
    }
    const payment = await createAndSelect(scene, body);
    if (outcome === 'left') continue;
    await payFrom(scene, payment, scene.asset, partOf(payment, PARTS[outcome], scene.asset.decimals));
    made.push({ id: payment.id, status: outcome === 'paid' ? 'SUCCESS' : 'MISMATCH' });
  }
  for (const { id, status } of made) {
    await resolved(scene, id, status);
    await scene.shop.verifyPayment({ paymentId: id });
  }
}

function partOf({ totalValue }: SelectedPayment, part: number, decimals: number): string {
  return part === 1 ? totalValue : (Number(totalValue) * part).toFixed(Math.min(decimals, 8));
}

/** Leaves enough for the next one; nothing where there is too little. */
async function cashOutHalf(scene: Scene): Promise<void> {
  const { items } = await scene.shop.listBalances();
  const available = items.find(({ assetId }) => assetId === scene.asset.id)?.totalAvailable ?? '0';
  const half = String(Number((Number(available) / 2).toFixed(Math.min(scene.asset.decimals, 6))));
  if (parseTrusted(half) < parseTrusted(await coinsWorth(scene, scene.asset, WORTH_CASHING_USD))) return;
  const { id, before } = await askCashout(scene, { amount: half, metadata: { requester: 'history' } });
  await settled(scene, id, before);
}

/** Leaves a cashout of more than there is, which waits until the balance covers it; the shop is as it was afterwards. */
async function parkCashout(scene: Scene): Promise<void> {
  const { control, dev, shop, asset } = scene;
  const { items } = await shop.listBalances();
  const total = Number(items.find(({ assetId }) => assetId === asset.id)?.totalAvailable ?? '0');
  const more = (total * 2 + Number(await coinsWorth(scene, asset, WORTH_CASHING_USD))).toFixed(Math.min(asset.decimals, 6));
  const park = (parkingEnabled: boolean) => control.must('PATCH', `/gateways/${dev.gateway.id}`, { body: { cashout: { parkingEnabled } } });
  await park(true);
  await askCashout(scene, { amount: String(Number(more)), metadata: { requester: 'history' } });
  await park(false);
}
