import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** What is frozen and why: `all`, `network:<name>` or `asset:<uuid>`. */
export interface Freeze {
  scope: string;
  reason: string;
  frozenAt: Date;
}

/** Lists every freeze, the oldest first; locks nothing. */
export async function listFreezes(sql: Reads): Promise<Freeze[]> {
  return sql<Freeze[]>`select scope, reason, frozen_at as "frozenAt" from freezes order by frozen_at, scope`;
}

/** The freeze that stops a dispatch of this asset on this network, if any; locks nothing. */
export async function findFreeze(sql: Reads, dispatch: { networkName: string; assetId: string }): Promise<Freeze | undefined> {
  const [row] = await sql<Freeze[]>`
    select scope, reason, frozen_at as "frozenAt" from freezes
    where scope in ('all', ${`network:${dispatch.networkName}`}, ${`asset:${dispatch.assetId}`}) order by frozen_at limit 1`;
  return row;
}

/** Freezes a scope; one already frozen keeps its first reason. Returns whether it is new. Locks that row. */
export async function insertFreeze(tx: Reads, freeze: { scope: string; reason: string }): Promise<boolean> {
  const rows = await tx`insert into freezes (scope, reason) values (${freeze.scope}, ${freeze.reason}) on conflict (scope) do nothing returning scope`;
  return rows.length === 1;
}

/** Lifts the freeze of one scope and answers it; undefined when it was not frozen. Locks that row. */
export async function deleteFreeze(tx: Tx, scope: string): Promise<Freeze | undefined> {
  const [row] = await tx<Freeze[]>`delete from freezes where scope = ${scope} returning scope, reason, frozen_at as "frozenAt"`;
  return row;
}
