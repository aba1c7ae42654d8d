import type { Reads } from './postgres.ts';

/** Which header fields two people accepted for a network (decision 0039); locks nothing. */
export async function readAcceptedHeaderFields(sql: Reads, network: string): Promise<ReadonlySet<string>> {
  const rows = await sql<{ field: string }[]>`select a.field from accepted_header_fields a join networks n on n.id = a.network_id where n.name = ${network}`;
  return new Set(rows.map(({ field }) => field));
}
