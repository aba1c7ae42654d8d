import type { IncomingHttpHeaders } from 'node:http';

/**
 * True when a browser says that a page of another site makes the request. Nothing here rides on a cookie, so such a page
 * could do no more than its own server could; refusing it keeps payers' browsers from being used for it. Browsers send
 * `Sec-Fetch-Site`, older ones at least `Origin`; whoever sends neither is no browser. Pure.
 */
export function isForeignPage(headers: IncomingHttpHeaders, ownOrigin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return headers.origin !== undefined && headers.origin !== ownOrigin;
}

/** True when somebody follows a link to here, or is sent here, in a tab of their own; a frame is none. Pure. */
export function isNavigation(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-mode'] === 'navigate' && (headers['sec-fetch-dest'] ?? 'document') === 'document';
}

/**
 * The same as `isForeignPage` for a form that a page of ours sent: with its referrers switched off, an old browser calls the
 * page's origin `null`. Pure.
 */
export function isForeignForm(headers: IncomingHttpHeaders, ownOrigin: string): boolean {
  return isForeignPage(headers, ownOrigin) && !(headers['sec-fetch-site'] === undefined && headers.origin === 'null');
}
