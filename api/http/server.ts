import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import { failureBody } from './envelope.ts';

/**
 * Puts the app behind a server with limits against slow and endless senders: 10 s for the headers, 30 s for a request,
 * 16 KB of headers. What is not even HTTP is answered in the envelope too.
 */
export function createHttpServer(app: Express): Server {
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 65_000, maxHeaderSize: 16_384 }, app);
  server.on('clientError', (_error, socket: Socket) => {
    const body = failureBody('malformed_json', 'The request is not valid HTTP.');
    if (socket.writable) socket.end(`HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    else socket.destroy();
  });
  return server;
}
