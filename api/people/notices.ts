import { sendIfReached } from '#api/clients/mail.ts';
import type { Deps, Mail } from '#api/deps.ts';
import { findGateway } from '#api/store/gateways.ts';
import { insertOutbox } from '#api/store/outbox.ts';
import { listMembersWho, listOperators } from '#api/store/people.ts';
import { findNotice, insertNotice, type Notice, type NoticedAct } from '#api/store/person-notices.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Tx } from '#shared/platform/postgres.ts';

/** What to do about a change of one's own way in. */
const THEIR_OWN =
  'If it was you, do nothing. If it was not, sign in, look at your profile, and tell whoever looks after this deployment: they can end every way in and send you a link.';
/** What to do about a change of a gateway's people. */
const TEAM = 'If you know of it, do nothing. If you do not, look at the page of the team, and tell whoever looks after this deployment.';

/** What is written of each: a subject, and what happened. */
const TEXTS: Readonly<Record<NoticedAct, { subject: string; happened: string; advice?: string }>> = {
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
  'member.proposed': {
    subject: 'A change of your team waits for an owner',
    happened: 'An owner wants to change who approves cashouts or owns a gateway. It is done once another owner confirms it.',
    advice: 'Look at the page of the team: there it can be confirmed, or declined. Whoever proposed it cannot confirm it.',
  },
  'member.invited': {
    subject: 'Somebody was invited to your team',
    happened: 'Somebody was invited to approve cashouts or to own a gateway.',
    advice: TEAM,
  },
  'member.joined': { subject: 'Somebody joined your team', happened: 'Somebody accepted an invitation to approve cashouts or to own a gateway.', advice: TEAM },
  'member.removed': { subject: 'Somebody left your team', happened: 'Somebody who approved cashouts or owned a gateway does not any more.', advice: TEAM },
  'operator.joined': {
    subject: 'Somebody joined the operators',
    happened: 'Somebody accepted an invitation to operate this deployment. A day from now they are one of the people whom acts of two people take.',
    advice: 'If you know of it, do nothing. If you do not, remove them, and tell whoever looks after this deployment.',
  },
  'paper-code.use': { subject: 'A code on paper was used', happened: 'One of your codes on paper was used in place of your authenticator.' },
};

/**
 * Has a person told by mail of a change of how they sign in, with the change itself, so that a stop loses neither. Nobody waits for it. Whoever was told of the same so often within
 * the hour knows: more would fill their mailbox, and keep everybody else's notices waiting.
 */
export async function tellPerson(
  { randomBytes }: Pick<Deps, 'randomBytes'>,
  tx: Tx,
  { personId, what, address, about = null }: { personId: string; what: NoticedAct; address: string | null; about?: string | null },
): Promise<void> {
  const [id, job] = [uuidFrom(randomBytes(16)), uuidFrom(randomBytes(16))];
  if (await insertNotice(tx, personId, { id, what, address, about }, POLICY.noticesPerHour))
    await insertOutbox(tx, { id: job, topic: 'person.mail', refId: id });
}

/** Has every owner of a gateway told of a change of its people who approve or own. */
export async function tellOwners(
  deps: Pick<Deps, 'randomBytes'>,
  tx: Tx,
  { gatewayId, what, email, role, except }: { gatewayId: string; what: NoticedAct; email: string; role: string | null; except?: string },
): Promise<void> {
  const gateway = await findGateway(tx, gatewayId);
  const about = [`Gateway: ${oneLine(gateway?.name ?? gatewayId)}`, `Who: ${email}`, `Role: ${role ?? 'removed'}`].join('\n');
  for (const personId of await listMembersWho(tx, gatewayId, 'team:manage'))
    if (personId !== except) await tellPerson(deps, tx, { personId, what, address: null, about });
}

/** Has every operator told that somebody became one. */
export async function tellOperators(
  deps: Pick<Deps, 'randomBytes'>,
  tx: Tx,
  { email, role, except }: { email: string; role: string; except: string },
): Promise<void> {
  for (const personId of await listOperators(tx))
    if (personId !== except) await tellPerson(deps, tx, { personId, what: 'operator.joined', address: null, about: `Who: ${email}\nRole: ${role}` });
}

/** Without anything that would begin a line, or turn the direction of one. Pure. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ').slice(0, 200);
}

/** Sends what was kept for a person. A deployment without a mail server tells nobody, which its log says. */
export async function mailNotice({ db, config, log, mail }: Pick<Deps, 'db' | 'config' | 'log' | 'mail'>, id: string): Promise<void> {
  const notice = await findNotice(db.sql, id);
  if (notice === undefined) return;
  if (config.NODE_ENV === 'production' && config.SLUICE_SMTP_URL === undefined)
    return log.warn({ what: notice.what, at: notice.at }, 'a person was not told of this: SLUICE_SMTP_URL is not set');
  await sendIfReached({ mail, log }, noticeMail(notice));
}

function noticeMail({ id, what, address, about, at, email }: Notice & { email: string; at: Date }): Mail {
  const { subject, happened, advice = THEIR_OWN } = TEXTS[what];
  return {
    id: `person-${id}`,
    to: email,
    subject,
    text: [
      happened,
      '',
      `When: ${at.toISOString()}`,
      ...(address === null ? [] : [`From: ${address}`]),
      ...(about === null ? [] : [about]),
      '',
      advice,
      '',
    ].join('\n'),
  };
}
