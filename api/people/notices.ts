import type { Deps, Mail } from '#api/deps.ts';
import { insertOutbox } from '#api/store/outbox.ts';
import { findNotice, insertNotice, type Notice, type NoticedAct } from '#api/store/person-notices.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import type { Tx } from '#shared/platform/postgres.ts';

/** What is written of each: a subject, and what happened. */
const TEXTS: Readonly<Record<NoticedAct, { subject: string; happened: string }>> = {
  'passkey.add': { subject: 'A passkey was added', happened: 'A passkey was added to those that sign you in.' },
  'passkey.remove': { subject: 'A passkey was removed', happened: 'One of your passkeys was removed, and signs nobody in any more.' },
  'authenticator.add': { subject: 'An authenticator was added', happened: 'An authenticator, with ten new codes for paper, was set up to sign you in.' },
  'authenticator.remove': { subject: 'Your authenticator was removed', happened: 'Your authenticator was removed, with its codes on paper.' },
  'person.recovered': {
    subject: 'Your way in was made anew',
    happened: 'A recovery link was used: every passkey, authenticator and session that you had ended, and a new passkey was made.',
  },
  'identity.add': { subject: 'A provider signs you in', happened: 'Your account at the identity provider signs you in from now on.' },
  'identity.remove': { subject: 'A provider was disconnected', happened: 'Your account at the identity provider signs you in no more.' },
  'membership.end': { subject: 'You were removed', happened: 'Somebody took away what you may do at a gateway, or at the deployment itself.' },
  'paper-code.use': { subject: 'A code on paper was used', happened: 'One of your codes on paper was used in place of your authenticator.' },
};

/** Has a person told by mail of a change of how they sign in, with the change itself, so that a stop loses neither. Nobody waits for it. */
export async function tellPerson(
  { randomBytes }: Pick<Deps, 'randomBytes'>,
  tx: Tx,
  { personId, what, address }: { personId: string; what: NoticedAct; address: string | null },
): Promise<void> {
  const [id, job] = [uuidFrom(randomBytes(16)), uuidFrom(randomBytes(16))];
  await insertNotice(tx, personId, { id, what, address });
  await insertOutbox(tx, { id: job, topic: 'person.mail', refId: id });
}

/** Sends what was kept for a person. A deployment without a mail server tells nobody, which its log says. */
export async function mailNotice({ db, config, log, mail }: Pick<Deps, 'db' | 'config' | 'log' | 'mail'>, id: string): Promise<void> {
  const notice = await findNotice(db.sql, id);
  if (notice === undefined) return;
  if (config.NODE_ENV === 'production' && config.SLUICE_SMTP_URL === undefined)
    return log.warn({ what: notice.what, at: notice.at }, 'a person was not told of this: SLUICE_SMTP_URL is not set');
  await mail.send(noticeMail(notice));
}

function noticeMail({ id, what, address, at, email }: Notice & { email: string; at: Date }): Mail {
  const { subject, happened } = TEXTS[what];
  return {
    id: `person-${id}`,
    to: email,
    subject,
    text: [
      happened,
      '',
      `When: ${at.toISOString()}`,
      ...(address === null ? [] : [`From: ${address}`]),
      '',
      'If it was you, do nothing. If it was not, sign in, look at your profile, and tell whoever looks after this deployment: they can end every way in and send you a link.',
      '',
    ].join('\n'),
  };
}
