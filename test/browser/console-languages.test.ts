import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { renderConsole } from '#api/console/page/render.tsx';
import type { PageLanguage } from '#api/page/catalogue.ts';
import { pseudoCatalogue } from '#test/fixtures/catalogues.ts';
import { ALL_PAGES } from '#test/fixtures/console-screens.ts';
import { consoleLanguage } from '#test/fixtures/console-texts.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { findingsOf, unfold } from './looking.ts';
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
const ZOOMED = { width: 320, height: 640 };
const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 900 };

/** The fullest page of each kind: what is looked at for long is looked at in these, as real pages are looked at where they are served. */
const OF_EACH_KIND = ALL_PAGES.filter(({ screen }, index) => ALL_PAGES.findIndex((one) => one.screen.kind === screen.kind) === index);

/** Shows pages of the console one after the other, and gathers what `look` finds. */
async function everyPage(page: Page, language: PageLanguage, look: (page: Page) => Promise<string[]>, pages = ALL_PAGES): Promise<string[]> {
  const found: string[] = [];
  for (const [index, { screen, place }] of pages.entries()) {
    const assets = { script: '', style: '', icon: '' };
    const html = renderConsole({ language, languages: LANGUAGES, person: 'anna@example.com', place, screen, follows: null, notice: null, assets });
    await page.setContent(html.replaceAll(/<(link|script)\b[^>]*>(<\/script>)?/g, '').replace('</head>', () => `<style>${CSS}</style></head>`));
    await unfold(page);
    await page.evaluate(() => Object.assign(document.documentElement.dataset, { program: '' }));
    found.push(...(await look(page)).map((what) => `${index} ${screen.kind}: ${what}`));
    if (process.env.SLUICE_TEST_SCREENSHOTS)
      await page.screenshot({ path: `${process.env.SLUICE_TEST_SCREENSHOTS}/${language.tag}-${index}-${screen.kind}.png`, fullPage: true });
  }
  return found;
}

describeInBrowser('every screen of the console', (open) => {
  it('fits in Spanish at 360 px', async () => {
    const { page } = await open({ viewport: PHONE });
    expect(await everyPage(page, consoleLanguage('es'), overflowing)).toEqual([]);
  });

  it('fits in the pseudo-language at 400 % and on a desk', async () => {
    const { page } = await open();
    const look = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const size of [ZOOMED, DESK]) {
        await page.setViewportSize(size);
        found.push(...(await overflowing(page)).map((what) => `${size.width} px: ${what}`));
      }
      return found;
    };
    expect(await everyPage(page, pseudo, look)).toEqual([]);
  });

  it('fits in forced colours at 360 px', async () => {
    const { page } = await open({ viewport: PHONE, forcedColors: 'active' });
    expect(await everyPage(page, english, overflowing)).toEqual([]);
  });

  it('has nothing that axe finds, and enough contrast in the dark', async () => {
    const { page } = await open();
    expect(await everyPage(page, english, (shown) => findingsOf(shown, english.tag), OF_EACH_KIND)).toEqual([]);
  });
});
