import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { Deps, SentFile } from '#api/deps.ts';
import type { WrittenFile } from '#api/exports/whole-record.ts';

/**
 * Sends a file part by part, no faster than it is taken, or the one range of it that was asked for, so that a download that was cut off goes on (RFC 9110, 14).
 * A file never changes: its tag is its name.
 */
export async function sendFile(
  deps: Pick<Deps, 'log'>,
  request: Request,
  response: Response,
  file: SentFile,
  headers: Record<string, string> = {},
): Promise<void> {
  const common = { ...headers, ETag: file.etag, 'Accept-Ranges': 'bytes', 'Cache-Control': 'no-store' };
  const known = request.headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, ''));
  if (known?.some((one) => one === file.etag || one === '*') === true) {
    response.writeHead(304, common).end();
    return;
  }
  const range = rangeOf(request, file);
  if (range === 'unsatisfiable') {
    response.writeHead(416, { ...common, 'Content-Range': `bytes */${file.length}`, 'Content-Length': 0 }).end();
    return;
  }
  const [from, to] = range ?? [0, file.length];
  response.writeHead(range === null ? 200 : 206, {
    ...common,
    'Content-Type': file.type,
    'Content-Length': to - from,
    'Content-Disposition': `attachment; filename="${file.name}"`,
    ...(range !== null && { 'Content-Range': `bytes ${from}-${to - 1}/${file.length}` }),
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  // Its head is out: whoever reads it learns from its length that it was cut off.
  await pipeline(Readable.from(file.read(from, to)), response).catch((error: unknown) => deps.log.debug({ err: error }, 'a download was cut off'));
}

/** Sends a file that is written while it is read, no faster than it is taken. One that cannot be written to its end ends without the last chunk, which its reader notices. */
export async function sendLines(
  deps: Pick<Deps, 'log'>,
  request: Request,
  response: Response,
  { name, type, lines }: WrittenFile,
  headers: Record<string, string>,
): Promise<void> {
  response.writeHead(200, { ...headers, 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"`, 'Cache-Control': 'no-store' });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  await pipeline(Readable.from(lines()), response).catch((error: unknown) => deps.log.debug({ err: error }, 'a download was cut off'));
}

/** The range that was asked for, as the first byte and the one behind the last; null for all of it, as for several ranges at once. Pure. */
function rangeOf({ headers }: Request, { etag, length }: SentFile): [number, number] | 'unsatisfiable' | null {
  if (headers['if-range'] !== undefined && headers['if-range'] !== etag) return null;
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.range ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (first === '' && last === '') return null;
  const from = first === '' ? Math.max(0, length - Number(last)) : Number(first);
  const to = first === '' || last === '' ? length : Math.min(length, Number(last) + 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  return from >= length || to <= from ? 'unsatisfiable' : [from, to];
}
