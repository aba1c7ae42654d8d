import { get } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aService, listen, type Service } from '#test/contract/service.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { axeFindings } from '#test/harness/tab.ts';
import { findingsOf, framesGoBy, unfold } from './looking.ts';

/** One of each kind: the beginning, a guide with code in many languages, tables, a runbook, the reference, operations, results. */
const PAGES = [
  '/docs',
  '/docs/webhooks',
  '/docs/errors',
  '/docs/self-hosting',
  '/docs/runbooks/reorg',
  '/docs/api',
  '/docs/api/create-payment',
  '/docs/api/create-settlement',
  '/docs/operator-api',
  '/docs/operator-api/change-gateway',
  '/docs/search?q=webhook',
];
/** A page with what it loads, as it travels, headers included. */
const BYTES = 60_000;
const REQUESTS = 5;
const NARROW = { width: 360, height: 740 };

let service: Service;
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service?.stop());

describeInBrowser('a page of the documentation', (open) => {
  it('meets WCAG 2.2 AA and fits its window, on a desk and on a phone, in light and dark', { timeout: 240_000 }, async () => {
    const { page } = await open();
    const found: string[] = [];
    for (const path of PAGES) {
      // The thread that draws begins with the first page, and learns its grammars then.
      await page.goto(service.origin + path, { timeout: 60_000 });
      await unfold(page);
      found.push(...(await findingsOf(page, path, scrollingSideways)));
    }
    expect(found).toEqual([]);
  });

  it('comes in five requests and 60 KB with everything it loads', async () => {
    const { page, requests } = await open();
    for (const path of PAGES) {
      const before = requests.length;
      await page.goto(service.origin + path, { waitUntil: 'networkidle' });
      const asked = requests.slice(before).filter(({ url }) => url.startsWith('http'));
      expect(asked.length, path).toBeLessThanOrEqual(REQUESTS);
      let bytes = 0;
      for (const { url } of asked) bytes += await travels(url);
      expect(bytes, path).toBeGreaterThan(3_000);
      expect(bytes, path).toBeLessThanOrEqual(BYTES);
    }
  });

  it('finds as one types: the slash leads to the box, an arrow to a page, Enter opens it', async () => {
    const { page, requests } = await open();
    await page.goto(`${service.origin}/docs/quickstart`, { waitUntil: 'networkidle' });
    expect(requests.map(({ url }) => url).filter((url) => /search/.test(url))).toEqual([]);
    await page.keyboard.press('/');
    await page.keyboard.type('we');
    const options = page.locator('#hits [role="option"]');
    await expect.poll(() => options.count()).toBeGreaterThan(0);
    expect(await axeFindings(page)).toEqual([]);
    const titles = await options.locator('.hit-title').allTextContents();
    const at = titles.indexOf('Webhooks');
    expect(at).toBeGreaterThanOrEqual(0);
    expect(at).toBeLessThan(3);
    for (let pressed = 0; pressed <= at; pressed++) await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('combobox').getAttribute('aria-activedescendant')).toBe(`hit-${at}`);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${service.origin}/docs/webhooks`);
    await page.getByRole('combobox').fill('zzqqxx');
    await expect.poll(() => page.locator('#hits').textContent()).toContain('Nothing is called that');
    await page.keyboard.press('Escape');
    expect(await page.locator('#hits').isHidden()).toBe(true);
  });

  it('remembers the language that was chosen, on every page', async () => {
    const { page } = await open();
    await page.goto(`${service.origin}/docs/api/create-settlement`);
    await page.getByText('Python', { exact: true }).first().click();
    await page.goto(`${service.origin}/docs/api/list-balances`);
    await expect.poll(() => page.getByRole('radio', { name: 'Python' }).isChecked()).toBe(true);
    expect(await page.locator('.code[data-language="python"]').isVisible()).toBe(true);
  });
});

describeInBrowser('a newcomer', (open) => {
  it('finds how to verify a webhook with the first two letters of it, and copies a function that verifies one', { timeout: 240_000 }, async () => {
    const { page } = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    page.setDefaultTimeout(60_000);
    for (const letters of ['ve', 'we']) {
      await page.goto(`${service.origin}/docs`, { waitUntil: 'networkidle' });
      await page.getByRole('combobox').click();
      await page.keyboard.type(letters);
      const first = page.locator('#hits [role="option"]', { hasText: /^Webhooks/ }).first();
      await first.waitFor();
      expect(
        await page
          .locator('#hits [role="option"] .hit-title')
          .allTextContents()
          .then((titles) => titles.indexOf('Webhooks')),
      ).toBeLessThan(3);
      await first.click();
      await page.waitForURL(`${service.origin}/docs/webhooks`);
    }
    const sample = page.locator('.languages .code[data-language="js"]', { hasText: 'isGenuine' }).first();
    await sample.getByRole('button', { name: 'Copy' }).click();
    await expect.poll(() => sample.getByRole('button').textContent()).toBe('Copied');
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const { isGenuine } = (await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(copied)}`)) as {
      isGenuine(body: Buffer, signature: string, secret: string): boolean;
    };
    const body = Buffer.from('{"paymentId":"7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44","status":"SUCCESS"}');
    const signature = 'd20d990e7bcee64d6e572b8e117808f216cb954095d958ccfab03426d6c410ea';
    const tampered = Buffer.from(body.toString().replace('SUCCESS', 'EXPIRED'));
    expect([
      isGenuine(body, signature, 'whsec_test_secret'),
      isGenuine(body, signature, 'whsec_other'),
      isGenuine(tampered, signature, 'whsec_test_secret'),
    ]).toEqual([true, false, false]);
  });
});

