import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import express, { type Response, type Router } from 'express';
import type { PageAssets } from '#api/checkout/page/model.ts';
import type { Deps } from '#api/deps.ts';
import { Invariant, ServiceError } from '#shared/core/errors.ts';
import { clientIp } from './client-ip.ts';
import { type Encoding, encodingFor } from './compression.ts';
import { notesOf } from './observe.ts';
import { rateLimit } from './rate-limit.ts';

export interface Asset {
  type: string;
  /** How long it may be kept. */
  cache: string;
  bodies: Partial<Record<Encoding, Buffer>> & { identity: Buffer };
}

/** What browsers load beside the page itself, by path. */
export interface CheckoutAssets {
  page: PageAssets;
  files: ReadonlyMap<string, Asset>;
}

const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
/** Its name is made of its content. */
export const FOR_EVER = 'public, max-age=31536000, immutable';
const ICON = '/favicon.svg';

/** Reads what the build left in `folder` into memory, every file as it is and as it was compressed. @throws Invariant when nothing was built */
export function loadCheckoutAssets(folder: string): CheckoutAssets {
  const { manifest, files } = loadBuilt<'script' | 'style'>(folder, '/assets');
  return { page: { script: `/assets/${manifest.script}`, style: `/assets/${manifest.style}`, icon: ICON }, files };
}

/** What a build left for browsers: which asset is what, and all of them as they are served below `root`. @throws Invariant when nothing was built */
export function loadBuilt<Kind extends string>(folder: string, root: string): { manifest: Record<Kind, string>; files: ReadonlyMap<string, Asset> } {
  const path = join(folder, 'manifest.json');
  if (!existsSync(path)) throw new Invariant(`${folder} holds no page: npm run build makes it`);
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<Kind, string>;
  const files = new Map<string, Asset>();
  for (const name of readdirSync(join(folder, 'assets'))) {
    const type = TYPES[name.slice(name.lastIndexOf('.'))];
    if (type === undefined) continue;
    const path = join(folder, 'assets', name);
    const icon = name === 'favicon.svg';
    const bodies = { identity: readFileSync(path), ...readBeside(`${path}.br`, 'br'), ...readBeside(`${path}.gz`, 'gzip') };
    files.set(icon ? ICON : `${root}/${name}`, { type, cache: icon ? 'public, max-age=86400' : FOR_EVER, bodies });
  }
  return { manifest, files };
}

function readBeside(path: string, encoding: Encoding): Partial<Record<Encoding, Buffer>> {
  return existsSync(path) ? { [encoding]: readFileSync(path) } : {};
}

/** Serves the page's program, style and icon from memory; any other path is somebody else's. */
export function checkoutAssetsRouter(deps: Deps, { files }: CheckoutAssets, gate: (request: express.Request) => void): Router {
  const router = express.Router();
  router.use(async (request, response: Response, next) => {
    const asset = files.get(request.path);
    if (asset === undefined) return next();
    notesOf(response).route = request.path === ICON ? ICON : '/assets/{name}';
    await rateLimit(deps, { operationId: 'checkoutAsset', clientIp: clientIp(request, deps.config.SLUICE_TRUSTED_PROXIES) });
    gate(request);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw new ServiceError('method_not_allowed');
    }
    const accepted = encodingFor(request.headers['accept-encoding']);
    const encoding = asset.bodies[accepted] === undefined ? 'identity' : accepted;
    const body = asset.bodies[encoding] ?? asset.bodies.identity;
    response.writeHead(200, {
      'Content-Type': `${asset.type}; charset=utf-8`,
      'Content-Length': body.length,
      ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
      Vary: 'Accept-Encoding',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': asset.cache,
    });
    response.end(body);
  });
  return router;
}
