import ipaddr from 'ipaddr.js';

/** What an address is to a webhook: anybody's, this deployment's own surroundings, or nothing a webhook may ever reach. */
export type Reach = 'public' | 'private' | 'forbidden';

type Range = readonly [network: string, reach: Reach];

/** Everything of IPv4 that is not on the public internet; what is not listed is public. */
const V4: readonly Range[] = [
  ['0.0.0.0/8', 'forbidden'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'private'],
  ['127.0.0.0/8', 'private'],
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

/** Says what an IP address in any notation is; one that hides an IPv4 address (mapped) is judged by that one. */
export function reachOf(address: string): Reach {
  if (!ipaddr.isValid(address)) return 'forbidden';
  const ip = ipaddr.process(address);
  if (ip.kind() === 'ipv4') return V4_RANGES.find(({ range }) => ip.match(range))?.reach ?? 'public';
  return V6_RANGES.find(({ range }) => ip.match(range))?.reach ?? 'forbidden';
}

/** What this deployment allows a webhook to be. */
export interface WebhookPolicy {
  /** Localhost and private ranges may be reached (decisions 6). */
  privateTargets: boolean;
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
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return refused('must be an absolute http or https URL');
  const url = new URL(text);
  if (policy.requireHttps && url.protocol !== 'https:') return refused('must use https');
  if (url.username !== '' || url.password !== '') return refused('must not contain credentials');
  const port = url.port === '' ? null : Number(url.port);
  if (port !== null && port < 1_024 && port !== 80 && port !== 443) return refused('must not use a port below 1024 other than 80 and 443');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(host) && !mayReach(host, policy)) return refused('must not point to a private or reserved address');
  if (!policy.privateTargets && /^(.+\.)?localhost\.?$/i.test(host)) return refused('must not point to localhost');
  return { ok: true, url };
}

/** Whether a webhook may be sent to this address. */
export function mayReach(address: string, policy: WebhookPolicy): boolean {
  const reach = reachOf(address);
  return reach === 'public' || (reach === 'private' && policy.privateTargets);
}

function refused(problem: string): WebhookTarget {
  return { ok: false, problem };
}
