import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { renderConsole } from '#api/console/page/render.tsx';
import type { PageLanguage } from '#api/page/catalogue.ts';
import { pseudoCatalogue } from '#test/fixtures/catalogues.ts';
import { ALL_PAGES } from '#test/fixtures/console-screens.ts';
import { consoleLanguage } from '#test/fixtures/console-texts.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { axeFindings, type TabOptions } from '#test/harness/tab.ts';
import { overflowing } from './overflowing.ts';

const { style } = JSON.parse(readFileSync('dist/console/manifest.json', 'utf8')) as { style: string };
const CSS = readFileSync(`dist/console/assets/${style}`, 'utf8');
const LANGUAGES = [
  { tag: 'en', name: 'English' },
  { tag: 'es', name: 'Español' },
];
const english = consoleLanguage('en');
const pseudo = { ...english, tag: 'en-XA', messages: pseudoCatalogue(english.messages) };
/** A desk of 1280 pixels at 400 %, and a phone. */
const ZOOMED = { viewport: { width: 320, height: 640 } };
const PHONE = { viewport: { width: 360, height: 740 } };
const DESK = { viewport: { width: 1280, height: 900 } };

/** The fullest pages of each kind, with the empty ones behind them: what is looked at for long is looked at in these. */
const OF_EACH_KIND = ALL_PAGES.filter(({ screen }, index) => ALL_PAGES.slice(0, index).filter((one) => one.screen.kind === screen.kind).length < 2);

/** Shows pages of the console one after the other, and gathers what `look` finds. */
async function everyPage(page: Page, language: PageLanguage, look: (page: Page) => Promise<string[]>, pages = ALL_PAGES): Promise<string[]> {
  const found: string[] = [];
  for (const [index, { screen, place }] of pages.entries()) {
    const assets = { script: '', style: '', icon: '' };
    const html = renderConsole({ language, languages: LANGUAGES, person: 'anna@example.com', place, screen, follows: null, notice: null, assets });
    await page.setContent(html.replaceAll(/<(link|script)\b[^>]*>(<\/script>)?/g, '').replace('</head>', () => `<style>${CSS}</style></head>`));
    // What is folded has to fit as well.
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    found.push(...(await look(page)).map((what) => `${index} ${screen.kind}: ${what}`));
    if (process.env.SLUICE_TEST_SCREENSHOTS)
      await page.screenshot({ path: `${process.env.SLUICE_TEST_SCREENSHOTS}/${language.tag}-${index}-${screen.kind}.png`, fullPage: true });
  }
  return found;
}

describeInBrowser('every screen of the console', (open) => {
  it.each<[string, PageLanguage, TabOptions]>([
    ['in Spanish at 360 px', consoleLanguage('es'), PHONE],
    ['in the pseudo-language at 400 %', pseudo, ZOOMED],
    ['in the pseudo-language on a desk', pseudo, DESK],
    ['in forced colours at 360 px', english, { ...PHONE, forcedColors: 'active' }],
  ])('fits %s', async (_how, language, options) => {
    const { page } = await open(options);
    expect(await everyPage(page, language, overflowing)).toEqual([]);
  });

  it('has nothing that axe finds, in light', async () => {
    const { page } = await open({ ...DESK, colorScheme: 'light' });
    expect(await everyPage(page, english, (shown) => axeFindings(shown), OF_EACH_KIND)).toEqual([]);
  });

  it('has enough contrast in the dark', async () => {
    const { page } = await open({ ...PHONE, colorScheme: 'dark' });
    expect(await everyPage(page, english, (shown) => axeFindings(shown, ['color-contrast']), OF_EACH_KIND)).toEqual([]);
  });
});
