import { createHmac, hkdfSync } from 'node:crypto';
import type { Proposal } from '#api/store/proposals.ts';

/**
 * What a release before this one asks for when a proposal is confirmed through it. Nothing here believes it: what was proposed is a statement of
 * the http role (decision 0036).
 */
export function proposalMac(masterKey: string, p: Proposal): Buffer {
  const key = new Uint8Array(hkdfSync('sha256', masterKey, 'sluice', 'operator proposals, version 1', 32));
  return createHmac('sha256', key)
    .update(JSON.stringify([p.id, p.act, p.target, inOrder(p.content), p.reason, p.proposedBy]))
    .digest();
}

/** The database keeps the fields of JSON in an order of its own. */
function inOrder(content: Record<string, unknown>): [string, unknown][] {
  return Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1));
}
