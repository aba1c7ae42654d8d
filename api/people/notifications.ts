import { sendIfReached } from '#api/clients/mail.ts';
import type { Deps, Mail } from '#api/deps.ts';
import { insertConsoleAction } from '#api/store/console-actions.ts';
import {
  countChoosers,
  countMailsOfHour,
  dropNotes,
  endChoices,
  keepLanguage,
  listWaitingPeople,
  lockWaiting,
  NOTE_KINDS,
  NOTIFICATION_KINDS,
  type NoteKind,
  type NotificationKind,
  noteCredits,
  noteHeld,
  noteMonthlyExports,
  noteSent,
  noteSettlements,
  noteWebhooks,
  replaceChoices,
  takeNotes,
  type WaitingNote,
  type WaitingPerson,
} from '#api/store/notifications.ts';
import { findMembership, lockMembership } from '#api/store/people.ts';
import { sessionLives } from '#api/store/sessions.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { withEach } from '#shared/core/with-each.ts';
import { notificationTexts } from './notification-texts.ts';
import { doer, type Signed } from './signed.ts';

/** What the role of whoever is told must allow, and where they find what it is about. */
const KINDS: Readonly<Record<NoteKind, { permission: string; path(subject: string): string }>> = {
  approval: { permission: 'settlement:read', path: cashout },
  parked: { permission: 'settlement:read', path: cashout },
  rejected: { permission: 'settlement:read', path: cashout },
  held: { permission: 'payment:read', path: payment },
  webhook: { permission: 'payment:read', path: payment },
  credits: { permission: 'aml:read', path: () => '/settings' },
  // The page and not the file: it says of which month and kind it is, and how long it is kept.
  export: { permission: 'report:export', path: (id) => `/reports#${id}` },
  'export-failed': { permission: 'report:export', path: (id) => `/reports#${id}` },
};

function cashout(id: string): string {
  return `/cashouts/${id}`;
}

function payment(id: string): string {
  return `/payments/${id}`;
}

/** What a role may be told. Pure. */
export function kindsFor(permissions: readonly string[]): NotificationKind[] {
  return NOTIFICATION_KINDS.filter((kind) => mayHear(permissions, kind));
}

function mayHear(permissions: readonly string[], kind: NoteKind): boolean {
  return permissions.includes(KINDS[kind].permission);
}

/**
 * Chooses what a person is mailed about a gateway of theirs; a session is enough, since it changes nothing but their own mail. Locks the membership.
 * @throws not_found for a gateway that is not theirs; forbidden for what their role may not read; conflict when as many people as may be are told of the gateway
 */
export async function chooseNotifications(
  { db }: Pick<Deps, 'db'>,
  signed: Signed,
  { gatewayId, kinds, language }: { gatewayId: string; kinds: readonly NotificationKind[]; language?: string | undefined },
): Promise<void> {
  const { personId, id } = signed.session;
  await db.transaction(async (tx) => {
    const membership = await lockMembership(tx, personId, gatewayId);
    if (membership === undefined) throw new ServiceError('not_found');
    const may = kindsFor(membership.permissions);
    if (kinds.some((kind) => !may.includes(kind)) || !(await sessionLives(tx, id))) throw new ServiceError('forbidden');
    // Each event is noted for all of them.
    if (kinds.length > 0 && (await countChoosers(tx, gatewayId, personId)) >= POLICY.notifiedOfGateway)
      throw new ServiceError('conflict', { message: `${POLICY.notifiedOfGateway} people are told of this gateway, which is as many as there may be.` });
    await replaceChoices(tx, personId, gatewayId, kinds);
    if (language !== undefined) await keepLanguage(tx, personId, language);
    await insertConsoleAction(tx, doer(signed), { act: 'notifications.choose', target: personId, gatewayId, after: { kinds } });
  });
}

type Sending = Pick<Deps, 'db' | 'config' | 'log' | 'mail' | 'randomBytes'>;

/**
 * Looks for what people want to be told, and mails it: what waits for a person goes out in one mail, and no more than a few mails an hour go to anybody; what comes above that
 * waits for the next one. A mail that was not taken is sent again under its own name. Returns how many notes and mails there were.
 * @throws the first failure, once everything else was looked for and everybody else was mailed
 */
