/** A language's texts: flat dotted keys, ICU messages. */
export type Catalogue = Readonly<Record<string, string>>;

/** The language a page is in. */
export interface PageLanguage {
  /** BCP 47: `zh-CN`. */
  tag: string;
  direction: 'ltr' | 'rtl';
  messages: Catalogue;
}

/** A language that whoever reads a page may change to. */
export interface LanguageChoice {
  tag: string;
  /** In that language itself. */
  name: string;
}
