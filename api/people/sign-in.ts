import type { Deps } from '#api/deps.ts';
import { keepingApprovers } from '#api/gateways/change-policies.ts';
import { hasWayIn, removeIdentities } from '#api/store/identities.ts';
import { endAuthenticators } from '#api/store/authenticators.ts';
import { insertConsoleAction } from '#api/store/console-actions.ts';
import { acceptOnce, findOpenInvitation, type OpenInvitation } from '#api/store/invitations.ts';
import { insertPasskey, lockPasskeys, notePasskeyUse, removePasskeys } from '#api/store/passkeys.ts';
import { ensurePerson, findOperator, insertMembership } from '#api/store/people.ts';
import { endSessions, findSession, insertSession, type Session, touchSession } from '#api/store/sessions.ts';
import { lockPolicies } from '#api/store/policies.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { isWeightyRole, refuseOnlyOwner } from './members.ts';
import { tellOperators, tellOwners, tellPerson } from './notices.ts';
import { hashToken, newToken } from './one-time-token.ts';
import { endUnspoken } from './provider-roles.ts';
import { assertionOptions, readAssertion, readRegistration, registrationOptions } from './passkeys.ts';

type Needed = Pick<Deps, 'db' | 'config' | 'randomBytes' | 'log'>;

/** A browser that wants to be signed in. */
export interface Visitor {
  address: string;
  /** What it calls itself. */
  browser: string;
}

/** Who is signed in with this cookie; notes about once a minute that they were here. */
export async function readSession({ db }: Pick<Deps, 'db'>, cookie: string | undefined): Promise<Session | undefined> {
  if (cookie === undefined) return undefined;
  const session = await findSession(db.sql, hashToken(cookie));
  if (session?.stale) await touchSession(db.sql, session.id);
  return session;
}

/** Who it is, the answer says. */
const ANYBODY = { purpose: 'sign-in', subject: '' } as const;

/** What a browser is to sign in with. */
export async function signInOptions(deps: Needed): Promise<object> {
  return assertionOptions(deps, ANYBODY);
}

/** Signs a browser in by its passkey; answers its cookie. The one it had before is good no more. @throws forbidden */
export async function signIn(
  deps: Needed,
  { credential, visitor, before }: { credential: string; visitor: Visitor; before: Session | undefined },
): Promise<string> {
  const { passkey, counter } = await readAssertion(deps, { ...ANYBODY, credential });
  return deps.db.transaction(async (tx) => {
    if (!(await notePasskeyUse(tx, passkey.id, counter))) throw new ServiceError('forbidden');
    if (before !== undefined) await endSessions(tx, before.personId, before.id);
    return beginSession(deps, tx, passkey.personId, visitor);
  });
}

/** The invitation of a link. @throws not_found for one that never was, was used, was replaced or is too old, all the same */
export async function readInvitation({ db }: Pick<Deps, 'db'>, token: string): Promise<OpenInvitation> {
  const invitation = await findOpenInvitation(db.sql, hashToken(token));
  if (invitation === undefined) throw new ServiceError('not_found');
  return invitation;
}

/** What the holder of an invitation is to make a passkey with. @throws not_found; conflict for somebody who has one */
export async function invitationOptions(deps: Needed, token: string): Promise<object> {
  const { email, holderId } = await readInvitation(deps, token);
  if (holderId !== null) throw signInFirst();
  return registrationOptions(deps, { purpose: 'invitation', subject: hashToken(token), email, exclude: [] });
}

/**
 * Accepts an invitation with a new passkey, and signs in; answers the cookie. Whoever has a passkey accepts with `session`, and gets no cookie: a link alone never lets anybody into
 * what a person had before. Recovering takes away every passkey, authenticator, identity and session that the person had. Locks the gateway's
 * policies, the invitation, then what it replaces.
 * @throws not_found, forbidden; conflict for somebody who has to sign in first, for the only owner of the gateway, or for whom a policy of it needs as what they are
 */
export async function acceptInvitation(
  deps: Needed,
  { token, credential, visitor, session }: { token: string; credential: string; visitor: Visitor; session: Session | undefined },
): Promise<string | undefined> {
  const { randomBytes } = deps;
  const invitation = await readInvitation(deps, token);
  const holds = invitation.holderId !== null;
  if (holds && session?.personId !== invitation.holderId) throw signInFirst();
  const passkey = holds ? undefined : await readRegistration(deps, { credential, purpose: 'invitation', subject: hashToken(token) });
  const ids = { person: uuidFrom(randomBytes(16)), membership: uuidFrom(randomBytes(16)) };
  return deps.db.transaction(async (tx) => {
    // Before the invitation, as whoever removes somebody does.
    if (invitation.gatewayId !== null) await lockPolicies(tx, invitation.gatewayId);
    if (!(await acceptOnce(tx, invitation.id))) throw new ServiceError('not_found');
    const { email, gatewayId, role, recovers } = invitation;
    const personId = recovers ?? (await ensurePerson(tx, { id: ids.person, email }));
    const held = await lockPasskeys(tx, personId);
    if (recovers !== null) {
      await removePasskeys(tx, personId);
      await endAuthenticators(tx, personId);
      await removeIdentities(tx, personId);
      await endSessions(tx, personId);
    } else if (!holds && (held.length > 0 || (await hasWayIn(tx, personId)))) throw signInFirst();
    if (role !== null) {
      const join = () => insertMembership(tx, { id: ids.membership, personId, gatewayId, role });
      // It may be less than they had.
      if (gatewayId !== null && role !== 'owner') await refuseOnlyOwner(tx, gatewayId, personId);
      await (gatewayId === null ? join() : keepingApprovers(tx, gatewayId, join));
      if (gatewayId !== null && (await isWeightyRole(tx, role)))
        await tellOwners(deps, tx, { gatewayId, what: 'member.joined', email, role, except: personId });
      if (gatewayId === null && (await findOperator(tx, email)) !== undefined) await tellOperators(deps, tx, { email, role, except: personId });
    }
    if (passkey !== undefined && !(await insertPasskey(tx, personId, passkey))) throw new ServiceError('forbidden');
    const cookie = passkey === undefined ? undefined : await beginSession(deps, tx, personId, visitor);
    const by = { kind: 'person', personId, name: email, address: visitor.address } as const;
    if (recovers !== null) await tellPerson(deps, tx, { personId, what: 'person.recovered', address: visitor.address });
    await insertConsoleAction(tx, by, { act: recovers === null ? 'invitation.accept' : 'person.recovered', target: personId, gatewayId, after: { role } });
    return cookie;
  });
}

function signInFirst(): ServiceError {
  return new ServiceError('conflict', { message: 'Sign in with your passkey, then open the link again.' });
}

/** Makes a session of a person for a browser; answers its cookie. What no provider speaks for any more they may not do in it. */
export async function beginSession({ randomBytes }: Pick<Deps, 'randomBytes'>, tx: Tx, personId: string, { address, browser }: Visitor): Promise<string> {
  const token = newToken(randomBytes);
  await endUnspoken(tx, personId, { address, withinSeconds: POLICY.sessionSeconds });
  await insertSession(tx, { id: uuidFrom(randomBytes(16)), tokenHash: token.hash, personId, address, browser: browser.slice(0, 200) });
  return token.text;
}
