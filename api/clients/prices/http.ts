import { VERSION } from '#shared/platform/version.ts';
import { PriceSourceError } from './provider.ts';

/** Every source answers in far less; more is an accident or an attack. */
const MAX_BYTES = 2_000_000;
/**
 * A string is matched before a number, so that digits inside strings are left alone. One without an end is matched too:
 * trying again from each of its quotes would take a hostile answer hours.
 */
const TOKEN = /"[^"\\]*(?:\\[\s\S]?[^"\\]*)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * GETs a document: no redirects, at most 2 MB after decompression, and only while `signal` lasts.
 * @throws PriceSourceError
 */
export async function getText(url: string, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      signal,
      headers: { accept: 'application/json, application/xml;q=0.9', 'user-agent': `sluice/${VERSION}` },
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      const retryAfterSeconds = secondsOf(response.headers.get('retry-after'));
      throw new PriceSourceError('status', `answered ${response.status}`, { status: response.status, retryAfterSeconds });
    }
    return await readCapped(response);
  } catch (error) {
    if (error instanceof PriceSourceError) throw error;
    if (signal.aborted) throw new PriceSourceError('timeout', 'no answer in time');
    throw new PriceSourceError('network', reasonOf(error));
  }
}

/**
 * GETs JSON with every number as the text the source wrote, so that no price ever passes through a float.
 * @throws PriceSourceError
 */
export async function getJson(url: string, signal: AbortSignal): Promise<unknown> {
  return parseNumbersAsText(await getText(url, signal));
}

/** JSON.parse, except that a number arrives as its text. @throws PriceSourceError for anything that is not JSON */
export function parseNumbersAsText(text: string): unknown {
  try {
    return JSON.parse(text.replace(TOKEN, (token) => (token.startsWith('"') ? token : `"${token}"`)));
  } catch {
    throw new PriceSourceError('malformed', `not JSON: ${text.slice(0, 60)}`);
  }
}

/** Follows own properties of parsed JSON; undefined where the document is of another shape. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string | number, unknown>)[key];
  }
  return here;
}

/** Unix seconds as a source writes them. */
export function readUnixSeconds(value: unknown): Date | undefined {
  return typeof value === 'string' && /^\d{1,11}$/.test(value) ? new Date(Number(value) * 1_000) : undefined;
}

async function readCapped(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (bytes > MAX_BYTES) throw new PriceSourceError('too_large', `more than ${MAX_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}
