import type { IdentityProvider } from '#api/clients/identity-provider.ts';
import type { Deps } from '#api/deps.ts';
import { insertConsoleAction } from '#api/store/console-actions.ts';
import { hasWayIn, insertIdentity, insertProviderSignIn, lockIdentity, removeIdentities, takeProviderSignIn } from '#api/store/identities.ts';
import { lockPasskeys } from '#api/store/passkeys.ts';
import { ensurePerson, findPersonByEmail, listMemberships, lockAddress, type Membership } from '#api/store/people.ts';
import { endSessions, type Session, sessionLives } from '#api/store/sessions.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { readEmail } from './email-address.ts';
import { tellPerson } from './notices.ts';
import { hashToken, newToken } from './one-time-token.ts';
import { endUnspoken, followRules, grantsOf } from './provider-roles.ts';
import { beginSession, type Visitor } from './sign-in.ts';
import { doer, type Signed } from './signed.ts';
import { type Act, proveAct, stepUpOptions } from './step-up.ts';

type Needed = Pick<Deps, 'db' | 'config' | 'randomBytes' | 'log'>;

/** Where a browser goes, and what it keeps until it comes back. */
export interface Leaving {
  url: string;
  browser: string;
}

/** Sends a browser to the provider: to sign in, or to connect it to the person of `session`. @throws service_unavailable */
export async function leaveForProvider({ db, randomBytes }: Needed, provider: IdentityProvider, session: Session | null): Promise<Leaving> {
  const [state, browser] = [newToken(randomBytes), newToken(randomBytes)];
  const url = await provider.authorizationUrl({ state: state.text, browser: browser.text });
  await insertProviderSignIn(db.sql, {
    stateHash: state.hash,
    browserHash: browser.hash,
    sessionId: session?.id ?? null,
    seconds: POLICY.providerSignInSeconds,
  });
  return { url, browser: browser.text };
}

/**
 * Takes in a browser that comes back from the provider: signs it in and answers its cookie, or answers null where it connected the provider to who is signed in. An answer counts
 * once, in the browser that asked. Whoever it is, is found by issuer and subject; only the first time by an address, which the provider has to have verified.
 * @throws forbidden; conflict where the address is that of somebody who signs in otherwise, or the identity another person's; service_unavailable
 */
export async function returnFromProvider(
  deps: Needed,
  provider: IdentityProvider,
  { query, browser, visitor, before }: { query: string; browser: string; visitor: Visitor; before: Session | undefined },
): Promise<string | null> {
  const state = new URLSearchParams(query).get('state') ?? '';
  const asked = await takeProviderSignIn(deps.db.sql, hashToken(state), hashToken(browser));
  if (asked === undefined) throw new ServiceError('forbidden');
  if (asked.sessionId !== null && asked.sessionId !== before?.id) throw new ServiceError('forbidden');
  const { claims, email, ...identity } = await provider.redeem(query, { state, browser });
  if (asked.sessionId !== null) {
    await connect(deps, { session: before as Session, address: visitor.address }, identity);
    return null;
  }
  return deps.db.transaction(async (tx) => {
    const known = await lockIdentity(tx, identity);
    const grants = await grantsOf(deps, tx, claims);
    const personId = known ?? (await personOf(deps, tx, { email, grants }));
    if (known === undefined) {
      await insertIdentity(tx, identity, personId);
      await tellPerson(deps, tx, { personId, what: 'identity.add', address: visitor.address });
    }
    const noteRoles = await followRules(deps, tx, { personId, grants, address: visitor.address });
    if (before !== undefined) await endSessions(tx, before.personId, before.id);
    const cookie = await beginSession(deps, tx, personId, visitor);
    await noteRoles();
    if (known === undefined) await noteIdentity(tx, personId, { email: email as string, address: visitor.address, issuer: identity.issuer });
    return cookie;
  });
}

