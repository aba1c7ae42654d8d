import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CheckoutState } from '#api/checkout/page/state.ts';
import { CHECKOUT_FAILURES, CHECKOUT_SCENES, checkoutScene, type Scene } from '#test/fixtures/checkout-scenes.ts';
import { describeInBrowser, type OpenTab } from '#test/harness/browser.ts';
import { aCheckoutStage, type CheckoutStage } from '#test/harness/checkout-stage.ts';
import { readQr } from '#test/harness/read-qr.ts';
import { axeFindings, type Tab, type TabOptions } from '#test/harness/tab.ts';
import { overflowing } from './overflowing.ts';
import { payerAt } from './payer.ts';
import { pseudoPage } from './pseudo-page.ts';

const SHOP = 'https://acme.example';
/** The smallest that must do (ux C14), which is also 1,280 px at 400 %. */
const NARROW = { width: 320, height: 640 };

let stage: CheckoutStage;
beforeAll(async () => {
  stage = await aCheckoutStage();
});
afterAll(() => stage?.stop());

/** Every state, in groups that one tab goes through. */
const GROUPS: Record<string, CheckoutState[]> = {
  'before an address is there': ['choose', 'not-payable', 'preparing'],
  'while paying': ['pay', 'ending', 'open', 'checking'],
  'with coins on their way': ['seen', 'seen-late', 'seen-after'],
  'once decided': ['success', 'acceptable', 'under', 'over', 'mismatch', 'expired-grace', 'expired'],
};

/** A small tab without transitions. The shop answers a return with nothing, so that the page stays. */
async function openNarrow(open: OpenTab, options: TabOptions = {}): Promise<Tab> {
  const tab = await open({ viewport: NARROW, origins: [SHOP], reducedMotion: 'reduce', ...options });
  await tab.page.route(`${SHOP}/**`, (route) => route.fulfill({ status: 204 }));
  return tab;
}

/** Shows a scene in a tab and waits until its program runs. */
async function goTo({ page }: Tab, { snapshot, choosing, state }: Scene, query = ''): Promise<void> {
  // Else the page would select again, and get its address.
  stage.deaf = state === 'preparing';
  await page.goto(`${stage.show(snapshot)}?${query}${choosing ? '&choose' : ''}`);
  const payer = payerAt(page);
  await payer.isLive();
  await payer.shows(state);
}

