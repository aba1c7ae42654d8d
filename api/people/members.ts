import type { Deps } from '#api/deps.ts';
import { keepingApprovers } from '#api/gateways/change-policies.ts';
import { insertInvitation, lockOpenInvitations, revokeInvitations } from '#api/store/invitations.ts';
import {
  cameAfterMemberProposal,
  countMemberProposals,
  decideMemberProposal,
  findMemberProposal,
  insertMemberProposal,
  isProposedAbout,
  type MemberProposal,
  replaceMemberProposal,
} from '#api/store/member-proposals.ts';
import { countMembersWho, endMemberships, findMembership, findPersonByEmail, listRoles, lockOwners } from '#api/store/people.ts';
import { lockPolicies } from '#api/store/policies.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { readEmail } from './email-address.ts';
import { tellOwners, tellPerson } from './notices.ts';
import { newToken } from './one-time-token.ts';

/** What a role can do that one owner alone does not give or take once there are two: they could be several of those people themselves. */
const WEIGHTY = ['settlement:approve', 'settings:write'];

type Needed = Pick<Deps, 'randomBytes'>;

/** A change of a gateway's people: an address that is invited as something, or with null removed. */
interface MemberChange {
  gatewayId: string;
  email: string;
  role: string | null;
  /** Who does it. */
  personId: string;
}

/** A change with what whoever does it was told of it. */
interface AskedChange extends MemberChange {
  /** Whether another owner has to confirm it. */
  waits: boolean;
}

function isWeighty(permissions: readonly string[]): boolean {
  return WEIGHTY.some((one) => permissions.includes(one));
}

/**
 * Whether a change of a gateway's people waits for another owner: where there are two, and it makes or unmakes somebody who approves cashouts or changes policies. Whoever leaves by
 * themselves needs nobody. Locks nothing.
 */
export async function needsAnotherOwner(sql: Reads, { gatewayId, email: text, role, personId }: MemberChange): Promise<boolean> {
  const person = await findPersonByEmail(sql, readEmail(text));
  if (role === null && person?.id === personId) return false;
  const before = person === undefined ? undefined : await findMembership(sql, person.id, gatewayId);
  const after = role === null ? undefined : (await listRoles(sql)).find(({ name }) => name === role);
  if (!isWeighty(before?.permissions ?? []) && !isWeighty(after?.permissions ?? [])) return false;
  return (await countMembersWho(sql, gatewayId, 'team:manage')) > 1;
}

/**
 * Invites somebody to a gateway, to no more than whoever invites may do; answers the token of the link, which is kept nowhere, or null when another owner has to confirm it. In the
 * caller's transaction, which notes it. Locks the gateway's policies, then its invitations.
 * @throws validation_error for what is no address or no role of a gateway; forbidden; conflict when too many links are open
 */
export async function inviteMember(
  tx: Tx,
  deps: Needed,
  { permissions, ...asked }: AskedChange & { role: string; permissions: readonly string[] },
): Promise<string | null> {
  await lockPolicies(tx, asked.gatewayId);
  const change = { ...asked, email: readEmail(asked.email) };
  await refuseUngivable(tx, change.role, permissions);
  if (await isOnlyProposed(tx, deps, change)) return null;
  return sendInvitation(tx, deps, change);
}

/**
 * Takes from an address what it may do at a gateway, and the link that it has not used; answers whether another owner has to confirm it first. A gateway keeps an owner, and as many
 * who approve as its policies ask for, and whoever goes is mailed. In the caller's transaction, which notes it. Locks the gateway's policies, then its owners.
 * @throws not_found when there is nothing to take; conflict for the last owner, or while a policy needs them
 */
export async function removeMember(tx: Tx, deps: Needed, asked: Omit<AskedChange, 'role'>): Promise<{ waits: boolean }> {
  await lockPolicies(tx, asked.gatewayId);
  const change = { ...asked, role: null, email: readEmail(asked.email) };
  if (await isOnlyProposed(tx, deps, change)) return { waits: true };
  await takeAway(tx, deps, change);
  return { waits: false };
}

