import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { ControlHandler } from '../control-server.ts';
import { type Fault, type Faults, nextFault } from '../faults.ts';
import { cut, nodeServer, send } from '../http.ts';
import type { FaultKind } from './faults.ts';
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
  ...['getnowblock', 'getblockbynum', 'getblockbyid', 'getblock', 'getblockbylimitnext'],
  ...['gettransactionbyid', 'gettransactioninfobyid', 'gettransactioninfobyblocknum', 'getaccount'],
  ...['triggerconstantcontract', 'estimateenergy', 'getenergyprices', 'getbandwidthprices', 'getnodeinfo'],
]);

const LIMITED = { Error: 'class java.lang.IllegalAccessException : lack of computing resources' };

/** One HTTP server for the full-node side, the solidified side and the control; GET and POST alike. */
export function serve(node: TronNode, faults: Faults<FaultKind>, control: ControlHandler): Server {
  return nodeServer(control, (request, response, url, body) => handle(node, faults, request, response, url, body));
}

async function handle(node: TronNode, faults: Faults<FaultKind>, request: IncomingMessage, response: ServerResponse, url: URL, body: string): Promise<void> {
  const [, prefix = '', name = ''] = url.pathname.split('/');
  const path = `${prefix}/${name}`;
  if (faults.latencyMs > 0) await pause(faults.latencyMs);
  const fault = nextFault(faults, [path]);
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

function answer(handler: Handler, node: TronNode, solid: boolean, url: URL, body: string): string {
  try {
    const request = readRequest(url.searchParams, body);
    return writeJson(handler(viewOf(node, solid), request), String(request.body.int64_as_string) === 'true');
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return JSON.stringify({ Error: message.startsWith('class ') ? message : `class java.lang.Exception : ${message}` });
  }
}

function damaged(answer: string, fault: Fault<FaultKind> | null): string {
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
