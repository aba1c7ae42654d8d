import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import { ServiceError } from '#shared/core/errors.ts';
import { failureBody } from '#shared/core/reply-body.ts';
import { errorHeaders } from './envelope.ts';
import { commonHeaders } from './observe.ts';
import { noteOwed } from './pipelining.ts';

const MAX_HEADER_BYTES = 16_384;
/** How long a refused sender may take to read why and hang up. */
const LINGER_MS = 1_000;

/** How long a sender may take, in milliseconds. */
export interface Patience {
  headers: number;
  /** The whole request, body included. */
  request: number;
  /** How long a connection may stand still in the middle of an exchange: nobody reads the answer, or nobody has one. */
  silence: number;
  /** How often connections are looked at; the first two of the above are late by this much at most. */
  check: number;
}

const PATIENCE: Patience = { headers: 10_000, request: 30_000, silence: 60_000, check: 2_000 };
/** A select waits five seconds for its address; what takes longer than this is somebody slow. */
const DRAIN_MS = 6_000;
/** How often connections are looked for that were kept alive after their answer. */
const IDLE_CHECK_MS = 100;

/** Answers that each server owes. */
const owed = new WeakMap<Server, Set<ServerResponse>>();

/**
 * Puts the app behind a server with limits against slow and endless senders: 10 s for the headers, 30 s for a request,
 * 60 s for a reader that does not read, 16 KB of headers with the URL. What Node would answer itself is answered in the
 * envelope too: what is not HTTP, what is too large or too slow, an `Expect` nobody offers; a missing Host is nobody's
 * problem here. A connection on which nothing came ends without an answer.
 */
export function createHttpServer(app: Express, patience: Patience = PATIENCE): Server {
  const latest = new WeakMap<Duplex, ServerResponse<IncomingMessage>>();
  const answering = new Set<ServerResponse>();
  const answer: RequestListener = (request, response) => {
    latest.set(request.socket, response);
    if (!server.listening) response.setHeader('Connection', 'close');
    noteOwed(request.socket, response);
    answering.add(response);
    response.once('close', () => answering.delete(response));
    app(request, response);
  };
  const server = createServer(
    {
      requestTimeout: patience.request,
      headersTimeout: patience.headers,
      connectionsCheckingInterval: patience.check,
      keepAliveTimeout: 65_000,
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
    },
    answer,
  );
  server.setTimeout(patience.silence);
  // Node would tell everybody to go on with the upload, and refuse any other Expect without the envelope.
  server.on('checkContinue', answer);
  server.on('checkExpectation', answer);
  server.on('connect', (_request, socket) => refuse(socket, new ServiceError('not_found')));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const before = latest.get(socket);
    const answerIt = (): void => refuse(socket, refusal(error));
    // Browsers open connections in advance. An answer that nobody asked for would be taken for that to the request they send there at the same moment;
    // where a connection only ends, they send it again.
    if (!socket.writable || (socket as Socket).bytesRead === 0) socket.destroy();
    // What came belongs to the request that is being received: it gets one answer, not two.
    else if (before?.req.complete === false) before.headersSent ? socket.destroy() : answerIt();
    // It comes after a whole request, which is answered first.
    else if (before?.writableFinished === false) before.once('finish', answerIt);
    else answerIt();
  });
  owed.set(server, answering);
  return server;
}

/**
 * Closes a server: no more connections at once, every request in flight is answered, and its connection ends with the answer,
 * so that nobody sends another request into it. Who is not done after `drainMs` is cut off.
 */
export function closeHttpServer(server: Server, drainMs = DRAIN_MS): Promise<void> {
  return new Promise((resolve) => {
    for (const response of owed.get(server) ?? []) if (!response.headersSent) response.setHeader('Connection', 'close');
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    const late = setTimeout(() => server.closeAllConnections(), drainMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(late);
      resolve();
    });
  });
}

/**
 * Answers on a connection that Node has given up, tunnels, upgrades and refused senders alike. It watches neither errors nor
 * deadlines there any more: a sender that is gone must not end this process, nor one that never hangs up keep the connection.
 */
export function refuse(socket: Duplex, error: ServiceError, requestId: string = randomUUID()): void {
  socket.on('error', () => socket.destroy());
  socket.end(rawResponse(error, requestId));
  const lingering = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(lingering));
}

function refusal(error: NodeJS.ErrnoException): ServiceError {
  if (error.code === 'HPE_HEADER_OVERFLOW') return new ServiceError('payload_too_large', { message: `The headers are larger than ${MAX_HEADER_BYTES} bytes.` });
  if (error.code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return new ServiceError('payload_too_large');
  return new ServiceError('malformed_json', { message: 'The request is not valid HTTP, or did not arrive in time.' });
}

/** No request was read, so there is no response object to write to. */
function rawResponse(error: ServiceError, requestId: string): string {
  const body = failureBody(error.code, error.message);
  const headers = {
    ...commonHeaders(requestId),
    ...errorHeaders(error),
    Connection: 'close',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`, ...lines, '', body].join('\r\n');
}
