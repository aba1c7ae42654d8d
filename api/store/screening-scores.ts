import type { Reads } from '#shared/platform/postgres.ts';

/** What the development source was told to say about an address; a null score means that it cannot be reached. */
export interface ScreeningScore {
  address: string;
  score: number | null;
}

/** What was set for any of these canonical addresses; locks nothing. */
export async function listScreeningScores(sql: Reads, addresses: readonly string[]): Promise<ScreeningScore[]> {
  return sql<ScreeningScore[]>`select address, score from screening_scores where address = any (${[...addresses]}::text[])`;
}

/** Sets what the development source says about a canonical address; locks its row. */
export async function upsertScreeningScore(sql: Reads, { address, score }: ScreeningScore): Promise<void> {
  await sql`
    insert into screening_scores (address, score) values (${address}, ${score})
    on conflict (address) do update set score = excluded.score, set_at = sluice_now()`;
}
