/** Shorter parts of a path or a query are plain names, and shorter passwords protect nothing important. */
const SHORTEST = { path: 16, query: 8, credential: 6 };

/**
 * Replaces whatever in an endpoint's messages may be a key from its URL. Our own messages never quote a URL, but providers like to say which
 * project has no credits left, and its name is the key.
 */
export function keyHider(url: string): (text: string) => string {
  const { username, password, pathname, searchParams } = new URL(url);
  const words = [
    ...[username, password].filter((word) => word.length >= SHORTEST.credential),
    ...pathname.split('/').filter((word) => word.length >= SHORTEST.path),
    ...[...searchParams.values()].filter((word) => word.length >= SHORTEST.query),
  ];
  const keys = [...new Set(words.flatMap((word) => [word, decoded(word)]))].sort((a, b) => b.length - a.length);
  return (text) => keys.reduce((rest, key) => rest.replaceAll(key, '[key]'), text);
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
