import { join } from 'node:path';
import express, { type Express } from 'express';
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
import { readCheckoutContract, readContract } from './read-contract.ts';
import { apiKey, operatorToken, signedRequest } from './security.ts';

/** What the composition root plugs into the HTTP side. */
export interface AppParts {
  merchantOperations: Registry<Omit<merchantPaths, 'receivePaymentWebhook'>>;
  operatorOperations: OperatorRegistry<operatorPaths>;
  /** Folder of openapi.yaml, operator.yaml and checkout.yaml, or of what the build made of them. */
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
  const checkout = readCheckoutContract(folder);

  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(observe(deps));
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
  app.use(docsRouter(deps, { merchant, operator, checkout }, parts.docsFolders));
  app.use(logosRouter(deps));
  app.use(async (request) => {
    await rateLimit(deps, { operationId: 'unknown', clientIp: clientIp(request, deps.config.SLUICE_TRUSTED_PROXIES) });
    throw new ServiceError('not_found');
  });
  app.use(answerErrors(deps));
  return app;
}
