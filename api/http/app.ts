import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Document } from 'openapi-backend';
import { parse } from 'yaml';
import type { operations as operatorPaths } from '#api/contract/operator-types.ts';
import type { operations as merchantPaths } from '#api/contract/types.ts';
import type { Deps } from '#api/deps.ts';
import type { OperatorRegistry, Registry } from '#api/operations/call.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { contractRouter } from './contract-router.ts';
import { docsRouter } from './docs.ts';
import { CONTRACT_REVISION, sendError, toServiceError } from './envelope.ts';
import { apiKey, operatorToken, signedRequest } from './security.ts';

/** What the composition root plugs into the HTTP side. */
export interface AppParts {
  operations: Registry<Omit<merchantPaths, 'receivePaymentWebhook'>>;
  operatorOperations: OperatorRegistry<operatorPaths>;
  /** Folder of openapi.yaml and operator.yaml. */
  contractFolder?: string;
}

/**
 * Builds the HTTP side: the merchant contract below /api/v1, the operator contract below /operator/v1, /openapi.json and
 * /docs. Every answer carries X-Request-Id and X-Contract-Revision, every failure the envelope (contract 1, decisions 8).
 */
export async function createApp(deps: Deps, parts: AppParts): Promise<Express> {
  const folder = parts.contractFolder ?? join(process.cwd(), 'api/contract');
  const merchant = readContract(join(folder, 'openapi.yaml'));
  const operator = readContract(join(folder, 'operator.yaml'));

  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(trace(deps));
  app.use(docsRouter(merchant));
  app.use('/api/v1', await contractRouter(deps, { document: merchant, apiRoot: '/api/v1', schemes: { apiKey, signedRequest }, operations: parts.operations }));
  app.use('/operator/v1', await contractRouter(deps, { document: operator, apiRoot: '/operator/v1', schemes: { operatorToken }, operations: parts.operatorOperations }));
  app.use(() => {
    throw new ServiceError('not_found');
  });
  app.use(answerError(deps));
  return app;
}

/** Reads one contract file. */
export function readContract(path: string): Document {
  return parse(readFileSync(path, 'utf8')) as Document;
}

/** Gives the request its id, and logs and counts it once it is answered; never its body, query or headers (operability 6). */
function trace(deps: Deps) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const started = process.hrtime.bigint();
    deps.metrics?.httpInFlight.inc();
    const requestId = uuidFrom(deps.randomBytes(16));
    response.locals.requestId = requestId;
    response.locals.route = 'other';
    response.setHeader('X-Request-Id', requestId);
    response.setHeader('X-Contract-Revision', CONTRACT_REVISION);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.once('close', () => {
      const seconds = Number(process.hrtime.bigint() - started) / 1e9;
      const { route, code } = response.locals as { route: string; code?: string };
      deps.metrics?.httpInFlight.dec();
      deps.metrics?.httpDuration.observe({ method: request.method, route, status: response.statusCode }, seconds);
      if (code !== undefined) deps.metrics?.apiErrors.inc({ route, code });
      deps.log.info({ requestId, method: request.method, route, status: response.statusCode, code, seconds, aborted: !response.writableFinished || undefined }, 'request');
    });
    next();
  };
}

/** Turns whatever was thrown into the envelope; what nobody expected is logged with its cause and shown as internal_error. */
function answerError(deps: Deps) {
  return (thrown: unknown, _request: Request, response: Response, _next: NextFunction): void => {
    const error = toServiceError(thrown);
    response.locals.code = error.code;
    if (error.cause !== undefined) deps.log.error({ requestId: response.locals.requestId, route: response.locals.route, error: error.cause }, error.code);
    if (response.headersSent) response.destroy();
    else sendError(response, error);
  };
}
