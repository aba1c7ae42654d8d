import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** A logo as it was uploaded. */
export interface StoredLogo {
  type: string;
  body: Buffer;
}

/** Keeps a logo of a gateway, and of the others only the one that is shown until now; the caller holds the gateway's lock. */
export async function keepLogo(
  tx: Tx,
  { gatewayId, hash, type, body, shown }: StoredLogo & { gatewayId: string; hash: string; shown: string | null },
): Promise<void> {
  await tx`delete from gateway_logos where gateway_id = ${gatewayId} and hash <> ${hash} and hash is distinct from ${shown}`;
  await tx`insert into gateway_logos (gateway_id, hash, type, body) values (${gatewayId}, ${hash}, ${type}, ${body}) on conflict do nothing`;
}

/** A logo of a gateway by its hash; by the key. Locks nothing. */
export async function findLogo(sql: Reads, gatewayId: string, hash: string): Promise<StoredLogo | undefined> {
  const [row] = await sql<StoredLogo[]>`select type, body from gateway_logos where gateway_id = ${gatewayId} and hash = ${hash}`;
  return row;
}
