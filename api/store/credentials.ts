import type { Tx, Reads } from '#shared/platform/postgres.ts';

/** What stands between a gateway and trying an authenticator code. */
export interface TotpGuard {
  /** Wrong codes that count. */
  failures: number;
  /** Whole seconds of service time until a code is looked at again; 0 when one is now. */
  lockedSeconds: number;
  /** Wall time of the database, whole Unix seconds. */
  unixSeconds: number;
}

/** Reads a gateway's guard and locks it until commit, so that codes are tried one at a time; makes it where there is none. */
export async function lockTotpGuard(tx: Tx, gatewayId: string): Promise<TotpGuard> {
  // The update changes nothing: it takes the lock, and what it returns is read after the wait for it.
  const [row] = await tx<TotpGuard[]>`
    insert into totp_guards as g (gateway_id) values (${gatewayId})
    on conflict (gateway_id) do update set failures = case when g.locked_until <= sluice_now() then 0 else g.failures end
    returning failures, coalesce(greatest(ceil(extract(epoch from locked_until - sluice_now())), 0), 0)::int as "lockedSeconds",
      floor(extract(epoch from clock_timestamp()))::bigint as "unixSeconds"`;
  return row as TotpGuard;
}

/** Counts one more wrong code, and from the `limit`-th on locks the account for `seconds` of service time; the caller holds the guard. */
export async function countTotpFailure(tx: Tx, gatewayId: string, { limit, seconds }: { limit: number; seconds: number }): Promise<void> {
  await tx`
    update totp_guards set failures = failures + 1,
      locked_until = case when failures + 1 >= ${limit} then sluice_now() + make_interval(secs => ${seconds}) end
    where gateway_id = ${gatewayId}`;
}

/** Forgets a gateway's wrong codes and ends its lock. Locks its guard. */
export async function clearTotpGuard(tx: Tx, gatewayId: string): Promise<void> {
  await tx`update totp_guards set failures = 0, locked_until = null where gateway_id = ${gatewayId}`;
}

/** Takes the first of these time steps that approved nothing yet; undefined when all did. Waits for somebody who takes the same one now. */
export async function acceptTotpStep(tx: Tx, accepted: { secretId: string; steps: readonly number[]; settlementId: string }): Promise<number | undefined> {
  for (const step of accepted.steps) {
    const rows = await tx`
      insert into totp_acceptances (secret_id, step, settlement_id) values (${accepted.secretId}, ${step}, ${accepted.settlementId})
      on conflict do nothing returning step`;
    if (rows.length === 1) return step;
  }
  return undefined;
}

/** Notes that a gateway used a signature; false when it did so in the last `seconds` of wall time already. One statement, so that of two at once one is told. */
export async function noteSignature(sql: Reads, used: { gatewayId: string; signature: Uint8Array; seconds: number }): Promise<boolean> {
  const rows = await sql`
    insert into used_signatures as u (gateway_id, signature) values (${used.gatewayId}, ${Buffer.from(used.signature)})
    on conflict (gateway_id, signature) do update set used_at = excluded.used_at
      where u.used_at <= clock_timestamp() - make_interval(secs => ${used.seconds})
    returning 1`;
  return rows.length === 1;
}

/** Whether there are signatures used longer than `seconds` of wall time ago; a condition. */
export function isAnySignatureOld(sql: Reads, seconds: number): ReturnType<Reads> {
  return sql`exists (select 1 from used_signatures where used_at < clock_timestamp() - make_interval(secs => ${seconds}))`;
}

/** Forgets signatures used longer than `seconds` of wall time ago, at most `limit` of them; returns how many. */
export async function deleteOldSignatures(sql: Reads, { seconds, limit }: { seconds: number; limit: number }): Promise<number> {
  const rows = await sql`
    delete from used_signatures where (gateway_id, signature) in (
      select gateway_id, signature from used_signatures where used_at < clock_timestamp() - make_interval(secs => ${seconds}) limit ${limit})
    returning 1`;
  return rows.length;
}
