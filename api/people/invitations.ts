import type { Deps } from '#api/deps.ts';
import { type Doer, insertConsoleAction } from '#api/store/console-actions.ts';
import { findGateway } from '#api/store/gateways.ts';
import { insertInvitation } from '#api/store/invitations.ts';
import { findPersonByEmail, findRole } from '#api/store/people.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid, uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { readEmail } from './email-address.ts';
import { newToken } from './one-time-token.ts';

type Needed = Pick<Deps, 'db' | 'randomBytes'>;

/** A link that works once. */
export interface Invited {
  email: string;
  /** What its link ends in; shown this once, and kept nowhere. */
  token: string;
  expiresAt: Date;
}

/**
 * Invites somebody to a gateway, or with null to the deployment: they are a member once they accept. A link from before for the same place stops working.
 * @throws validation_error for an address, a gateway or a role that is none, or a role of the other kind
 */
export async function invitePerson(
  { db, randomBytes }: Needed,
  { email: text, gatewayId, role, by }: { email: string; gatewayId: string | null; role: string; by: Doer },
): Promise<Invited> {
  const email = readEmail(text);
  const token = newToken(randomBytes);
  const id = uuidFrom(randomBytes(16));
  const expiresAt = await db.transaction(async (tx) => {
    const known = await findRole(tx, role);
    if (known === undefined || known.operates !== (gatewayId === null))
      throw invalid('role', `must be a role of ${gatewayId === null ? 'the deployment' : 'a gateway'}`);
    if (gatewayId !== null && (!isUuid(gatewayId) || (await findGateway(tx, gatewayId)) === undefined)) throw invalid('gateway', 'must be the id of a gateway');
    const until = await insertInvitation(tx, {
      id,
      tokenHash: token.hash,
      email,
      purpose: { recovers: null, gatewayId, role },
      invitedBy: by.kind === 'person' ? by.personId : null,
      seconds: POLICY.invitationSeconds,
    });
    await insertConsoleAction(tx, by, { act: 'person.invite', target: email, gatewayId, after: { role } });
    return until;
  });
  return { email, token: token.text, expiresAt };
}

/**
 * Gives a person who lost every way to sign in a link to make a new one. What they have now works until they use it.
 * @throws not_found when nobody of that address ever accepted an invitation
 */
export async function recoverPerson({ db, randomBytes }: Needed, { email: text, by }: { email: string; by: Doer }): Promise<Invited> {
  const email = readEmail(text);
  const token = newToken(randomBytes);
  const id = uuidFrom(randomBytes(16));
  const expiresAt = await db.transaction(async (tx) => {
    const person = await findPersonByEmail(tx, email);
    if (person === undefined) throw new ServiceError('not_found', { message: `Nobody of the address ${email} ever accepted an invitation: invite them.` });
    const purpose = { recovers: person.id, gatewayId: null, role: null };
    const until = await insertInvitation(tx, { id, tokenHash: token.hash, email, purpose, invitedBy: null, seconds: POLICY.invitationSeconds });
    await insertConsoleAction(tx, by, { act: 'person.recover', target: person.id, gatewayId: null, after: { email } });
    return until;
  });
  return { email, token: token.text, expiresAt };
}
