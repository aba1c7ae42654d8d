import type { Deps } from '#api/deps.ts';
import { insertInvitation, lockOpenInvitations, revokeInvitations } from '#api/store/invitations.ts';
import { endMemberships, findPersonByEmail, listRoles, lockOwners } from '#api/store/people.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { readEmail } from './email-address.ts';
import { tellPerson } from './notices.ts';
import { newToken } from './one-time-token.ts';

/** A change of a gateway's people, by one of them. */
interface MemberChange {
  gatewayId: string;
  email: string;
  /** What whoever does it may do themselves. */
  permissions: readonly string[];
}

/**
 * Invites somebody to a gateway, to no more than whoever invites may do; answers the token of the link, which is kept nowhere. In the caller's transaction, which notes it. Locks
 * the gateway's invitations.
 * @throws validation_error for what is no address or no role of a gateway; forbidden; conflict when too many links are open
 */
export async function inviteMember(
  tx: Tx,
  { randomBytes }: Pick<Deps, 'randomBytes'>,
  { gatewayId, email: text, role, permissions, personId }: MemberChange & { role: string; personId: string },
): Promise<string> {
  const email = readEmail(text);
  const known = (await listRoles(tx)).find(({ name, operates }) => name === role && !operates);
  if (known === undefined) throw invalid('role', 'must be a role of a gateway');
  const more = known.permissions.find((one) => !permissions.includes(one));
  if (more !== undefined) throw new ServiceError('forbidden', { message: `Your own role lacks the permission ${more}.` });
  if ((await lockOpenInvitations(tx, gatewayId)) >= POLICY.openInvitations)
    throw new ServiceError('conflict', { message: `${POLICY.openInvitations} links to this gateway are open, which is as many as there may be.` });
  const token = newToken(randomBytes);
  const purpose = { recovers: null, gatewayId, role } as const;
  await insertInvitation(tx, { id: uuidFrom(randomBytes(16)), tokenHash: token.hash, email, purpose, invitedBy: personId, seconds: POLICY.invitationSeconds });
  return token.text;
}

/**
 * Takes from an address what it may do at a gateway, and the link that it has not used. A gateway keeps an owner, and whoever goes is mailed. In the caller's transaction, which notes it.
 * Locks the owners.
 * @throws not_found when there is nothing to take; conflict for the last owner
 */
export async function removeMember(
  tx: Tx,
  deps: Pick<Deps, 'randomBytes'>,
  { gatewayId, email: text }: Pick<MemberChange, 'gatewayId' | 'email'>,
): Promise<void> {
  const email = readEmail(text);
  const invitations = await revokeInvitations(tx, email, { gatewayId });
  const person = await findPersonByEmail(tx, email);
  const owners = await lockOwners(tx, gatewayId);
  if (person !== undefined && owners.length === 1 && owners[0] === person.id)
    throw new ServiceError('conflict', { message: 'This is the only owner: invite another one first.' });
  const ended = person === undefined ? [] : await endMemberships(tx, person.id, { gatewayId });
  if (ended.length === 0 && invitations === 0) throw new ServiceError('not_found');
  await tellRemoved(tx, deps, person?.id, ended.length);
}

/**
 * Takes from an address what it may do at the deployment, and the link that it has not used; whoever asks cannot be the one. In the caller's transaction. Locks the memberships it ends.
 * @throws not_found when there is nothing to take; conflict for one's own address
 */
export async function endOperator(tx: Tx, deps: Pick<Deps, 'randomBytes'>, { email: text, by }: { email: string; by: string }): Promise<void> {
  const email = readEmail(text);
  const person = await findPersonByEmail(tx, email);
  if (person?.id === by) throw new ServiceError('conflict', { message: 'That is you: another operator can do it, so that one is left.' });
  const invitations = await revokeInvitations(tx, email, { gatewayId: null });
  const ended = person === undefined ? [] : await endMemberships(tx, person.id, { gatewayId: null });
  if (ended.length === 0 && invitations === 0) throw new ServiceError('not_found');
  await tellRemoved(tx, deps, person?.id, ended.length);
}

/** Has somebody told who may do less than before: what is done without them they hear of. */
async function tellRemoved(tx: Tx, deps: Pick<Deps, 'randomBytes'>, personId: string | undefined, ended: number): Promise<void> {
  if (personId !== undefined && ended > 0) await tellPerson(deps, tx, { personId, what: 'membership.end', address: null });
}
