import { hash } from 'node:crypto';
import { toBase58 } from '#shared/chains/tron/address.ts';
import { witnessAddress } from '#shared/chains/bitcoin/script.ts';
import type { Family } from '#shared/core/assets.ts';
import type { Sql } from '#shared/platform/postgres.ts';

/** A statement has twelve seconds, on a busy machine too. */
const AT_ONCE = 50_000;

/** The twenty bytes of watched address number `i`, as 40 digits; Postgres makes the same ones. */
export function watchedHex(i: number): string {
  return hash('sha256', `watched ${i}`).slice(0, 40);
}

/** Canonical address of twenty bytes on the local network of a family. */
export function addressOf(family: Family, hex: string): string {
  if (family === 'evm') return `0x${hex}`;
  return family === 'tron' ? toBase58(hex) : witnessAddress(0, Buffer.from(hex, 'hex'), 'bcrt');
}

/** Somebody whom nobody watches. */
export function strangerHex(i: number): string {
  return hash('sha256', `stranger ${i}`).slice(0, 40);
}

/** Writes the first `count` watched addresses where the indexer reads them, acknowledged already. */
export async function insertWatches(sql: Sql, networkId: string, family: Family, count: number): Promise<void> {
  if (count === 0) return;
  if (family === 'evm') {
    for (let from = 0; from < count; from += AT_ONCE)
      await sql`
        insert into watches (network_id, address, acked_epoch, watched_from)
        select ${networkId}, '0x' || substr(encode(sha256(('watched ' || i)::bytea), 'hex'), 1, 40), 0, 0
        from generate_series(${from}::int, ${Math.min(from + AT_ONCE, count) - 1}::int) as i`;
    return;
  }
  const addresses = Array.from({ length: count }, (_, i) => addressOf(family, watchedHex(i)));
  await sql`insert into watches (network_id, address, acked_epoch, watched_from) select ${networkId}, address, 0, 0 from unnest(${addresses}::text[]) as address`;
}
