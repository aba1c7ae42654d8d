import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { type Context, OpenAPIBackend } from 'openapi-backend';
import { createAjv } from '#api/http/contract-router.ts';
import { quicken } from '#api/http/quick-router.ts';
import { readContract } from '#api/http/read-contract.ts';
import { connect, type Sql } from '#shared/platform/postgres.ts';
import { type Requested, runnerOf } from './statements.ts';
import { answerLines } from './tool.ts';

/** What stands in for the service: its statements behind node:http, or express and openapi-backend in front of nothing. */
export interface Bare {
  what: 'statements' | 'layers';
  url: string;
  connections: number;
  requested: Requested;
}

async function serve({ what, url, connections, requested }: Bare): Promise<{ port: number }> {
  const server = createServer(what === 'statements' ? withStatements(url, connections, requested) : await withLayers(requested.answer));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { port: (server.address() as AddressInfo).port };
}

function withStatements(url: string, connections: number, requested: Requested): RequestListener {
  const runOne = runnerOf(requested);
  const free = Array.from({ length: connections }, () => connect(url, { name: 'sluice-bench-bare', max: 1 }).sql);
  const waiting: ((sql: Sql) => void)[] = [];
  return async (request, response) => {
    request.resume();
    const sql = free.pop() ?? (await new Promise<Sql>((resolve) => waiting.push(resolve)));
    await runOne(sql);
    const next = waiting.shift();
    if (next === undefined) free.push(sql);
    else next(sql);
    send(response, requested.answer);
  };
}

async function withLayers(answer: string): Promise<RequestListener> {
  const backend = new OpenAPIBackend({
    definition: readContract('api/contract/openapi.yaml'),
    apiRoot: '/api/v1',
    quick: true,
    ajvOpts: { strict: false },
    customizeAjv: (_ajv, options) => createAjv(options),
    securityHandlers: { apiKey: () => true, signedRequest: () => true },
  });
  await backend.init();
  quicken(backend.router);
  const handler = (_context: Context, _request: unknown, response: ServerResponse): void => send(response, answer);
  backend.register(Object.fromEntries(backend.router.getOperations().map(({ operationId }) => [operationId as string, handler])));
  const app = express();
  app.use(express.json(), (request, response) => {
    const { method, path, body, headers } = request;
    void backend.handleRequest(
      { method, path, body: body as object, headers: headers as Record<string, string>, query: request.query as Record<string, string> },
      request,
      response,
    );
  });
  return app;
}

function send(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(body) }).end(body);
}

answerLines(serve);