export async function notifyPeople(deps: Sending): Promise<number> {
  const { db, config, log } = deps;
  const { SLUICE_CONSOLE_URL: console } = config;
  if (console === undefined) return 0;
  const limits = { notesOfPerson: POLICY.notesInMail };
  const credits = { least: POLICY.fewCredits, share: POLICY.fewCreditsShare, ...limits };
  const mailWaiting = async (): Promise<number> => {
    const waiting = await listWaitingPeople(db.sql, { limit: POLICY.notifiedAtOnce, mailsOfHour: POLICY.notificationsPerHour });
    return withEach(
      waiting,
      (person) => tell(deps, person, console),
      (err, { personId }) => log.error({ err, personId }, 'somebody cannot be told of what they chose'),
    );
  };
  const steps = [
    () => db.transaction(endChoices),
    ...[noteSettlements, noteHeld, noteWebhooks].map((note) => () => db.transaction((tx) => note(tx, limits))),
    () => db.transaction(noteMonthlyExports),
    () => db.transaction((tx) => noteCredits(tx, credits)),
    mailWaiting,
  ];
  return withEach(
    steps,
    (step) => step(),
    (err) => log.error({ err }, 'a look at what people want to be told failed'),
  );
}

/** Mails one person what waits for them; 0 when they heard enough within the hour. */
async function tell(deps: Sending, { personId, email, language }: WaitingPerson, origin: string): Promise<number> {
  const { db, log, config, randomBytes } = deps;
  const taken = await db.transaction(async (tx) => {
    const waiting = await lockWaiting(tx, personId, POLICY.notesInMail);
    const begun = waiting.filter(({ mailId }) => mailId !== null && mailId === waiting[0]?.mailId);
    if (begun.length > 0) return { mailId: begun[0]?.mailId as string, notes: begun };
    const may = new Map<string, readonly string[]>();
    for (const gatewayId of new Set(waiting.map((note) => note.gatewayId)))
      may.set(gatewayId, (await findMembership(tx, personId, gatewayId))?.permissions ?? []);
    const allowed = waiting.filter(({ gatewayId, kind }) => mayHear(may.get(gatewayId) ?? [], kind));
    await dropNotes(
      tx,
      waiting.filter((note) => !allowed.includes(note)).map(({ id }) => id),
    );
    if (allowed.length === 0 || (await countMailsOfHour(tx, personId)) >= POLICY.notificationsPerHour) return null;
    const mailId = uuidFrom(randomBytes(16));
    await takeNotes(
      tx,
      allowed.map(({ id }) => id),
      mailId,
    );
    return { mailId, notes: allowed };
  });
  if (taken === null) return 0;
  if (config.NODE_ENV === 'production' && config.SLUICE_SMTP_URL === undefined) log.warn('people were not told of what they chose: SLUICE_SMTP_URL is not set');
  else {
    try {
      await sendIfReached(deps, notificationMail(taken.notes, { mailId: taken.mailId, to: email, origin, language }));
    } catch (error) {
      // Somebody else's mail server may take theirs; this one is tried again with the next look.
      log.warn({ err: error }, 'a notification was not taken');
      return 0;
    }
  }
  await noteSent(db.sql, taken.mailId);
  return 1;
}

/** One mail of any number of notes: what happened, in the service's own words, and links to it. Pure. */
export function notificationMail(
  notes: readonly Pick<WaitingNote, 'gatewayId' | 'kind' | 'subject' | 'at'>[],
  { mailId, to, origin, language }: { mailId: string; to: string; origin: string; language: string | null },
): Mail {
  const t = notificationTexts(language);
  const [first] = notes;
  const linkOf = ({ gatewayId, kind, subject }: Pick<WaitingNote, 'gatewayId' | 'kind' | 'subject'>): string =>
    new URL(`/g/${gatewayId}${KINDS[kind].path(subject)}`, origin).href;
  const parts = NOTE_KINDS.flatMap((kind) => {
    const own = notes.filter((note) => note.kind === kind);
    if (own.length === 0) return [];
    const shown = own.slice(0, POLICY.linksInMail);
    const rest = own.length - shown.length;
    return [
      own.length === 1 ? t(kind) : t(`${kind}.many`, { count: own.length }),
      ...shown.map((note) => `  ${note.at.toISOString().slice(0, 16).replace('T', ' ')} UTC  ${linkOf(note)}`),
      ...(rest > 0 ? [`  ${t('more', { count: rest })}`] : []),
      '',
    ];
  });
  return {
    id: `notify-${mailId}`,
    to,
    subject: notes.length === 1 && first !== undefined ? t(first.kind) : t('things', { count: notes.length }),
    text: [...parts, `${t('end')} ${new URL('/profile', origin).href}`, ''].join('\n'),
  };
}
