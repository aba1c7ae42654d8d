import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Deps, Gateway } from '#api/deps.ts';
import { authenticateApiKey, type CallingKey, noteKeyUse } from '#api/gateways/keys.ts';
import { readSecrets } from '#api/gateways/secrets.ts';
import type { Actor } from '#api/store/proposals.ts';
import { noteSignature } from '#api/store/credentials.ts';
import { Invariant, ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { SHARED_OPERATOR } from '#shared/platform/config.ts';
import { isIpWithin } from '#shared/platform/ip.ts';

/** What a security scheme sees of a request. */
export interface Credentials {
  request: IncomingMessage;
  rawBody: Buffer;
  clientIp: string;
  requestId: string;
  /** Roles the contract names beside the scheme: the permissions the operation needs. */
  permissions: readonly string[];
  /** Told whose key it is as soon as that is known, whatever the key may not do. */
  recognise(caller: Caller): void;
}

/** The key of a request, by its id, and the gateway behind it. */
export interface Caller {
  gatewayId: string;
  keyId: string;
}

/** Says who calls, or throws the error the caller is to see. */
export type Scheme = (deps: Deps, credentials: Credentials) => Promise<{ gateway: Gateway | null; key?: CallingKey; operator?: Actor }>;

/** Payments: key, the addresses it may be used from, then permission (decisions 8, decision 0060). @throws auth_api_key_invalid, forbidden */
export const apiKey: Scheme = async (deps, { request, clientIp, permissions, recognise }) => {
  const text = request.headersDistinct['x-api-key'];
  const holder = await authenticateApiKey(deps, text?.length === 1 ? text[0] : undefined);
  if (holder === undefined) throw new ServiceError('auth_api_key_invalid');
  recognise({ gatewayId: holder.gateway.id, keyId: holder.keyId });
  if (holder.allowlist !== null && !isIpWithin(clientIp, holder.allowlist))
    throw new ServiceError('forbidden', {
      message: `The source address ${clientIp} is not on the allowlist of this API key.`,
      refusal: { gatewayId: holder.gateway.id, reason: 'KEY_ALLOWLIST' },
    });
  noteKeyUse(deps, holder, clientIp);
  for (const permission of permissions)
    if (!holder.permissions.includes(permission))
      throw new ServiceError('forbidden', {
        message: `This API key lacks the permission ${permission}.`,
        refusal: { gatewayId: holder.gateway.id, reason: 'PERMISSION' },
      });
  return { gateway: holder.gateway, key: holder };
};

/**
 * Cashout: one scheme, because the checks have an order and separate schemes run side by side: key, its addresses, permission, cashout
 * enabled, source address, timestamp, signature over the bytes as they came (contract 4.3, decisions 8).
 * @throws auth_api_key_invalid, forbidden, cashout_not_enabled, ip_not_allowed, signature_missing, signature_stale, signature_invalid
 */
export const signedRequest: Scheme = async (deps, credentials) => {
  const { gateway, key } = (await apiKey(deps, credentials)) as { gateway: Gateway; key: CallingKey };
  const { enabled, allowlist } = gateway.settings.cashout;
  if (!enabled) throw new ServiceError('cashout_not_enabled');
  if (!isIpWithin(credentials.clientIp, allowlist))
    throw new ServiceError('ip_not_allowed', {
      message: `The source address ${credentials.clientIp} is not on the cashout allowlist.`,
      refusal: { gatewayId: gateway.id, reason: 'CASHOUT_ALLOWLIST' },
    });
  // A header sent twice arrives joined by a comma, which is neither a timestamp nor a signature.
  const timestamp = String(credentials.request.headers['x-timestamp'] ?? '');
  const signature = String(credentials.request.headers['x-signature'] ?? '');
  const unsigned = { refusal: { gatewayId: gateway.id, reason: 'SIGNATURE' } } as const;
  if (timestamp === '' || signature === '') throw new ServiceError('signature_missing', unsigned);
  // Both in whole seconds, as the header is: 300 off is still within five minutes.
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(Math.floor(deps.wallClock() / 1000) - Number(timestamp)) > POLICY.signatureSkewSeconds)
    throw new ServiceError('signature_stale', unsigned);
  if (!/^[0-9a-f]{64}$/i.test(signature)) throw new ServiceError('signature_invalid', unsigned);
  const secrets = await readSecrets(deps, gateway.id, 'cashout');
  if (!secrets.some((secret) => matches(secret, timestamp, credentials.rawBody, signature))) throw new ServiceError('signature_invalid', unsigned);
  await noteUse(deps, gateway, signature);
  return { gateway, key };
};

