import type { Deps, Mail } from '#api/deps.ts';
import { findSignInLink, insertSignInLink, takeSignInLink } from '#api/store/authenticators.ts';
import { endSessions, type Session } from '#api/store/sessions.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { proveCode } from './authenticator-codes.ts';
import { readEmail } from './email-address.ts';
import { hashToken, newToken } from './one-time-token.ts';
import { beginSession, type Visitor } from './sign-in.ts';

type Needed = Pick<Deps, 'db' | 'config' | 'randomBytes' | 'log' | 'mail'>;

/**
 * Mails a link to whoever has this address and an authenticator. It is done after the answer, which is the same for everybody: neither what it says nor how long it took tells
 * whether there is such a person. What goes wrong is for the log.
 */
export function mailLink(deps: Needed, { email, visitor }: { email: string; visitor: Visitor }): void {
  const { signInLinkSeconds: seconds, signInLinksPerPerson: most } = POLICY;
  const work = async (): Promise<void> => {
    const to = readEmail(email);
    const token = newToken(deps.randomBytes);
    if (!(await deps.db.transaction((tx) => insertSignInLink(tx, { email: to, tokenHash: token.hash, seconds, most })))) return;
    await deps.mail.send(
      signInMail({ to, id: token.hash.slice(0, 32), link: `${new URL(deps.config.SLUICE_CONSOLE_URL as string).origin}/sign-in/link/${token.text}`, visitor }),
    );
  };
  work().catch((error: unknown) => deps.log.error({ err: error }, 'a link to sign in was not mailed'));
}

function signInMail({ to, id, link, visitor }: { to: string; id: string; link: string; visitor: Visitor }): Mail {
  return {
    id: `sign-in-${id}`,
    to,
    subject: 'Your link to sign in',
    text: [
      `Somebody at ${visitor.address} wants to sign in as you. If it is you, open this within ${POLICY.signInLinkSeconds / 60} minutes and have your authenticator at hand:`,
      '',
      link,
      '',
      'If it is not you, do nothing: without a code of your authenticator the link lets nobody in. Give it to nobody.',
      '',
    ].join('\n'),
  };
}

/** Whose link it is. @throws not_found for one that never was, was used, or is too old, all the same */
export async function readLink({ db }: Pick<Deps, 'db'>, token: string): Promise<{ personId: string; email: string }> {
  const found = await findSignInLink(db.sql, hashToken(token));
  if (found === undefined) throw new ServiceError('not_found');
  return found;
}

/**
 * Signs a browser in by a mailed link and a code; answers its cookie. The session it had before is good no more. Locks the authenticator.
 * @throws not_found, forbidden; rate_limit_exceeded after too many wrong codes
 */
export async function signInByLink(
  deps: Needed,
  { token, code, visitor, before }: { token: string; code: string; visitor: Visitor; before: Session | undefined },
): Promise<string> {
  const { personId } = await readLink(deps, token);
  let cookie: string | undefined;
  await proveCode(deps, personId, {
    code,
    along: async (tx) => {
      if (!(await takeSignInLink(tx, hashToken(token)))) throw new ServiceError('not_found');
      if (before !== undefined) await endSessions(tx, before.personId, before.id);
      cookie = await beginSession(deps, tx, personId, visitor);
    },
  });
  return cookie as string;
}
