import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import { refuseApprovingKey } from './change-policies.ts';
import { changeApiKey, countApiKeys, findApiKeySummary, insertApiKey, listApiKeysAfter, lockApiKeys, revokeApiKey } from '#api/store/gateways.ts';
import { insertKeyMaker } from '#api/store/key-makers.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { isRangeWithin } from '#shared/platform/ip.ts';
import { peppers } from '#shared/platform/key-ring.ts';
import { badCursor, follow, type Following, type PageQuery, readFollowing } from '#shared/platform/page.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { type KeyLimits, readKeyLimits, refusePastEnd } from './key-limits.ts';
import { type CallingKey, createApiKey } from './keys.ts';

/**
 * Who manages keys: a key, and where its request came from; or a person by what their role may do, whose acts are logged where they are proven, and who makes no key that may
 * do more than they may.
 */
export type Manager = { key: CallingKey; clientIp: string; requestId: string } | { personId: string; role: string; permissions: readonly string[] };

/** A request that changes the keys of a gateway. */
interface KeyCall {
  gateway: Gateway;
  by: Manager;
  commit: Commit;
}

/** What a new key is asked to be; the shape is that of the contract. */
interface NewKey {
  name: string;
  permissions: readonly string[];
  expiresAt?: string | null | undefined;
  allowlist?: readonly string[] | null | undefined;
}

/**
 * The gateway's keys, newest first, those that ended included; never their texts. Reads the index `api_keys_newest`.
 * @throws validation_error for a limit below 1 or a cursor this gateway was never given
 */
export async function listKeys(
  deps: Deps,
  query: { gateway: Gateway } & Pick<PageQuery, 'limit' | 'after'>,
): Promise<{ items: object[]; pagination: Following }> {
  const { limit, after } = readFollowing(query);
  const rows = await listApiKeysAfter(deps.db.sql, { gatewayId: query.gateway.id, limit, after });
  if (rows === undefined) throw badCursor();
  const { shown, pagination } = follow(rows, limit, ({ keyId }) => keyId);
  return { items: [...shown], pagination };
}

/**
 * Makes a key that may do nothing that whoever makes it may not: no other permission, and of a key no later end and no further address (decision 0060). Its text is
 * in this answer and nowhere else. Locks the gateway's keys.
 * @throws validation_error; forbidden when it would be able to do more; conflict when the gateway has as many keys as it may have
 */
export async function createKey(deps: Deps, { gateway, by, body, commit }: KeyCall & { body: NewKey }): Promise<Reply> {
  const permissions = [...new Set(body.permissions)];
  const limits = limitsOf(by, body);
  refuseMore(by, permissions, limits);
  const { text, ...stored } = createApiKey(peppers(deps.config).current, deps.randomBytes);
  return commit(async (tx) => {
    await lockApiKeys(tx, gateway.id);
    await refuseEnded(tx, gateway, by);
    if ((await countApiKeys(tx, gateway.id)) >= POLICY.apiKeysPerGateway)
      throw new ServiceError('conflict', {
        message: `The gateway has ${POLICY.apiKeysPerGateway} keys that work or were made within a day, which is as many as it may have.`,
      });
    await refusePastEnd(tx, limits.expiresAt);
    await refuseApprovingKey(tx, gateway.id, permissions);
    await insertApiKey(tx, { ...stored, gatewayId: gateway.id, permissions, ...limits, createdBy: 'key' in by ? by.key.keyId : null });
    await insertKeyMaker(tx, stored.id, 'key' in by ? by.key : by);
    await note(tx, by, { action: 'api-key.create', target: gateway.id, details: { keyId: stored.id, permissions, ...limits } });
    return { status: 201, data: { key: await findApiKeySummary(tx, gateway.id, stored.id), apiKey: text } };
  });
}

/**
 * Revokes a key of the gateway, which may be the calling one; one that was revoked before stays as it is and is answered as it is, so that a lost answer can be
 * asked for again. Locks the gateway's keys, then that row. @throws not_found
 */
export async function revokeKey(_deps: Deps, { gateway, by, keyId, commit }: KeyCall & { keyId: string }): Promise<Reply> {
  return commit(async (tx) => {
    await lockApiKeys(tx, gateway.id);
    await refuseEnded(tx, gateway, by);
    if (await revokeApiKey(tx, gateway.id, keyId)) await note(tx, by, { action: 'api-key.revoke', target: gateway.id, details: { keyId } });
    const key = await findApiKeySummary(tx, gateway.id, keyId);
    if (key === undefined) throw new ServiceError('not_found');
    return { status: 200, data: key };
  });
}

