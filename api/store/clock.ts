import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** The service clock: the time every deadline is compared with, and how far it runs ahead of the database's own. */
export interface ServiceClock {
  now: Date;
  offsetSeconds: number;
}

/** Reads the service clock; locks nothing. */
export async function readClock(sql: Reads): Promise<ServiceClock> {
  const [row] = await sql<ServiceClock[]>`select sluice_now() as now, seconds as "offsetSeconds" from clock_offset`;
  return row as ServiceClock;
}

/** Moves the service clock forward; locks its row until commit. */
export async function advanceClock(tx: Tx, seconds: number): Promise<void> {
  await tx`update clock_offset set seconds = seconds + ${seconds}`;
}

/**
 * Reads the service time of this very statement, later than `sluice_now()` by what the transaction lasted. As the first
 * statement of a repeatable read it is the moment that all the others see. Locks nothing.
 */
export async function readMoment(tx: Tx): Promise<Date> {
  const [row] = await tx<{ at: Date }[]>`select clock_timestamp() + make_interval(secs => seconds) as at from clock_offset`;
  return (row as { at: Date }).at;
}
