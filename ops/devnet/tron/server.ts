import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { type Fault, type Faults, nextFault } from './faults.ts';
import { type Handler, type TronNode, viewOf } from './node.ts';
import { readRequest, writeJson } from './request.ts';
import { accountHandlers } from './wallet-accounts.ts';
import { blockHandlers } from './wallet-blocks.ts';
import { broadcastHandlers } from './wallet-broadcast.ts';
import { contractHandlers } from './wallet-contracts.ts';
import { permissionHandlers } from './wallet-permissions.ts';

const FULL: Record<string, Handler> = { ...blockHandlers, ...accountHandlers, ...contractHandlers, ...permissionHandlers, ...broadcastHandlers };

/** What the solidified side answers; a real node has no broadcasting, no pool and no building there. */
const SOLID = new Set([
  ...['getnowblock', 'getblockbynum', 'getblockbyid', 'getblock', 'getblockbylimitnext', 'getblockbylatestnum', 'gettransactioncountbyblocknum'],
  ...['gettransactionbyid', 'gettransactioninfobyid', 'gettransactioninfobyblocknum', 'getaccount', 'listwitnesses'],
  ...['triggerconstantcontract', 'estimateenergy', 'getenergyprices', 'getbandwidthprices', 'getnodeinfo'],
]);

const LIMITED = { Error: 'class java.lang.IllegalAccessException : lack of computing resources' };

/** Answers control requests below `/dev/`. */
export type ControlHandler = (verb: string, body: string) => string;

/** One HTTP server for the full-node side, the solidified side and the control; GET and POST alike. */
export function serve(node: TronNode, faults: Faults, control: ControlHandler): Server {
  const server = createServer((request, response) => {
    handle(node, faults, control, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
      response.end(error instanceof Error ? error.message : String(error));
    });
  });
  server.keepAliveTimeout = 60_000;
  return server;
}

async function handle(node: TronNode, faults: Faults, control: ControlHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://node');
  const body = await text(request);
  const [, prefix = '', name = ''] = url.pathname.split('/');
  if (prefix === 'dev') return answerControl(control, name, body, response);
  const path = `${prefix}/${name}`;
  if (faults.latencyMs > 0) await pause(faults.latencyMs);
  const fault = nextFault(faults, path);
  const kind = fault?.kind;
  if (kind === 'drop') return cut(request);
  if (kind === 'hang') return;
  if (kind?.startsWith('status-')) return send(response, Number(kind.slice(7)), 'text/html', '<html><body>error</body></html>');
  if (prefix === 'healthcheck') return send(response, 200, 'application/json', '{"status":"ok"}');
  const handler = FULL[name.toLowerCase()];
  const known = prefix === 'wallet' || (prefix === 'walletsolidity' && SOLID.has(name.toLowerCase()));
  if (!handler || !known) return send(response, 404, 'text/html', '<html><body><h2>HTTP ERROR 404 Not Found</h2></body></html>');
  const answered = answer(handler, node, prefix === 'walletsolidity', url, body);
  if (kind === 'drop-after') return cut(request);
  return send(response, 200, kind === 'html' ? 'text/html' : 'application/json', damaged(answered, fault));
}

function cut(request: IncomingMessage): void {
  request.socket.destroy();
}

function answer(handler: Handler, node: TronNode, solid: boolean, url: URL, body: string): string {
  try {
    const request = readRequest(url.searchParams, body);
    return writeJson(handler(viewOf(node, solid), request), String(request.body.int64_as_string) === 'true');
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return JSON.stringify({ Error: message.startsWith('class ') ? message : `class java.lang.Exception : ${message}` });
  }
}

function damaged(answer: string, fault: Fault | null): string {
  switch (fault?.kind) {
    case 'error':
      return JSON.stringify(LIMITED);
    case 'empty-object':
      return '{}';
    case 'empty-array':
      return '[]';
    case 'html':
      return '<html><body>Bad Gateway</body></html>';
    case 'truncated':
      return answer.slice(0, answer.length / 2);
    case 'answer':
      return fault?.answer ?? 'null';
    default:
      return answer;
  }
}

function answerControl(control: ControlHandler, verb: string, body: string, response: ServerResponse): void {
  try {
    send(response, 200, 'application/json', control(verb, body));
  } catch (error) {
    send(response, 400, 'application/json', JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type });
  response.end(body);
}
