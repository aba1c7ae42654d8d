import { groupBy } from '#shared/core/group-by.ts';
import type { Database } from '#shared/platform/postgres.ts';
import { together } from '#shared/platform/together.ts';
import { listUsableSecrets, type SealedSecret, type SecretKind } from './gateways.ts';

/** A gateway's secrets of one kind that still count, the current one first. */
export type FindSecrets = (gatewayId: string, kind: SecretKind) => Promise<readonly SealedSecret[]>;

const UUID_LENGTH = 36;
const ofDatabase = new WeakMap<Database, FindSecrets>();

/** Reads of one connected database: those of one moment share a statement. */
export function sharedSecrets(db: Database): FindSecrets {
  const known = ofDatabase.get(db);
  if (known !== undefined) return known;
  const find = together(async (names) => {
    const wanted = names.map((name) => ({ gatewayId: name.slice(0, UUID_LENGTH), kind: name.slice(UUID_LENGTH) as SecretKind }));
    return groupBy(await listUsableSecrets(db.sql, wanted), ({ gatewayId, kind }) => gatewayId + kind);
  });
  const secrets: FindSecrets = async (gatewayId, kind) => (await find(gatewayId.toLowerCase() + kind)) ?? [];
  ofDatabase.set(db, secrets);
  return secrets;
}
