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
import { isPassing } from '#shared/platform/database-problems.ts';
import { hashToken, newToken } from './one-time-token.ts';

type Needed = Pick<Deps, 'db' | 'config' | 'randomBytes' | 'log'>;

/** What is to be signed, and by whom. */
interface Asked {
  purpose: ChallengePurpose;
  /** Hash of an invitation's token, a person's id, a session with an act, or nothing where the answer says who it is. */
  subject: string;
  /** Hex digits that the challenge itself ends in. */
  ending?: string;
}

/** How browsers reach an authenticator, by the names of WebAuthn. */
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

/** Of the random part of a challenge, in hex. */
const NONCE_DIGITS = 64;

/** Where passkeys belong: their browser uses them on this origin alone. @throws Error without SLUICE_CONSOLE_URL */
function party({ config }: Pick<Deps, 'config'>): { rpID: string; origin: string } {
  const { origin, hostname } = new URL(config.SLUICE_CONSOLE_URL as string);
  return { rpID: hostname, origin };
}

/** 32 random bytes, and what the answer is bound to besides, where something is. */
async function challenge({ db, randomBytes }: Needed, { ending = '', ...asked }: Asked): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = Uint8Array.from(Buffer.concat([Buffer.from(newToken(randomBytes).text, 'base64url'), Buffer.from(ending, 'hex')]));
  await insertChallenge(db.sql, { hash: hashToken(Buffer.from(bytes).toString('base64url')), ...asked, seconds: POLICY.challengeSeconds });
  return bytes;
}

/** The row alone is not believed about what was signed: whoever can write rows could have written it for another act. */
const taker =
  ({ db }: Needed, { ending = '', ...asked }: Asked) =>
  async (text: string): Promise<boolean> =>
    Buffer.from(text, 'base64url').toString('hex').slice(NONCE_DIGITS) === ending && takeChallenge(db.sql, { hash: hashToken(text), ...asked });

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
  const { id, publicKey, counter } = verified.registrationInfo.credential;
  if (!isCredentialId(id)) throw refused();
  const told: unknown = response.response?.transports;
  const transports = TRANSPORTS.filter((one) => Array.isArray(told) && told.includes(one));
  return { id, publicKey: Buffer.from(publicKey).toString('base64url'), counter, transports };
}

/** What a browser is to sign with: one of the passkeys that are named, or any of this place, so that nobody learns who has one. */
export async function assertionOptions(deps: Needed, { allow = [], ...asked }: Asked & { allow?: { id: string; transports: string[] }[] }): Promise<object> {
  return generateAuthenticationOptions({
    rpID: party(deps).rpID,
    challenge: await challenge(deps, asked),
    timeout: POLICY.challengeSeconds * 1_000,
    userVerification: 'required',
    ...(allow.length > 0 && { allowCredentials: allow.map(({ id }) => ({ id })) }),
  });
}

/** Whose passkey signed; a key that is unknown, removed or wrong is all the same. The challenge of a known key is used up whatever comes of it. @throws forbidden */
export async function readAssertion(
  deps: Needed,
  { credential, ...asked }: Asked & { credential: string },
): Promise<{ passkey: StoredPasskey; counter: number }> {
  const { rpID, origin } = party(deps);
  const response = parsed<AuthenticationResponseJSON>(credential);
  const passkey = isCredentialId(response.id) ? await findPasskey(deps.db.sql, response.id) : undefined;
  if (passkey === undefined) throw refused();
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: taker(deps, asked),
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: true,
    credential: { id: passkey.id, publicKey: Uint8Array.from(Buffer.from(passkey.publicKey, 'base64url')), counter: passkey.counter },
  }).catch(refuse(deps));
  if (!verified.verified) throw refused();
  return { passkey, counter: verified.authenticationInfo.newCounter };
}

/** The id that a credential says it has; whether it has it, only proving it tells. @throws forbidden */
export function credentialIdOf(credential: string): string {
  const { id } = parsed<{ id?: unknown }>(credential);
  if (!isCredentialId(id)) throw refused();
  return id;
}

/** What an id of the table may be; the rest of a credential is anything that somebody sent. */
function isCredentialId(id: unknown): id is string {
  return typeof id === 'string' && /^[A-Za-z0-9_-]{16,1400}$/.test(id);
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

/** The library throws for whatever does not fit; why is for the log alone. A database that does not answer is no proof of anything. */
function refuse({ log }: Needed) {
  return (error: unknown): never => {
    if (isPassing(error)) throw error;
    log.debug({ err: error }, 'a passkey was refused');
    throw refused();
  };
}

function refused(): ServiceError {
  return new ServiceError('forbidden', { message: 'This passkey did not work.' });
}
