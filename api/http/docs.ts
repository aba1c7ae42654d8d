import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import express, { type Response, type Router } from 'express';
import type { Document } from 'openapi-backend';
import type { Drawn } from '#api/docs/draw.ts';
import { openDrawing } from '#api/docs/drawing.ts';
import type { DocsFolders } from '#api/docs/pages.ts';
import type { Contract } from '#api/docs/reference/contract.ts';
import type { Deps } from '#api/deps.ts';
import { checkoutUrl } from '#api/payments/urls.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { packageRoot } from '#shared/platform/package-root.ts';
import { type Asset, loadBuilt } from './checkout-assets.ts';
import { clientIp } from './client-ip.ts';
import { compress, type Encoding, encodingFor } from './compression.ts';
import { notesOf } from './observe.ts';
import { rateLimit } from './rate-limit.ts';

/** Nothing is fetched from anywhere else, and no inline script or style is allowed; the icon is a data URL. */
const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Where the sources and the build have them; a deployment has copies in dist/docs. */
const SOURCES: DocsFolders = { pages: 'ops/docs', runbooks: 'ops/runbooks', assets: 'dist/docs-page' };

/** Where what browsers load beside a page is. */
const ASSETS = '/docs/assets';
/** Where the pictures are that pages show. */
const PICTURES = '/docs/pictures';
const FOR_MINUTES = 'public, max-age=300';

/** What pages may be called; anything else is nobody's question. */
const ADDRESS = /^\/(?:docs(?:\/[a-zA-Z0-9/_-]{1,100}(?:\.md|\.json)?)?|llms(?:-full)?\.txt)$/;

/** What the reference is drawn from. */
export interface Contracts {
  merchant: Document;
  operator: Document;
  checkout: Document;
}

/** A body in one form. */
interface Body {
  bytes: Buffer;
  encoding: Encoding;
  type: string;
}

/**
 * Serves the documentation: the pages at /docs/{page} with their Markdown at /docs/{page}.md, the references at /docs/api, /docs/operator-api and /docs/checkout-api, the search at
 * /docs/search, the contract at /openapi.json, and /llms.txt with /llms-full.txt. Everything comes from local files. A page is drawn, in a
 * thread of its own, when somebody first asks for it, and kept as it travels.
 */
export function docsRouter(deps: Pick<Deps, 'config' | 'limiter'>, contracts: Contracts, folders: DocsFolders = SOURCES): Router {
  const { manifest, files } = loadBuilt<'script' | 'style' | 'search' | 'try'>(folders.assets, ASSETS);
  const assets = new Map([...files, ...loadPictures(folders.pages)]);
  const drawing = openDrawing(join(packageRoot(), 'dist/docs-worker.js'), {
    folders,
    merchant: contracts.merchant as unknown as Contract,
    operator: contracts.operator as unknown as Contract,
    checkout: contracts.checkout as unknown as Contract,
    checkoutUrl: checkoutUrl(deps.config),
    assets: {
      script: `${ASSETS}/${manifest.script}`,
      style: `${ASSETS}/${manifest.style}`,
      search: `${ASSETS}/${manifest.search}`,
      try: deps.config.SLUICE_DOCS_TRY_IT === 'on' ? `${ASSETS}/${manifest.try}` : null,
    },
  });
  const contract = (): Promise<Drawn> =>
    Promise.resolve({
      type: 'application/json',
      text: JSON.stringify({ ...contracts.merchant, servers: [{ url: '/api/v1', description: 'This deployment.' }] }),
    });
  const kept = new Map<string, Promise<Body | null>>();
  const drawnPage = async (path: string, encoding: Encoding): Promise<Body | null> => {
    const drawn = await (path === '/openapi.json' ? contract() : drawing.ask(path));
    return drawn === null ? null : compressed(drawn, encoding);
  };
  /** However many ask for a page at once, it is drawn and compressed once; what failed, and what is none, is not kept. */
  const page = (path: string, encoding: Encoding): Promise<Body | null> => {
    const key = `${encoding} ${path}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const body = drawnPage(path, encoding);
    kept.set(key, body);
    void body.then(
      (one) => one === null && kept.delete(key),
      () => kept.delete(key),
    );
    return body;
  };

  const router = express.Router();
  router.use(async (request, response: Response, next) => {
    const path = request.path === '/docs/' ? '/docs' : request.path;
    const asset = assets.get(path);
    if (asset === undefined && path !== '/openapi.json' && !ADDRESS.test(path)) return next();
    const encoding = encodingFor(request.headers['accept-encoding']);
    const searched = path === '/docs/search';
    const body = asset !== undefined ? bodyOf(asset, encoding) : searched ? null : await page(path, encoding);
    if (body === null && !searched) return next();
    notesOf(response).route = asset === undefined ? path : path.startsWith(PICTURES) ? `${PICTURES}/{name}` : `${ASSETS}/{name}`;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw new ServiceError('method_not_allowed');
    }
    if (body !== null) return answer(response, body, asset?.cache ?? FOR_MINUTES);
    await rateLimit(deps, { operationId: 'docsSearch', clientIp: clientIp(request, deps.config.SLUICE_TRUSTED_PROXIES) });
    const results = await drawing.ask(path, questionOf(request.originalUrl));
    if (results !== null) answer(response, await compressed(results, encoding), 'no-store');
  });
  return router;
}

/** Pictures beside the pages: few and small, as a test says. None where the pages lie without them. */
function loadPictures(folder: string): [string, Asset][] {
  const place = join(folder, 'pictures');
  const names = existsSync(place) ? readdirSync(place).filter((name) => /^[a-z0-9-]+\.png$/.test(name)) : [];
  return names.map((name) => [`${PICTURES}/${name}`, { type: 'image/png', cache: FOR_MINUTES, bodies: { identity: readFileSync(join(place, name)) } }]);
}

/** What was typed into the box. */
function questionOf(url: string): string {
  return (new URLSearchParams(url.split('?')[1] ?? '').get('q') ?? '').trim().slice(0, 100);
}

async function compressed({ type, text }: Drawn, encoding: Encoding): Promise<Body> {
  return { bytes: await compress(text, encoding), encoding, type };
}

function bodyOf({ bodies, type }: Asset, encoding: Encoding): Body {
  const bytes = bodies[encoding];
  return bytes === undefined ? { bytes: bodies.identity, encoding: 'identity', type } : { bytes, encoding, type };
}

function answer(response: Response, { bytes, encoding, type }: Body, cache: string): void {
  response.writeHead(200, {
    'Content-Type': type.startsWith('image/') ? type : `${type}; charset=utf-8`,
    'Content-Length': bytes.length,
    ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
    Vary: 'Accept-Encoding',
    'Content-Security-Policy': CONTENT_POLICY,
    'Cache-Control': cache,
  });
  response.end(bytes);
}
