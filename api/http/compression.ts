import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, type BrotliOptions, constants, gzip } from 'node:zlib';

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

/** Up to this many bytes a page is compressed at once: another thread takes longer to be asked than the work itself, a fifth of a millisecond. */
const AT_ONCE_BYTES = 64 * 1024;

const [brotli, zip] = [promisify(brotliCompress), promisify(gzip)];

/** Compresses a text for one reader. */
export async function compress(text: string, encoding: Encoding): Promise<Buffer> {
  const body = Buffer.from(text);
  if (encoding === 'br') return body.length <= AT_ONCE_BYTES ? brotliCompressSync(body, paramsFor(body.length)) : brotli(body, paramsFor(body.length));
  return encoding === 'gzip' ? zip(body) : body;
}

function paramsFor(bytes: number): BrotliOptions {
  // No window is larger than the text: it is megabytes of memory, and another one for each page.
  const window = Math.min(Math.max(Math.ceil(Math.log2(bytes + 16)), constants.BROTLI_MIN_WINDOW_BITS), constants.BROTLI_DEFAULT_WINDOW);
  return { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes, [constants.BROTLI_PARAM_LGWIN]: window } };
}