/**
 * Confirms a change that another owner proposed: it is done now. Answers the token of the link where it invites. In the caller's transaction, which notes it. Locks the gateway's
 * policies, then what the change locks.
 * @throws not_found when it does not wait; forbidden to whoever proposed it, or became an owner since; conflict when its proposer is no owner any more
 */
export async function confirmMemberChange(
  tx: Tx,
  deps: Needed,
  { gatewayId, id, personId, permissions }: { gatewayId: string; id: string; personId: string; permissions: readonly string[] },
): Promise<{ email: string; token: string | null }> {
  await lockPolicies(tx, gatewayId);
  const { email, role, proposedBy, proposerMay } = await findWaitingChange(tx, gatewayId, id);
  if (proposedBy === personId) throw new ServiceError('forbidden', { message: 'Whoever proposed a change does not confirm it: another owner does.' });
  if (await cameAfterMemberProposal(tx, { id, personId }))
    throw new ServiceError('forbidden', { message: 'You became an owner after this was proposed: another owner confirms it, or it is proposed anew.' });
  if (!proposerMay) throw new ServiceError('conflict', { message: 'Whoever proposed this is no owner any more: it has to be proposed anew.' });
  if (!(await decideMemberProposal(tx, { gatewayId, id, personId, state: 'confirmed' }))) throw new ServiceError('not_found');
  const change = { gatewayId, email, role, personId };
  if (role === null) {
    await takeAway(tx, deps, change);
    return { email, token: null };
  }
  await refuseUngivable(tx, role, permissions);
  return { email, token: await sendInvitation(tx, deps, { ...change, role }) };
}

/**
 * Takes back a change that waits, one's own or another owner's. Locks the gateway's policies. @throws not_found when it does not wait; forbidden to whom it is about, unless they
 * proposed it: two others could never remove an owner who is hostile
 */
export async function withdrawMemberChange(tx: Tx, { gatewayId, id, personId }: { gatewayId: string; id: string; personId: string }): Promise<void> {
  await lockPolicies(tx, gatewayId);
  if (await isProposedAbout(tx, { gatewayId, personId, id })) throw aboutThem();
  if (!(await decideMemberProposal(tx, { gatewayId, id, personId, state: 'withdrawn' }))) throw new ServiceError('not_found');
}

/** A change that waits for another owner. Locks nothing. @throws not_found */
export async function findWaitingChange(sql: Reads, gatewayId: string, id: string): Promise<MemberProposal> {
  const found = await findMemberProposal(sql, gatewayId, id);
  if (found === undefined) throw new ServiceError('not_found');
  return found;
}

/**
 * Takes from an address what it may do at the deployment, and the link that it has not used; whoever asks cannot be the one. In the caller's transaction. Locks the memberships it ends.
 * @throws not_found when there is nothing to take; conflict for one's own address
 */
export async function endOperator(tx: Tx, deps: Needed, { email: text, by }: { email: string; by: string }): Promise<void> {
  const email = readEmail(text);
  const person = await findPersonByEmail(tx, email);
  if (person?.id === by) throw new ServiceError('conflict', { message: 'That is you: another operator can do it, so that one is left.' });
  const invitations = await revokeInvitations(tx, email, { gatewayId: null });
  const ended = person === undefined ? [] : await endMemberships(tx, person.id, { gatewayId: null });
  if (ended.length === 0 && invitations === 0) throw new ServiceError('not_found');
  await tellRemoved(tx, deps, person?.id, ended.length);
}

function aboutThem(): ServiceError {
  return new ServiceError('forbidden', { message: 'This is about you: another owner decides about it, or you leave by yourself.' });
}

/**
 * Keeps a change for another owner, where it takes one, in place of what waited for the address. The caller holds `lockPolicies`.
 * @throws conflict; forbidden to whoever would replace what others proposed about them
 */
