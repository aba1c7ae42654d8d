import type { Gateway, GatewaySettings } from '#api/deps.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** First half of the advisory lock key; the second is a hash of the gateway's id. */
const CASHOUT_LOCK_CLASS = 7_582_004;

/** A gateway as stored, with the moment it was created. */
export interface StoredGateway extends Gateway {
  createdAt: Date;
}

/** Reads one gateway by id; locks nothing. */
export async function findGateway(sql: Reads, id: string): Promise<StoredGateway | undefined> {
  const [row] = await sql<StoredGateway[]>`
    select id, name, status, billing, settings, created_at as "createdAt" from gateways where id = ${id}`;
  return row;
}

/** Reads one gateway and locks its row until commit, so that two changes of its settings cannot overwrite each other. */
export async function lockGateway(tx: Tx, id: string): Promise<StoredGateway | undefined> {
  const [row] = await tx<StoredGateway[]>`
    select id, name, status, billing, settings, created_at as "createdAt" from gateways where id = ${id} for update`;
  return row;
}

/** Lists gateways newest first, `limit` at most, skipping `offset`; locks nothing. */
export async function listGateways(sql: Reads, page: { limit: number; offset: number }): Promise<StoredGateway[]> {
  return sql<StoredGateway[]>`
    select id, name, status, billing, settings, created_at as "createdAt" from gateways
    order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`;
}

/** Counts all gateways; locks nothing. */
export async function countGateways(sql: Reads): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from gateways`;
  return row?.total ?? 0;
}

/** Counts the gateways that may cash out; locks nothing. */
export async function countCashingOut(sql: Reads): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from gateways where status = 'VERIFIED' and settings->'cashout'->>'enabled' = 'true'`;
  return row?.total ?? 0;
}

/** Keeps everybody else from planning a cashout of this gateway until commit: after its settlement, before wallets. */
export async function lockGatewayCashouts(tx: Tx, gatewayId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${CASHOUT_LOCK_CLASS}, hashtext(${gatewayId}))`;
}

/** Adds a gateway whose settings are complete and validated; locks nothing else. */
export async function insertGateway(tx: Tx, gateway: Gateway): Promise<StoredGateway> {
  const [row] = await tx<StoredGateway[]>`
    insert into gateways (id, name, status, billing, settings)
    values (${gateway.id}, ${gateway.name}, ${gateway.status}, ${gateway.billing}, ${tx.json(asJson(gateway.settings))})
    returning id, name, status, billing, settings, created_at as "createdAt"`;
  return row as StoredGateway;
}

/** Writes a changed gateway; the caller holds the lock of `lockGateway`. */
export async function updateGateway(tx: Tx, gateway: Gateway): Promise<StoredGateway> {
  const [row] = await tx<StoredGateway[]>`
    update gateways set name = ${gateway.name}, status = ${gateway.status}, billing = ${gateway.billing}, settings = ${tx.json(asJson(gateway.settings))}
    where id = ${gateway.id}
    returning id, name, status, billing, settings, created_at as "createdAt"`;
  return row as StoredGateway;
}

/** The driver's JSON type wants an index signature, which an interface does not have. */
function asJson(settings: GatewaySettings): Parameters<Tx['json']>[0] {
  return settings as unknown as Parameters<Tx['json']>[0];
}
