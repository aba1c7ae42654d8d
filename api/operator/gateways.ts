import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { createApiKey, DEFAULT_PERMISSIONS, PERMISSIONS } from '#api/gateways/keys.ts';
import { DEFAULT_OVERLAP_SECONDS, newSecret, replaceSecret } from '#api/gateways/secrets.ts';
import { refuseApprovingKey } from '#api/gateways/change-policies.ts';
import { readKeyLimits, refusePastEnd } from '#api/gateways/key-limits.ts';
import { noteAllowlists, readAllowlistNotes } from '#api/gateways/allowlists.ts';
import { newTotpSecret, otpauthUrl } from '#api/gateways/totp.ts';
import {
  insertApiKey,
  listApiKeys,
  lockApiKeys,
  revokeApiKey,
  countGateways,
  findGateway,
  insertGateway,
  listGateways,
  lockGateway,
  type StoredGateway,
  walkGateways,
} from '#api/store/gateways.ts';
import { seekGateways } from '#api/store/operator-seeks.ts';
import type { Placed } from '#api/store/operator-walks.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { grantScreeningCredits, listScreeningCredits, setScreeningCredits } from '#api/store/screenings.ts';
import { clearTotpGuard } from '#api/store/credentials.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { peppers } from '#shared/platform/key-ring.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { OperatorCall } from './deps.ts';
import { readGateway } from '#api/gateways/gateway-settings.ts';
import { changeSettings, refuseUnknownAssets } from '#api/gateways/change-settings.ts';
import { fieldsOf, readId, readInteger, readPage, readReason } from './input.ts';
import { countedReply, lastFound, readWalk, walkReply } from './read-walk.ts';

/** The longest a replaced secret may go on counting: 30 days. */
const MAX_OVERLAP_SECONDS = 30 * 86_400;
/** More screening credits than this are a slip of the keyboard. */
const MAX_CREDITS = 1_000_000_000;

/** POST /gateways: a gateway with its first API key and both secrets, which are shown this once. */
export async function createGateway(deps: Deps, call: OperatorCall): Promise<Reply> {
  const { screeningCredits = 0, ...input } = readGateway(call.body);
  const fields = fieldsOf(call.body);
  const reason = readReason(fields);
  const notes = readAllowlistNotes(fields.allowlistNotes);
  const { text: apiKey, ...key } = createApiKey(peppers(deps.config).current, deps.randomBytes);
  const webhookSecret = newSecret('webhook', deps.randomBytes);
  const cashoutSigningSecret = newSecret('cashout', deps.randomBytes);
  const id = uuidFrom(deps.randomBytes(16));
  const gateway = await deps.db.transaction(async (tx) => {
    await refuseUnknownAssets(tx, input);
    const stored = await insertGateway(tx, { id, ...input });
    await noteAllowlists(tx, id, { before: null, now: input, notes });
    await setScreeningCredits(tx, id, screeningCredits);
    await insertApiKey(tx, { ...key, gatewayId: id, permissions: DEFAULT_PERMISSIONS });
    await replaceSecret(deps, tx, { gatewayId: id, kind: 'webhook', secret: webhookSecret, overlapSeconds: 0 });
    await replaceSecret(deps, tx, { gatewayId: id, kind: 'cashout', secret: cashoutSigningSecret, overlapSeconds: 0 });
    await insertOperatorAction(tx, deps.operator, {
      action: 'gateway.create',
      target: id,
      reason,
      details: { ...input, screeningCredits, ...(notes.size > 0 && { allowlistNotes: Object.fromEntries(notes) }) },
    });
    return stored;
  });
  return { status: 201, data: { gateway: gatewayView(gateway, screeningCredits), apiKey, cashoutSigningSecret, webhookSecret }, resourceId: id };
}

/** GET /gateways: counted, newest first, or gone through for what is looked for. @throws validation_error naming what cannot be read */
export async function showGateways(deps: Deps, call: OperatorCall): Promise<Reply> {
  const { sql } = deps.db;
  const asked = readWalk(deps, call.query);
  if (asked === undefined) {
    const page = readPage(call.query);
    return countedReply(await viewed(sql, await listGateways(sql, page)), await countGateways(sql), page);
  }
  const { sought, ...rest } = asked;
  const walk = { ...rest, gatewayId: null, status: null };
  const found = sought === null ? null : await seekGateways(sql, sought, walk);
  const rows = await walkGateways(sql, { ...walk, ids: found === null ? null : found.map(({ id }) => id) });
  return walkReply(await viewed(sql, rows), walk, found === null ? null : lastFound(found));
}

