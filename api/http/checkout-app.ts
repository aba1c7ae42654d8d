import { join } from 'node:path';
import express, { type Express, type Request } from 'express';
import { isForeignPage } from '#api/checkout/foreign-page.ts';
import type { HostedCheckout } from '#api/checkout/hosted.ts';
import type { Deps } from '#api/deps.ts';
import { checkoutOperations } from '#api/operations/checkout-operations.ts';
import { checkoutUrl } from '#api/payments/urls.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { packageRoot } from '#shared/platform/package-root.ts';
import { brandStylesRouter } from './brand-styles.ts';
import { loadCatalogues } from './catalogues.ts';
import { checkoutAssetsRouter, loadCheckoutAssets } from './checkout-assets.ts';
import { checkoutPagesRouter } from './checkout-pages.ts';
import { contractRouter } from './contract-router.ts';
import { answerErrors, observe } from './observe.ts';
import { readCheckoutContract } from './read-contract.ts';

/** What the composition root plugs into the checkout's HTTP side. */
export interface CheckoutParts {
  hosted: HostedCheckout;
  /** Folder of checkout.yaml and openapi.yaml. */
  contractFolder?: string;
  /** Folder that the build of the page left. */
  pageFolder?: string;
}

/**
 * Builds what listens where the hosted checkout is: the page with its assets, and the channel of checkout.yaml with the
 * envelope, headers and limits of the API. Requests of other sites' pages are refused, all but following a link to a page
 * (decisions 9).
 */
export async function createCheckoutApp(deps: Deps, { hosted, ...folders }: CheckoutParts): Promise<Express> {
  const document = readCheckoutContract(folders.contractFolder ?? join(packageRoot(), 'api/contract'));
  const pageFolder = folders.pageFolder ?? join(packageRoot(), 'dist/checkout');
  const assets = loadCheckoutAssets(pageFolder);
  const catalogues = loadCatalogues(join(pageFolder, 'locales'));
  const ownOrigin = new URL(checkoutUrl(deps.config)).origin;

  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(observe(deps));
  const gate = (request: Request): void => {
    if (isForeignPage(request.headers, ownOrigin)) throw new ServiceError('forbidden', { message: 'Only the checkout page itself may ask this.' });
  };
  app.use(checkoutAssetsRouter(deps, assets, gate));
  app.use(brandStylesRouter(deps, assets.files, gate));
  app.use(checkoutPagesRouter(deps, { hosted, catalogues, assets: assets.page, ownOrigin }));
  app.use(await contractRouter(deps, { document, apiRoot: '', schemes: {}, operations: checkoutOperations(hosted), gate }));
  app.use(answerErrors(deps));
  return app;
}
