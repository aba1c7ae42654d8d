import { join } from 'node:path';
import express, { type Express, type Request } from 'express';
import type { Document } from 'openapi-backend';
import { isForeignPage } from '#api/checkout/foreign-page.ts';
import type { operations as Checkout } from '#api/contract/checkout-types.ts';
import type { Deps } from '#api/deps.ts';
import type { CheckoutRegistry } from '#api/operations/call.ts';
import { checkoutUrl } from '#api/payments/urls.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { readContract } from './app.ts';
import { contractRouter } from './contract-router.ts';
import { answerErrors, observe } from './observe.ts';

/** What the composition root plugs into the checkout's HTTP side. */
export interface CheckoutParts {
  operations: CheckoutRegistry<Checkout>;
  /** Folder of checkout.yaml and openapi.yaml. */
  contractFolder?: string;
}

/**
 * Builds what listens where the hosted checkout is: the channel of checkout.yaml, with the envelope, headers and limits of
 * the API. Requests of other sites' pages are refused; every other path is unknown (decisions 9).
 */
export async function createCheckoutApp(deps: Deps, parts: CheckoutParts): Promise<Express> {
  const document = readCheckoutContract(parts.contractFolder ?? join(process.cwd(), 'api/contract'));
  const ownOrigin = new URL(checkoutUrl(deps.config)).origin;

  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(observe(deps));
  const gate = (request: Request): void => {
    if (isForeignPage(request.headers, ownOrigin)) throw new ServiceError('forbidden', { message: 'Only the checkout page itself may ask this.' });
  };
  app.use(await contractRouter(deps, { document, apiRoot: '', schemes: {}, operations: parts.operations, gate }));
  app.use(answerErrors(deps));
  return app;
}

/** Reads checkout.yaml with the parts of openapi.yaml that it refers to. */
export function readCheckoutContract(folder: string): Document {
  const own = readContract(join(folder, 'checkout.yaml'), (text) => text.replaceAll('openapi.yaml#/', '#/'));
  const { components } = readContract(join(folder, 'openapi.yaml')) as Document & { components: object };
  return { ...own, components } as Document;
}
