import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { renderConsole } from '#api/console/page/render.tsx';
import { SECTIONS } from '#api/console/page/sections.ts';
import { GATEWAY_PAGES, PERSONAL_PAGES } from '#test/fixtures/console-screens.ts';
import { consoleLanguage } from '#test/fixtures/console-texts.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { overflowing } from './overflowing.ts';

const { style } = JSON.parse(readFileSync('dist/console/manifest.json', 'utf8')) as { style: string };
const place = {
  href: '/1',
  name: '1',
  role: 'owner',
  networks: { tron: 'TRON' },
  permissions: SECTIONS.map(({ permission }) => permission),
  section: null,
};

describeInBrowser('every screen of the console, in Spanish at 360 px', (open) => {
  it('fits', async () => {
    const { page } = await open({ viewport: { width: 360, height: 740 }, javaScriptEnabled: true });
    const css = readFileSync(`dist/console/assets/${style}`, 'utf8');
    const language = consoleLanguage('es');
    const found: string[] = [];
    for (const [inside, screens] of [
      [true, GATEWAY_PAGES],
      [false, PERSONAL_PAGES],
    ] as const)
      for (const [index, screen] of screens.entries()) {
        const model = { language, languages: [], person: 'anna@example.com', place: inside ? place : null, screen, notice: null };
        const html = renderConsole({ ...model, assets: { script: '', style: '', icon: '' } });
        await page.setContent(html.replaceAll(/<(link|script)\b[^>]*>(<\/script>)?/g, '').replace('</head>', () => `<style>${css}</style></head>`));
        found.push(...(await overflowing(page)).map((what) => `${screen.kind}: ${what}`));
        if (process.env.SLUICE_TEST_SCREENSHOTS)
          await page.screenshot({ path: `${process.env.SLUICE_TEST_SCREENSHOTS}/es-${inside ? 'in' : 'out'}-${index}-${screen.kind}.png`, fullPage: true });
      }
    expect(found).toEqual([]);
  });
});
