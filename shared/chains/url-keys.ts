/** Shorter words of a path or a query are names of things, and shorter passwords open nothing that matters. */
const SHORTEST = { path: 16, query: 8, credential: 6 };

/**
 * Hides from an endpoint's own words whatever of its URL may be a key. Messages of ours never quote a URL, but providers like to
 * say which project has no credits left, and that name is the key.
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