describeInBrowser('every state of the checkout', (open) => {
  it.each(Object.entries(GROUPS))('%s: axe finds nothing in light and dark, and 320 px are enough', async (_group, states) => {
    const tab = await openNarrow(open);
    const findings: Record<string, string[]> = {};
    for (const scene of CHECKOUT_SCENES.filter(({ state }) => states.includes(state))) {
      await goTo(tab, scene);
      const found = [...(await axeFindings(tab.page)), ...(await overflowing(tab.page))];
      await tab.page.emulateMedia({ colorScheme: 'dark' });
      found.push(...(await axeFindings(tab.page, ['color-contrast'])));
      await tab.page.emulateMedia({ colorScheme: 'light' });
      if (found.length > 0) findings[scene.name] = found;
    }
    expect(findings).toEqual({});
  });

  it('is in one of those groups', () => {
    expect(new Set(CHECKOUT_SCENES.map(({ state }) => state))).toEqual(new Set(Object.values(GROUPS).flat()));
  });

  it('of an error: axe finds nothing, 320 px are enough, and nothing of a payment is said', async () => {
    const { page } = await openNarrow(open, { tolerate: /Failed to load resource/ });
    // All that its program does is to load it again after some seconds, which to look at it may take on a slow machine.
    await page.route('**/*.js', (route) => route.abort());
    for (const { paymentId, code, state, status } of CHECKOUT_FAILURES) {
      const answer = await page.goto(stage.fail(paymentId, code));
      expect([answer?.status(), await page.locator('main').getAttribute('data-state')]).toEqual([status, state]);
      expect([state, ...(await axeFindings(page)), ...(await overflowing(page))]).toEqual([state]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect([state, ...(await axeFindings(page, ['color-contrast']))]).toEqual([state]);
      expect(await page.locator('body').innerText()).not.toMatch(/Acme|\d+\.\d+/);
    }
  });

  it('of a receipt: axe finds nothing, 320 px are enough, and paper gets nothing to press', async () => {
    const { page } = await openNarrow(open);
    await page.goto(`${stage.show(checkoutScene('success').snapshot)}/receipt`);
    await page.locator('main[data-state="receipt"]').waitFor();
    expect([...(await axeFindings(page)), ...(await overflowing(page))]).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await axeFindings(page, ['color-contrast'])).toEqual([]);
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('a:visible, button:visible, summary:visible').count()).toBe(0);
    expect(await page.locator('main').innerText()).toContain('$49.90 paid to Acme Books');
  });

  it('with many ways to pay finds one by its name, and says when there is none', async () => {
    const { page } = await openNarrow(open);
    await goTo({ page } as Tab, checkoutScene('choose-many'));
    const shown = page.locator('[data-part="chooser"] label.way:visible');
    expect(await shown.count()).toBe(12);
    await page.locator('[data-part="seek"]').fill(' usdt on POLY');
    await expect.poll(() => shown.allInnerTexts().then((texts) => texts.map((text) => text.includes('USDT on Polygon')))).toEqual([true, true, true]);
    await page.locator('[data-part="seek"]').fill('doge');
    await expect.poll(() => shown.count()).toBe(0);
    expect(await page.locator('[data-part="chooser"]').innerText()).toContain('Nothing here has that name.');
  });

  it('keeps its columns where they are on a desk, from the first state to the last', async () => {
    const { page } = await openNarrow(open, { viewport: { width: 1440, height: 900 } });
    const columns: Record<string, (number | undefined)[]> = {};
    for (const scene of CHECKOUT_SCENES) {
      await goTo({ page } as Tab, scene);
      const boxes = await Promise.all(['.summary', '.action'].map((part) => page.locator(part).boundingBox()));
      columns[scene.name] = boxes.flatMap((box) => [box?.x, box?.width]);
    }
    const first = columns.choose;
    expect(Object.entries(columns).filter(([, places]) => places.join() !== first?.join())).toEqual([]);
  });

  it('is drawn by the server as it is by the program, without one inline script or style', async () => {
    for (const { name, snapshot, choosing, state } of CHECKOUT_SCENES) {
      const answer = await fetch(`${stage.show(snapshot)}${choosing ? '?choose' : ''}`);
      const html = await answer.text();
      expect([name, answer.status, /<main[^>]* data-state="([^"]*)"/.exec(html)?.[1]]).toEqual([name, 200, state]);
      expect(html, name).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:/i);
      expect(html, name).not.toMatch(/\baml\b|screening|sanction|\brisk/i);
      expect(html.replace(/ data-page="[^"]*"/, ''), name).not.toMatch(/\{\w+\}|undefined|NaN|\[object/);
    }
  });

  it('follows from the one before it without a reload', async () => {
    const first = checkoutScene('choose');
    const tab = await openNarrow(open);
    await goTo(tab, first);
    const { page, requests } = tab;
    const payer = payerAt(page);
    stage.deaf = true;
    for (const name of [
      'preparing',
      'pay',
      'pay-bitcoin',
      'ending',
      'checking',
      'seen',
      'seen-late',
      'expired-grace',
      'seen-after',
      'expired',
      'under-reopened',
    ]) {
      const { snapshot, state } = checkoutScene(name);
      stage.change({ ...snapshot, payment: { ...snapshot.payment, id: first.snapshot.payment.id } });
      await payer.shows(state);
    }
    expect(requests.filter(({ type }) => type === 'document')).toHaveLength(1);
  });

  it('is mirrored in Arabic, but for addresses, amounts and codes', async () => {
    const tab = await openNarrow(open);
    const { page } = tab;
    await goTo(tab, checkoutScene('pay'), 'lang=ar');
    const [root, address] = [page.locator('html'), page.locator('[data-part="address"] bdi').first()];
    expect([await root.getAttribute('dir'), await root.getAttribute('lang')]).toEqual(['rtl', 'ar']);
    expect(await overflowing(page)).toEqual([]);
    expect(await axeFindings(page)).toEqual([]);
    expect([await address.getAttribute('dir'), await address.getAttribute('translate')]).toEqual(['ltr', 'no']);
    expect(await page.locator('[data-part="amount"]').innerText()).toContain('50.33');
  });

  it('keeps its code readable in the dark, mirrored and in forced colours', async () => {
    const { snapshot } = checkoutScene('pay');
    const address = snapshot.payment.offers.find(({ id }) => id === snapshot.payment.selectedOfferId)?.depositAddress;
    const looks: [TabOptions, string][] = [
      [{ colorScheme: 'dark' }, ''],
      [{ forcedColors: 'active' }, ''],
      [{ forcedColors: 'active', colorScheme: 'dark' }, ''],
      [{}, 'lang=ar'],
    ];
    for (const [options, query] of looks) {
      const tab = await openNarrow(open, options);
      await goTo(tab, checkoutScene('pay'), query);
      expect([options, query, await readQr(await tab.page.locator('[data-part="qr"]').screenshot())]).toEqual([options, query, address]);
    }
  });

  it('shows all that is needed to pay on a small phone without scrolling: amount, address, warning and a code of 200 px above the bar (ux C14)', async () => {
    const tab = await openNarrow(open, { viewport: { width: 360, height: 640 } });
    const { page } = tab;
    for (const scene of CHECKOUT_SCENES.filter(({ state, snapshot }) => state === 'pay' && !snapshot.payment.isSandbox)) {
      await goTo(tab, scene);
      const [code, amount] = await Promise.all([
        page.locator('[data-part="qr"] svg').first().boundingBox(),
        page.locator('[data-part="amount"]').boundingBox(),
      ]);
      if (code === null || amount === null) throw new Error(`${scene.name} shows no code or no amount`);
      expect([scene.name, code.width >= 200, code.height >= 200, amount.y >= 0, amount.y + amount.height <= 640]).toEqual([scene.name, true, true, true, true]);
      const bar = await page.locator('[data-part="bar"]').boundingBox();
      if (bar === null) throw new Error(`${scene.name} shows no bar`);
      expect([scene.name, Math.round(bar.y + bar.height)]).toEqual([scene.name, 640]);
      if (scene.name === 'pay') expect(code.y + code.height, 'the whole code is above the bar').toBeLessThanOrEqual(bar.y);
    }
  });
});

