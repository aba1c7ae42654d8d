import type { Deps } from '#api/deps.ts';
import { newTotpSecret, otpauthUrl } from '#api/gateways/totp.ts';
import { confirmAuthenticator, endAuthenticators, insertAuthenticator, seedPlace } from '#api/store/authenticators.ts';
import { insertConsoleAction } from '#api/store/console-actions.ts';
import { lockPasskeys } from '#api/store/passkeys.ts';
import { sessionLives } from '#api/store/sessions.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { keyId, masterKeys } from '#shared/platform/key-ring.ts';
import { seal, wrappingKey } from '#shared/platform/sealed-secrets.ts';
import { hashCode, newRecoveryCode, takeStep, tryCode } from './authenticator-codes.ts';
import { tellPerson } from './notices.ts';
import { doer, type Signed } from './signed.ts';
import { type Act, proveAct, stepUpOptions } from './step-up.ts';

type Needed = Pick<Deps, 'db' | 'config' | 'randomBytes' | 'log'>;

/** What an authenticator app is given, shown this once. */
export interface NewAuthenticator {
  secret: string;
  /** The same as a QR code tells it: `otpauth://…`. */
  url: string;
}

/** What a person is to sign so that an authenticator may be made theirs. */
export async function authenticatorProofOptions(deps: Needed, { session }: Signed): Promise<object> {
  return stepUpOptions(deps, session, making(session.personId));
}

/** Makes a new authenticator, which counts from its first code on; until then the one before it does. Locks the person's passkeys. @throws forbidden */
export async function makeAuthenticator(deps: Needed, { session }: Signed, proof: string): Promise<NewAuthenticator> {
  await proveAct(deps, session, { act: making(session.personId), proof });
  const [id, secret] = [uuidFrom(deps.randomBytes(16)), newTotpSecret(deps.randomBytes)];
  const { current } = masterKeys(deps.config);
  const sealed = seal(wrappingKey(current), seedPlace(id), secret, deps.randomBytes);
  await deps.db.transaction(async (tx) => {
    await lockPasskeys(tx, session.personId);
    // Whoever recovered meanwhile ended it.
    if (!(await sessionLives(tx, session.id))) throw new ServiceError('forbidden');
    await insertAuthenticator(tx, { id, personId: session.personId, sealed, sealedUnder: keyId(current) });
  });
  return { secret, url: otpauthUrl(secret, session.email) };
}

/**
 * Makes the new authenticator count by its first code, and answers ten codes to keep on paper, shown this once. Locks it.
 * @throws forbidden for a wrong code, and when none waits for one any more; rate_limit_exceeded after too many
 */
export async function startAuthenticator(deps: Needed, signed: Signed, code: string): Promise<{ codes: string[] }> {
  const { personId } = signed.session;
  const codes = Array.from({ length: POLICY.recoveryCodes }, () => newRecoveryCode(deps.randomBytes));
  await tryCode(deps, personId, 'waits', async (tx, found) => {
    if (!(await takeStep(deps, tx, found, code))) return false;
    await confirmAuthenticator(tx, personId, { id: found.id, codeHashes: codes.map(hashCode) });
    await tellPerson(deps, tx, { personId, what: 'authenticator.add', address: signed.address });
    await insertConsoleAction(tx, doer(signed), { act: 'authenticator.add', target: personId, gatewayId: null });
    return true;
  });
  return { codes };
}

/** What a person is to sign so that their authenticator is taken away. */
export async function authenticatorRemovalOptions(deps: Needed, { session }: Signed): Promise<object> {
  return stepUpOptions(deps, session, removing(session.personId));
}

/** Takes a person's authenticator away, with its codes: by the signature of a passkey, or a code. @throws forbidden; not_found when there is none */
export async function removeAuthenticator(deps: Needed, signed: Signed, proof: string): Promise<void> {
  const { session } = signed;
  const { personId } = session;
  await proveAct(deps, session, { act: removing(personId), proof });
  await deps.db.transaction(async (tx) => {
    await lockPasskeys(tx, personId);
    if (!(await sessionLives(tx, session.id))) throw new ServiceError('forbidden');
    if ((await endAuthenticators(tx, personId)) === 0) throw new ServiceError('not_found');
    await tellPerson(deps, tx, { personId, what: 'authenticator.remove', address: signed.address });
    await insertConsoleAction(tx, doer(signed), { act: 'authenticator.remove', target: personId, gatewayId: null });
  });
}

function making(personId: string): Act {
  return { name: 'authenticator.make', gatewayId: null, target: personId, content: {} };
}

function removing(personId: string): Act {
  return { name: 'authenticator.remove', gatewayId: null, target: personId, content: {} };
}
