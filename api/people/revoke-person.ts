import type { Deps } from '#api/deps.ts';
import { type Doer, insertConsoleAction } from '#api/store/console-actions.ts';
import { revokeInvitations } from '#api/store/invitations.ts';
import { endMemberships, findPersonByEmail, type Membership } from '#api/store/people.ts';
import { endSessions } from '#api/store/sessions.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { readEmail } from './email-address.ts';

/** What was taken from somebody. */
export interface Revoked {
  memberships: Membership[];
  invitations: number;
}

/**
 * Takes from an address what it may do, and the links that it has not used: everywhere, or at one place, where null is the deployment.
 * @throws not_found when there is nothing to take
 */
export async function revokePerson(
  { db }: Pick<Deps, 'db'>,
  { email: text, where, reason, by }: { email: string; where: 'everywhere' | { gatewayId: string | null }; reason?: string; by: Doer },
): Promise<Revoked> {
  const email = readEmail(text);
  return db.transaction(async (tx) => {
    // First: it waits for whoever accepts one at this moment, and makes a member.
    const invitations = await revokeInvitations(tx, email, where);
    const person = await findPersonByEmail(tx, email);
    const memberships = person === undefined ? [] : await endMemberships(tx, person.id, where);
    if (memberships.length === 0 && invitations === 0)
      throw new ServiceError('not_found', { message: `${email} may do nothing there, and has no open invitation.` });
    // Whoever may do nothing anywhere has nothing to be signed in for.
    if (person !== undefined && where === 'everywhere') await endSessions(tx, person.id);
    const gatewayId = where === 'everywhere' ? null : where.gatewayId;
    await insertConsoleAction(tx, by, {
      act: 'person.revoke',
      target: email,
      gatewayId,
      before: { memberships, invitations },
      ...(reason !== undefined && { reason }),
    });
    return { memberships, invitations };
  });
}
