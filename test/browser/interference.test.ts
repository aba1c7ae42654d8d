import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkoutScene, SCENE_TIME } from '#test/fixtures/checkout-scenes.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { aCheckoutStage, type CheckoutStage } from '#test/harness/checkout-stage.ts';
import { openPayer } from './payer.ts';

let stage: CheckoutStage;
beforeAll(async () => {
  stage = await aCheckoutStage();
});
afterAll(() => stage?.stop());

describeInBrowser('a page that something else works on', (open) => {
  it('goes on in a browser that translates it: no state and no time stays behind', async () => {
    const { snapshot } = checkoutScene('ending');
    const payer = await openPayer(await open(), stage.show(snapshot));
    await payer.isLive();
    const translated = async () => {
      await payer.page.evaluate(translateAll);
      return payer.page.locator('main').innerText();
    };
    const before = await translated();
    const timeLeft = await payer.part('timer').innerText();
    await expect.poll(() => payer.part('timer').innerText()).not.toBe(timeLeft);
    await payer.part('copy-address').click();
    await expect.poll(() => payer.part('copy-address').innerText()).toBe('Copied');
    await translated();

    const { pendingDeposit } = checkoutScene('seen').snapshot;
    stage.change({ ...snapshot, pendingDeposit: { ...pendingDeposit!, confirmations: 3 } });
    await payer.shows('seen');
    await expect.poll(() => payer.title.innerText()).toBe('Payment found');
    expect(await payer.part('status').innerText()).toBe('Payment found');
    await translated();
    stage.change({ ...snapshot, pendingDeposit: { ...pendingDeposit!, confirmations: 4 } });
    await expect.poll(() => payer.page.locator('[data-part="confirmations"]').innerText()).toContain('4 of');

    const success = checkoutScene('success').snapshot;
    await translated();
    await payer.leave();
    stage.change({ ...success, payment: { ...success.payment, id: snapshot.payment.id } });
    await payer.shows('success');
    await translated();
    const after = await payer.page.locator('main').innerText();
    expect(after).toContain('$49.90 paid to Acme Books');
    for (const line of before.split('\n').filter((text) => text.length > 20)) expect(after).not.toContain(line);
    await payer.part('stop-returning').click();
    expect(await payer.part('return').innerText()).toBe('Return to Acme Books');
  });

  it('says that it does not update by itself when its program never arrives, and not before', async () => {
    const { page } = await open({ tolerate: /Failed to load resource/ });
    await page.route('**/*.js', (route) => route.abort());
    await page.clock.install({ time: SCENE_TIME });
    await page.goto(stage.show(checkoutScene('pay').snapshot));
    const refresh = page.locator('[data-part="refresh"]');
    expect(await refresh.isVisible()).toBe(false);
    await refresh.waitFor({ timeout: 8_000 });
  });

  it('has the regions that speak in its tree before they have something to say', async () => {
    const payer = await openPayer(await open(), stage.show(checkoutScene('choose').snapshot));
    await payer.isLive();
    for (const part of ['connection', 'problem', 'status', 'spoken'] as const) {
      expect([part, await payer.part(part).evaluate((region) => [region.textContent, region.checkVisibility()])]).toEqual([part, ['', true]]);
    }
  });

  it('changes its language in place: the browser’s own way back does not lead through the languages', async () => {
    const payer = await openPayer(await open(), stage.show(checkoutScene('pay').snapshot));
    await payer.isLive();
    const before = await payer.page.evaluate(() => history.length);
    await payer.speak('tr');
    await payer.isLive();
    await payer.speak('es');
    expect(await payer.page.evaluate(() => history.length)).toBe(before);
  });
});

/** Runs in the page: what a browser's translation does to every text. */
function translateAll(): void {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  for (const text of texts) {
    if (text.data.trim() === '' || text.parentElement?.closest('[translate="no"], font')) continue;
    const font = document.createElement('font');
    const inner = document.createElement('font');
    inner.textContent = text.data;
    font.append(inner);
    text.replaceWith(font);
  }
}
