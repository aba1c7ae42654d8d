import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Commit, Deps, Reply } from '#api/deps.ts';
import { findStoredReplies, type KeyToTake, KeyInUse, nameOfScope, type StoredReply, storeReplies, takeKeys } from '#api/store/idempotency.ts';
import { sharedCreates } from '#api/store/shared-creates.ts';
import { sharedReads } from '#api/store/shared-reads.ts';
import { Invariant, invalid, ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { isPassing } from '#shared/platform/database-problems.ts';
import { successBody } from '#shared/core/reply-body.ts';
import type { Tx } from '#shared/platform/postgres.ts';

/** A request that carries an Idempotency-Key. */
export interface Keyed extends KeyToTake {
  fingerprint: Buffer;
  /** What stands for a request whose bytes were lost; absent on operations that nothing is written anew for. */
  likeness?: () => Buffer | undefined;
}

/** One request's way to write: its `commit`, and afterwards the stored reply if a duplicate was answered with it. */
export interface Committer {
  commit: Commit;
  replayed(): StoredReply | undefined;
}

/**
 * The request's key, or undefined when it has none and needs none.
 * @throws validation_error when it is missing where required, sent twice, or not 1–255 printable characters (decisions 8)
 */
export function idempotencyKey(request: IncomingMessage, required: boolean): string | undefined {
  const values = request.headersDistinct['idempotency-key'];
  if (values === undefined) {
    if (required) throw invalid('Idempotency-Key', 'is required on this operation');
    return undefined;
  }
  const [key = ''] = values;
  if (values.length > 1 || key.length > POLICY.idempotencyKeyLength || !/^[\x20-\x7e]+$/.test(key))
    throw invalid('Idempotency-Key', `must be 1 to ${POLICY.idempotencyKeyLength} printable characters`);
  return key;
}

/** Tells a repeated request from a different one under the same key: method, path and raw body (decisions 8). */
export function fingerprint(method: string, path: string, body: Uint8Array): Buffer {
  return createHash('sha256').update(`${method} ${path}\n`).update(body).digest();
}

/** The reply already stored for this request. @throws idempotency_conflict when the key was used with another request */
export async function findReplay(deps: Deps, keyed: Keyed): Promise<StoredReply | undefined> {
  return sameRequest(await sharedReads(deps.db).storedReply(keyed.scope), keyed);
}

/** Prepares the one transaction of a state-changing call; `keyed` is undefined when no key was sent. */
export function committer(deps: Deps, keyed: Keyed | undefined): Committer {
  let replay: StoredReply | undefined;
  const alone = (work: (tx: Tx) => Promise<Reply>): Promise<Reply> =>
    deps.db.transaction(async (tx) => {
      replay = undefined;
      if (keyed !== undefined && (await takeKeys(tx, [keyed], POLICY.idempotencyWaitMs)).size === 0) {
        replay = sameRequest((await findStoredReplies(tx, [keyed.scope])).get(nameOfScope(keyed.scope)), keyed);
        if (replay === undefined) throw new Invariant('an Idempotency-Key was taken and has no reply');
        return asReply(replay);
      }
      const reply = await work(tx);
      if (reply.status < 200 || reply.status > 299) throw new Invariant(`only a success may be committed, not ${reply.status}`);
      if (keyed !== undefined) await storeReplies(tx, [{ scope: keyed.scope, ...written(reply) }]);
      return reply;
    });
  const commit: Commit = async (work, shared) => {
    try {
      if (shared === undefined) return await alone(work);
      if (typeof shared === 'function') return await shared({ key: keyed, written, alone: () => alone(work), isReplay: () => replay !== undefined });
      const { toWrite, reply } = shared;
      return await sharedCreates(deps)(
        { toWrite, key: keyed, reply: (payment) => written(reply(payment)) },
        () => alone(work),
        () => replay !== undefined,
      );
    } catch (error) {
      if (error instanceof KeyInUse)
        throw new ServiceError('conflict', { message: 'A request with this Idempotency-Key is still being worked on; retry shortly.' });
      // A link that broke during COMMIT proves nothing (reliability D5): the key says whether the effect exists.
      const stored = keyed !== undefined && isPassing(error) ? await findReplay(deps, keyed) : undefined;
      if (stored === undefined) throw error;
      return asReply(stored);
    }
  };
  return { commit, replayed: () => replay };
}

function sameRequest(stored: StoredReply | undefined, keyed: Keyed): StoredReply | undefined {
  if (stored === undefined || timingSafeEqual(stored.fingerprint, keyed.fingerprint)) return stored;
  const likeness = keyed.likeness?.();
  if (likeness === undefined || !timingSafeEqual(stored.fingerprint, likeness)) throw new ServiceError('idempotency_conflict');
  return stored;
}

/** A reply with its response written out. */
function written(reply: Reply): Reply & { body: string } {
  return { ...reply, body: successBody(reply.data) };
}

function asReply(stored: StoredReply): Reply {
  return { status: stored.status, data: (JSON.parse(stored.body) as { data: object }).data, body: stored.body };
}