async function viewed(sql: Reads, gateways: readonly Placed<StoredGateway>[]): Promise<Placed<ReturnType<typeof gatewayView>>[]> {
  const credits = await listScreeningCredits(
    sql,
    gateways.map((gateway) => gateway.id),
  );
  return gateways.map(({ place, ...gateway }) => ({ ...gatewayView(gateway, credits.get(gateway.id)), place }));
}

/** GET /gateways/{id}: with its keys, never their secrets. */
export async function showGateway(deps: Deps, call: OperatorCall): Promise<Reply> {
  const gateway = await findGateway(deps.db.sql, readId(call.params));
  if (gateway === undefined) throw new ServiceError('not_found');
  return { status: 200, data: { gateway: await viewNow(deps.db.sql, gateway), apiKeys: await listApiKeys(deps.db.sql, gateway.id) } };
}

/**
 * PATCH /gateways/{id}: objects merge, arrays replace, null brings back the default; credits that are named are set. Locks the gateway, then its credits.
 * `allow` may refuse the change for what the gateway is under lock.
 */
export async function changeGateway(deps: Deps, call: OperatorCall, allow?: (current: StoredGateway) => void): Promise<Reply> {
  const id = readId(call.params);
  const patch = fieldsOf(call.body);
  const notes = readAllowlistNotes(patch.allowlistNotes);
  const { reason: _, ...details } = patch;
  const gateway = await deps.db.transaction(async (tx) => {
    const { after, screeningCredits } = await changeSettings(tx, { id, patch, notes, ...(allow !== undefined && { allow }) });
    await insertOperatorAction(tx, deps.operator, { action: 'gateway.change', target: id, reason: readReason(patch), details });
    if (screeningCredits !== undefined) await setScreeningCredits(tx, id, screeningCredits);
    return viewNow(tx, after);
  });
  return { status: 200, data: { gateway } };
}

/** POST /gateways/{id}/screening-credits: more of them; whoever waits for credit is screened with the next check. Locks the gateway, then its credits. */
export async function addScreeningCredits(deps: Deps, call: OperatorCall): Promise<Reply> {
  const fields = fieldsOf(call.body);
  const add = readInteger(fields, 'add', 1, MAX_CREDITS);
  const reason = readReason(fields);
  const credits = await deps.db.transaction(async (tx) => {
    const gateway = await requireGateway(tx, call);
    const [held = 0] = (await listScreeningCredits(tx, [gateway.id])).values();
    if (held + add > MAX_CREDITS) throw invalid('add', `must not bring the credits above ${MAX_CREDITS}`);
    await insertOperatorAction(tx, deps.operator, { action: 'screening-credits.add', target: gateway.id, reason, details: { add } });
    return grantScreeningCredits(tx, gateway.id, add);
  });
  return { status: 200, data: { credits } };
}

/** POST /gateways/{id}/api-keys: another key, with the default permissions unless some are named. */
export async function addApiKey(deps: Deps, call: OperatorCall): Promise<Reply> {
  const fields = fieldsOf(call.body);
  const permissions = readPermissions(fields.permissions);
  const limits = readKeyLimits(fields);
  const reason = readReason(fields);
  const { text: apiKey, ...key } = createApiKey(peppers(deps.config).current, deps.randomBytes);
  await deps.db.transaction(async (tx) => {
    // Before the gateway's row, as where policies change.
    await refuseApprovingKey(tx, readId(call.params), permissions);
    const gateway = await requireGateway(tx, call);
    await refusePastEnd(tx, limits.expiresAt);
    await insertApiKey(tx, { ...key, gatewayId: gateway.id, permissions, ...limits });
    await insertOperatorAction(tx, deps.operator, { action: 'api-key.create', target: gateway.id, reason, details: { keyId: key.id, permissions, ...limits } });
  });
  return { status: 201, data: { keyId: key.id, apiKey, permissions, ...limits } };
}

