import { isIP, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isIpWithin } from '#shared/platform/ip.ts';
import { parseUrl } from '#shared/core/parse-url.ts';

/** What an address is to a webhook: anybody's, this deployment's own surroundings, or nothing a webhook may ever reach. */
export type Reach = 'public' | 'private' | 'forbidden';

type Range = readonly [network: string, reach: Reach];

/** Everything of IPv4 that is not on the public internet; earlier rows win, and what is not listed is public. */
const V4: readonly Range[] = [
  ['0.0.0.0/8', 'forbidden'],
  ['10.0.0.0/8', 'private'],
  // Cloud metadata in the carrier-grade NAT range.
  ['100.100.100.200/32', 'forbidden'],
  ['100.64.0.0/10', 'private'],
  ['127.0.0.0/8', 'private'],
  // Cloud metadata at a public address that only machines of that cloud reach.
  ['168.63.129.16/32', 'forbidden'],
  // Link-local: cloud metadata lives here.
  ['169.254.0.0/16', 'forbidden'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'forbidden'],
  ['192.0.2.0/24', 'forbidden'],
  ['192.31.196.0/24', 'forbidden'],
  ['192.52.193.0/24', 'forbidden'],
  ['192.88.99.0/24', 'forbidden'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'forbidden'],
  ['198.18.0.0/15', 'forbidden'],
  ['198.51.100.0/24', 'forbidden'],
  ['203.0.113.0/24', 'forbidden'],
  ['224.0.0.0/4', 'forbidden'],
  ['240.0.0.0/4', 'forbidden'],
];

/** IPv6 the other way round: only 2000::/3 is public, less the parts that tunnel to IPv4 or are reserved; earlier rows win. */
const V6: readonly Range[] = [
  ['::1/128', 'private'],
  // Cloud metadata over IPv6.
  ['fd00:ec2::254/128', 'forbidden'],
  ['fd20:ce::254/128', 'forbidden'],
  ['fc00::/7', 'private'],
  // Protocol assignments, Teredo among them.
  ['2001::/23', 'forbidden'],
  ['2001:db8::/32', 'forbidden'],
  // 6to4: the next 32 bits are an IPv4 address of the sender's choosing.
  ['2002::/16', 'forbidden'],
  ['3fff::/20', 'forbidden'],
  ['2000::/3', 'public'],
];

const parsed = (ranges: readonly Range[]) => ranges.map(([network, reach]) => ({ range: ipaddr.parseCIDR(network), reach }));
const V4_RANGES = parsed(V4);
const V6_RANGES = parsed(V6);

/** Says what an IP address is, as a URL or a resolver writes it; one that hides an IPv4 address (mapped) is judged by that one. */
export function reachOf(address: string): Reach {
  if (isIP(address) === 0 || address.includes('%')) return 'forbidden';
  // Without a dotted tail: ipaddr.js takes an IPv4-compatible ::127.0.0.1 for the mapped ::ffff:127.0.0.1.
  const ip = ipaddr.process(isIPv6(address) ? new URL(`http://[${address}]/`).hostname.slice(1, -1) : address);
  if (ip.kind() === 'ipv4') return V4_RANGES.find(({ range }) => ip.match(range))?.reach ?? 'public';
  return V6_RANGES.find(({ range }) => ip.match(range))?.reach ?? 'forbidden';
}

/** What this deployment allows a webhook to be. */
export interface WebhookPolicy {
  /** Localhost and private ranges may be reached: all of them, or those inside the ranges listed (decisions 6). Nothing opens link-local or reserved ones. */
  privateTargets: boolean | readonly string[];
  /** Plain http is refused. */
  requireHttps: boolean;
}

export type WebhookTarget = { ok: true; url: URL } | { ok: false; problem: string };

/**
 * Reads a webhook URL once, the WHATWG way, and refuses what could never be sent to: other schemes, credentials, ports
 * of other services, and hosts that are forbidden IP literals in any spelling. Names are judged when they resolve.
 */
export function parseWebhookTarget(text: string, policy: WebhookPolicy): WebhookTarget {
  if (text.length > 2_048) return refused('must be at most 2048 characters');
  // The WHATWG parser drops these silently, and what is stored should be what was meant.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u0020\u007f\\]/.test(text)) return refused('must not contain spaces, control characters or backslashes');
  const url = /^https?:\/\/[^/]/i.test(text) ? parseUrl(text) : null;
  if (url === null) return refused('must be an absolute http or https URL');
  if (policy.requireHttps && url.protocol !== 'https:') return refused('must use https');
  if (url.username !== '' || url.password !== '') return refused('must not contain credentials');
  const port = url.port === '' ? null : Number(url.port);
  if (port !== null && port < 1_024 && port !== 80 && port !== 443) return refused('must not use a port below 1024 other than 80 and 443');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !mayReach(host, policy)) return refused('must not point to a private or reserved address');
  if (policy.privateTargets === false && LOCAL_NAME.test(host)) return refused('must not point to localhost or to a name of a private network');
  return { ok: true, url };
}

/** Names that are reserved for this machine or a private network and have no meaning on the public internet (RFC 6761, 6762, 8375; ICANN 2024). */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|home\.arpa|onion)\.*$/i;

/** Whether a webhook may be sent to this address. */
export function mayReach(address: string, policy: WebhookPolicy): boolean {
  const reach = reachOf(address);
  if (reach !== 'private') return reach === 'public';
  return typeof policy.privateTargets === 'boolean' ? policy.privateTargets : isIpWithin(address, policy.privateTargets);
}

function refused(problem: string): WebhookTarget {
  return { ok: false, problem };
}
