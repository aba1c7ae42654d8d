import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** How a body may be written; `identity` is as it is. */
export type Encoding = 'br' | 'gzip' | 'identity';

/** A page is written once and read once: half a millisecond of work for a fifth of its size. */
const QUALITY = 5;

/** The smallest encoding that a reader takes, by its `Accept-Encoding`; what is given no weight is refused (RFC 9110). Pure. */
export function encodingFor(accepted: string | undefined): Encoding {
  const taken = new Set(
    (accepted ?? '')
      .toLowerCase()
      .split(',')
      .map((part) => part.split(';').map((one) => one.trim()))
      .filter(([, ...parameters]) => !parameters.some((one) => /^q=0(\.0*)?$/.test(one)))
      .map(([name]) => name),
  );
  return taken.has('br') ? 'br' : taken.has('gzip') ? 'gzip' : 'identity';
}

const [brotli, zip] = [promisify(brotliCompress), promisify(gzip)];

/** Compresses a text for one reader. */
export async function compress(text: string, encoding: Encoding): Promise<Buffer> {
  const body = Buffer.from(text);
  if (encoding === 'br')
    return brotli(body, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
        // No window is larger than the text: it is megabytes of memory, and another one for each page.
        [constants.BROTLI_PARAM_LGWIN]: Math.min(
          Math.max(Math.ceil(Math.log2(body.length + 16)), constants.BROTLI_MIN_WINDOW_BITS),
          constants.BROTLI_DEFAULT_WINDOW,
        ),
      },
    });
  return encoding === 'gzip' ? zip(body) : body;
}
