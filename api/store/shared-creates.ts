import { isPassing } from '#shared/platform/database-problems.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { Database } from '#shared/platform/postgres.ts';
import { gather } from '#shared/platform/together.ts';
import { firstOfEachKey, KeyInUse, type KeyToTake, nameOfScope, storeReplies, takeKeys } from './idempotency.ts';
import { insertPayments, type Payment, type PaymentToWrite } from './payments.ts';

/** Transactions of several creates that may be on their way at the same time. */
const AT_ONCE = 2;
/** Creates in one of them. */
export const MOST_CREATES = 64;
/** A create that is larger goes alone, so that nobody's documents are what others wait for; characters, about. */
const LARGEST = 8_192;
const OFFER_SIZE = 512;
/** How long many wait for the key of one that is being worked on elsewhere, milliseconds; then each waits by itself. */
const KEY_WAIT_MS = 250;
/** How long the creates of a gateway go alone after one of them was refused or a duplicate, milliseconds. */
const APART_MS = 60_000;

/** The reply to a create as it is sent and kept. */
export interface CreateReply {
  status: number;
  data: object;
  resourceId?: string;
  body: string;
}

/** A create that is only to be written: its payment, its Idempotency-Key if it has one, and what it is answered with. */
export interface Create {
  toWrite: PaymentToWrite;
  key: KeyToTake | undefined;
  reply(payment: Payment): CreateReply;
}

/** Writes one create, with others of its moment or, by `alone`, in a transaction of its own, of which `isReplay` tells whether it found a duplicate. */
export type WriteCreate = <R>(create: Create, alone: () => Promise<R>, isReplay: () => boolean) => Promise<CreateReply | R>;

const ofDatabase = new WeakMap<Database, WriteCreate>();

/**
 * How creates of one moment share a transaction on one connected database: each is there with its key or not at all, as when it is alone. Whose key is
 * taken already goes alone, and after a failure that says something about one of them all of them do. The gateway of one that then writes nothing, as it
 * is refused or a duplicate, shares nothing for a minute: nobody can fail others again and again. It fails for all of them only where the database is
 * away or busy, or nobody knows whether COMMIT was done.
 */
export function sharedCreates({ db, log }: { db: Database; log: Logger }): WriteCreate {
  const known = ofDatabase.get(db);
  if (known !== undefined) return known;
  const shared = gather((creates: Create[]) => writeTogether(db, log, creates), { atOnce: AT_ONCE, most: MOST_CREATES });
  const apartUntil = new Map<string, number>();
  const isApart = (gatewayId: string): boolean => {
    if ((apartUntil.get(gatewayId) ?? 0) > performance.now()) return true;
    apartUntil.delete(gatewayId);
    return false;
  };
  const write: WriteCreate = async (create, alone, isReplay) => {
    const { gatewayId } = create.toWrite.payment;
    if (sizeOf(create) > LARGEST || isApart(gatewayId)) return alone();
    const reply = (await shared(create))?.get(create);
    if (reply !== undefined) return reply;
    let refused = false;
    try {
      const own = await alone();
      refused = isReplay();
      return own;
    } catch (error) {
      refused = !isPassing(error);
      throw error;
    } finally {
      if (refused) apartUntil.set(gatewayId, performance.now() + APART_MS);
    }
  };
  ofDatabase.set(db, write);
  return write;
}

/**
 * Writes creates in one transaction and returns their replies, those left out whose key is taken; undefined when none was written.
 * @throws what says that the database is away or busy, or was lost while COMMIT was answered: to ask once more for each would be too much for it
 */
async function writeTogether(db: Database, log: Logger, creates: readonly Create[]): Promise<Map<Create, CreateReply> | undefined> {
  const given = firstOfEachKey(creates);
  try {
    return await db.transaction(async (tx) => {
      const keys = given.flatMap(({ key }) => (key === undefined ? [] : [key]));
      const taken = keys.length === 0 ? new Set<string>() : await takeKeys(tx, keys, KEY_WAIT_MS);
      const written = given.filter(({ key }) => key === undefined || taken.has(nameOfScope(key.scope)));
      if (written.length === 0) return new Map();
      const payments = await insertPayments(
        tx,
        written.map(({ toWrite }) => toWrite),
      );
      const replies = new Map(written.map((create) => [create, create.reply(payments.get(create.toWrite.payment.id) as Payment)]));
      const kept = [...replies].flatMap(([{ key }, reply]) => (key === undefined ? [] : [{ scope: key.scope, ...reply }]));
      if (kept.length > 0) await storeReplies(tx, kept);
      return replies;
    });
  } catch (error) {
    if (isPassing(error)) throw error;
    if (!(error instanceof KeyInUse))
      log.warn({ err: error, creates: creates.length }, 'creates of one moment could not be written together, and are one by one');
    return undefined;
  }
}

function sizeOf({ toWrite: { payment, offers } }: Create): number {
  return (payment.callbackParams?.text.length ?? 0) + (payment.webhookParams?.text.length ?? 0) + offers.length * OFFER_SIZE;
}
