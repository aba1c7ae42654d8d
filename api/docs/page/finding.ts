import MiniSearch, { type Options } from 'minisearch';

/** Something that can be looked for. */
export interface Entry {
  id: number;
  title: string;
  /** What it stands on or is: `Webhooks`, `Error code`. */
  where: string;
  /** What else it is called. */
  also: string;
  /** What it says first. */
  words: string;
  href: string;
  /** How much of a find it is beside others that fit as well. */
  weight: number;
}

/** What is shown of one that was found. */
export type Hit = Pick<Entry, 'title' | 'where' | 'href'>;

export type FindingIndex = MiniSearch<Entry>;

/** How names are taken apart: `createPayment` and `payment:create` are found by each of their words, and by the whole. */
function words(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => {
    const parts = word.replaceAll(/([a-z])([A-Z])/g, '$1 $2').split(/[ _]+/);
    return parts.length > 1 ? [word, ...parts] : [word];
  });
}

/** Made the same way where the index is written and where it is read. */
const OPTIONS: Options<Entry> = {
  fields: ['title', 'also', 'words', 'where'],
  storeFields: ['title', 'where', 'href', 'weight'],
  tokenize: words,
  processTerm: (word) => stem(word.toLowerCase()) || null,
};

/** Words that every question has. */
const EMPTY = new Set(
  'a an and are at be been by can could did do does for from get had has have how i if in into is it its me must my need of on or our should so that the their them then there they this to us want was we what when where which who why will with would you your'.split(
    ' ',
  ),
);

/** Verbs and plurals meet their stems: `signing`, `signs` and `sign`. Prefixes do the rest. */
function stem(word: string): string {
  if (word.length > 5 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word.length > 6 && /(?:ing|ed)$/.test(word)) return word.replace(/(?:ing|ed)$/, '');
  return word.length > 3 && /[^su]s$/.test(word) ? word.slice(0, -1) : word;
}

/** Makes the index of these. */
export function indexOf(entries: readonly Entry[]): FindingIndex {
  const index = new MiniSearch<Entry>(OPTIONS);
  index.addAll(entries);
  return index;
}

/** The index as it was written. @throws SyntaxError when it is none */
export function readIndex(json: string): FindingIndex {
  return MiniSearch.loadJSON<Entry>(json, OPTIONS);
}

/** Best first. A question may be a whole sentence or the first letters of a word. */
export function find(index: FindingIndex, question: string, most: number): Hit[] {
  const asked = words(question.slice(0, 100)).filter((word) => word !== '');
  const telling = asked.filter((word) => !EMPTY.has(word.toLowerCase()));
  // What is being typed may become another word.
  const sought = (telling.length === 0 ? asked.slice(-1) : telling).slice(0, 12);
  if (sought.length === 0) return [];
  return index
    .search(sought.join(' '), {
      boost: { title: 4, also: 3, words: 1, where: 1.5 },
      prefix: (term) => term.length > 1,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      boostDocument: (_id, _term, stored) => Number(stored?.weight ?? 1),
    })
    .slice(0, most)
    .map(({ title, where, href }) => ({ title: String(title), where: String(where), href: String(href) }));
}