/**
 * Remembers that a signature was used. It covers neither method nor path, so two reads within one second share it: a gateway
 * says itself whether using one twice is an attack (`strictSignatures`, decisions 8). @throws signature_invalid when it does
 */
async function noteUse(deps: Deps, { id: gatewayId, settings }: Gateway, signature: string): Promise<void> {
  const used = { gatewayId, signature: Buffer.from(signature, 'hex'), seconds: POLICY.signatureMemorySeconds };
  if (await noteSignature(deps.db.sql, used)) return;
  const refused = settings.strictSignatures;
  deps.metrics?.signaturesReused.inc({ result: refused ? 'refused' : 'served' });
  // Served, it is what every client does that asks twice within a second: worth counting, not worth a warning.
  deps.log[refused ? 'warn' : 'debug']({ gateway: gatewayId, refused }, 'a request signature was used before');
  if (refused)
    throw new ServiceError('signature_invalid', {
      message: 'X-Signature was used before; sign every request with the time it is sent at.',
      refusal: { gatewayId, reason: 'SIGNATURE' },
    });
}

/**
 * The operator API: a bearer token, which says who calls. The deployment's own, or the two of them while it is changed, is one person for
 * everybody who has it; whoever has one of his own is himself. @throws operator_token_invalid
 */
export const operatorToken: Scheme = async (deps, { request, clientIp, requestId }) => {
  const values = request.headersDistinct.authorization ?? [];
  const token = values.length === 1 ? /^Bearer (\S+)$/i.exec(values[0] ?? '')?.[1] : undefined;
  const caller = callerOf(deps.config, token);
  if (caller === undefined) throw new ServiceError('operator_token_invalid');
  return { gateway: null, operator: { ...caller, name: operatorName(request), clientIp, requestId } };
};

/** Whose token it is; every one is compared, whatever the first ones say. */
function callerOf(config: Deps['config'], token: string | undefined): Pick<Actor, 'person' | 'token'> | undefined {
  const { SLUICE_OPERATOR_TOKEN: own } = config;
  if (own === undefined) throw new Invariant('the operator API has no token');
  const shared = { person: { name: SHARED_OPERATOR } };
  const known: (Pick<Actor, 'person' | 'token'> & { value: string })[] = [
    { ...shared, token: 'current', value: own },
    { ...shared, token: 'previous', value: config.SLUICE_OPERATOR_TOKEN_PREVIOUS ?? own },
    ...config.SLUICE_OPERATOR_TOKENS.map(({ name, token: value }) => ({ person: { name }, token: 'named' as const, value })),
  ];
  const given = digest(token ?? '');
  let found: (typeof known)[number] | undefined;
  for (const one of known) {
    const same = timingSafeEqual(given, digest(one.value));
    if (same && token !== undefined) found ??= one;
  }
  return found && { person: found.person, token: found.token };
}

/** Who calls, as `X-Operator` says: printable and short, and otherwise nothing. A name for the log, and no proof. */
function operatorName(request: IncomingMessage): string | null {
  const text = [request.headers['x-operator'] ?? []].flat().join(' ').trim();
  return /^[\x20-\x7e]{1,120}$/.test(text) ? text : null;
}

function matches(secret: string, timestamp: string, rawBody: Buffer, signature: string): boolean {
  return timingSafeEqual(createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest(), Buffer.from(signature, 'hex'));
}

/** Of one length whatever it is made of, so that two can be compared in constant time. Pure. */
export function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
