/** Letters of other alphabets, and digits, that look like Latin letters in small capitals or none. */
const LOOKS_LIKE: Readonly<Record<string, string>> = {
  ...pairs(
    '\u0430a\u0435e\u043eo\u0440p\u0441c\u0443y\u0445x\u0456i\u0458j\u0455s\u04bbh\u0501d\u051bq\u051dw\u043ak\u043cm\u0442t\u043dh\u0432b\u0433r\u043fn',
  ),
  ...pairs('\u03b1a\u03b2b\u03b5e\u03b9i\u03bak\u03bdv\u03bfo\u03c1p\u03c4t\u03c5u\u03c7x\u03c9w\u03b7n\u03c3o'),
  ...pairs('0o1l3e4a5s7t8b\u0131i'),
};

/**
 * What a name looks like to somebody who does not look twice: without case, accents, spaces and signs, with what looks like a Latin letter taken for it. Names that are equal so
 * can be taken for each other. Pure.
 */
export function nameSkeleton(name: string): string {
  const letters = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
  const latin = [...letters].map((letter) => LOOKS_LIKE[letter] ?? letter).join('');
  // An upright stroke is one, whichever letter it is.
  return (latin === '' ? name.trim() : latin).replaceAll('i', 'l').replaceAll('rn', 'm').replaceAll('vv', 'w');
}

function pairs(text: string): Record<string, string> {
  const letters = [...text];
  return Object.fromEntries(letters.flatMap((letter, at) => (at % 2 === 0 ? [[letter, letters[at + 1] as string]] : [])));
}
