import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readCatalogues } from '#test/fixtures/catalogues.ts';
import { CHECKOUT_SCENES, checkoutScene } from '#test/fixtures/checkout-scenes.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { aCheckoutStage, type CheckoutStage } from '#test/harness/checkout-stage.ts';
import { payerAt } from './payer.ts';

/** ux C14: everything together, as it travels, headers included. */
const BYTES = 80_000;
/** The largest logo that is passed on, with its headers. */
const LOGO_BYTES = 24_576 + 1_000;
/** The page, its script, its style, its icon, the merchant's logo, and the socket. */
const REQUESTS = 6;

let stage: CheckoutStage;
beforeAll(async () => {
  stage = await aCheckoutStage();
});
afterAll(() => stage?.stop());

describeInBrowser('a payer on a slow line', (open) => {
  it('gets the whole page in six requests and 80 KB, merchant’s logo included (ux C14)', async () => {
    const { page, requests } = await open();
    const debug = await page.context().newCDPSession(page);
    await debug.send('Network.enable');
    let bytes = 0;
    debug.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await page.goto(stage.show(checkoutScene('pay').snapshot), { waitUntil: 'networkidle' });
    await payerAt(page).isLive();
    const asked = requests.map(({ url }) => new URL(url).pathname);
    expect(asked.length + 1, asked.join(' ')).toBeLessThanOrEqual(REQUESTS);
    expect(asked.some((path) => path.endsWith('/logo'))).toBe(true);
    expect(bytes).toBeGreaterThan(5_000);
    expect(bytes).toBeLessThanOrEqual(BYTES - LOGO_BYTES);
  });

  it('gets assets once: they are named after their content and kept for ever', async () => {
    const { page } = await open();
    await page.goto(stage.show(checkoutScene('pay').snapshot));
    const assets = await page.evaluate(() =>
      performance.getEntriesByType('resource').flatMap(({ name }) => (new URL(name).pathname.startsWith('/assets/') ? [name] : [])),
    );
    expect(assets).toHaveLength(2);
    for (const url of assets) {
      const answer = await fetch(url, { headers: { 'accept-encoding': 'br' } });
      expect(answer.headers.get('cache-control')).toMatch(/max-age=31536000.*immutable/);
      expect(answer.headers.get('content-encoding')).toBe('br');
    }
  });

  it('gets no more than that in any state and any language, with the largest logo there may be', async () => {
    const { script, style } = JSON.parse(await readFile('dist/checkout/manifest.json', 'utf8')) as Record<string, string>;
    const assets = await Promise.all([`assets/${script}`, `assets/${style}`, 'favicon.svg'].map((path) => travels(`${stage.origin}/${path}`)));
    const around = assets.reduce((sum, bytes) => sum + bytes, LOGO_BYTES);
    const tooHeavy: string[] = [];
    for (const language of readCatalogues().keys())
      for (const { name, snapshot } of CHECKOUT_SCENES) {
        const bytes = around + (await travels(`${stage.show(snapshot)}?lang=${language}`));
        if (bytes > BYTES) tooHeavy.push(`${name} in ${language}: ${bytes}`);
      }
    expect(tooHeavy).toEqual([]);
  });
});

/** Bytes of an answer as it travels to a browser of today, headers included. */
function travels(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: { 'accept-encoding': 'gzip, deflate, br' }, agent: false }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${url} is ${answer.statusCode}`));
      answer.resume().once('end', () => resolve(answer.socket.bytesRead));
    });
    request.once('error', reject);
  });
}
