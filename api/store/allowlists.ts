import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** The allowlists of a gateway: who may use payments in `API` mode, and who may call the cashout API. */
export type Allowlist = 'api' | 'cashout';

/** An address or a range on one of them. */
export interface ListedAddress {
  list: Allowlist;
  address: string;
}

/** What is known of one that is or was on a list. */
export interface AllowlistEntry extends ListedAddress {
  note: string | null;
  addedAt: Date | null;
}

/** What is known of the addresses on a gateway's allowlists; locks nothing. */
export async function listAllowlistEntries(sql: Reads, gatewayId: string): Promise<AllowlistEntry[]> {
  return sql<AllowlistEntry[]>`select list, address, note, added_at from allowlist_entries where gateway_id = ${gatewayId}`;
}

/** Keeps one row for each address that is listed, and none for others; those that were listed `before` get no time. The caller holds the lock of `lockGateway`, or made the gateway. */
export async function keepAllowlistEntries(
  tx: Tx,
  gatewayId: string,
  { listed, before, notes }: { listed: readonly ListedAddress[]; before: readonly ListedAddress[]; notes: ReadonlyMap<string, string | null> },
): Promise<void> {
  const rows = (of: readonly ListedAddress[]) =>
    tx`select * from unnest(${of.map(({ list }) => list)}::text[], ${of.map(({ address }) => address)}::text[]) as u (list, address)`;
  await tx`delete from allowlist_entries where gateway_id = ${gatewayId} and (list, address) not in (${rows(listed)})`;
  await tx`
    insert into allowlist_entries (gateway_id, list, address, added_at)
    select ${gatewayId}, l.list, l.address, case when (l.list, l.address) in (${rows(before)}) then null else sluice_now() end from (${rows(listed)}) l
    on conflict do nothing`;
  if (notes.size > 0)
    await tx`
      update allowlist_entries e set note = n.note from unnest(${[...notes.keys()]}::text[], ${[...notes.values()]}::text[]) as n (address, note)
      where e.gateway_id = ${gatewayId} and e.address = n.address`;
}
