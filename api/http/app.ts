import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import express, { type Express } from 'express';
import type { Document } from 'openapi-backend';
import { parse } from 'yaml';
import type { operations as operatorPaths } from '#api/contract/operator-types.ts';
import type { operations as merchantPaths } from '#api/contract/types.ts';
import type { Deps } from '#api/deps.ts';
import type { DocsFolders } from '#api/docs/pages.ts';
import { arrangements, strangers } from '#api/operations/merchant-operations.ts';
import type { OperatorRegistry, Registry } from '#api/operations/call.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { packageRoot } from '#shared/platform/package-root.ts';
import { clientIp } from './client-ip.ts';
import { contractRouter } from './contract-router.ts';
import { docsRouter } from './docs.ts';
import { answerErrors, observe } from './observe.ts';
import { logosRouter } from './logos.ts';
import { rateLimit } from './rate-limit.ts';
import { apiKey, operatorToken, signedRequest } from './security.ts';

/** What the composition root plugs into the HTTP side. */
export interface AppParts {
  merchantOperations: Registry<Omit<merchantPaths, 'receivePaymentWebhook'>>;
  operatorOperations: OperatorRegistry<operatorPaths>;
  /** Folder of openapi.yaml and operator.yaml, or of what the build made of them. */
  contractFolder?: string;
  /** Folders of what is served at /docs; those of the sources when absent. */
  docsFolders?: DocsFolders;
}

/**
 * Builds the HTTP side: the merchant contract below /api/v1, the operator contract below /operator/v1, /openapi.json,
 * /docs with /llms.txt, and /logos. Every answer carries X-Request-Id and X-Contract-Revision, every failure the envelope (contract 1, decisions 8).
 */
export async function createApp(deps: Deps, parts: AppParts): Promise<Express> {
  const folder = parts.contractFolder ?? join(packageRoot(), 'api/contract');
  const merchant = readContract(join(folder, 'openapi.yaml'));
  const operator = readContract(join(folder, 'operator.yaml'));

  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(observe(deps));
  app.use(docsRouter(deps, { merchant, operator }, parts.docsFolders));
  app.use(logosRouter(deps));
  app.use(
    '/api/v1',
    await contractRouter(deps, {
      document: merchant,
      apiRoot: '/api/v1',
      schemes: { apiKey, signedRequest },
      operations: parts.merchantOperations,
      arrangements,
      strangers,
    }),
  );
  app.use(
    '/operator/v1',
    await contractRouter(deps, {
      document: operator,
      apiRoot: '/operator/v1',
      schemes: { operatorToken },
      operations: parts.operatorOperations,
      budget: () => 'operator',
    }),
  );
  app.use(async (request) => {
    await rateLimit(deps, { operationId: 'unknown', clientIp: clientIp(request, deps.config.SLUICE_TRUSTED_PROXIES) });
    throw new ServiceError('not_found');
  });
  app.use(answerErrors(deps));
  return app;
}

/** Reads one contract file; where the build left its JSON under that name instead, that, which costs a start a hundredth of the time. */
export function readContract(path: string, edit: (text: string) => string = (text) => text): Document {
  const built = path.replace(/\.yaml$/, '.json');
  return JSON.parse(existsSync(built) ? edit(readFileSync(built, 'utf8')) : jsonOf(edit(readFileSync(path, 'utf8')))) as Document;
}

/** YAML as JSON. A process that serves from the sources opens the same contract many times, and parsing its YAML takes a second each. */
function jsonOf(yaml: string): string {
  const json = parsed.get(yaml) ?? JSON.stringify(parse(yaml));
  parsed.set(yaml, json);
  return json;
}

const parsed = new Map<string, string>();
