import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { type Fault, type Faults, nextFault } from './faults.ts';
import type { BitcoinNode } from './node.ts';
import { RPC } from './refusal.ts';
import { type Call, readJson, writeJson } from './request.ts';
import { callOf, errorOf, type Outcome, replyTo, run, statusOf } from './rpc.ts';

/** Answers control requests below `/dev/`. */
export type ControlHandler = (verb: string, body: string) => string;

export interface Serving {
  node: BitcoinNode;
  faults: Faults;
  control: ControlHandler;
  /** `user:password`. */
  credentials: string;
}

type Planned = (Fault & { method: string }) | null;

/** JSON-RPC over HTTP with basic authentication, single calls and batches; and the control. */
export function serve(serving: Serving): Server {
  const server = createServer((request, response) => {
    handle(serving, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
      response.end(error instanceof Error ? error.message : String(error));
    });
  });
  server.keepAliveTimeout = 60_000;
  return server;
}

async function handle(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://node');
  const body = await text(request);
  const [, prefix = '', name = ''] = pathname.split('/');
  if (prefix === 'dev') return answerControl(serving.control, name, body, response);
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

function single(node: BitcoinNode, value: unknown, wallet: string | null, fault: Planned): Answer {
  const { call, outcome } = carryOut(node, value, wallet, fault);
  if (call?.notification === true) return { status: 204, answer: '' };
  const modern = call?.modern ?? false;
  const status = 'error' in outcome && !modern ? statusOf(outcome.error.code) : 200;
  return { status, answer: `${writeJson(replyTo(outcome, call?.id ?? null, modern))}\n` };
}

function batch(node: BitcoinNode, values: unknown[], wallet: string | null, fault: Planned): Answer {
  const answers = values.map((value) => carryOut(node, value, wallet, fault)).filter(({ call }) => call?.notification !== true);
  if (answers.length === 0 && values.length > 0) return { status: 204, answer: '' };
  return { status: 200, answer: `${writeJson(answers.map(({ call, outcome }) => replyTo(outcome, call?.id ?? null, call?.modern ?? false)))}\n` };
}

function carryOut(node: BitcoinNode, value: unknown, wallet: string | null, fault: Planned): { call: Call | null; outcome: Outcome } {
  try {
    const call = callOf(value);
    const struck = fault !== null && (fault.method === '*' || fault.method === call.method);
    return { call, outcome: struck ? struckOutcome(node, call, wallet, fault) : run(node, call, wallet) };
  } catch (error) {
    return { call: null, outcome: { error: errorOf(error) } };
  }
}

function struckOutcome(node: BitcoinNode, call: Call, wallet: string | null, { kind, answer = 'null' }: Fault): Outcome {
  if (kind === 'warmup') return { error: { code: RPC.inWarmup, message: 'Loading block index…' } };
  if (kind === 'error') return { error: readJson(answer) as { code: number; message: string } };
  if (kind === 'answer' || kind === 'null') return { result: readJson(kind === 'null' ? 'null' : answer) };
  return run(node, call, wallet);
}

function cut(request: IncomingMessage): void {
  request.socket.destroy();
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
