import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type { Deps } from '#api/deps.ts';
import { type ChallengePurpose, findPasskey, insertChallenge, type NewPasskey, type StoredPasskey, takeChallenge } from '#api/store/passkeys.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { hashToken, newToken } from './one-time-token.ts';

type Needed = Pick<Deps, 'db' | 'config' | 'randomBytes' | 'log'>;

/** What is to be signed, and by whom. */
interface Asked {
  purpose: ChallengePurpose;
  /** Hash of an invitation's token, a person's id, or nothing where the answer says who it is. */
  subject: string;
}

/** Where passkeys belong: their browser uses them on this origin alone. @throws Error without SLUICE_CONSOLE_URL */
function party({ config }: Pick<Deps, 'config'>): { rpID: string; origin: string } {
  const { origin, hostname } = new URL(config.SLUICE_CONSOLE_URL as string);
  return { rpID: hostname, origin };
}

async function challenge({ db, randomBytes }: Needed, asked: Asked): Promise<Uint8Array<ArrayBuffer>> {
  const { text, hash } = newToken(randomBytes);
  await insertChallenge(db.sql, { hash, ...asked, seconds: POLICY.challengeSeconds });
  return Uint8Array.from(Buffer.from(text, 'base64url'));
}

const taker =
  ({ db }: Needed, asked: Asked) =>
  (text: string): Promise<boolean> =>
    takeChallenge(db.sql, { hash: hashToken(text), ...asked });

/** What a browser is to make a passkey with; those that are named are not made twice. */
export async function registrationOptions(
  deps: Needed,
  { email, exclude, ...asked }: Asked & { email: string; exclude: { id: string; transports: string[] }[] },
): Promise<object> {
  return generateRegistrationOptions({
    rpName: 'Sluice',
    rpID: party(deps).rpID,
    userName: email,
    challenge: await challenge(deps, asked),
    timeout: POLICY.challengeSeconds * 1_000,
    attestationType: 'none',
    excludeCredentials: exclude,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** Proves what a browser made. The challenge is used up whatever comes of it. @throws forbidden when it proves nothing */
export async function readRegistration(deps: Needed, { credential, ...asked }: Asked & { credential: string }): Promise<NewPasskey> {
  const { rpID, origin } = party(deps);
  const response = parsed<RegistrationResponseJSON>(credential);
  const verified = await verifyRegistrationResponse({ response, expectedChallenge: taker(deps, asked), expectedOrigin: origin, expectedRPID: rpID }).catch(
    refuse(deps),
  );
  if (!verified.verified) throw refused();
  const { id, publicKey, counter, transports } = verified.registrationInfo.credential;
  return { id, publicKey: Buffer.from(publicKey).toString('base64url'), counter, transports: (transports ?? []).slice(0, 8) };
}

/** What a browser is to sign in with: any passkey of this place, so that nobody learns who has one. */
export async function signInOptions(deps: Needed): Promise<object> {
  return generateAuthenticationOptions({
    rpID: party(deps).rpID,
    challenge: await challenge(deps, { purpose: 'sign-in', subject: '' }),
    timeout: POLICY.challengeSeconds * 1_000,
    userVerification: 'required',
  });
}

/** Whose passkey signed; a key that is unknown, removed or wrong is all the same. @throws forbidden */
export async function readSignIn(deps: Needed, credential: string): Promise<{ passkey: StoredPasskey; counter: number }> {
  const { rpID, origin } = party(deps);
  const response = parsed<AuthenticationResponseJSON>(credential);
  const passkey = typeof response.id === 'string' ? await findPasskey(deps.db.sql, response.id) : undefined;
  if (passkey === undefined) throw refused();
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: taker(deps, { purpose: 'sign-in', subject: '' }),
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: true,
    credential: { id: passkey.id, publicKey: Uint8Array.from(Buffer.from(passkey.publicKey, 'base64url')), counter: passkey.counter },
  }).catch(refuse(deps));
  if (!verified.verified) throw refused();
  return { passkey, counter: verified.authenticationInfo.newCounter };
}

function parsed<T>(text: string): T {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as T;
  } catch {
    // Said below.
  }
  throw refused();
}

/** The library throws for whatever does not fit; why is for the log alone. */
function refuse({ log }: Needed) {
  return (error: unknown): never => {
    log.debug({ err: error }, 'a passkey was refused');
    throw refused();
  };
}

function refused(): ServiceError {
  return new ServiceError('forbidden', { message: 'This passkey did not work.' });
}
