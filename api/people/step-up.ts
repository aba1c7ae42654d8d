import { createHash } from 'node:crypto';
import type { Deps } from '#api/deps.ts';
import { listPasskeys, notePasskeyUse } from '#api/store/passkeys.ts';
import type { Session } from '#api/store/sessions.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { proveCode } from './authenticator-codes.ts';
import { assertionOptions, readAssertion } from './passkeys.ts';

type Needed = Pick<Deps, 'db' | 'config' | 'randomBytes' | 'log'>;

/** What a person is about to do, in full: whatever of it is not in here is not what they agreed to. */
export interface Act {
  /** noun.verb, such as settlement.approve. */
  name: string;
  gatewayId: string | null;
  /** Id or name of what it is done to. */
  target: string;
  /** Asset, amount and destination, or a setting before and after. */
  content: Readonly<Record<string, string | number | boolean | null>>;
}

/** What stands for an act: equal only for acts that are equal in every field, whatever order the fields came in. Pure. */
export function hashAct({ name, gatewayId, target, content }: Act): string {
  const fields = Object.keys(content)
    .sort()
    .map((key) => [key, content[key]]);
  return createHash('sha256')
    .update(JSON.stringify([name, gatewayId, target, fields]))
    .digest('hex');
}

/** What a person's browser is to sign so that they may do this act, from this session: the challenge ends in the act's hash. */
export async function stepUpOptions(deps: Needed, session: Session, act: Act): Promise<object> {
  const allow = await listPasskeys(deps.db.sql, session.personId);
  return assertionOptions(deps, { ...askedOf(session, act), allow });
}

/**
 * Proves that the person of a session wants exactly this act, now. It counts once: the challenge is used up whatever comes of it.
 * @throws forbidden for an answer to another act, another session's, another person's, one that was used, or one that is too old, all the same
 */
export async function proveStepUp(deps: Needed, session: Session, { act, credential }: { act: Act; credential: string }): Promise<void> {
  const { passkey, counter } = await readAssertion(deps, { ...askedOf(session, act), credential });
  if (passkey.personId !== session.personId) throw new ServiceError('forbidden');
  await deps.db.transaction(async (tx) => {
    if (!(await notePasskeyUse(tx, passkey.id, counter))) throw new ServiceError('forbidden');
  });
}

/** Proves an act by what was sent: the signature of a passkey, or a code, which is not bound to the act. @throws what `proveStepUp` and `proveCode` do */
export async function proveAct(deps: Needed, session: Session, { act, proof }: { act: Act; proof: string }): Promise<void> {
  if (proof.trimStart().startsWith('{')) return proveStepUp(deps, session, { act, credential: proof });
  return proveCode(deps, session.personId, { code: proof });
}

function askedOf(session: Session, act: Act): { purpose: 'act'; subject: string; ending: string } {
  const hash = hashAct(act);
  return { purpose: 'act', subject: `${session.id}:${hash}`, ending: hash };
}