async function isOnlyProposed(tx: Tx, deps: Needed, { waits, ...change }: AskedChange): Promise<boolean> {
  const { gatewayId, email, role } = change;
  if ((await needsAnotherOwner(tx, change)) !== waits)
    throw new ServiceError('conflict', { message: 'Who has to confirm this changed meanwhile: look at the team again.' });
  const { personId } = change;
  if (waits && (await findPersonByEmail(tx, email))?.id === personId && (await isProposedAbout(tx, { gatewayId, personId }))) throw aboutThem();
  await replaceMemberProposal(tx, change);
  if (!waits) return false;
  if ((await countMemberProposals(tx, change)) >= POLICY.openInvitations)
    throw new ServiceError('conflict', { message: `${POLICY.openInvitations} changes of yours wait for another owner, which is as many as there may be.` });
  await insertMemberProposal(tx, { ...change, id: uuidFrom(deps.randomBytes(16)) });
  await tellOwners(deps, tx, { gatewayId, what: 'member.proposed', email, role });
  return true;
}

/** @throws validation_error for no role of a gateway; forbidden for one that may do more */
async function refuseUngivable(tx: Tx, role: string, permissions: readonly string[]): Promise<void> {
  const known = (await listRoles(tx)).find(({ name, operates }) => name === role && !operates);
  if (known === undefined) throw invalid('role', 'must be a role of a gateway');
  const more = known.permissions.find((one) => !permissions.includes(one));
  if (more !== undefined) throw new ServiceError('forbidden', { message: `Your own role lacks the permission ${more}.` });
}

async function sendInvitation(tx: Tx, deps: Needed, { gatewayId, email, role, personId }: MemberChange & { role: string }): Promise<string> {
  if ((await lockOpenInvitations(tx, gatewayId)) >= POLICY.openInvitations)
    throw new ServiceError('conflict', { message: `${POLICY.openInvitations} links to this gateway are open, which is as many as there may be.` });
  const token = newToken(deps.randomBytes);
  const purpose = { recovers: null, gatewayId, role } as const;
  await insertInvitation(tx, {
    id: uuidFrom(deps.randomBytes(16)),
    tokenHash: token.hash,
    email,
    purpose,
    invitedBy: personId,
    seconds: POLICY.invitationSeconds,
  });
  if (await isWeightyRole(tx, role)) await tellOwners(deps, tx, { gatewayId, what: 'member.invited', email, role });
  return token.text;
}

async function takeAway(tx: Tx, deps: Needed, { gatewayId, email }: MemberChange): Promise<void> {
  const invitations = await revokeInvitations(tx, email, { gatewayId });
  const person = await findPersonByEmail(tx, email);
  if (person !== undefined) await refuseOnlyOwner(tx, gatewayId, person.id);
  const ended = person === undefined ? [] : await keepingApprovers(tx, gatewayId, () => endMemberships(tx, person.id, { gatewayId }));
  if (ended.length === 0 && invitations === 0) throw new ServiceError('not_found');
  for (const { role } of ended) if (await isWeightyRole(tx, role)) await tellOwners(deps, tx, { gatewayId, what: 'member.removed', email, role });
  await tellRemoved(tx, deps, person?.id, ended.length);
}

/** Refuses what leaves a gateway without an owner: nobody else there lets one in. The caller holds `lockPolicies`. Locks the owners. @throws conflict */
export async function refuseOnlyOwner(tx: Tx, gatewayId: string, personId: string): Promise<void> {
  const owners = await lockOwners(tx, gatewayId);
  if (owners.length === 1 && owners[0] === personId) throw new ServiceError('conflict', { message: 'This is the only owner: invite another one first.' });
}

/** Whether a role, by its name, may do such things. Locks nothing. */
export async function isWeightyRole(sql: Reads, role: string): Promise<boolean> {
  return isWeighty((await listRoles(sql)).find(({ name }) => name === role)?.permissions ?? []);
}

/** Has somebody told who may do less than before: what is done without them they hear of. */
async function tellRemoved(tx: Tx, deps: Needed, personId: string | undefined, ended: number): Promise<void> {
  if (personId !== undefined && ended > 0) await tellPerson(deps, tx, { personId, what: 'membership.end', address: null });
}
