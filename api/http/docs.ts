import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import express, { type Response, type Router } from 'express';
import type { Document } from 'openapi-backend';
import { layOut, addressOfPage } from '#api/docs/layout.ts';
import { llmsFull, llmsIndex } from '#api/docs/llms.ts';
import { type DocsFolders, type Page, readPages } from '#api/docs/pages.ts';
import { renderPage } from '#api/docs/render.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { notesOf } from './observe.ts';

/** Nothing is fetched from anywhere else, and no inline script or style is allowed; the reference's icons are data URLs. */
const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const REFERENCE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · Sluice</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body class="swagger-ui">
<div class="wrapper"><a href="/docs">All pages</a></div>
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/reference.js"></script>
</body>
</html>
`;

const REFERENCE_SCRIPT = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true, defaultModelsExpandDepth: 0, validatorUrl: null, presets: [SwaggerUIBundle.presets.apis] });
`;

/** Where the sources have them; the build puts copies into dist/docs. */
const SOURCES: DocsFolders = { pages: 'ops/docs', runbooks: 'ops/runbooks', assets: 'api/docs/assets' };

interface File {
  type: string;
  body(): string;
}

/**
 * Serves the documentation: the pages at /docs/{page} with their Markdown at /docs/{page}.md, the reference at /docs/api,
 * the contract at /openapi.json, and /llms.txt with /llms-full.txt. Everything comes from local files, read when the process
 * starts; a page is rendered when somebody first asks for it.
 */
export function docsRouter(document: Document, folders: DocsFolders = SOURCES): Router {
  const files = filesOf(document, folders);
  const router = express.Router();
  router.use((request, response: Response, next) => {
    const path = request.path === '/docs/' ? '/docs' : request.path;
    const file = files.get(path);
    if (file === undefined) return next();
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw new ServiceError('method_not_allowed');
    }
    notesOf(response).route = path;
    const body = file.body();
    response.writeHead(200, {
      'Content-Type': `${file.type}; charset=utf-8`,
      'Content-Length': Buffer.byteLength(body),
      'Content-Security-Policy': CONTENT_POLICY,
      'Cache-Control': 'public, max-age=300',
    });
    response.end(body);
  });
  return router;
}

function filesOf(document: Document, folders: DocsFolders): Map<string, File> {
  const pages = readPages(folders);
  const html = (page: Page): File => once('text/html', () => layOut(pages, page, renderPage(page)));
  const swagger = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const asset = (folder: string, name: string, type: string): [string, File] => [`/docs/${name}`, once(type, () => readFileSync(join(folder, name), 'utf8'))];
  return new Map<string, File>([
    ['/openapi.json', once('application/json', () => JSON.stringify({ ...document, servers: [{ url: '/api/v1', description: 'This deployment.' }] }))],
    ['/llms.txt', once('text/plain', () => llmsIndex(pages))],
    ['/llms-full.txt', once('text/plain', () => llmsFull(pages))],
    ['/docs', html(pages.index)],
    ...[...pages.bySlug.values()].flatMap((page): [string, File][] => [
      [addressOfPage(page), html(page)],
      [`${addressOfPage(page)}.md`, { type: 'text/markdown', body: () => page.markdown }],
    ]),
    ['/docs/api', { type: 'text/html', body: () => REFERENCE }],
    ['/docs/reference.js', { type: 'text/javascript', body: () => REFERENCE_SCRIPT }],
    asset(folders.assets, 'docs.css', 'text/css'),
    asset(folders.assets, 'docs.js', 'text/javascript'),
    asset(swagger, 'swagger-ui.css', 'text/css'),
    asset(swagger, 'swagger-ui-bundle.js', 'text/javascript'),
  ]);
}

/** A file whose text is made when it is first asked for, and kept. */
function once(type: string, make: () => string): File {
  let made: string | undefined;
  return {
    type,
    body() {
      made ??= make();
      return made;
    },
  };
}