/** What narrowed a key when somebody looked. */
interface LimitsSeen {
  name: string | null;
  expiresAt: string | null;
  allowlist: readonly string[] | null;
}

/**
 * Gives a key that works another name, end and list of addresses, by a person whose role may do everything that the key may: a key that reaches further is theirs to
 * hand out or not. Locks the gateway's keys, then that row.
 * @throws not_found; validation_error naming name, expiresAt or allowlist; forbidden when it may do more than whoever changes it; conflict when it was revoked or has ended, or is
 * not what whoever changes it saw
 */
export async function changeKey(
  _deps: Deps,
  {
    gateway,
    by,
    keyId,
    body,
    seen,
    commit,
  }: KeyCall & { by: { role: string; permissions: readonly string[] }; keyId: string; body: Omit<NewKey, 'permissions'>; seen: LimitsSeen },
): Promise<Reply> {
  const limits = readKeyLimits(body);
  return commit(async (tx) => {
    await lockApiKeys(tx, gateway.id);
    const key = await findApiKeySummary(tx, gateway.id, keyId);
    if (key === undefined) throw new ServiceError('not_found');
    refuseMore(by, key.permissions, limits);
    refuseUnseen(key, seen);
    await refusePastEnd(tx, limits.expiresAt);
    if (!(await changeApiKey(tx, { gatewayId: gateway.id, id: keyId, ...limits })))
      throw new ServiceError('conflict', { message: 'The key was revoked or has ended: it does not work again. Make another.' });
    return { status: 200, data: { keyId }, resourceId: keyId };
  });
}

/** What is not said is as narrow as the calling key. */
function limitsOf(by: Manager, body: NewKey): KeyLimits {
  const given = readKeyLimits(body);
  if (!('key' in by)) return given;
  const { allowlist, expiresAt } = by.key;
  return {
    name: given.name,
    expiresAt: body.expiresAt === undefined ? expiresAt : given.expiresAt,
    allowlist: body.allowlist === undefined ? allowlist && [...allowlist] : given.allowlist,
  };
}

function refuseMore(by: Manager, permissions: readonly string[], { expiresAt, allowlist }: KeyLimits): void {
  const own = 'key' in by ? by.key.permissions : by.permissions;
  const beyond = permissions.find((one) => !own.includes(one));
  if (beyond !== undefined) {
    const who = 'key' in by ? 'This API key' : `The role ${by.role}`;
    throw new ServiceError('forbidden', { message: `${who} lacks the permission ${beyond}, and cannot grant it.` });
  }
  if (!('key' in by)) return;
  const { key } = by;
  if (key.expiresAt !== null && (expiresAt === null || expiresAt > key.expiresAt))
    throw new ServiceError('forbidden', { message: `This API key ends at ${key.expiresAt.toISOString()}, and cannot make one that works longer.` });
  const { allowlist: within } = key;
  if (within !== null && (allowlist === null || !allowlist.every((one) => isRangeWithin(one, within))))
    throw new ServiceError('forbidden', { message: 'This API key has an allowlist, and cannot make one that works from other addresses.' });
}

/** Refuses to change what somebody else changed meanwhile. @throws conflict */
function refuseUnseen({ name, expiresAt, allowlist }: KeyLimits, seen: LimitsSeen): void {
  const same = name === seen.name && (expiresAt?.getTime() ?? null) === (seen.expiresAt === null ? null : Date.parse(seen.expiresAt));
  if (!same || JSON.stringify(allowlist) !== JSON.stringify(seen.allowlist))
    throw new ServiceError('conflict', { message: 'Somebody changed the key meanwhile. Nothing was saved.' });
}

/** What a key asked for before it was revoked is not done after it was; of a person their session tells. @throws auth_api_key_invalid */
async function refuseEnded(tx: Tx, gateway: Gateway, by: Manager): Promise<void> {
  if (!('key' in by)) return;
  const key = await findApiKeySummary(tx, gateway.id, by.key.keyId);
  if (key === undefined || key.revokedAt !== null) throw new ServiceError('auth_api_key_invalid');
}

async function note(tx: Tx, by: Manager, action: Parameters<typeof insertOperatorAction>[2]): Promise<void> {
  if (!('key' in by)) return;
  const { key, clientIp, requestId } = by;
  await insertOperatorAction(tx, { person: { name: `api key ${key.keyId}` }, name: null, clientIp, token: 'api-key', requestId }, action);
}
