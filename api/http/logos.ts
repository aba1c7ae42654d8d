import express, { type Response, type Router } from 'express';
import type { Deps } from '#api/deps.ts';
import { listAssets } from '#api/store/assets.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { clientIp } from './client-ip.ts';
import { notesOf } from './observe.ts';
import { rateLimit } from './rate-limit.ts';

const PATH = /^\/logos\/([^/]{1,200})\.svg$/;

/** An image and nothing else, even when it is opened as a page of its own. */
const SECURITY = "default-src 'none'; sandbox";

/**
 * Serves `/logos/<SYMBOL>.svg` and `/logos/<network>.svg`: the name's first letters on a plain disc, since real logos are
 * other people's property (decisions 9). Only names of configured assets and networks have one; any other path is 404.
 */
export function logosRouter(deps: Pick<Deps, 'db' | 'chains' | 'config' | 'limiter'>): Router {
  const router = express.Router();
  router.use(async (request, response: Response, next) => {
    const name = nameIn(request.path);
    if (name === undefined) return next();
    await rateLimit(deps, { operationId: 'logo', clientIp: clientIp(request, deps.config.SLUICE_TRUSTED_PROXIES) });
    if (!(await isKnown(deps, name))) return next();
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw new ServiceError('method_not_allowed');
    }
    const body = logoOf(name);
    notesOf(response).route = '/logos/{name}.svg';
    response.writeHead(200, {
      'Content-Type': 'image/svg+xml; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      'Content-Security-Policy': SECURITY,
      // Checkouts and merchants' own pages show it from other origins.
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Cache-Control': 'public, max-age=86400',
    });
    response.end(body);
  });
  return router;
}

function nameIn(path: string): string | undefined {
  const encoded = PATH.exec(path)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

async function isKnown(deps: Pick<Deps, 'db' | 'chains'>, name: string): Promise<boolean> {
  return deps.chains.has(name) || (await listAssets(deps.db.sql)).some((asset) => asset.symbol === name);
}

/** The image for any text: at most four of its letters, escaped, without the characters that XML cannot hold. */
export function logoOf(text: string): string {
  const name = [...text.replaceAll(/\p{Surrogate}/gu, '\ufffd')]
    .filter((character) => character >= ' ' && character !== '\ufffe' && character !== '\uffff')
    .join('');
  const letters = [...name.toUpperCase()].slice(0, 4).join('');
  const size = [0, 30, 26, 20, 16][[...letters].length] ?? 16;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64" role="img" aria-label="${escaped(name)}"><circle cx="32" cy="32" r="32" fill="#e5e7eb"/><text x="32" y="32" fill="#374151" font-family="sans-serif" font-size="${size}" font-weight="600" text-anchor="middle" dominant-baseline="central">${escaped(letters)}</text></svg>\n`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}
