import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ControlHandler } from './control-server.ts';

/** A node's HTTP server: control below `/dev/`, everything else is the node's own API. */
export function nodeServer(
  control: ControlHandler,
  handle: (request: IncomingMessage, response: ServerResponse, url: URL, body: string) => Promise<void>,
): Server {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://node');
    const body = await text(request);
    const [, prefix, verb = ''] = url.pathname.split('/');
    return prefix === 'dev' ? answerControl(control, verb, body, response) : handle(request, response, url, body);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
      response.end(error instanceof Error ? error.message : String(error));
    });
  });
  server.keepAliveTimeout = 60_000;
  return server;
}

/** Listens on 127.0.0.1, at any free port when none is named; `close` also ends what is being answered. */
export async function listen(server: Server, wanted = 0): Promise<{ port: number; close(): Promise<void> }> {
  server.listen(wanted, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Ends the connection without an answer. */
export function cut(request: IncomingMessage): void {
  request.socket.destroy();
}

export function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type });
  response.end(body);
}

function answerControl(control: ControlHandler, verb: string, body: string, response: ServerResponse): void {
  try {
    send(response, 200, 'application/json', control(verb, body));
  } catch (error) {
    send(response, 400, 'application/json', JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
  }
}
