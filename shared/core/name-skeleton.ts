/** Letters of other alphabets, and digits, that look like Latin letters in small capitals or none. */
const LOOKS_LIKE: Readonly<Record<string, string>> = {
  ...pairs(
    '\u0430a\u0435e\u043eo\u0440p\u0441c\u0443y\u0445x\u0456i\u0458j\u0455s\u04bbh\u0501d\u051bq\u051dw\u043ak\u043cm\u0442t\u043dh\u0432b\u0433r\u043fn',
  ),
  ...pairs('\u03b1a\u03b2b\u03b5e\u03b9i\u03bak\u03bdv\u03bfo\u03c1p\u03c4t\u03c5u\u03c7x\u03c9w\u03b7n\u03c3o'),
  // Phonetic letters and small capitals, rare Cyrillic, Armenian, Lisu, Cherokee, Canadian syllables: nobody's shop is written in a mix of these.
  ...pairs(
    '\u0251a\u0261g\u0269i\u029fl\u1d00a\u0299b\u1d04c\u1d05d\u1d07e\u0262g\u029ch\u026ai\u1d0aj\u1d0bk\u1d0dm\u0274n\u1d0fo\u1d18p\u0280r\ua731s\u1d1bt\u1d1cu\u1d20v\u1d21w\u028fy\u1d22z',
  ),
  ...pairs('\u04cfl\u0501d\u0475v\u050dg'),
  ...pairs('\u0585o\u057du\u0578n\u0570h\u0581g\u0566q\u0575j\u056cl'),
  ...pairs(
    '\ua4d0b\ua4d1p\ua4d3d\ua4d4t\ua4d6g\ua4d7k\ua4d9j\ua4dac\ua4dcz\ua4ddf\ua4dfm\ua4e0n\ua4e1l\ua4e2s\ua4e3r\ua4e6v\ua4e7h\ua4eaw\ua4ebx\ua4ecy\ua4eea\ua4f0e\ua4f2i\ua4f3o\ua4f4u',
  ),
  ...pairs('\uab7aa\uabafc\uab7ce\uab8bh\uab7bj\uabb6k\uabael\uab87m\uabb2p\uabaas\uab72t\uaba9v\uab83w\uab93z\uab70d\uab90g\uaba2r'),
  ...pairs('\u15c5a\u15e9a\u15f7b\u1455c\u15ead\u15b4f\u157ch\u148dj\u14aal\u15f0m\u144en\u146dp\u1587r\u1515s\u144cu\u142fv\u15efw\u157dx'),
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
