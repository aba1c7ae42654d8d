import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '#shared/core/errors.ts';
import { gatherBytes } from '#shared/chains/gathered-bytes.ts';
import { POLICY } from '#shared/core/policy.ts';

/**
 * Reads a request's body as the bytes that were sent: at most 65,536 of them, never inflated, because a signature is over
 * exactly these (reliability D18). Nothing is read of a body that is refused by its headers; whoever asked with
 * `Expect: 100-continue` is told to go on only now, and is spared the upload when an earlier check refuses it.
 * @throws payload_too_large as soon as the limit is passed, unsupported_media_type for an encoded body, malformed_json when it ends early
 */
export async function readBody(request: IncomingMessage, response: ServerResponse): Promise<Buffer> {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length === 0 && request.headers['transfer-encoding'] === undefined) return Buffer.alloc(0);
  if ((request.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw new ServiceError('unsupported_media_type', { message: 'Send the body without Content-Encoding.' });
  if (length > POLICY.bodyBytes) throw new ServiceError('payload_too_large');
  if (request.destroyed) throw endedEarly();
  if (/^100-continue$/i.test(request.headers.expect ?? '')) response.writeContinue();
  return new Promise((resolve, reject) => {
    const gathered = gatherBytes();
    request.on('data', (chunk: Buffer) => {
      if (gathered.length + chunk.length <= POLICY.bodyBytes) gathered.add(chunk);
      else reject(new ServiceError('payload_too_large'));
    });
    request.once('end', () => resolve(gathered.take()));
    request.once('error', () => reject(endedEarly()));
    request.once('close', () => reject(endedEarly()));
  });
}

function endedEarly(): ServiceError {
  return new ServiceError('malformed_json', { message: 'The body ended early.' });
}
