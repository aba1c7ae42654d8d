import express, { type Request, type Response, type Router } from 'express';
import { type Brand, brandStyle, readBrandedStyle } from '#api/checkout/brand.ts';
import type { Deps } from '#api/deps.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { type Asset, FOR_EVER } from './checkout-assets.ts';
import { clientIp } from './client-ip.ts';
import { compress, type Encoding, encodingFor } from './compression.ts';
import { notesOf } from './observe.ts';
import { rateLimit } from './rate-limit.ts';

/** Serves the checkout's style in gateways' colours; any other path is somebody else's. What was made lately is kept. */
export function brandStylesRouter(deps: Deps, files: ReadonlyMap<string, Asset>, gate: (request: Request) => void): Router {
  const made = new Map<string, Promise<Buffer>>();
  const bodyOf = (path: string, asked: { css: Asset; brand: Brand; encoding: Encoding }): Promise<Buffer> => {
    const key = `${asked.encoding} ${path}`;
    const present = made.get(key) ?? compress(brandStyle(asked.css.bodies.identity.toString('utf8'), asked.brand), asked.encoding);
    made.delete(key);
    made.set(key, present);
    const [oldest] = made.keys();
    if (made.size > POLICY.brandStylesKept && oldest !== undefined) made.delete(oldest);
    return present;
  };
  const router = express.Router();
  router.use(async (request, response: Response, next) => {
    const asked = readBrandedStyle(request.path);
    const css = asked === undefined ? undefined : files.get(asked.style);
    if (asked === undefined || css === undefined) return next();
    notesOf(response).route = '/brand/{brand}/{name}';
    await rateLimit(deps, { operationId: 'checkoutAsset', clientIp: clientIp(request, deps.config.SLUICE_TRUSTED_PROXIES) });
    gate(request);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw new ServiceError('method_not_allowed');
    }
    const encoding = encodingFor(request.headers['accept-encoding']);
    const body = await bodyOf(request.path, { css, brand: asked.brand, encoding });
    response.writeHead(200, {
      'Content-Type': 'text/css; charset=utf-8',
      'Content-Length': body.length,
      ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
      Vary: 'Accept-Encoding',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': FOR_EVER,
    });
    response.end(body);
  });
  return router;
}
