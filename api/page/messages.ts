import { IntlMessageFormat } from 'intl-messageformat';
import type { Catalogue, PageLanguage } from './catalogue.ts';
import { formatLocale } from './locale.ts';

export type Values = Readonly<Record<string, string | number>>;

/** Gives a text of some catalogue with its placeholders filled in. */
export type Translate<Key extends string = string> = (key: Key, values?: Values) => string;

const RIGHT_TO_LEFT_ISOLATE = '\u2067';
const FIRST_STRONG_ISOLATE = '\u2068';
const POP_ISOLATE = '\u2069';
const RIGHT_TO_LEFT_LETTER = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;

/** What makes a message more than its own text: placeholders and what is quoted for their sake. */
const NEEDS_FORMAT = /[{}<#|]|''/;

/** One per catalogue: reading a message is the expensive part, and the page asks for the same ones every second. */
const translators = new WeakMap<Catalogue, Translate>();

/**
 * The texts of a language (ux 3: ICU messages, no concatenation). A value that may run the other way than the text around it
 * is isolated, so that an address or an amount keeps its order in an Arabic sentence, and an Arabic name in an English one.
 */
export function translator(language: PageLanguage): Translate {
  const known = translators.get(language.messages);
  if (known !== undefined) return known;
  const locale = formatLocale(language.tag);
  const formats = new Map<string, IntlMessageFormat | string>();
  const isolate = isolatorFor(language.direction);
  const translate: Translate = (key, values = {}) => {
    let format = formats.get(key);
    if (format === undefined) {
      // No key is shown to a reader: the checks of the catalogues see to it that there is a text.
      const message = language.messages[key] ?? '';
      // Most texts of a page are said as they stand, and a page has hundreds.
      format = NEEDS_FORMAT.test(message) ? new IntlMessageFormat(message, locale) : message;
      formats.set(key, format);
    }
    if (typeof format === 'string') return format;
    return String(format.format(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isolate(value)]))));
  };
  translators.set(language.messages, translate);
  return translate;
}

/**
 * Sets a value apart from the direction of the sentence around it. In a language from right to left, what has letters of it is
 * text (`USDT على شبكة TRON`), although it may begin with others; all the rest runs as its first letter does.
 */
function isolatorFor(direction: PageLanguage['direction']): (value: string | number) => string | number {
  return (value) => {
    if (typeof value !== 'string') return value;
    const foreign = RIGHT_TO_LEFT_LETTER.test(value);
    if (direction === 'ltr' && !foreign) return value;
    return `${direction === 'rtl' && foreign ? RIGHT_TO_LEFT_ISOLATE : FIRST_STRONG_ISOLATE}${value}${POP_ISOLATE}`;
  };
}
