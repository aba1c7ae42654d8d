import type { Deps } from '#api/deps.ts';
import {
  endRetiredSecrets,
  insertSecret,
  listUsableSecrets,
  lockCurrentSecret,
  retireSecrets,
  type SealedSecret,
  type SecretKind,
} from '#api/store/gateways.ts';
import { sharedSecrets } from '#api/store/shared-secrets.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { keyId, masterKeys } from '#shared/platform/key-ring.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { openWithAny, type SealedPlace, seal, wrappingKey } from '#shared/platform/sealed-secrets.ts';

/** How many seconds a replaced secret stays valid: a day for webhooks, so that receivers can follow; none for cashouts (operability 3). */
export const DEFAULT_OVERLAP_SECONDS: Record<'webhook' | 'cashout', number> = { webhook: POLICY.webhookSecretOverlapSeconds, cashout: 0 };

/** A new secret in its public format: `whsec_<base64 of 32 bytes>` (decisions 6) or `cashout_<64 hex>`. HMACs use the whole text as their key. */
export function newSecret(kind: 'webhook' | 'cashout', randomBytes: (length: number) => Uint8Array): string {
  const bytes = Buffer.from(randomBytes(32));
  return kind === 'webhook' ? `whsec_${bytes.toString('base64')}` : `cashout_${bytes.toString('hex')}`;
}

/**
 * The valid secrets of one kind as plain text: the current one first, then replaced ones that are still valid. @throws Invariant when one cannot be
 * decrypted
 */
export async function readSecrets(deps: Deps, gatewayId: string, kind: SecretKind): Promise<string[]> {
  return openSecrets(deps, await sharedSecrets(deps.db)(gatewayId, kind));
}

/** Secrets that were read already, as plain text and in their order. @throws Invariant when one cannot be decrypted */
export function openSecrets({ config }: Pick<Deps, 'config'>, rows: readonly SealedSecret[]): string[] {
  const keys = masterKeys(config);
  return rows.map((row) => openWithAny(keys, secretPlace(row.id), row.sealed).secret);
}

/**
 * The current secret of one kind as plain text, with the id of its row; undefined when there never was one. @throws Invariant when it cannot be
 * decrypted
 */
export async function readCurrentSecret(
  deps: Deps,
  gatewayId: string,
  kind: SecretKind,
  sql: Reads = deps.db.sql,
): Promise<{ id: string; secret: string } | undefined> {
  const [row] = await listUsableSecrets(sql, [{ gatewayId, kind }]);
  return row && { id: row.id, secret: openWithAny(masterKeys(deps.config), secretPlace(row.id), row.sealed).secret };
}

/** Stores `secret` encrypted as the current one of its kind, and ends the others after `overlapSeconds`. Locks the gateway's secrets of that kind. */
export async function replaceSecret(deps: Deps, tx: Tx, input: { gatewayId: string; kind: SecretKind; secret: string; overlapSeconds: number }): Promise<void> {
  const id = uuidFrom(deps.randomBytes(16));
  await retireSecrets(tx, input.gatewayId, input.kind, input.overlapSeconds);
  const { current } = masterKeys(deps.config);
  const sealed = seal(wrappingKey(current), secretPlace(id), input.secret, deps.randomBytes);
  await insertSecret(tx, { id, sealed, sealedUnder: keyId(current), gatewayId: input.gatewayId, kind: input.kind });
}

/**
 * Replaces the secret that whoever asks took for the current one; undefined is none. Locks the gateway's secrets of that kind.
 * @throws conflict when another one came since: it would end before anybody uses it
 */
export async function rollSecret(
  deps: Deps,
  tx: Tx,
  { seen, ...input }: { gatewayId: string; kind: SecretKind; secret: string; overlapSeconds: number; seen: string | undefined },
): Promise<void> {
  if ((await lockCurrentSecret(tx, input.gatewayId, input.kind)) !== seen)
    throw new ServiceError('conflict', { message: 'The secret was replaced meanwhile: look at the one that counts now.' });
  await replaceSecret(deps, tx, input);
}

/**
 * Ends at once what still counts beside the secret of a kind that whoever asks took for the current one. Locks the gateway's secrets of that kind.
 * @throws conflict when nothing does, or when another one came since, whose predecessor receivers may still need
 */
export async function endOverlap(tx: Tx, { gatewayId, kind, current }: { gatewayId: string; kind: SecretKind; current: string }): Promise<void> {
  if ((await lockCurrentSecret(tx, gatewayId, kind)) !== current)
    throw new ServiceError('conflict', { message: 'The secret was replaced meanwhile: look at which one would end now.' });
  if (!(await endRetiredSecrets(tx, gatewayId, kind))) throw new ServiceError('conflict', { message: 'No earlier secret of this kind counts any more.' });
}

/** The place of a gateway's secret, which its ciphertext is bound to. */
export function secretPlace(rowId: string): SealedPlace {
  return { table: 'gateway_secrets', column: 'sealed', rowId };
}
