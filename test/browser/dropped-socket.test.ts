import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '#test/harness/browser.ts';
import type { RunningApi } from '#test/harness/deployables.ts';
import { type FaultProxy, faultProxy } from '#test/harness/fault-proxy.ts';
import { aScene, type Scene } from '#test/journeys/scene.ts';
import { type HostedShop, hostedShop } from './hosted-shop.ts';
import { openPayer, type Payer } from './payer.ts';

/** Within this of coming back, the page is right (ux C6). */
const RIGHT_MS = 3_000;
/** What Chromium says of a socket that the test took away. */
const tolerate = /WebSocket|ERR_|Failed to load resource/;

describeInBrowser('a page whose connection goes away in the middle of a payment', (open) => {
  let scene: Scene;
  let shop: HostedShop;
  /** Replicas that only answer, so that all that happens comes to them from the scene's api, over Redis. */
  let replicas: RunningApi[];
  let link: FaultProxy;
  beforeAll(async () => {
    scene = await aScene({ blockMs: 300 });
    shop = hostedShop(scene);
    // Where payers come to: both replicas are behind one address.
    link = await faultProxy({ port: 1 });
    const env = { SLUICE_ROLES: 'http', SLUICE_CHECKOUT_URL: `http://127.0.0.1:${link.port}` };
    replicas = await Promise.all([scene.world.startApi({ env }), scene.world.startApi({ env })]);
    leadTo(0);
  });
  afterAll(async () => {
    await link?.close();
    await scene?.stop();
  });

  const leadTo = (replica: number): void => link.leadTo(Number(new URL((replicas[replica] as RunningApi).checkoutOrigin).port));
  /** A payer who is about to send ether. */
  const aPayer = async (): Promise<{ payer: Payer; send(): Promise<void> }> => {
    const payment = await shop.create();
    const payer = await openPayer(await open({ tolerate, origins: [shop.origin] }), `http://127.0.0.1:${link.port}/p/${payment.id}`);
    await payer.choose(/ETH on /);
    await payer.shows('pay');
    await payer.isLive();
    return {
      payer,
      async send() {
        const { depositAddress, totalValue } = await shop.offer(payment, 'ETH');
        await shop.send('ETH', depositAddress as string, totalValue);
        await scene.resting(payment.id);
      },
    };
  };

  it('is right at once when the payer comes back from the wallet to a socket that is dead and does not know it', async () => {
    const { payer, send } = await aPayer();
    await payer.leave();
    link.goSilent();
    await send();
    expect(await payer.page.locator('main').getAttribute('data-state')).toBe('pay');
    await payer.comeBack();
    await payer.shows('success', RIGHT_MS);
  });

  it('says that the connection is lost while the device is offline, and is right when it is online again', async () => {
    const { payer, send } = await aPayer();
    await payer.page.context().setOffline(true);
    await payer.part('connection').getByText('Your payment is not affected').waitFor();
    // What was on the screen stays there to be read and paid.
    await payer.shows('pay');
    await send();
    await payer.page.context().setOffline(false);
    await payer.shows('success', RIGHT_MS);
    await payer.part('connection').waitFor({ state: 'hidden' });
  });

  it('asks again and again by itself while the server is out of reach, and goes on by socket afterwards', async () => {
    const { payer, send } = await aPayer();
    const downSince = performance.now();
    link.add({ type: 'down' });
    await payer.part('connection').waitFor({ state: 'visible' });
    await send();
    link.mend();
    // The longer it was away, the longer the pauses: on a slow machine that is how long the payment took.
    await payer.shows('success', Math.max(RIGHT_MS, performance.now() - downSince) + RIGHT_MS);
    await payer.leave();
    await payer.isLive();
  });

  it('reads over HTTP as long as no socket is let through', async () => {
    const payment = await shop.create();
    const tab = await open({ tolerate, origins: [shop.origin] });
    // A proxy that was never told about upgrades.
    await tab.page.routeWebSocket(/\/ws\//, (socket) => socket.close({ code: 1011 }));
    const payer = await openPayer(tab, `http://127.0.0.1:${link.port}/p/${payment.id}`);
    await payer.choose(/ETH on /);
    await payer.shows('pay');
    const { depositAddress, totalValue } = await shop.offer(payment, 'ETH');
    await shop.send('ETH', depositAddress as string, totalValue);
    await payer.shows('success');
    expect(await payer.page.locator('html[data-live="socket"]').count()).toBe(0);
    const polls = await Promise.all(replicas.map(async ({ opsUrl }) => (await fetch(`${opsUrl}/metrics`)).text()));
    expect(polls.join('\n')).toMatch(/^sluice_checkout_fallback_polls_total [1-9]/m);
  });

  it('moves to another replica when its own stops, and is told there what is seen and decided', async () => {
    const { payer } = await aPayer();
    leadTo(1);
    await replicas[0]?.stop();
    await payer.part('connection').waitFor({ state: 'hidden' });
    await payer.isLive();
    const mineAgain = await scene.holdBlocks();
    await shop.send('ETH', await payer.copy('copy-address'), await payer.copy('copy-amount'));
    await scene.chainOf('ETH').mine(1);
    await payer.shows('seen');
    mineAgain();
    await payer.shows('success');
  });
});
