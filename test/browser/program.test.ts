import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkoutScene, SCENE_TIME } from '#test/fixtures/checkout-scenes.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { aCheckoutStage, type CheckoutStage } from '#test/harness/checkout-stage.ts';
import { openPayer, payerAt } from './payer.ts';

let stage: CheckoutStage;
beforeAll(async () => {
  stage = await aCheckoutStage();
});
afterAll(() => stage?.stop());

describeInBrowser('the page’s program', (open) => {
  it('goes on with what the server rendered instead of drawing it again', async () => {
    const tab = await open();
    const { page } = tab;
    await page.addInitScript(keepFirst, ['main', 'h1', '[data-part="qr"] svg', '[data-part="address"]']);
    const payer = await openPayer(tab, stage.show(checkoutScene('pay').snapshot));
    await payer.isLive();
    await payer.part('copy-amount').waitFor();
    expect(await page.evaluate(areFirst)).toEqual({ main: true, h1: true, '[data-part="qr"] svg': true, '[data-part="address"]': true });
  });

  it('copies byte for byte where the browser has no clipboard for it, and leaves the focus at the button', async () => {
    const tab = await open();
    const { page } = tab;
    await page.addInitScript(refuseToWrite);
    const { snapshot } = checkoutScene('pay-token-uri');
    const payer = await openPayer(tab, stage.show(snapshot));
    await payer.isLive();
    for (const [button, notice, text] of [
      ['copy-amount', 'Amount copied', '49.929957974784870922'],
      ['copy-address', 'Address copied', snapshot.payment.offers.find(({ id }) => id === snapshot.payment.selectedOfferId)?.depositAddress],
    ] as const) {
      await payer.part(button).click();
      await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(text);
      expect(await payer.part(button).evaluate((element) => element === document.activeElement)).toBe(true);
      await expect.poll(async () => (await payer.spoken()).at(-1)).toBe(notice);
    }
    expect(await page.locator('textarea').count()).toBe(0);
  });

  it('shows the chooser again after a reload and in another language, until something is chosen', async () => {
    const tab = await open();
    const payer = await openPayer(tab, stage.show(checkoutScene('pay').snapshot));
    await payer.isLive();
    await payer.part('choose-again').click();
    await payer.shows('choose');
    await tab.page.reload();
    await payer.shows('choose');
    await payer.isLive();
    await payer.speak('tr');
    await payer.shows('choose');
    await payer.isLive();
    await payer.choose(/Bitcoin/);
    await payer.shows('pay');
    await tab.page.reload();
    await payer.shows('pay');
    expect(await tab.page.locator('html').getAttribute('lang')).toBe('tr');
    expect(new URL(tab.page.url()).search).toBe('?lang=tr');
  });

  it('waits as long as an overloaded server says, then shows the payment (ux E5)', async () => {
    const { page } = await open({ tolerate: /Failed to load resource/ });
    const { snapshot } = checkoutScene('pay');
    // Its clock stands from the beginning: seven seconds are short for a slow machine.
    await page.clock.install({ time: SCENE_TIME });
    await page.clock.pauseAt(SCENE_TIME + 1_000);
    await page.goto(stage.fail(snapshot.payment.id, 'rate_limit_exceeded'));
    await page.locator('main[data-state="busy"]').waitFor();
    stage.show(snapshot);
    await page.clock.runFor(6_000);
    expect(await page.locator('main').getAttribute('data-state')).toBe('busy');
    await page.clock.runFor(4_000);
    await payerAt(page).shows('pay');
  });

  it('leaves a payment that is gone to the server’s own page', async () => {
    const tab = await open({ tolerate: /Failed to load resource|WebSocket/ });
    const { snapshot } = checkoutScene('pay');
    const payer = await openPayer(tab, stage.show(snapshot));
    await payer.isLive();
    await payer.leave();
    stage.fail(snapshot.payment.id, 'not_found');
    await payer.comeBack();
    await tab.page.locator('main[data-state="not-found"]').waitFor();
  });
});

interface Kept {
  firsts: Record<string, Element | null>;
}

/** Runs in the page before its program: keeps the elements that the server sent. */
function keepFirst(selectors: string[]): void {
  const kept = window as unknown as Kept;
  kept.firsts = {};
  new MutationObserver(() => {
    for (const selector of selectors) kept.firsts[selector] ??= document.querySelector(selector);
  }).observe(document, { childList: true, subtree: true });
}

/** Runs in the page: which of them are still the ones in use. */
function areFirst(): Record<string, boolean> {
  const { firsts } = window as unknown as Kept;
  return Object.fromEntries(Object.entries(firsts).map(([selector, element]) => [selector, element === document.querySelector(selector)]));
}

/** Runs in the page before its program: a page without TLS has no clipboard to write to. */
function refuseToWrite(): void {
  navigator.clipboard.writeText = async () => {
    throw new DOMException('Write permission denied.', 'NotAllowedError');
  };
}
