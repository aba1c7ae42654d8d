import { createHmac, hkdfSync } from 'node:crypto';
import type { Proposal, StoredProposal } from '#api/store/proposals.ts';
import { isMacOf, type KeyRing } from '#shared/platform/key-ring.ts';

/**
 * Authenticates a proposal with a key the database does not hold, so that whoever can write rows is not the first of two people
 * (reliability D15). Made when it is proposed, checked when it is confirmed.
 */
export function proposalMac(masterKey: string, p: Proposal): Buffer {
  const key = new Uint8Array(hkdfSync('sha256', masterKey, 'sluice', 'operator proposals, version 1', 32));
  return createHmac('sha256', key)
    .update(JSON.stringify([p.id, p.act, p.target, inOrder(p.content), p.reason, p.proposedBy]))
    .digest();
}

/** Whether a proposal is, to the letter, what somebody proposed, under any of the keys. */
export function isProposed(keys: KeyRing, proposal: StoredProposal): boolean {
  return isMacOf(keys, proposal.mac, (key) => proposalMac(key, proposal));
}

/** The database keeps the fields of JSON in an order of its own. */
function inOrder(content: Record<string, unknown>): [string, unknown][] {
  return Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1));
}
