import { describe, expect, it } from 'vitest';
import type { PageModel, Screen, Surroundings } from '#api/console/page/model.ts';
import { renderConsole } from '#api/console/page/render.tsx';
import { pseudoCatalogue } from '#test/fixtures/catalogues.ts';
import { ALL_PAGES, DATA, PERSONAL_PAGES } from '#test/fixtures/console-screens.ts';
import { consoleLanguage } from '#test/fixtures/console-texts.ts';

const english = consoleLanguage('en');
const pseudo = { ...english, tag: 'en-XA', messages: pseudoCatalogue(english.messages) };
const drawn = (screen: Screen, place: Surroundings | null, language: PageModel['language']) =>
  renderConsole({
    language,
    languages: [
      { tag: 'en', name: 'English' },
      { tag: 'es', name: 'Español' },
    ],
    assets: { script: '/1', style: '/2', icon: '/3' },
    person: '1@2',
    place,
    screen,
    follows: { path: '/4', mark: '5' },
    notice: null,
  });

/** Whatever somebody reads or hears of a page, but for code, names of languages, and sentences of the service, which say that they are English. */
function saidBy(html: string): string[] {
  const body = html.slice(html.indexOf('<title>')).replaceAll(/<(pre|code)\b.*?<\/\1>/gs, '');
  const own = body.replaceAll(/<(span|option)(?=[^>]*\slang=")[^>]*>.*?<\/\1>/gs, '');
  const attributes = [...own.matchAll(/\s(?:aria-label|title|placeholder|alt|data-(?:busy|too-old|has-one|confirm|none-given|failed|changed))="([^"]*)"/g)];
  return [...attributes.map(([, text]) => String(text)), ...own.replaceAll(/<[^>]*>/g, '\n').split('\n')];
}

/** What no catalogue wrote: in the pseudo-language every letter carries an accent. */
const plainWords = (text: string) =>
  (text.replaceAll(/&\w+;/g, '').match(/(?<![\p{L}\p{M}])[A-Za-z]{2,}(?![\p{L}\p{M}])/gu) ?? []).filter((word) => !DATA.includes(word));

const titleOf = (screen: Screen) => ('problem' in screen ? `${screen.kind} ${screen.problem}` : screen.kind);

describe('no page of the console has a word that is not from its catalogue', () => {
  it.each(ALL_PAGES.map(({ screen, place }) => [titleOf(screen), screen, place] as const))('%s', (_title, screen, place) => {
    expect(saidBy(drawn(screen, place, pseudo)).flatMap(plainWords)).toEqual([]);
  });

  it('and a page in English has some, by the same measure', () => {
    for (const screen of PERSONAL_PAGES) expect(saidBy(drawn(screen, null, english)).flatMap(plainWords)).not.toEqual([]);
  });
});

describe('a page', () => {
  it('says which language it is in, and which way that runs', () => {
    const { messages } = consoleLanguage('es');
    expect(drawn({ kind: 'sign-in', provider: null }, null, { tag: 'es', direction: 'ltr', messages })).toContain('<html lang="es" dir="ltr">');
    expect(drawn({ kind: 'sign-in', provider: null }, null, { tag: 'ar', direction: 'rtl', messages })).toContain('<html lang="ar" dir="rtl">');
  });
});
