import { afterAll, beforeAll, expect, it } from 'vitest';
import { qrPayload } from '#api/checkout/page/payment-uri.ts';
import type { Offer } from '#api/checkout/page/snapshot.ts';
import { readCatalogues } from '#test/fixtures/catalogues.ts';
import { checkoutScene } from '#test/fixtures/checkout-scenes.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { aCheckoutStage, type CheckoutStage } from '#test/harness/checkout-stage.ts';
import { readQr } from '#test/harness/read-qr.ts';
import type { TabOptions } from '#test/harness/tab.ts';
import { payerAt } from './payer.ts';

/** Ways to look at the page that change colours or directions, on phones as small as they come. */
const WAYS: [name: string, query: string, options: TabOptions][] = [
  ['in the dark', '', { colorScheme: 'dark', viewport: { width: 360, height: 640 } }],
  ['in forced colours', '', { forcedColors: 'active', colorScheme: 'dark', viewport: { width: 320, height: 640 } }],
  ['from right to left', '?lang=ar', { viewport: { width: 320, height: 640 } }],
  ['at four times the size', '', { viewport: { width: 320, height: 256 }, deviceScaleFactor: 4 }],
];

describeInBrowser('whoever looks at the page', (open) => {
  let stage: CheckoutStage;
  beforeAll(async () => {
    stage = await aCheckoutStage();
  });
  afterAll(() => stage?.stop());

  it.each(WAYS)('%s has codes that a camera reads, with what they should hold', async (_name, query, options) => {
    const { page } = await open(options);
    const payer = payerAt(page);
    for (const name of ['pay', 'pay-bitcoin', 'pay-token-uri']) {
      const { snapshot } = checkoutScene(name);
      const { offers, selectedOfferId, openAmount } = snapshot.payment;
      const offer = offers.find(({ id }) => id === selectedOfferId) as Offer;
      await page.goto(`${stage.show(snapshot)}${query}`);
      await payer.isLive();
      const code = payer.part('qr');
      const payload = qrPayload(offer, snapshot.networks[offer.assetNetwork] ?? expect.fail(name), { openAmount, qrMode: snapshot.qrMode });
      expect(await readQr(await code.screenshot()), name).toBe(payload);
      expect(await code.locator('svg').evaluate((svg) => svg.getBoundingClientRect().width), name).toBeGreaterThanOrEqual(200);
    }
  });

  it('is offered the wallets of a device that is touched, and none where there is a mouse', async () => {
    const { snapshot } = checkoutScene('pay-token-evm');
    for (const [hasTouch, names] of [
      [true, ['Open in MetaMask', 'Open in Trust Wallet']],
      [false, []],
    ] as const) {
      const { page } = await open({ viewport: { width: 360, height: 640 }, hasTouch, isMobile: hasTouch });
      await page.goto(stage.show(snapshot));
      await payerAt(page).isLive();
      expect(await page.locator('[data-part="wallets"] a:visible').allInnerTexts()).toEqual(names);
    }
  });

  it('has the amount on one line in every language, however long the word for copying is', async () => {
    const { page } = await open({ viewport: { width: 360, height: 640 } });
    for (const language of readCatalogues().keys()) {
      await page.goto(`${stage.show(checkoutScene('pay-bitcoin').snapshot)}?lang=${language}`);
      await payerAt(page).isLive();
      expect([
        language,
        await payerAt(page)
          .part('amount')
          .evaluate((amount) => amount.getClientRects().length),
      ]).toEqual([language, 1]);
    }
  });

  it('has in Chinese and in Japanese fonts of those languages, also for the name of the other one', async () => {
    const { page } = await open();
    for (const [language, here, there] of [
      ['zh-CN', 'Noto Sans CJK SC', 'Noto Sans CJK JP'],
      ['ja', 'Noto Sans CJK JP', 'Noto Sans CJK SC'],
    ] as const) {
      await page.goto(`${stage.show(checkoutScene('pay').snapshot)}?lang=${language}`);
      await payerAt(page).isLive();
      const fonts = (selector: string) =>
        page
          .locator(selector)
          .first()
          .evaluate((one) => getComputedStyle(one).fontFamily);
      expect([await fonts('h1'), await fonts('button')].every((family) => family.includes(here) && !family.includes(there))).toBe(true);
      expect(await fonts(`a[lang="${language === 'ja' ? 'zh-CN' : 'ja'}"]`)).toContain(there);
    }
  });

  it('sees where buttons and links begin and end when the colours are their own', async () => {
    const { page } = await open({ forcedColors: 'active' });
    for (const name of ['choose', 'pay', 'success', 'pay-sandbox']) {
      await page.goto(stage.show(checkoutScene(name).snapshot));
      await payerAt(page).isLive();
      const shapeless = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('button, a')]
          .filter((one) => one.checkVisibility())
          .filter((one) => {
            const { borderTopStyle, borderTopWidth, textDecorationLine } = getComputedStyle(one);
            return (borderTopStyle === 'none' || borderTopWidth === '0px') && !textDecorationLine.includes('underline');
          })
          .map((one) => one.outerHTML.slice(0, 120)),
      );
      expect(shapeless, name).toEqual([]);
    }
  });
});
