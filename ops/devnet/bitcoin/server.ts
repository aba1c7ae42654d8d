import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { ControlHandler } from '../control-server.ts';
import { type Fault, type Faults, nextFault, type Planned } from '../faults.ts';
import { cut, nodeServer, send } from '../http.ts';
import type { FaultKind } from './faults.ts';
import type { BitcoinNode } from './node.ts';
import { RPC } from './refusal.ts';
import { type Call, readJson, writeJson } from './request.ts';
import { callOf, errorOf, type Outcome, replyTo, run, statusOf } from './rpc.ts';

export interface Serving {
  node: BitcoinNode;
  faults: Faults<FaultKind>;
  control: ControlHandler;
  /** `user:password`. */
  credentials: string;
}

type Struck = Planned<FaultKind> | null;

/** JSON-RPC over HTTP with basic authentication, single calls and batches; and the control. */
export function serve(serving: Serving): Server {
  return nodeServer(serving.control, (request, response, url, body) => handle(serving, request, response, url, body));
}

async function handle(serving: Serving, request: IncomingMessage, response: ServerResponse, url: URL, body: string): Promise<void> {
  const [, prefix = '', name = ''] = url.pathname.split('/');
  if (serving.faults.latencyMs > 0) await pause(serving.faults.latencyMs);
  if (request.method !== 'POST') return send(response, 405, 'text/html', 'JSONRPC server handles only POST requests');
  if (prefix !== '' && prefix !== 'wallet') return send(response, 404, 'text/html', '');
  if (!authorized(request, serving.credentials)) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="jsonrpc"' });
    response.end();
    return;
  }
  return answerRpc(serving, request, response, body, prefix === 'wallet' ? decodeURIComponent(name) : null);
}

function authorized(request: IncomingMessage, credentials: string): boolean {
  return request.headers.authorization === `Basic ${Buffer.from(credentials).toString('base64')}`;
}

async function answerRpc({ node, faults }: Serving, request: IncomingMessage, response: ServerResponse, body: string, wallet: string | null): Promise<void> {
  let parsed: unknown;
  try {
    parsed = readJson(body);
  } catch {
    return send(response, 500, 'application/json', writeJson(replyTo({ error: { code: RPC.parse, message: 'Parse error' } }, null, false)));
  }
  const fault = nextFault(faults, methodsOf(parsed));
  if (fault?.kind === 'drop') return cut(request);
  if (fault?.kind === 'hang') return;
  if (fault?.kind === 'busy') return send(response, 503, 'text/plain', 'Work queue depth exceeded');
  if (fault?.kind.startsWith('status-')) return send(response, Number(fault.kind.slice(7)), 'text/html', '');
  const { status, answer } = Array.isArray(parsed) ? batch(node, parsed, wallet, fault) : single(node, parsed, wallet, fault);
  if (fault?.kind === 'drop-after') return cut(request);
  if (fault?.kind === 'html') return send(response, 200, 'text/html', '<html><body>Bad Gateway</body></html>');
  return send(response, status, 'application/json', fault?.kind === 'truncated' ? answer.slice(0, answer.length / 2) : answer);
}

function methodsOf(parsed: unknown): string[] {
  return [parsed].flat().flatMap((each) => (typeof (each as { method?: unknown } | null)?.method === 'string' ? [(each as { method: string }).method] : []));
}

interface Answer {
  status: number;
  answer: string;
}

function single(node: BitcoinNode, value: unknown, wallet: string | null, fault: Struck): Answer {
  const { call, outcome } = carryOut(node, value, wallet, fault);
  if (call?.notification === true) return { status: 204, answer: '' };
  const modern = call?.modern ?? false;
  const status = 'error' in outcome && !modern ? statusOf(outcome.error.code) : 200;
  return { status, answer: `${writeJson(replyTo(outcome, call?.id ?? null, modern))}\n` };
}

function batch(node: BitcoinNode, values: unknown[], wallet: string | null, fault: Struck): Answer {
  const answers = values.map((value) => carryOut(node, value, wallet, fault)).filter(({ call }) => call?.notification !== true);
  if (answers.length === 0 && values.length > 0) return { status: 204, answer: '' };
  return { status: 200, answer: `${writeJson(answers.map(({ call, outcome }) => replyTo(outcome, call?.id ?? null, call?.modern ?? false)))}\n` };
}

function carryOut(node: BitcoinNode, value: unknown, wallet: string | null, fault: Struck): { call: Call | null; outcome: Outcome } {
  try {
    const call = callOf(value);
    const struck = fault !== null && (fault.on === '*' || fault.on === call.method);
    return { call, outcome: struck ? struckOutcome(node, call, wallet, fault) : run(node, call, wallet) };
  } catch (error) {
    return { call: null, outcome: { error: errorOf(error) } };
  }
}

function struckOutcome(node: BitcoinNode, call: Call, wallet: string | null, { kind, answer = 'null' }: Fault<FaultKind>): Outcome {
  if (kind === 'warmup') return { error: { code: RPC.inWarmup, message: 'Loading block index…' } };
  if (kind === 'error') return { error: readJson(answer) as { code: number; message: string } };
  if (kind === 'answer' || kind === 'null') return { result: readJson(kind === 'null' ? 'null' : answer) };
  return run(node, call, wallet);
}
