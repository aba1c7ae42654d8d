import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findChromium } from '#ops/dev/services/chromium.ts';
import { CHECKOUT_FAILURES, CHECKOUT_SCENES, checkoutScene } from '#test/fixtures/checkout-scenes.ts';
import { aCheckoutStage } from '#test/harness/checkout-stage.ts';
import { launchChromium, openTab, type TabOptions } from '#test/harness/tab.ts';
import { pictureConsole } from './console-pictures.ts';

// `npm run screenshots [-- part of a scene's name …]`: every state of the hosted checkout, in light and dark, on phones and a
// desk, mirrored, in six languages and in forced colours, as screenshots/<scene>.<variant>.png; with `--fold` only what is seen without scrolling. Chinese and
// Japanese need a font that has their signs: Debian's fonts-noto-cjk. Then every page of the console that has a picture, as screenshots/console-<page>.<variant>.png; made whole, the
// pictures in ops/docs are made anew.

const FOLDER = 'screenshots';
const PHONE = { width: 360, height: 640 };
const PHONE_OF_TODAY = { width: 390, height: 844 };
const DESK = { width: 1440, height: 900 };
const VARIANTS: Record<string, TabOptions & { language?: string }> = {
  'light-360': { viewport: PHONE, colorScheme: 'light' },
  'light-390': { viewport: PHONE_OF_TODAY, colorScheme: 'light' },
  'light-1440': { viewport: DESK, colorScheme: 'light' },
  'dark-360': { viewport: PHONE, colorScheme: 'dark' },
  'dark-390': { viewport: PHONE_OF_TODAY, colorScheme: 'dark' },
  'dark-1440': { viewport: DESK, colorScheme: 'dark' },
  'rtl-360': { viewport: PHONE, colorScheme: 'light', language: 'ar' },
  'rtl-1440': { viewport: DESK, colorScheme: 'light', language: 'ar' },
  'chinese-360': { viewport: PHONE, colorScheme: 'light', language: 'zh-CN' },
  'japanese-360': { viewport: PHONE, colorScheme: 'light', language: 'ja' },
  'german-360': { viewport: PHONE, colorScheme: 'light', language: 'de' },
  'russian-360': { viewport: PHONE, colorScheme: 'dark', language: 'ru' },
  'forced-360': { viewport: PHONE, forcedColors: 'active' },
};

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const fullPage = !process.argv.includes('--fold');
const wanted = process.argv.slice(2).filter((one) => one !== '--fold');
const isWanted = (name: string): boolean => wanted.length === 0 || wanted.some((part) => name.includes(part));
const chromium = await findChromium(say);
if (chromium === null) {
  say('no Chromium: install chromium, or Google Chrome');
  process.exit(1);
}
if (wanted.length === 0) await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
const stage = await aCheckoutStage();
const pages = [
  ...CHECKOUT_SCENES.map(({ name, state, snapshot, choosing }) => ({ name, state, query: choosing ? 'choose&' : '', open: () => stage.show(snapshot) })),
  { name: 'receipt', state: 'receipt', query: '', open: () => `${stage.show(checkoutScene('success').snapshot)}/receipt` },
  ...CHECKOUT_FAILURES.map(({ name, state, paymentId, code }) => ({ name, state, query: '', open: () => stage.fail(paymentId, code) })),
].filter(({ name }) => isWanted(name));
const browser = await launchChromium(chromium);
let count = 0;
for (const [variant, { language = 'en', ...options }] of Object.entries(VARIANTS)) {
  const { page } = await openTab(browser, options);
  for (const { name, state, query, open } of pages) {
    // Else the page would select again, and get its address.
    stage.deaf = state === 'preparing';
    await page.goto(`${open()}?${query}lang=${language}`);
    await page.locator(`main[data-state="${state}"]`).waitFor();
    await page.screenshot({ path: join(FOLDER, `${name}.${variant}.png`), fullPage, animations: 'disabled' });
    count += 1;
  }
  await page.context().close();
}
count += await pictureConsole(browser, { folder: FOLDER, isWanted });
await browser.close();
await stage.stop();
say(`${count} screenshots in ${FOLDER}/`);