describeInBrowser('whoever tries an operation in the reference', (open) => {
  it('sends it to this deployment with the key they typed, which no page keeps', { timeout: 240_000 }, async () => {
    const shop = await service.aShop();
    const { page, trouble, requests } = await open();
    page.setDefaultTimeout(60_000);
    await page.goto(`${service.origin}/docs/api/create-payment#try-it`);
    const form = page.locator('.try form');
    await form.getByLabel('API key').fill(shop.apiKey);
    await form.getByLabel('Body').fill('{"currencyCode":"USD","amount":"10","callbackUrl":"https://shop.example/","isSandbox":true}');
    expect(await axeFindings(page)).toEqual([]);
    await form.getByRole('button', { name: 'Send POST' }).click();
    await expect.poll(() => form.getByRole('status').textContent()).toMatch(/^201[\s\S]*paymentUid/);
    expect(await form.getByRole('status').textContent()).not.toContain(shop.apiKey);
    await page.reload();
    expect(await form.getByLabel('API key').inputValue()).toBe('');
    expect(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]))).not.toContain(shop.apiKey);
    expect(trouble).toEqual([]);
    expect(requests.filter(({ url }) => !url.startsWith(service.origin) && url.startsWith('http'))).toEqual([]);
  });

  it('signs a cashout in the tab as the service reads it', async () => {
    const shop = await service.aShop();
    const { page } = await open({ tolerate: /422/ });
    await page.goto(`${service.origin}/docs/api/estimate-settlement-fee#try-it`);
    const form = page.locator('.try form');
    await form.getByLabel('API key').fill(shop.apiKey);
    await form.getByLabel('Cashout signing secret').fill(shop.cashoutSecret);
    await form.getByRole('button', { name: 'Only sign' }).click();
    await expect.poll(() => form.getByRole('status').textContent()).toMatch(/X-Timestamp: \d+\nX-Signature: [0-9a-f]{64}/);
    await form.getByLabel('Body').fill('{}');
    await form.getByRole('button', { name: 'Send POST' }).click();
    // Behind the signature: the body is what is wrong.
    await expect.poll(() => form.getByRole('status').textContent()).toMatch(/^422/);
  });

  it('can press nothing before what is pressed does something', async () => {
    const shop = await service.aShop();
    const { page } = await open();
    const address = `${service.origin}/docs/api/estimate-settlement-fee`;
    const program = /id="try-it" data-program="([^"]+)"/.exec(await (await fetch(address)).text())?.[1];
    const held: (() => Promise<void>)[] = [];
    await page.route(`${service.origin}${program}`, (route) => void held.push(() => route.continue()));
    await page.goto(`${address}#try-it`);
    const form = page.locator('.try form');
    await form.getByLabel('API key').fill(shop.apiKey);
    await form.getByLabel('Cashout signing secret').fill(shop.cashoutSecret);
    const pressed = form.getByRole('button', { name: 'Only sign' }).click();
    await expect.poll(() => held.length).toBe(1);
    await page.evaluate(framesGoBy);
    await held[0]?.();
    await pressed;
    await expect.poll(() => form.getByRole('status').textContent()).toMatch(/X-Signature: [0-9a-f]{64}/);
  });

  it('finds no form where the deployment wants none, nor in the operator API', async () => {
    const off = await listen({ ...service.deps, config: { ...service.deps.config, SLUICE_DOCS_TRY_IT: 'off' } });
    // The thread that draws begins with the first page: until then whoever asks is told to ask again.
    const shown = async (address: string): Promise<string> => {
      let body = '';
      await expect
        .poll(async () => {
          const answer = await fetch(address);
          body = await answer.text();
          return answer.status;
        })
        .toBe(200);
      return body;
    };
    expect(await shown(`${off.origin}/docs/api/create-payment`)).not.toContain('class="try"');
    await off.close();
    expect(await shown(`${service.origin}/docs/api/create-payment`)).toContain('class="try"');
    expect(await shown(`${service.origin}/docs/operator-api/change-gateway`)).not.toContain('class="try"');
  });
});

describeInBrowser('a page of the documentation without scripts', (open) => {
  it('shows a sample in the language that is chosen, opens its lists and searches', async () => {
    const { page } = await open({ javaScriptEnabled: false, viewport: NARROW });
    await page.goto(`${service.origin}/docs/api/create-settlement`);
    const sample = (language: string) => page.locator(`.languages .code[data-language="${language}"]`);
    expect([await sample('sh').isVisible(), await sample('go').isVisible()]).toEqual([true, false]);
    await page.getByText('Go', { exact: true }).click();
    expect([await sample('sh').isVisible(), await sample('go').isVisible()]).toEqual([false, true]);
    const pages = page.getByRole('navigation', { name: 'Documentation' });
    expect(await pages.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'All pages' }).click();
    expect(await pages.isVisible()).toBe(true);
    await page.getByRole('searchbox').fill('verify a webhook');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/search\?q=verify/);
    expect(await page.locator('.found a').first().getAttribute('href')).toBe('/docs/webhooks');
  });
});

/** Code scrolls inside of its own block; a page does not. */
async function scrollingSideways(page: Page): Promise<string[]> {
  const [shown, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth] as const);
  return shown > window ? [`the page is ${shown} px wide in a window of ${window}`] : [];
}

/** Bytes of an answer as it travels to a browser of today, headers included. */
function travels(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: { 'accept-encoding': 'gzip, deflate, br' }, agent: false }, (answer) => {
      answer.resume().once('end', () => resolve(answer.socket.bytesRead));
    });
    request.once('error', reject);
  });
}
