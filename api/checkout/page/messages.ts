import type { PageLanguage } from '#api/page/catalogue.ts';
import { translator as translatorOf, type Translate as TranslateKey } from '#api/page/messages.ts';

/** Every text of the page, by the keys of the reference catalogue. */
export type MessageKey = keyof typeof import('./locales/en.json');

export type Translate = TranslateKey<MessageKey>;

/** The texts of the checkout in a language. */
export const translator: (language: PageLanguage) => Translate = translatorOf;