describeInBrowser('a language two fifths longer', (open) => {
  let pseudo: Awaited<ReturnType<typeof pseudoPage>>;
  let longer: CheckoutStage;
  beforeAll(async () => {
    pseudo = await pseudoPage();
    longer = await aCheckoutStage({ pageFolder: pseudo.folder });
  });
  afterAll(async () => {
    await longer?.stop();
    await pseudo?.remove();
  });

  it('fits 320 px in every state, with nothing clipped (ux 3)', async () => {
    const { page } = await open({ viewport: NARROW, origins: [SHOP], tolerate: /Failed to load resource/ });
    await page.route(`${SHOP}/**`, (route) => route.fulfill({ status: 204 }));
    const findings: Record<string, string[]> = {};
    const look = async (name: string, url: string): Promise<void> => {
      await page.goto(`${url}lang=${pseudo.tag}`);
      expect(await page.locator('html').getAttribute('lang')).toBe(pseudo.tag);
      const found = await overflowing(page);
      if (found.length > 0) findings[name] = found;
    };
    for (const { name, snapshot, choosing } of CHECKOUT_SCENES) await look(name, `${longer.show(snapshot)}?${choosing ? 'choose&' : ''}`);
    for (const { name, paymentId, code } of CHECKOUT_FAILURES) await look(name, `${longer.fail(paymentId, code)}?`);
    expect(findings).toEqual({});
  });
});
