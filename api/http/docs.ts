import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import express, { type Response, type Router } from 'express';
import type { Document } from 'openapi-backend';
import { ServiceError } from '#shared/core/errors.ts';
import { notesOf } from './observe.ts';

/** Nothing is fetched from anywhere else, and no inline script runs; the page's icons are data URLs. */
const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/init.js"></script>
</body>
</html>
`;

const INIT = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true, defaultModelsExpandDepth: 0, validatorUrl: null, presets: [SwaggerUIBundle.presets.apis] });
`;

/** Serves the contract at /openapi.json and a page to read it at /docs, from local files only. */
export function docsRouter(document: Document): Router {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const asset = (name: string, type: string): [string, { body: string; type: string }] => [
    `/docs/${name}`,
    { body: readFileSync(join(folder, name), 'utf8'), type },
  ];
  const files = new Map([
    ['/openapi.json', { body: JSON.stringify(document), type: 'application/json' }],
    ['/docs', { body: PAGE, type: 'text/html' }],
    ['/docs/', { body: PAGE, type: 'text/html' }],
    ['/docs/init.js', { body: INIT, type: 'text/javascript' }],
    asset('swagger-ui.css', 'text/css'),
    asset('swagger-ui-bundle.js', 'text/javascript'),
  ]);
  const router = express.Router();
  router.use((request, response: Response, next) => {
    const file = files.get(request.path);
    if (file === undefined) return next();
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw new ServiceError('method_not_allowed');
    }
    notesOf(response).route = request.path;
    response.writeHead(200, {
      'Content-Type': `${file.type}; charset=utf-8`,
      'Content-Length': Buffer.byteLength(file.body),
      'Content-Security-Policy': CONTENT_POLICY,
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'public, max-age=300',
    });
    response.end(file.body);
  });
  return router;
}
