import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { CHECKOUT_SCENES, checkoutScene } from '#test/fixtures/checkout-scenes.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { aCheckoutStage, type CheckoutStage } from '#test/harness/checkout-stage.ts';
import { openPayer } from './payer.ts';

/** A scene per state, and those that have controls of their own. */
const SCENES = CHECKOUT_SCENES.filter(
  ({ name, state }, index) => CHECKOUT_SCENES.findIndex((one) => one.state === state) === index || /sandbox|uri|again/.test(name),
);

describeInBrowser('a payer without a mouse', (open) => {
  let stage: CheckoutStage;
  beforeAll(async () => {
    stage = await aCheckoutStage();
  });
  beforeEach(() => {
    stage.deaf = false;
  });
  afterAll(() => stage?.stop());

  it('reaches everything that can be pressed, in reading order, sees where they are, and gets out again', async () => {
    const { page } = await open();
    for (const scene of SCENES) {
      // A page that waits for its address asks for it again by itself.
      stage.deaf = scene.state === 'preparing';
      const url = stage.show(scene.snapshot);
      await page.goto(scene.choosing ? `${url}?choose` : url);
      await page.locator(`main[data-state="${scene.state}"]`).waitFor();
      await page.locator('html[data-live="socket"]').waitFor();
      const controls = await page.evaluate(numberControls);
      expect(controls, scene.name).toBeGreaterThan(0);
      for (let number = 1; number <= controls; number++) {
        await page.keyboard.press('Tab');
        expect(await page.evaluate(describeFocus), `${scene.name}, stop ${number}`).toEqual({ number, marked: true, covered: false });
      }
      await page.keyboard.press('Tab');
      // Out of the page, or around to its beginning where a browser has nothing else to focus.
      expect([0, 1], scene.name).toContain((await page.evaluate(describeFocus)).number);
    }
  });

  it('chooses, copies, looks at the details and stays, by keys alone', async () => {
    const { snapshot } = checkoutScene('choose');
    const payer = await openPayer(await open(), stage.show(snapshot));
    await payer.isLive();
    const { keyboard } = payer.page;
    const radios = payer.part('chooser').getByRole('radio');
    await tabTo(payer.page, '[data-part="chooser"] input');
    await keyboard.press('Space');
    for (let step = 0; step < 2; step++) await keyboard.press('ArrowDown');
    expect(await radios.nth(2).isChecked()).toBe(true);
    const thirdId = await radios.nth(2).inputValue();
    const third = snapshot.payment.offers.find(({ id }) => id === thirdId);
    await tabTo(payer.page, '[data-part="chooser"] button[type="submit"]');
    await keyboard.press('Enter');
    await payer.shows('pay');
    expect(stage.asked.at(-1)).toMatchObject({ paymentId: snapshot.payment.id, offerId: third?.id });
    // The button that was pressed is gone, so the new screen's title has the focus.
    expect(await payer.page.evaluate(() => document.activeElement?.id)).toBe('title');

    await tabTo(payer.page, '[data-part="copy-amount"]');
    await keyboard.press('Enter');
    await expect.poll(() => payer.page.evaluate(() => navigator.clipboard.readText())).toBe(third?.totalValue);
    await expect.poll(() => payer.spoken()).toContain('Amount copied');
    await tabTo(payer.page, '[data-part="details"] summary');
    await keyboard.press('Enter');
    await tabTo(payer.page, '[data-part="copy-payment-id"]');
    await keyboard.press('Space');
    await expect.poll(() => payer.page.evaluate(() => navigator.clipboard.readText())).toBe(snapshot.payment.id);

    await payer.leave();
    stage.change({ ...checkoutScene('success').snapshot, payment: { ...checkoutScene('success').snapshot.payment, id: snapshot.payment.id } });
    await payer.shows('success');
    await tabTo(payer.page, '[data-part="stop-returning"]');
    await keyboard.press('Enter');
    await payer.part('stop-returning').waitFor({ state: 'detached' });
    expect(await payer.page.evaluate(() => document.activeElement !== document.body)).toBe(true);
  });

  it('plays a sandbox payment by keys', async () => {
    const { snapshot } = checkoutScene('pay-sandbox');
    const payer = await openPayer(await open(), stage.show(snapshot));
    await payer.isLive();
    await tabTo(payer.page, '[data-part="sandbox"] button[value="underpaid"]');
    await payer.page.keyboard.press('Enter');
    await expect.poll(() => stage.asked.at(-1)).toEqual({ paymentId: snapshot.payment.id, scenario: 'underpaid' });
  });

  it('is taken to the new title only when what they were at is gone', async () => {
    const { snapshot } = checkoutScene('pay');
    const payer = await openPayer(await open(), stage.show(snapshot));
    await payer.isLive();
    const focused = () => payer.page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName);
    const { pendingDeposit } = checkoutScene('seen').snapshot;
    await payer.part('language').locator('summary').focus();
    stage.change({ ...snapshot, pendingDeposit });
    await payer.shows('seen');
    expect(await focused()).not.toBe('title');
    expect(await payer.page.evaluate(() => document.activeElement?.tagName)).toBe('SUMMARY');

    stage.change(snapshot);
    await payer.shows('pay');
    await payer.part('copy-address').focus();
    stage.change({ ...snapshot, pendingDeposit });
    await payer.shows('seen');
    await expect.poll(focused).toBe('title');
  });
});

/** Presses Tab until the focus is at the element. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
    await page.keyboard.press('Tab');
  }
  expect.fail(`Tab never reaches ${selector}`);
}

/** Runs in the page: numbers what Tab has to stop at, in the order of the document. */
function numberControls(): number {
  const controls = [...document.querySelectorAll<HTMLElement>('a[href], button, input, select, summary, [tabindex="0"]')].filter((one) => {
    if (one.matches(':disabled, [type="hidden"], [tabindex="-1"]') || !one.checkVisibility()) return false;
    // Of radio buttons only one is a stop: the checked one, or the first.
    if (!(one instanceof HTMLInputElement) || one.type !== 'radio') return true;
    const group = [...document.querySelectorAll<HTMLInputElement>(`input[type="radio"][name="${one.name}"]`)];
    return one === (group.find((radio) => radio.checked) ?? group[0]);
  });
  for (const [index, one] of controls.entries()) one.dataset.stop = String(index + 1);
  return controls.length;
}

/** Runs in the page: which stop has the focus (0: none), whether it shows, and whether something lies over it (WCAG 2.4.7, 2.4.11). */
function describeFocus(): { number: number; marked: boolean; covered: boolean } {
  const focused = document.activeElement as HTMLElement;
  const label = focused.closest('label');
  const marked = [focused, label].some((one) => {
    if (one === null) return false;
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    return outlineStyle !== 'none' && Number.parseInt(outlineWidth, 10) >= 2;
  });
  const { left, top, width, height } = (label ?? focused).getBoundingClientRect();
  const above = document.elementFromPoint(left + width / 2, top + height / 2);
  const covered = above === null || !((label ?? focused).contains(above) || above.contains(focused));
  return { number: Number(focused.dataset.stop ?? 0), marked, covered };
}
