import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LanguageChoice, PageLanguage } from '#api/page/catalogue.ts';
import { REFERENCE_LANGUAGE } from '#api/page/language.ts';
import { Invariant } from '#shared/core/errors.ts';

/** Every language that pages can be in. */
export interface Catalogues {
  /** BCP 47 tags, English first. */
  tags: readonly string[];
  /** What a reader may change to, in the order of the tags. */
  choices: readonly LanguageChoice[];
  /** @throws Invariant for a tag that is none of `tags` */
  language(tag: string): PageLanguage;
}

/** Reads every `<tag>.json` of a folder: a language is one file. @throws Invariant when English is not there */
export function loadCatalogues(folder: string): Catalogues {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const languages = files.map((name): PageLanguage => {
    const messages = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, string>;
    return { tag: name.slice(0, -'.json'.length), direction: messages['language.direction'] === 'rtl' ? 'rtl' : 'ltr', messages };
  });
  languages.sort((a, b) => Number(b.tag === REFERENCE_LANGUAGE) - Number(a.tag === REFERENCE_LANGUAGE) || (a.tag < b.tag ? -1 : 1));
  if (languages[0]?.tag !== REFERENCE_LANGUAGE) throw new Invariant(`${folder} has no ${REFERENCE_LANGUAGE}.json`);
  return {
    tags: languages.map(({ tag }) => tag),
    choices: languages.map(({ tag, messages }) => ({ tag, name: messages['language.name'] ?? tag })),
    language: (tag) => {
      const found = languages.find((one) => one.tag === tag);
      if (found === undefined) throw new Invariant(`there is no catalogue ${tag}`);
      return found;
    },
  };
}
