import type { Request, Response } from 'express';
import { compress, encodingFor } from './compression.ts';

/** Nothing of these is needed to pay, and what is not asked for cannot be misused. */
const UNUSED = ['accelerometer', 'autoplay', 'camera', 'display-capture', 'encrypted-media', 'geolocation', 'gyroscope', 'magnetometer', 'microphone', 'midi'];
const DENIED = [...UNUSED, 'payment', 'picture-in-picture', 'publickey-credentials-get', 'screen-wake-lock', 'usb', 'xr-spatial-tracking'];

/**
 * Headers of every page of the checkout, those of errors too (ux 0.7): the payment's id is the credential, so no address is
 * told to anybody, kept or indexed; and nothing runs, loads or frames but what comes from this host. `socketOrigin` is named
 * because some browsers do not take a WebSocket of the same host for `'self'`.
 */
export function pageHeaders(socketOrigin: string): Record<string, string> {
  const policy = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self'",
    'connect-src': `'self' ${socketOrigin}`,
    'form-action': "'self'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'",
  };
  return {
    'Content-Security-Policy': Object.entries(policy)
      .map(([name, value]) => `${name} ${value}`)
      .join('; '),
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    'X-Robots-Tag': 'noindex, nofollow, noarchive',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': DENIED.map((name) => `${name}=()`).join(', '),
    'X-Frame-Options': 'DENY',
  };
}

/** Writes one page, compressed as its reader takes it. */
export async function sendPage(
  request: Request,
  response: Response,
  page: { status: number; html: string; headers: Record<string, string | string[]> },
): Promise<void> {
  const encoding = encodingFor(request.headers['accept-encoding']);
  const body = await compress(page.html, encoding);
  response.writeHead(page.status, {
    ...page.headers,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': body.length,
    ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
    Vary: 'Accept-Encoding, Accept-Language',
  });
  response.end(body);
}
