import type { World } from './world.ts';

/**
 * Ends at once what a process held that was killed: its leases, the claims on rows it was working on, and the jobs that Redis
 * takes for running. All of it ends by itself within seconds up to a minute; call it for a process that is gone, before the next.
 */
export async function forgetTheDead(world: World, part: 'api' | 'signer' | 'indexer'): Promise<void> {
  const { sql } = world.database;
  if (part === 'indexer') await sql`update indexer_leases set expires_at = clock_timestamp()`;
  if (part !== 'api') return;
  await sql`update consumer_leases set expires_at = clock_timestamp()`;
  await sql`update outbox set claimed_until = null, handed_until = null where state = 'due' and (claimed_until is not null or handed_until is not null)`;
  // The job queue is a wake-up and never the truth: rows are handed over again from Postgres.
  await world.redis.remove('sluice-sluice*:*');
}
