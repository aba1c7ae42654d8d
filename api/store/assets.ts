import type { AssetConfig, AssetType, Family } from '#shared/core/assets.ts';
import { type Coins, parseTrusted } from '#shared/core/money.ts';
import type { Tx, Reads } from '#shared/platform/postgres.ts';
import { Invariant } from '#shared/core/errors.ts';

/** A coin or token with the network it lives on. */
export interface StoredAsset {
  id: string;
  symbol: string;
  name: string;
  type: AssetType;
  /** Canonical contract address; null for the native coin. */
  contract: string | null;
  decimals: number;
  /** Network fee of one payment, asset units. */
  networkFee: Coins;
  dustFloor: Coins;
  /** Smallest cashout; null means the equivalent of 1 USD. */
  minimumSettlement: Coins | null;
  active: boolean;
  networkId: string;
  networkName: string;
  /** Ticker of the network's native coin. */
  networkSymbol: string;
  family: Family;
  /** True while an operator paused new addresses and dispatch on the network. */
  networkPaused: boolean;
  /** True while a token is stopped because its issuer does not let our wallets move it: nothing is offered in it. */
  issuerStopped: boolean;
  /** True for a native coin while no endpoint of its network shows what contracts pass on, and nobody accepted that (decision 0042): nothing is offered in it. */
  unwatchable: boolean;
}

type Row = Omit<StoredAsset, 'networkFee' | 'dustFloor' | 'minimumSettlement'> & { networkFee: string; dustFloor: string; minimumSettlement: string | null };

/** Reads one asset by id; locks nothing. */
export async function findAsset(sql: Reads, id: string): Promise<StoredAsset | undefined> {
  const [row] = await sql<Row[]>`select ${columns(sql)} from assets a join networks n on n.id = a.network_id where a.id = ${id}`;
  return row && fromRow(row);
}

/** Reads a network's asset by canonical contract, null for its native coin; locks nothing. */
export async function findAssetByContract(sql: Reads, networkId: string, contract: string | null): Promise<StoredAsset | undefined> {
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from assets a join networks n on n.id = a.network_id
    where a.network_id = ${networkId} and a.contract is not distinct from ${contract}`;
  return row && fromRow(row);
}

/** The contracts of a network's assets, null for its coin; locks nothing. */
export async function listContracts(sql: Reads, networkId: string): Promise<Set<string | null>> {
  const rows = await sql<{ contract: string | null }[]>`select contract from assets where network_id = ${networkId}`;
  return new Set(rows.map((row) => row.contract));
}

/** Lists every asset, inactive ones included, by network and symbol; locks nothing. */
export async function listAssets(sql: Reads): Promise<StoredAsset[]> {
  const rows = await sql<Row[]>`select ${columns(sql)} from assets a join networks n on n.id = a.network_id order by n.name, a.symbol, a.id`;
  return rows.map(fromRow);
}

/** Lists every active asset by network and symbol; locks nothing. */
export async function listActiveAssets(sql: Reads): Promise<StoredAsset[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from assets a join networks n on n.id = a.network_id where a.active order by n.name, a.symbol, a.id`;
  return rows.map(fromRow);
}

/** Adds an asset, or renews the figures of the one with that contract; its decimals and type never change. Locks its row. Returns its id and pinned decimals. */
export async function upsertAsset(
  tx: Tx,
  asset: AssetConfig & { id: string; networkId: string },
): Promise<{ id: string; decimals: number; inserted: boolean }> {
  const [row] = await tx<{ id: string; decimals: number }[]>`
    insert into assets (id, network_id, symbol, name, type, contract, decimals, network_fee, dust_floor, minimum_settlement, created_at)
    values (${asset.id}, ${asset.networkId}, ${asset.symbol}, ${asset.name}, ${asset.type}, ${asset.contract}, ${asset.decimals},
            ${asset.networkFee}::text::numeric, ${asset.dustFloor}::text::numeric, ${asset.minimumSettlement}::text::numeric, sluice_now())
    on conflict (network_id, contract) do update set symbol = excluded.symbol, name = excluded.name, network_fee = excluded.network_fee,
      dust_floor = excluded.dust_floor, minimum_settlement = excluded.minimum_settlement
    returning id, decimals`;
  const stored = row as { id: string; decimals: number };
  return { ...stored, inserted: stored.id === asset.id };
}

function columns(sql: Reads) {
  return sql`a.id, a.symbol, a.name, a.type, a.contract, a.decimals, a.network_fee, a.dust_floor,
    a.minimum_settlement, a.active, n.id as "networkId", n.name as "networkName", n.native_symbol as "networkSymbol",
    n.family, n.paused_at is not null as "networkPaused",
    a.contract is null and n.traces_missing_since is not null as "unwatchable",
    exists (select 1 from issuer_refusals r where r.asset_id = a.id and r.stopped_at is not null) as "issuerStopped"`;
}

function fromRow(row: Row): StoredAsset {
  return {
    ...row,
    networkFee: parseTrusted(row.networkFee),
    dustFloor: parseTrusted(row.dustFloor),
    minimumSettlement: row.minimumSettlement === null ? null : parseTrusted(row.minimumSettlement),
  };
}

/** A currency of payments and whether new payments may be priced in it. */
export interface Currency {
  /** ISO 4217, upper case. */
  code: string;
  active: boolean;
}

/** Lists every currency by code; locks nothing. */
export async function listCurrencies(sql: Reads): Promise<Currency[]> {
  return sql<Currency[]>`select code, active from currencies order by code`;
}

/** Switches a currency on or off; undefined when there is no such one. Locks its row. */
export async function setCurrencyActive(tx: Tx, code: string, active: boolean): Promise<Currency | undefined> {
  const [row] = await tx<Currency[]>`update currencies set active = ${active} where code = ${code} returning code, active`;
  return row;
}

/** The coin a network charges fees in. @throws Invariant when the network has no native asset configured */
export async function nativeAsset(sql: Reads, networkId: string): Promise<StoredAsset> {
  const native = await findAssetByContract(sql, networkId, null);
  if (native === undefined) throw new Invariant(`network ${networkId} has no native asset`);
  return native;
}
