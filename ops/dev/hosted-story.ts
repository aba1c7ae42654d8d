import { createHosted, type HostedPayment } from './demo-payments.ts';
import type { Payer } from './hosted-payers.ts';
import { coinsWorth, expectEqual, offerOf, PATIENCE_MS, payFrom, type Scene, type Story, webhookArrived } from './scene.ts';
import { waitFor } from './services/wait.ts';

/** What happens to payments on their hosted page, from the link to the way back to the merchant. */
export function hostedStories(payer: Payer): readonly Story[] {
  return [
    { name: 'paid on its page', tell: (scene) => payOnPage(scene, payer) },
    { name: 'underpaid on its page', tell: (scene) => underpayOnPage(scene, payer) },
    { name: 'played in the sandbox', tell: (scene) => playOnPage(scene, payer), fits: ({ dev, network }) => network === Object.keys(dev.networks)[0] },
  ];
}

/** open → choose → pay → seen → success → back at the merchant, who verifies. */
async function payOnPage(scene: Scene, payer: Payer): Promise<string> {
  const { payment, offer, depositAddress, screens } = await chooseOnPage(scene, payer);
  await payFrom(scene, { id: payment.paymentUid, depositAddress, totalValue: offer.totalValue }, scene.asset, offer.totalValue);
  await watch(payer, ['success'], screens);
  const arrived = await comeBack(scene, payer, payment, 'SUCCESS');
  return `chose ${scene.asset.symbol}, sent ${offer.totalValue}, saw ${screens.join(' → ')}, back at ${arrived}`;
}

/** Half of what was asked: the page says so, and leaves it to the payer to go back. */
async function underpayOnPage(scene: Scene, payer: Payer): Promise<string> {
  const { payment, offer, depositAddress, screens } = await chooseOnPage(scene, payer);
  const half = await coinsWorth(scene, scene.asset, '5');
  await payFrom(scene, { id: payment.paymentUid, depositAddress, totalValue: offer.totalValue }, scene.asset, half);
  await watch(payer, ['under'], screens);
  await webhookArrived(scene, payment.paymentUid, 'MISMATCH');
  const { returnUrl = '' } = await payer.read();
  expectEqual('status in the link back', new URL(returnUrl).searchParams.get('status'), 'MISMATCH');
  return `sent ${half} of ${offer.totalValue} ${scene.asset.symbol}, saw ${screens.join(' → ')}, and a link back`;
}

/** The same without coins: a button of the page plays what a chain would do. */
async function playOnPage(scene: Scene, payer: Payer): Promise<string> {
  const payment = await createHosted(scene.dev, { amount: '10', isSandbox: true });
  await payer.open(payment.paymentUrl);
  await payer.play('success');
  const screens = await watch(payer, ['success']);
  const arrived = await comeBack(scene, payer, payment, 'SUCCESS');
  return `pressed a button, saw ${screens.join(' → ')}, back at ${arrived}`;
}

/** A payment that waits for its coins, and the screens shown so far. */
interface Chosen {
  payment: HostedPayment;
  offer: { id: string; totalValue: string };
  depositAddress: string;
  screens: string[];
}

/** Opens a new payment and chooses the usual asset; what the page asks for must be the offer, digit for digit. */
async function chooseOnPage(scene: Scene, payer: Payer): Promise<Chosen> {
  const payment = await createHosted(scene.dev, { amount: '10' });
  const created = await scene.shop.getPublicPayment({ paymentId: payment.paymentUid });
  const offer = offerOf(scene, 'offers' in created ? created.offers : []);
  await payer.open(payment.paymentUrl);
  const screens = await watch(payer, ['choose']);
  await payer.choose(offer.id);
  await watch(payer, ['pay', 'ending'], screens);
  const { amount, address } = await payer.read();
  expectEqual('amount on the page', amount?.split(/\s/)[0], offer.totalValue);
  if (address === undefined) throw new Error('the page shows no address');
  return { payment, offer, depositAddress: address, screens };
}

/** Looks at the page until it shows one of these screens; adds all that were shown on the way to `screens`, and answers them. */
async function watch(payer: Payer, wanted: readonly string[], screens: string[] = []): Promise<string[]> {
  return waitFor(
    async () => {
      const { state } = await payer.read();
      if (screens.at(-1) !== state) screens.push(state);
      return wanted.includes(state) ? screens : undefined;
    },
    { what: `the page to show ${wanted.join(' or ')}`, timeoutMs: PATIENCE_MS, everyMs: 250 },
  );
}

/** Follows the payer back to the shop, which believes nothing of what the address says but asks the service. */
async function comeBack(scene: Scene, payer: Payer, { paymentUid }: HostedPayment, status: string): Promise<string> {
  await webhookArrived(scene, paymentUid, status);
  const { url, html } = await payer.comeBack();
  expectEqual('payment in the address', url.searchParams.get('paymentUid'), paymentUid);
  expectEqual('status in the address', url.searchParams.get('status'), status);
  if (!html.includes(paymentUid)) throw new Error('the shop did not get the payment');
  const verified = await scene.shop.verifyPayment({ paymentId: paymentUid });
  expectEqual('status on verify', verified.status, status);
  return `${url.pathname}?…status=${status}`;
}
