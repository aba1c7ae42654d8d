import type { IncomingMessage } from 'node:http';
import { canonicalIp, isIpWithin } from '#shared/platform/ip.ts';

/**
 * The address a request came from: the right-most hop that is not one of `trustedProxies` (decisions 8). Without
 * configured proxies X-Forwarded-For is never read, so nobody can choose the address they are judged by.
 */
export function clientIp(request: IncomingMessage, trustedProxies: readonly string[]): string {
  let nearest = canonicalIp(request.socket.remoteAddress ?? '') ?? 'unknown';
  if (trustedProxies.length === 0) return nearest;
  const hops = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',').reverse();
  for (const hop of hops) {
    if (!isIpWithin(nearest, trustedProxies)) return nearest;
    const address = canonicalIp(withoutPort(hop.trim()));
    if (address === undefined) return nearest;
    nearest = address;
  }
  return nearest;
}

/** Some proxies write the port too: `192.0.2.1:443`, `[2001:db8::1]:443`. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}