/** DELETE /gateways/{id}/api-keys/{keyId}: the key stops working at once. */
export async function removeApiKey(deps: Deps, call: OperatorCall): Promise<Reply> {
  const keyId = call.params.keyId ?? '';
  await deps.db.transaction(async (tx) => {
    const gateway = await requireGateway(tx, call);
    await lockApiKeys(tx, gateway.id);
    if (!(await revokeApiKey(tx, gateway.id, keyId))) throw new ServiceError('not_found');
    await insertOperatorAction(tx, deps.operator, { action: 'api-key.revoke', target: gateway.id, details: { keyId } });
  });
  return { status: 200, data: { keyId, revoked: true } };
}

/** POST /gateways/{id}/secrets/{kind}/rotate: a new secret; the old one counts on for the overlap. Locks the gateway's secrets of that kind. */
export async function rotateSecret(deps: Deps, call: OperatorCall): Promise<Reply> {
  const kind = call.params.kind;
  if (kind !== 'webhook' && kind !== 'cashout') throw new ServiceError('not_found');
  const fields = fieldsOf(call.body);
  const given = fields.overlapSeconds ?? undefined;
  const overlapSeconds = given === undefined ? DEFAULT_OVERLAP_SECONDS[kind] : readInteger(fields, 'overlapSeconds', 0, MAX_OVERLAP_SECONDS);
  const reason = readReason(fields);
  const secret = newSecret(kind, deps.randomBytes);
  await deps.db.transaction(async (tx) => {
    const gateway = await requireGateway(tx, call);
    await replaceSecret(deps, tx, { gatewayId: gateway.id, kind, secret, overlapSeconds });
    await insertOperatorAction(tx, deps.operator, { action: 'secret.rotate', target: gateway.id, reason, details: { kind, overlapSeconds } });
  });
  return { status: 200, data: { secret, overlapSeconds } };
}

/** POST /gateways/{id}/totp: enrols the gateway's one authenticator; an earlier one stops counting, and so do wrong codes for it (decisions 10). Locks the gateway, then its guard. */
export async function enrolTotp(deps: Deps, call: OperatorCall): Promise<Reply> {
  const reason = readReason(fieldsOf(call.body));
  const secret = newTotpSecret(deps.randomBytes);
  const name = await deps.db.transaction(async (tx) => {
    const gateway = await requireGateway(tx, call);
    await replaceSecret(deps, tx, { gatewayId: gateway.id, kind: 'totp', secret, overlapSeconds: 0 });
    await clearTotpGuard(tx, gateway.id);
    await insertOperatorAction(tx, deps.operator, { action: 'totp.enrol', target: gateway.id, reason });
    return gateway.name;
  });
  return { status: 201, data: { secret, otpauthUrl: otpauthUrl(secret, name) } };
}

/** A gateway as the operator API shows it: the shape it is created with, complete, with the credits it has now. */
function gatewayView(gateway: StoredGateway, credits = 0): { id: string } & Record<string, unknown> {
  const { settings, createdAt, ...rest } = gateway;
  return { ...rest, createdAt, ...settings, screening: { ...settings.screening, credits } };
}

async function viewNow(sql: Reads, gateway: StoredGateway): Promise<object> {
  return gatewayView(gateway, (await listScreeningCredits(sql, [gateway.id])).get(gateway.id));
}

async function requireGateway(tx: Tx, call: OperatorCall): Promise<Gateway> {
  const gateway = await lockGateway(tx, readId(call.params));
  if (gateway === undefined) throw new ServiceError('not_found');
  return gateway;
}

function readPermissions(given: unknown): string[] {
  if (given === undefined || given === null) return [...DEFAULT_PERMISSIONS];
  if (!Array.isArray(given) || given.length === 0) throw invalid('permissions', 'must be a list with at least one permission');
  const known: readonly string[] = PERMISSIONS;
  for (const [index, one] of given.entries()) if (!known.includes(one)) throw invalid(`permissions.${index}`, `must be one of ${PERMISSIONS.join(', ')}`);
  return [...new Set(given as string[])];
}
