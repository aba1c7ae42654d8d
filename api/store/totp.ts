import type { Tx } from '#shared/platform/postgres.ts';

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
