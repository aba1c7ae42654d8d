import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { PageLanguage } from '#api/page/catalogue.ts';
import { translator as translatorOf, type Translate as TranslateKey } from '#api/page/messages.ts';

/** Every text of the console, by the keys of the reference catalogue. */
export type MessageKey = keyof typeof import('./locales/en.json');

export type Translate = TranslateKey<MessageKey>;

/** The texts of the console in a language. */
export const translator: (language: PageLanguage) => Translate = translatorOf;

/** The texts of the page that is being drawn. */
export const Texts = createContext<Translate | null>(null);

/** Gives the texts of the page around a component. @throws Error outside of a page */
export function useTexts(): Translate {
  const t = useContext(Texts);
  if (t === null) throw new Error('a part of a page is drawn without its texts');
  return t;
}
