import type { Response } from 'express';
import type { Logo } from '#api/clients/merchant-logo.ts';

/** An image and nothing else, even when it is opened as a page of its own; vector images carry styles. */
const SECURITY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** Hands on a merchant's logo as an image that can do nothing; the payment's id is in its path, so no shared cache keeps it. `named` is one whose address changes with it. */
export function sendLogo(response: Response, { type, body }: Logo, { named = false } = {}): void {
  response.writeHead(200, {
    'Content-Type': type,
    'Content-Length': body.length,
    'Content-Security-Policy': SECURITY,
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Robots-Tag': 'noindex',
    'Cache-Control': named ? 'private, max-age=31536000, immutable' : 'private, max-age=3600',
  });
  response.end(body);
}
