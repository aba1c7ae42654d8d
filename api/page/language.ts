/** Where a page's language may be said, by rank (ux 3). */
export interface LanguageWishes {
  /** `?lang=` of the page. */
  asked: string | null;
  /** The payment's own, then the gateway's. */
  given: readonly (string | null)[];
  /** The browser's `Accept-Language`. */
  accepted: string | undefined;
}

/** Everybody has it, and every catalogue is complete when it is like this one. */
export const REFERENCE_LANGUAGE = 'en';

/** More languages than anybody reads are not a wish. */
const LONGEST_HEADER = 1_000;

/** The language a page is in: the first wish that one of `available` fulfils, else English. Unknown ones are passed over silently. Pure. */
export function chooseLanguage(available: readonly string[], { asked, given, accepted }: LanguageWishes): string {
  for (const wish of [asked, ...given, ...preferred(accepted ?? '')]) {
    const found = wish === null ? undefined : matchLanguage(available, wish);
    if (found !== undefined) return found;
  }
  return REFERENCE_LANGUAGE;
}

/**
 * The catalogue that somebody who asked for `wish` can read: that very tag, else the same language in the same script, of the
 * same region if there is one. So `zh` and `zh-Hans` find zh-CN, and zh-TW, which is another script, does not. Pure.
 */
export function matchLanguage(available: readonly string[], wish: string): string | undefined {
  const asked = readTag(wish);
  if (asked === undefined) return undefined;
  const readable = available.flatMap((tag) => {
    const one = readTag(tag);
    return one !== undefined && one.language === asked.language && one.script === asked.script ? [{ tag, region: one.region }] : [];
  });
  return (readable.find((one) => one.region === asked.region) ?? readable[0])?.tag;
}

function readTag(text: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(text.replaceAll('_', '-')).maximize();
  } catch {
    return undefined;
  }
}

/** The tags of an `Accept-Language`, the dearest first; what is refused (`q=0`) is not among them. */
function preferred(header: string): string[] {
  if (header.length > LONGEST_HEADER) return [];
  return header
    .split(',')
    .map((part) => {
      const [tag = '', ...rest] = part.split(';').map((one) => one.trim());
      const quality = rest.find((one) => one.startsWith('q='))?.slice(2);
      return { tag, quality: quality === undefined ? 1 : /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 0 };
    })
    .filter(({ tag, quality }) => tag !== '' && tag !== '*' && quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
}
