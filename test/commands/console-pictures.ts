import { readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { brandStyle } from '#api/checkout/brand.ts';
import { exampleSnapshot } from '#api/checkout/example-snapshot.ts';
import { renderPage } from '#api/checkout/page/render.tsx';
import { renderConsole } from '#api/console/page/render.tsx';
import type { Catalogue } from '#api/page/catalogue.ts';
import { readCatalogues } from '#test/fixtures/catalogues.ts';
import { CONSOLE_PICTURES, type Picture, SHOP_ACCENT } from '#test/fixtures/console-pictures.ts';
import { consoleLanguage } from '#test/fixtures/console-texts.ts';
import { openTab, type TabOptions } from '#test/harness/tab.ts';

const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const VARIANTS: Record<string, TabOptions> = {
  'light-desk': { viewport: DESK, colorScheme: 'light' },
  'dark-desk': { viewport: DESK, colorScheme: 'dark' },
  'light-phone': { viewport: PHONE, colorScheme: 'light' },
  'dark-phone': { viewport: PHONE, colorScheme: 'dark' },
};
/** What the documentation shows. */
const IN_DOCS: Record<string, readonly string[]> = {
  'light-desk': [
    'home',
    'payment',
    'balances',
    'cashout',
    'policies',
    'settings',
    'sandbox',
    'keys',
    'allowlists',
    'team',
    'profile',
    'ops-overview',
    'ops-cashout',
    'ops-screening',
    'ops-gateways',
  ],
  'dark-phone': ['cashout'],
};
const DOCS = 'ops/docs/pictures';

/** Makes a picture of every page of the console in every variant, into `folder`; without a choice also those of the documentation. Answers how many. */
export async function pictureConsole(browser: Browser, { folder, isWanted }: { folder: string; isWanted(name: string): boolean }): Promise<number> {
  const css = styleOf('console');
  const wanted = CONSOLE_PICTURES.filter(({ name }) => isWanted(`console-${name}`));
  const whole = wanted.length === CONSOLE_PICTURES.length;
  if (whole) await rm(DOCS, { recursive: true, force: true });
  await mkdir(DOCS, { recursive: true });
  let count = 0;
  for (const [variant, options] of Object.entries(VARIANTS)) {
    const { page } = await openTab(browser, options);
    for (const picture of wanted) {
      await page.setContent(drawn(picture, css));
      await page.evaluate((beginning) => {
        document.documentElement.dataset.program = '';
        for (const details of document.querySelectorAll('details')) if (beginning && details.textContent?.startsWith(beginning)) details.open = true;
      }, picture.unfolded ?? '');
      await page.screenshot({ path: join(folder, `console-${picture.name}.${variant}.png`), fullPage: true, animations: 'disabled' });
      if (whole && IN_DOCS[variant]?.includes(picture.name) === true) {
        await page.evaluate((heading) => {
          const from = [...document.querySelectorAll('h2')].find((one) => one.textContent === heading)?.parentElement;
          scrollTo(0, from ? from.getBoundingClientRect().top + scrollY - 16 : 0);
        }, picture.shownFrom);
        const name = `console-${picture.name}${variant.endsWith('phone') ? '-phone' : ''}.png`;
        await page.screenshot({ path: join(DOCS, name), animations: 'disabled' });
      }
      count += 1;
    }
    await page.context().close();
  }
  return count;
}

/** The page as a browser gets it, with its style inside, as it is read in no deployment. */
function drawn({ place, screen }: Picture, css: string): string {
  const language = consoleLanguage('en');
  const languages = [
    { tag: 'en', name: 'English' },
    { tag: 'es', name: 'Español' },
  ];
  const section = screen.kind.replace(/^ops-/, '');
  const inside = place && ({ ...place, section: SECTION_OF[section] ?? section } as typeof place);
  const model = { language, languages, person: 'mira@acme.example', place: inside, screen, follows: null, notice: null };
  const html = renderConsole({ ...model, assets: { script: '', style: '', icon: '' } });
  return styled(html, css).replaceAll(/(<iframe\b[^>]*) src="[^"]*"/g, (_frame, before: string) => `${before} srcdoc="${escaped(payersPage())}"`);
}

/** What a payer sees of the shop, where its settings show it. */
function payersPage(): string {
  const merchant = { name: 'Acme Books', host: 'acme.example', logoPath: null, supportUrl: 'https://acme.example/help' };
  const html = renderPage({
    kind: 'payment',
    language: { tag: 'en', direction: 'ltr', messages: readCatalogues().get('en') as Catalogue },
    languages: [],
    languageAsked: false,
    assets: { script: null, style: '', icon: '' },
    path: '#',
    snapshot: exampleSnapshot('pay', { merchant, qrMode: 'SAFE', now: new Date('2026-11-26T14:20:00Z') }),
    choosing: false,
    problem: null,
    socketUrl: '',
  });
  return styled(html, brandStyle(styleOf('checkout'), { accent: SHOP_ACCENT, theme: 'AUTO' }));
}

function styleOf(app: 'console' | 'checkout'): string {
  const { style } = JSON.parse(readFileSync(`dist/${app}/manifest.json`, 'utf8')) as { style: string };
  return readFileSync(`dist/${app}/assets/${style}`, 'utf8');
}

function styled(html: string, css: string): string {
  return html.replaceAll(/<(link|script)\b[^>]*>(<\/script>)?/g, '').replace('</head>', () => `<style>${css}</style></head>`);
}

const escaped = (html: string): string => html.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** Parts of the console that single things belong to. */
const SECTION_OF: Readonly<Record<string, string>> = { payment: 'payments', cashout: 'cashouts' };
