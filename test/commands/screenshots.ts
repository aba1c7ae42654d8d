import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findChromium } from '#ops/dev/services/chromium.ts';
import { CHECKOUT_FAILURES, CHECKOUT_SCENES, checkoutScene } from '#test/fixtures/checkout-scenes.ts';
import { aCheckoutStage } from '#test/harness/checkout-stage.ts';
import { launchChromium, openTab, type TabOptions } from '#test/harness/tab.ts';
import { pictureConsole } from './console-pictures.ts';

// `npm run screenshots [-- part of a picture's name …]`: every state of the hosted checkout, in light and dark, on phones and a
// desk, in English, Arabic (mirrored) and Chinese, in three more languages and in forced colours, as screenshots/<scene>.<variant>.png; with `--fold` only what is
// seen without scrolling. Chinese and Japanese need a font that has their signs: Debian's fonts-noto-cjk. Then every page of the console that has a picture, as
// screenshots/console-<page>.<variant>.png; made whole, the pictures in ops/docs are made anew.

const FOLDER = 'screenshots';
const SIZES = { 360: { width: 360, height: 640 }, 390: { width: 390, height: 844 }, 1440: { width: 1440, height: 900 } };
type Variant = TabOptions & { language?: string };
const EVERYWHERE: readonly (readonly [string, Variant])[] = Object.entries({ '': 'en', 'rtl-': 'ar', 'chinese-': 'zh-CN' }).flatMap(([name, language]) =>
  (['light', 'dark'] as const).flatMap((colorScheme) =>
    Object.entries(SIZES).map(([width, viewport]) => [`${name}${colorScheme}-${width}`, { viewport, colorScheme, language }] as const),
  ),
);
const VARIANTS: Record<string, Variant> = {
  ...Object.fromEntries(EVERYWHERE),
  'japanese-360': { viewport: SIZES[360], colorScheme: 'light', language: 'ja' },
  'german-360': { viewport: SIZES[360], colorScheme: 'light', language: 'de' },
  'russian-360': { viewport: SIZES[360], colorScheme: 'dark', language: 'ru' },
  'forced-360': { viewport: SIZES[360], forcedColors: 'active' },
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
];
const browser = await launchChromium(chromium);
let count = 0;
for (const [variant, { language = 'en', ...options }] of Object.entries(VARIANTS)) {
  const wantedHere = pages.filter(({ name }) => isWanted(`${name}.${variant}`));
  if (wantedHere.length === 0) continue;
  const { page } = await openTab(browser, options);
  for (const { name, state, query, open } of wantedHere) {
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
