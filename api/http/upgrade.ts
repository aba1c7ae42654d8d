import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** True when a request asks for a WebSocket; anything else that offers an upgrade does well without one. */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && (headers.upgrade ?? '').split(',').some((one) => one.trim().toLowerCase() === 'websocket');
}

/**
 * Gives a connection back to its server as if its request had offered no upgrade: once somebody listens for upgrades, Node
 * answers none of those requests itself, not even of clients that offer HTTP/2 with every first request. Without its `Upgrade`
 * header the request is read again, with the body that may follow it, and the connection goes on as usual.
 */
export function declineUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at] ?? '';
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}: ${request.rawHeaders[at + 1] ?? ''}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
