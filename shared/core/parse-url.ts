/**
 * The absolute URL that a text is, or null. Pure. `URL.canParse` is not asked: Node 20 has it refuse names that are written with é or ü once it was
 * called some thousand times, and browsers that the hosted page is built for do not have it.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
