import type { Deps } from '#api/deps.ts';
import { insertConsoleAction } from '#api/store/console-actions.ts';
import { insertPasskey, listPasskeys, lockPasskeys, removePasskeys } from '#api/store/passkeys.ts';
import { endSessions, type Session, sessionLives } from '#api/store/sessions.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { tellPerson } from './notices.ts';
import { credentialIdOf, readRegistration, registrationOptions } from './passkeys.ts';
import { doer, type Signed } from './signed.ts';
import { type Act, proveAct, stepUpOptions } from './step-up.ts';

type Needed = Pick<Deps, 'db' | 'config' | 'randomBytes' | 'log'>;

/** What a person is to make one more passkey with. */
export async function newPasskeyOptions(deps: Needed, { session }: Signed): Promise<object> {
  const exclude = await listPasskeys(deps.db.sql, session.personId);
  return registrationOptions(deps, { purpose: 'passkey', subject: session.personId, email: session.email, exclude });
}

/** What a person is to sign with a passkey they have, so that the one that was just made becomes theirs too. @throws forbidden */
export async function passkeyProofOptions(deps: Needed, { session }: Signed, credential: string): Promise<object> {
  return stepUpOptions(deps, session, adding(session, credentialIdOf(credential)));
}

/**
 * Gives a person one more passkey: a session alone does not, it takes a signature by one they have over the new one's id, or a code of their authenticator. Locks those they
 * have.
 * @throws forbidden; conflict when they have too many
 */
export async function addPasskey(deps: Needed, signed: Signed, { credential, proof }: { credential: string; proof: string }): Promise<void> {
  const { session } = signed;
  const { personId } = session;
  const agreedTo = credentialIdOf(credential);
  await proveAct(deps, session, { act: adding(session, agreedTo), proof });
  const passkey = await readRegistration(deps, { credential, purpose: 'passkey', subject: personId });
  // What it calls itself beside its signed part proves nothing.
  if (passkey.id !== agreedTo) throw new ServiceError('forbidden');
  await deps.db.transaction(async (tx) => {
    const held = await lockPasskeys(tx, personId);
    // Whoever recovered meanwhile ended it.
    if (!(await sessionLives(tx, session.id))) throw new ServiceError('forbidden');
    if (held.length >= POLICY.passkeysPerPerson) throw new ServiceError('conflict', { message: 'You have as many passkeys as one may.' });
    if (!(await insertPasskey(tx, personId, passkey))) throw new ServiceError('forbidden');
    await tellPerson(deps, tx, { personId, what: 'passkey.add', address: signed.address });
    await insertConsoleAction(tx, doer(signed), { act: 'passkey.add', target: passkey.id, gatewayId: null });
  });
}

/** What a person is to sign so that this passkey is taken away, and no other. */
export async function passkeyRemovalOptions(deps: Needed, { session }: Signed, id: string): Promise<object> {
  return stepUpOptions(deps, session, removing(session, id));
}

/**
 * Takes a passkey away, never the last one: by the signature of one the person has over its id, or a code. Locks those they have.
 * @throws forbidden; not_found for one that is not theirs; conflict for the last
 */
export async function removePasskey(deps: Needed, signed: Signed, { id, proof }: { id: string; proof: string }): Promise<void> {
  const { session } = signed;
  const { personId } = session;
  await proveAct(deps, session, { act: removing(session, id), proof });
  await deps.db.transaction(async (tx) => {
    const held = await lockPasskeys(tx, personId);
    if (!(await sessionLives(tx, session.id))) throw new ServiceError('forbidden');
    if (!held.includes(id)) throw new ServiceError('not_found');
    if (held.length === 1) throw new ServiceError('conflict', { message: 'This is your only passkey: add another one first.' });
    await removePasskeys(tx, personId, id);
    await tellPerson(deps, tx, { personId, what: 'passkey.remove', address: signed.address });
    await insertConsoleAction(tx, doer(signed), { act: 'passkey.remove', target: id, gatewayId: null });
  });
}

/** Ends one of a person's sessions. @throws not_found for one that is not theirs */
export async function revokeSession({ db }: Pick<Deps, 'db'>, signed: Signed, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    if (!isUuid(id) || (await endSessions(tx, signed.session.personId, id)) === 0) throw new ServiceError('not_found');
    await insertConsoleAction(tx, doer(signed), { act: 'session.revoke', target: id, gatewayId: null });
  });
}

function adding(session: Session, passkeyId: string): Act {
  return { name: 'passkey.add', gatewayId: null, target: session.personId, content: { passkey: passkeyId } };
}

function removing(session: Session, passkeyId: string): Act {
  return { name: 'passkey.remove', gatewayId: null, target: session.personId, content: { passkey: passkeyId } };
}
