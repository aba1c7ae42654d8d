import { describe, expect, it } from 'vitest';
import type { PageModel, Screen } from '#api/console/page/model.ts';
import { renderConsole } from '#api/console/page/render.tsx';
import { SECTIONS } from '#api/console/page/sections.ts';
import { pseudoCatalogue } from '#test/fixtures/catalogues.ts';
import { DATA, GATEWAY_PAGES, PERSONAL_PAGES } from '#test/fixtures/console-screens.ts';
import { consoleLanguage } from '#test/fixtures/console-texts.ts';

const english = consoleLanguage('en');
const pseudo = { ...english, tag: 'en-XA', messages: pseudoCatalogue(english.messages) };
const place = {
  href: '/1',
  name: '1',
  role: 'owner',
  networks: { tron: 'TRON' },
  permissions: [...SECTIONS.map(({ permission }) => permission), 'settlement:create', 'settlement:approve', 'webhook:resend', 'secret:roll'],
  section: null,
};
const drawn = (screen: Screen, inside: boolean, language: PageModel['language']) =>
  renderConsole({
    language,
    languages: [
      { tag: 'en', name: 'English' },
      { tag: 'es', name: 'Español' },
    ],
    assets: { script: '/1', style: '/2', icon: '/3' },
    person: '1@2',
    place: inside ? place : null,
    screen,
    notice: null,
  });

/** Whatever somebody reads or hears of a page, but for what is said to be in a language, and for code. */
function saidBy(html: string): string[] {
  const body = html.slice(html.indexOf('<title>')).replaceAll(/<(pre|code)\b.*?<\/\1>/gs, '');
  const own = body.replaceAll(/<(\w+)(?=[^>]*\slang=")[^>]*>.*?<\/\1>/gs, '');
  const attributes = [...own.matchAll(/\s(?:aria-label|title|placeholder|alt|data-(?:busy|too-old|has-one|confirm|none-given|failed))="([^"]*)"/g)];
  return [...attributes.map(([, text]) => String(text)), ...own.replaceAll(/<[^>]*>/g, '\n').split('\n')];
}

/** What no catalogue wrote: in the pseudo-language every letter carries an accent. */
const plainWords = (text: string) =>
  (text.replaceAll(/&\w+;/g, '').match(/(?<![\p{L}\p{M}])[A-Za-z]{2,}(?![\p{L}\p{M}])/gu) ?? []).filter((word) => !DATA.includes(word));

const titleOf = (screen: Screen) => ('problem' in screen ? `${screen.kind} ${screen.problem}` : screen.kind);

describe('no page of the console has a word that is not from its catalogue', () => {
  it.each([
    ...GATEWAY_PAGES.map((screen) => [titleOf(screen), screen, true] as const),
    ...PERSONAL_PAGES.map((screen) => [titleOf(screen), screen, false] as const),
  ])('%s', (_title, screen, inside) => {
    expect(saidBy(drawn(screen, inside, pseudo)).flatMap(plainWords)).toEqual([]);
  });

  it('and a page in English has some, by the same measure', () => {
    for (const screen of PERSONAL_PAGES) expect(saidBy(drawn(screen, false, english)).flatMap(plainWords)).not.toEqual([]);
  });
});

describe('a page', () => {
  it('says which language it is in, and which way that runs', () => {
    const { messages } = consoleLanguage('es');
    expect(drawn({ kind: 'sign-in', provider: null }, false, { tag: 'es', direction: 'ltr', messages })).toContain('<html lang="es" dir="ltr">');
    expect(drawn({ kind: 'sign-in', provider: null }, false, { tag: 'ar', direction: 'rtl', messages })).toContain('<html lang="ar" dir="rtl">');
  });
});
