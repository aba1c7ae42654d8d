import type https from 'node:https';
import { isIP, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { nameServers, type ResolveName, systemNames } from './webhook-names.ts';
import { mayReach, parseWebhookTarget, type WebhookPolicy } from './webhook-target.ts';

/** A merchant's URL whose every address may be reached. */
export interface CheckedTarget {
  url: URL;
  addresses: readonly string[];
}

export type TargetCheck = ({ ok: true } & CheckedTarget) | { ok: false; result: 'blocked' | 'dns' | 'timeout'; problem: string };

/** The machine's own way to look up names where private targets are allowed, else its name servers. */
export function namesFor(policy: WebhookPolicy): ResolveName {
  return policy.privateTargets === false ? nameServers() : systemNames;
}

/**
 * Judges a URL that a merchant gave before anything is sent there: the host by itself when it is an IP literal (for which
 * Node never calls a lookup), and by every address it resolves to otherwise.
 */
export async function checkTarget(text: string, by: { policy: WebhookPolicy; resolve: ResolveName; deadline: AbortSignal }): Promise<TargetCheck> {
  const { policy, resolve, deadline } = by;
  const target = parseWebhookTarget(text, policy);
  if (!target.ok) return { ok: false, result: 'blocked', problem: `the URL ${target.problem}` };
  let addresses: string[];
  try {
    addresses = await addressesOf(target.url, resolve, deadline);
  } catch (error) {
    if (deadline.aborted) return { ok: false, result: 'timeout', problem: 'name resolution took too long' };
    return { ok: false, result: 'dns', problem: (error as Error).message };
  }
  if (addresses.length === 0) return { ok: false, result: 'dns', problem: 'the name has no address' };
  // One forbidden address among several is enough: which one a connection would use is the name owner's choice.
  if (addresses.some((one) => !mayReach(one, policy))) return { ok: false, result: 'blocked', problem: 'the host resolves to a private or reserved address' };
  return { ok: true, url: target.url, addresses };
}

async function addressesOf(url: URL, resolve: ResolveName, deadline: AbortSignal): Promise<string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return [host];
  return new Promise((done, reject) => {
    deadline.addEventListener('abort', () => reject(new Error('deadline')), { once: true });
    resolve(host, deadline).then(done, reject);
  });
}

/** How long one of several checked addresses may take to connect before the next is tried. */
const CONNECT_MILLISECONDS = 2_000;

/**
 * Options of a request that can reach the checked addresses only, so that a second, different DNS answer is never asked for.
 * The URL's own name stays in `Host` and in the TLS handshake. No connection is shared unless the caller names an agent, no proxy used.
 */
export function pinnedOptions(
  addresses: readonly string[],
): https.RequestOptions & Pick<TcpNetConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> {
  return {
    agent: false,
    lookup: pinnedTo(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: CONNECT_MILLISECONDS,
    rejectUnauthorized: true,
    maxHeaderSize: 16_384,
  };
}

/** A lookup that knows the checked addresses only and answers in both shapes Node asks for. */
function pinnedTo(addresses: readonly string[]): LookupFunction {
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => (options.all ? callback(null, pinned) : callback(null, pinned[0]?.address ?? '', pinned[0]?.family));
}
