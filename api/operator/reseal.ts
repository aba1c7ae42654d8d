import type { Deps } from '#api/deps.ts';
import { secretPlace } from '#api/gateways/secrets.ts';
import { seedPlace } from '#api/store/authenticators.ts';
import { lockSeedsUnder, resealSeed } from '#api/store/authenticators.ts';
import { lockSecretsUnder, reseal } from '#api/store/gateways.ts';
import { type KeyedOrder, listKeyedOrders } from '#api/store/keyed-orders.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { type KeyRing, keyId, masterKeys, signerOf } from '#shared/platform/key-ring.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { openWithAny, seal, wrappingKey } from '#shared/platform/sealed-secrets.ts';
import { lockOrder, readOrder } from '#api/intents/keyed-orders.ts';

const BATCH = 100;
const FIRST = '00000000-0000-0000-0000-000000000000';

/** What one round of bringing things over to the current master key came to. */
export interface Resealed {
  /** Secrets sealed anew. */
  secrets: number;
  /** Orders authenticated anew. */
  orders: number;
}

/**
 * Brings everything stored under the previous master key over to the current one: secrets are sealed anew, orders that may still
 * be paid get their MAC anew, each only if it proves right under the previous key (decision 0026). Every row changes by itself and
 * counts before and after, so that it may be killed anywhere and may run in several processes at once. Locks a hundred secrets, then
 * one order at a time.
 */
export async function resealEverything(deps: Deps): Promise<Resealed> {
  const ring = masterKeys(deps.config);
  let secrets = 0;
  for (const kept of KEPT) secrets += await resealSecrets(deps, ring, kept);
  const orders = ring.previous === undefined ? 0 : await resealOrders(deps, ring);
  return { secrets, orders };
}

/** Whether there may be anything to bring over; a condition. What a leaving key authenticated is looked for order by order. */
export function isAnyToReseal(sql: Reads, { config }: Pick<Deps, 'config'>): ReturnType<Reads> {
  if (config.SLUICE_MASTER_KEY === undefined || config.SLUICE_MASTER_KEY_PREVIOUS !== undefined) return sql`true`;
  return sql`(exists (select 1 from gateway_secrets where sealed_under is null) or exists (select 1 from authenticators where sealed_under is null))`;
}

/** Where secrets lie sealed: those of gateways, and the seeds of people's authenticators. */
const KEPT = [
  { placeOf: secretPlace, lockUnder: lockSecretsUnder, store: reseal },
  { placeOf: seedPlace, lockUnder: lockSeedsUnder, store: resealSeed },
] as const;

async function resealSecrets(deps: Deps, ring: KeyRing, kept: (typeof KEPT)[number]): Promise<number> {
  const previous = ring.previous === undefined ? null : keyId(ring.previous);
  let done = 0;
  for (let after: string | undefined = FIRST; after !== undefined; ) {
    const from: string = after;
    after = await deps.db.transaction(async (tx) => {
      const rows = await kept.lockUnder(tx, previous, from, BATCH);
      for (const row of rows) done += (await resealOne(deps, tx, ring, { row, ...kept })) ? 1 : 0;
      crashPoint('reseal.batch');
      return rows.length < BATCH ? undefined : rows.at(-1)?.id;
    });
  }
  return done;
}

/** True when it was sealed anew; one under a key that is not leaving only has that key noted. */
async function resealOne(
  deps: Deps,
  tx: Tx,
  ring: KeyRing,
  { row, placeOf, store }: (typeof KEPT)[number] & { row: { id: string; sealed: Uint8Array } },
): Promise<boolean> {
  const place = placeOf(row.id);
  let opened: ReturnType<typeof openWithAny>;
  try {
    opened = openWithAny(ring, place, row.sealed);
  } catch (error) {
    deps.log.error({ err: error, secret: row.id }, 'a stored secret opens under no master key of this process');
    return false;
  }
  const leaves = opened.key === ring.previous;
  await store(
    tx,
    row.id,
    keyId(leaves ? ring.current : opened.key),
    leaves ? seal(wrappingKey(ring.current), place, opened.secret, deps.randomBytes) : undefined,
  );
  return leaves;
}

async function resealOrders(deps: Deps, ring: KeyRing): Promise<number> {
  let done = 0;
  for (const order of await listKeyedOrders(deps.db.sql)) {
    if ((await stateOf(deps, ring, order)) !== 'previous') continue;
    const moved = await deps.db.transaction(async (tx) => {
      const found = await lockOrder(tx, order);
      if (found === undefined || signerOf(ring, found.mac, found.make) !== 'previous') return false;
      await found.store(tx, found.make(ring.current));
      return true;
    });
    if (moved) done += 1;
  }
  return done;
}

/** Under which key of a ring an order's MAC is; `none` when under no one of them, undefined when the order is over. Locks nothing. */
export async function stateOf(deps: Deps, ring: KeyRing, order: KeyedOrder): Promise<ReturnType<typeof signerOf> | 'none'> {
  const found = await readOrder(deps.db.sql, order);
  return found && (signerOf(ring, found.mac, found.make) ?? 'none');
}
