import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Snapshot } from '#api/checkout/page/snapshot.ts';
import { checkoutScene, SCENE_TIME } from '#test/fixtures/checkout-scenes.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { aCheckoutStage, type CheckoutStage } from '#test/harness/checkout-stage.ts';
import { openPayer, type Payer } from './payer.ts';

const MINUTE = 60_000;
const SHOP = 'https://acme.example';

describeInBrowser('time on the page', (open) => {
  let stage: CheckoutStage;
  beforeAll(async () => {
    stage = await aCheckoutStage();
  });
  afterAll(() => stage?.stop());

  /** A payment of its own in the situation of a scene. */
  let made = 0;
  const aSnapshot = (scene: string, change: Partial<Snapshot> = {}): Snapshot => {
    const { snapshot } = checkoutScene(scene);
    const id = `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`;
    return { ...snapshot, ...change, payment: { ...snapshot.payment, ...change.payment, id } };
  };
  const later = (snapshot: Snapshot, ms: number): Snapshot => ({ ...snapshot, serverTime: new Date(SCENE_TIME + ms).toISOString() });
  /** A payer whose clock the test winds; the shop they return to has nothing but an address. */
  const aPayer = async (snapshot: Snapshot, clock = SCENE_TIME): Promise<Payer> => {
    const tab = await open({ origins: [SHOP], tolerate: /ERR_INTERNET_DISCONNECTED/ });
    await tab.page.clock.install({ time: clock });
    await tab.page.route(`${SHOP}/**`, (route) => route.fulfill({ body: 'Thank you', contentType: 'text/plain' }));
    const payer = await openPayer(tab, stage.show(snapshot));
    await payer.isLive();
    return payer;
  };

  /** From here on the page's clock goes only when it is wound, however slow this machine is: it may take it more than a moment to stop it. */
  const stopClock = async ({ page }: Payer): Promise<void> => {
    for (let aheadMs = 100; ; aheadMs *= 2) {
      const moment = (await page.evaluate(() => Date.now())) + aheadMs;
      const tooLate = await page.clock.pauseAt(moment).then(
        () => false,
        (error: Error) => {
          if (aheadMs < 3_000 && error.message.includes('to the past')) return true;
          throw error;
        },
      );
      if (!tooLate) return;
    }
  };

  it('is spoken of four times at most over a whole payment, slept through or not, and never again after a correction', async () => {
    const snapshot = aSnapshot('pay');
    const payer = await aPayer(snapshot);
    const { clock } = payer.page;
    const context = payer.page.context();
    /** Both clocks were wound on: the page hears from the server again, and is on its own afterwards. */
    const correct = async (minutes: number, status = snapshot.payment.status): Promise<void> => {
      stage.change({ ...later(snapshot, minutes * MINUTE), payment: { ...snapshot.payment, status } });
      await context.setOffline(false);
      await payer.isLive();
      await clock.runFor(2_000);
      await context.setOffline(true);
    };
    await context.setOffline(true);
    await clock.fastForward(4 * MINUTE);
    await clock.runFor(2 * MINUTE);
    await payer.shows('pay');
    await correct(6);
    await clock.fastForward(3.5 * MINUTE);
    await clock.runFor(MINUTE);
    await payer.shows('ending');
    await correct(10.5);
    await clock.fastForward(3 * MINUTE);
    await clock.runFor(2 * MINUTE);
    await payer.shows('checking');
    await correct(15.5, 'EXPIRED');
    await payer.shows('expired-grace');
    await clock.runFor(2 * MINUTE);
    // Three times it was connected again, which is not about time.
    const all = await payer.spoken();
    const spoken = all.filter((text) => text !== 'Connected again');
    expect(all.length - spoken.length).toBe(3);
    expect(spoken.map((text) => /\d+/.exec(text)?.[0] ?? text)).toEqual(['10', '5', '1', 'Time is up']);
  });

  it.each([7, -60 * 24 * 400])('is the server’s: with a phone that is %d minutes ahead there are 15 left', async (minutes) => {
    const payer = await aPayer(aSnapshot('pay'), SCENE_TIME + minutes * MINUTE);
    // Half past two in Berlin, with the zone's name.
    expect(await payer.part('timer').innerText()).toMatch(/^1[45] min left[\s\S]*14:32 (CET|GMT\+1)$/);
    await payer.shows('pay');
  });

  it('is not counted without an address, nor once something was found', async () => {
    stage.deaf = true;
    const payer = await aPayer(aSnapshot('choose'));
    for (const scene of ['choose', 'preparing', 'seen', 'success', 'under', 'expired-grace', 'expired']) {
      await payer.page.goto(stage.show(aSnapshot(scene)));
      await payer.isLive();
      expect(await payer.part('timer').count(), scene).toBe(0);
    }
    stage.deaf = false;
  });

  it('is what a payer who waits for an address is told about, and what the way out takes', async () => {
    const snapshot = aSnapshot('choose');
    const payer = await aPayer(snapshot);
    const status = () => payer.part('status').innerText();
    const retry = payer.page.locator('[data-part="retry"]').getByRole('button');
    await stopClock(payer);
    stage.deaf = true;
    await payer.choose(/ETH on /);
    await payer.shows('preparing');
    expect(await status()).toMatch(/^Preparing/);
    await payer.page.clock.runFor(6_000);
    expect(await status()).toMatch(/^Taking longer than usual/);
    expect(await retry.count()).toBe(0);
    await payer.page.clock.runFor(25_000);
    const asked = stage.asked.length;
    await retry.click();
    await expect.poll(() => stage.asked.length).toBeGreaterThan(asked);
    // From here on whoever asks is answered, the button or the page by itself: the button goes away with the first answer.
    stage.deaf = false;
    await payer.page.clock.resume();
    await payer.shows('pay');
  });

  it('runs five seconds before the payer is taken back, but never on a page that is opened when all is over', async () => {
    const snapshot = aSnapshot('pay');
    const payer = await aPayer(snapshot);
    await stopClock(payer);
    const paid = { ...aSnapshot('success'), payment: { ...aSnapshot('success').payment, id: snapshot.payment.id } };
    stage.change(later(paid, 1_000));
    await payer.shows('success');
    await payer.part('returning').waitFor();
    await payer.page.clock.runFor(3_500);
    expect(payer.page.url()).toContain(snapshot.payment.id);
    await payer.page.clock.runFor(2_000);
    await payer.page.waitForURL(`${SHOP}/thanks?*`);

    const again = await aPayer(aSnapshot('acceptable'));
    await again.page.clock.runFor(MINUTE);
    expect(await again.part('returning').count()).toBe(0);
    await again.part('return').click();
    await again.page.waitForURL(`${SHOP}/thanks?*`);
  });

  it('stands still once the payer wants to stay, and stays so when the page is loaded again', async () => {
    const snapshot = aSnapshot('pay');
    const payer = await aPayer(snapshot);
    await stopClock(payer);
    const paid = aSnapshot('success');
    stage.change(later({ ...paid, payment: { ...paid.payment, id: snapshot.payment.id } }, 1_000));
    await payer.shows('success');
    const here = payer.page.url();
    await payer.part('stop-returning').click();
    await payer.page.clock.runFor(MINUTE);
    await payer.page.reload();
    await payer.isLive();
    await payer.page.clock.runFor(MINUTE);
    expect(payer.page.url()).toBe(here);
    await payer.part('return').click();
    await payer.page.waitForURL(`${SHOP}/thanks?*`);
  });

  it('does not run while the payer is elsewhere', async () => {
    const payer = await aPayer(aSnapshot('pay'));
    await payer.leave();
    const id = new URL(payer.page.url()).pathname.slice('/p/'.length);
    const paid = aSnapshot('success');
    stage.change(later({ ...paid, payment: { ...paid.payment, id } }, 1_000));
    await payer.shows('success');
    await payer.page.clock.runFor(10_000);
    expect(payer.page.url()).toContain(id);
    await payer.comeBack();
    await payer.page.clock.runFor(6_000);
    await payer.page.waitForURL(`${SHOP}/thanks?*`);
  });

  it('takes nobody away who has to read', async () => {
    const payer = await aPayer(aSnapshot('mismatch'));
    for (const scene of ['under', 'over', 'mismatch', 'expired-grace', 'expired']) {
      await payer.page.goto(stage.show(aSnapshot(scene)));
      await payer.isLive();
      await payer.page.clock.runFor(MINUTE / 2);
      expect(payer.page.url(), scene).toContain(stage.origin);
      expect(await payer.part('return').getAttribute('href')).toContain(`${SHOP}/thanks?`);
    }
  });
});