/** Whose an identity becomes that nobody has: by a verified address, where rules make a member of it or it is one that has no way in yet. @throws forbidden, conflict */
async function personOf({ randomBytes }: Needed, tx: Tx, { email: told, grants }: { email: string | null; grants: readonly Membership[] }): Promise<string> {
  if (told === null) throw new ServiceError('forbidden', { message: 'The provider does not say that it verified an address.' });
  const email = readEmail(told);
  await lockAddress(tx, email);
  const person = await findPersonByEmail(tx, email);
  if (person !== undefined && (await hasWayIn(tx, person.id)))
    throw new ServiceError('conflict', { message: 'Somebody with this address signs in otherwise: sign in so, and connect the provider in your profile.' });
  const belongs = grants.length > 0 || (person !== undefined && (await listMemberships(tx, person.id)).length > 0);
  if (!belongs) throw new ServiceError('forbidden', { message: 'Nobody has invited this address, and no rule lets it in.' });
  return ensurePerson(tx, { id: uuidFrom(randomBytes(16)), email });
}

/** What a person is to sign so that a provider may sign them in. */
export async function connectOptions(deps: Needed, provider: IdentityProvider, { session }: Signed): Promise<object> {
  return stepUpOptions(deps, session, connecting(session, provider));
}

/** Sends a browser to the provider, so that whoever it is there becomes the person of this session. @throws forbidden, service_unavailable */
export async function beginConnecting(deps: Needed, provider: IdentityProvider, { session }: Signed, proof: string): Promise<Leaving> {
  await proveAct(deps, session, { act: connecting(session, provider), proof });
  return leaveForProvider(deps, provider, session);
}

/** Makes an identity that of a person who agreed to it. Locks their passkeys. */
async function connect(deps: Needed, signed: Signed, identity: { issuer: string; subject: string }): Promise<void> {
  const { id, personId, email } = signed.session;
  await deps.db.transaction(async (tx) => {
    const known = await lockIdentity(tx, identity);
    if (known === personId) return;
    if (known !== undefined) throw new ServiceError('conflict', { message: 'The provider signs somebody else in by this.' });
    await lockPasskeys(tx, personId);
    if (!(await sessionLives(tx, id))) throw new ServiceError('forbidden');
    await insertIdentity(tx, identity, personId);
    await tellPerson(deps, tx, { personId, what: 'identity.add', address: signed.address });
    await noteIdentity(tx, personId, { email, address: signed.address, issuer: identity.issuer });
  });
}

/** What a person is to sign so that no provider signs them in any more. */
export async function disconnectOptions(deps: Needed, { session }: Signed): Promise<object> {
  return stepUpOptions(deps, session, disconnecting(session));
}

/** Takes from a person what a provider signs in, and what its rules gave, by a passkey of theirs or a code: so that another way in is left. @throws forbidden, not_found */
export async function disconnect(deps: Needed, signed: Signed, proof: string): Promise<void> {
  const { session } = signed;
  await proveAct(deps, session, { act: disconnecting(session), proof });
  await deps.db.transaction(async (tx) => {
    await lockPasskeys(tx, session.personId);
    if (!(await sessionLives(tx, session.id))) throw new ServiceError('forbidden');
    if ((await removeIdentities(tx, session.personId)) === 0) throw new ServiceError('not_found');
    await tellPerson(deps, tx, { personId: session.personId, what: 'identity.remove', address: signed.address });
    await insertConsoleAction(tx, doer(signed), { act: 'identity.remove', target: session.personId, gatewayId: null });
    await endUnspoken(tx, session.personId, { address: signed.address, withinSeconds: POLICY.sessionSeconds });
  });
}

async function noteIdentity(tx: Tx, personId: string, { email, address, issuer }: { email: string; address: string; issuer: string }): Promise<void> {
  const by = { kind: 'person', personId, name: email, address } as const;
  await insertConsoleAction(tx, by, { act: 'identity.add', target: personId, gatewayId: null, after: { issuer } });
}

function connecting({ personId }: Session, { issuer }: IdentityProvider): Act {
  return { name: 'identity.add', gatewayId: null, target: personId, content: { issuer } };
}

function disconnecting({ personId }: Session): Act {
  return { name: 'identity.remove', gatewayId: null, target: personId, content: {} };
}
