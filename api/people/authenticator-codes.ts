import { createHash } from 'node:crypto';
import type { Deps } from '#api/deps.ts';
import { matchingSteps } from '#api/gateways/totp.ts';
import {
  seedPlace,
  type Authenticator,
  countWrongCode,
  forgetWrongCodes,
  lockAuthenticator,
  lockCodeGuard,
  noteCode,
  takeRecoveryCode,
} from '#api/store/authenticators.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { masterKeys } from '#shared/platform/key-ring.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { openWithAny } from '#shared/platform/sealed-secrets.ts';
import { tellPerson } from './notices.ts';

type Needed = Pick<Deps, 'db' | 'config' | 'metrics' | 'randomBytes'>;

/**
 * Proves a person by a code of their authenticator, or by one from paper; each counts once, and whatever `along` does counts with it. Locks the guard, then the authenticator.
 * @throws forbidden for a wrong code, and for whoever has no authenticator; rate_limit_exceeded after too many
 */
export async function proveCode(deps: Needed, personId: string, { code, along }: { code: string; along?: (tx: Tx) => Promise<void> }): Promise<void> {
  await tryCode(deps, personId, 'counts', async (tx, found) => {
    const step = await takeStep(deps, tx, found, code);
    if (!step && !(await takeRecoveryCode(tx, found.id, hashCode(code)))) return false;
    if (!step) await tellPerson(deps, tx, { personId, what: 'paper-code.use', address: null });
    await along?.(tx);
    return true;
  });
}

/** Lets a code be tried, one at a time; a wrong one is counted by person, whichever authenticator it was for and whatever becomes of the rest. @throws forbidden, rate_limit_exceeded */
export async function tryCode(
  { db, metrics }: Needed,
  personId: string,
  which: 'counts' | 'waits',
  isRight: (tx: Tx, found: Authenticator) => Promise<boolean>,
): Promise<void> {
  const lockedSeconds = await db.transaction(async (tx) => {
    const locked = await lockCodeGuard(tx, personId);
    if (locked > 0) return locked;
    const found = await lockAuthenticator(tx, personId, which);
    if (found === undefined) return 0;
    if (await isRight(tx, found)) {
      await forgetWrongCodes(tx, personId);
      return undefined;
    }
    await countWrongCode(tx, personId, { limit: POLICY.totpFailuresUntilLock, seconds: POLICY.totpLockSeconds });
    return 0;
  });
  const result = lockedSeconds === undefined ? 'accepted' : lockedSeconds > 0 ? 'locked' : 'wrong';
  metrics?.totpChecks.inc({ result });
  if (lockedSeconds === undefined) return;
  if (lockedSeconds > 0) throw new ServiceError('rate_limit_exceeded', { message: 'Too many wrong codes.', retryAfterSeconds: lockedSeconds });
  throw new ServiceError('forbidden', { message: 'This code is not right, or was used.' });
}

/** Whether a code is right, and was not used: then it is used now. The caller holds the authenticator. */
export async function takeStep({ config }: Needed, tx: Tx, { id, sealed, lastStep, unixSeconds }: Authenticator, code: string): Promise<boolean> {
  const { secret } = openWithAny(masterKeys(config), seedPlace(id), sealed);
  const step = matchingSteps(secret, code.replaceAll(/\s/g, ''), unixSeconds).find((one) => one > lastStep);
  if (step === undefined) return false;
  await noteCode(tx, id, step);
  return true;
}

/** Letters and digits that nobody takes for one another, 32 of them. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz023456789';

/** 80 bits of chance as people write them down: `abcd-efgh-jkmn-pqrs`. Pure but for its chance. */
export function newRecoveryCode(randomBytes: (length: number) => Uint8Array): string {
  const digits = Array.from(randomBytes(16), (byte) => ALPHABET[byte % ALPHABET.length]);
  return [0, 4, 8, 12].map((from) => digits.slice(from, from + 4).join('')).join('-');
}

/** What stands for a code on paper in the database, whatever spaces, hyphens and capitals it was typed with. Pure. */
export function hashCode(code: string): string {
  return createHash('sha256').update(code.toLowerCase().replaceAll(/[\s-]/g, '')).digest('hex');
}
