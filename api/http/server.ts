import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import { ServiceError } from '#shared/core/errors.ts';
import { CONTRACT_REVISION, failureBody } from './envelope.ts';

const MAX_HEADER_BYTES = 16_384;

/**
 * Puts the app behind a server with limits against slow and endless senders: 10 s for the headers, 30 s for a request,
 * 16 KB of headers. What is not even HTTP is answered in the envelope too; a missing Host is nobody's problem here.
 */
export function createHttpServer(app: Express): Server {
  const server = createServer(
    { requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 65_000, maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false },
    app,
  );
  // Without this Node itself refuses an unknown Expect header, without the envelope.
  server.on('checkExpectation', app);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (socket.writable) socket.end(rawResponse(refusal(error)));
    else socket.destroy();
  });
  return server;
}

function refusal(error: NodeJS.ErrnoException): ServiceError {
  if (error.code === 'HPE_HEADER_OVERFLOW') return new ServiceError('payload_too_large', { message: `The headers are larger than ${MAX_HEADER_BYTES} bytes.` });
  return new ServiceError('malformed_json', { message: 'The request is not valid HTTP, or did not arrive in time.' });
}

/** No request was read, so there is no response object to write to. */
function rawResponse(error: ServiceError): string {
  const body = failureBody(error.code, error.message);
  const headers = {
    Connection: 'close',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': randomUUID(),
    'X-Contract-Revision': CONTRACT_REVISION,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${error.status} ${error.status === 413 ? 'Content Too Large' : 'Bad Request'}`, ...lines, '', body].join('\r\n');
}
