import type { Reads } from '#shared/platform/postgres.ts';

/** How many things keep cashouts from being sent, by what they stop. */
export interface DispatchStops {
  all: number;
  network: number;
  asset: number;
  /** Wallets that did something the books do not know of. */
  wallet: number;
}

/** Counts freezes and stopped wallets; locks nothing. */
export async function countDispatchStops(sql: Reads): Promise<DispatchStops> {
  const [row] = await sql<[DispatchStops]>`
    select count(*) filter (where scope = 'all') as all, count(*) filter (where scope like 'network:%') as network,
      count(*) filter (where scope like 'asset:%') as asset, (select count(*) from wallets where halted_reason is not null) as wallet
    from freezes`;
  return row;
}
