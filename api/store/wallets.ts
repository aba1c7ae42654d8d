import type { Reads, Tx } from '#shared/platform/postgres.ts';

export type WalletRole = 'hot' | 'funding' | 'held' | 'deposit';

/** An address of ours that signs transactions on one network. */
export interface StoredWallet {
  id: string;
  networkId: string;
  role: WalletRole;
  /** Canonical. */
  address: string;
  derivationPath: string;
  /** Next nonce to allocate; only true while the row is locked. */
  nextNonce: number;
  /** Why nothing may be sent from it; null while it works. */
  haltedReason: string | null;
}

export interface NewWallet {
  id: string;
  networkId: string;
  role: WalletRole;
  address: string;
  derivationPath: string;
}

/** Adds a wallet unless its address already has a row; returns the stored one. Locks that row. */
export async function insertWallet(tx: Reads, wallet: NewWallet): Promise<StoredWallet> {
  const [row] = await tx<StoredWallet[]>`
    insert into wallets (id, network_id, role, address, derivation_path)
    values (${wallet.id}, ${wallet.networkId}, ${wallet.role}, ${wallet.address}, ${wallet.derivationPath})
    on conflict (network_id, address) do update set lockable = default
    returning ${columns(tx)}`;
  return row as StoredWallet;
}

/** Reads the wallet at an address of a network; locks nothing. */
export async function findWalletByAddress(sql: Reads, networkId: string, address: string): Promise<StoredWallet | undefined> {
  const [row] = await sql<StoredWallet[]>`select ${columns(sql)} from wallets where network_id = ${networkId} and address = ${address}`;
  return row;
}

/** Reads one wallet and locks it until commit: after its settlement, before its payouts. Nonces move only under this lock. */
export async function lockWallet(tx: Tx, id: string): Promise<StoredWallet | undefined> {
  const [row] = await tx<StoredWallet[]>`select ${columns(tx)} from wallets where id = ${id} for update`;
  return row;
}

/** Sets the next nonce; the caller holds the wallet's lock. */
export async function setNextNonce(tx: Tx, id: string, next: number): Promise<void> {
  await tx`update wallets set next_nonce = ${next} where id = ${id}`;
}

/** Stops everything from a wallet; the first reason is kept. Returns whether it is new. Locks its row. */
export async function haltWallet(tx: Reads, id: string, reason: string): Promise<boolean> {
  const rows = await tx`update wallets set halted_reason = ${reason} where id = ${id} and halted_reason is null returning id`;
  return rows.length === 1;
}

/** The wallets of a network that pay: all but deposit addresses. Locks nothing. */
export async function listPayingWallets(sql: Reads, networkId: string): Promise<StoredWallet[]> {
  return sql<StoredWallet[]>`select ${columns(sql)} from wallets where network_id = ${networkId} and role <> 'deposit' order by role`;
}

/** Lets a wallet send again; the caller holds its lock. */
export async function clearWallet(tx: Tx, id: string): Promise<void> {
  await tx`update wallets set halted_reason = null where id = ${id}`;
}

/** Whether an address belongs to this deployment: a wallet or a deposit address on any network of the family. Locks nothing. */
export async function isOwnAddress(sql: Reads, family: string, address: string): Promise<boolean> {
  const [row] = await sql<{ own: boolean }[]>`
    select exists (select 1 from wallets w join networks n on n.id = w.network_id where n.family = ${family} and w.address = ${address})
        or exists (select 1 from deposit_addresses d where d.family = ${family} and d.address = ${address}) as own`;
  return row?.own ?? false;
}

/** Where a deposit address sits below the account xpub; undefined when it is not one. Any network of the family. Locks nothing. */
export async function findDepositIndex(sql: Reads, family: string, address: string): Promise<number | undefined> {
  const [row] = await sql<{ index: number }[]>`
    select derivation_index as index from deposit_addresses where family = ${family} and address = ${address} limit 1`;
  return row?.index;
}

function columns(sql: Reads) {
  return sql`id, network_id, role, address, derivation_path, next_nonce, halted_reason`;
}
