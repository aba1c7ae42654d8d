import type { Transfer } from '#shared/core/chain-events.ts';
import { type FoldFacts, type FoldPlace, nameOfTransfer, placeOfTransfer, type TransferSum } from '#shared/core/fold-transfers.ts';
import { type Coins, formatAmount, fromUnits, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Blocks } from './chain-blocks.ts';

/** What names a sum: its sighting, and where it is a deposit that deposit, have this key. */
export interface SumKey {
  networkId: string;
  blockHash: string;
  txid: string;
  kind: Transfer['kind'];
  ordinal: number;
}

/** One transfer of a sum. */
export type SumPart = Pick<Transfer, 'txid' | 'position' | 'ordinal' | 'sender' | 'rawAmount'>;

/** A sum with its parts in chain order. */
export interface StoredSum extends SumKey {
  parts: SumPart[];
}

interface Row extends SumKey {
  txids: string[];
  positions: number[];
  ordinals: number[];
  senders: string[];
  rawAmounts: string[];
}

/** Sums per statement: each may have tens of thousands of parts. */
const CHUNK = 50;

/** Stores the parts of sums whose sightings were stored in this transaction. */
export async function insertSums(tx: Tx, networkId: string, sums: readonly TransferSum[]): Promise<void> {
  for (let start = 0; start < sums.length; start += CHUNK) {
    const rows = sums.slice(start, start + CHUNK).map(({ transfer: { blockHash, txid, kind, ordinal, height }, parts }) => ({
      network_id: networkId,
      block_hash: blockHash,
      txid,
      kind,
      ordinal,
      height,
      txids: parts.map((part) => part.txid),
      positions: parts.map((part) => part.position),
      ordinals: parts.map((part) => part.ordinal),
      senders: parts.map((part) => part.sender),
      raw_amounts: parts.map((part) => part.rawAmount),
    }));
    await tx`insert into transfer_sums ${tx(rows)}`;
  }
}

/** The sums of these blocks; locks nothing. */
export async function listSumsIn(reads: Reads, networkId: string, blockHashes: readonly string[]): Promise<StoredSum[]> {
  if (blockHashes.length === 0) return [];
  return (
    await reads<Row[]>`select ${columns(reads)} from transfer_sums s where s.network_id = ${networkId} and s.block_hash = any(${[...blockHashes]}::text[])`
  ).map(fromRow);
}

/** The parts of deposits that stand for several transfers, by the id of the deposit; locks nothing. */
export async function listPartsOf(reads: Reads, depositIds: readonly string[]): Promise<Map<string, SumPart[]>> {
  const rows = await reads<(Row & { id: string })[]>`
    select d.id, ${columns(reads)} from deposits d join transfer_sums s on ${isSumOf(reads)} where d.id = any(${[...depositIds]}::uuid[]) and d.parts is not null`;
  return new Map(rows.map((row) => [row.id, fromRow(row).parts]));
}

/** Says that the blocks of these sums are canonical, which a fork may have taken away. */
export async function restoreSums(tx: Tx, networkId: string, blockHashes: readonly string[]): Promise<void> {
  await tx`
    update sightings g set canonical = true
    where g.network_id = ${networkId} and g.block_hash = any(${[...blockHashes]}::text[]) and g.parts is not null and not g.canonical`;
}

/** A sum that is no more, and the deposit that stood for it. */
export interface TakenSum extends StoredSum {
  depositId: string;
  decimals: number;
}

/** Forgets sums of which deposits were made, above a height or those of these deposits; the caller takes their rows apart with `splitSum`. Locks the deposits' rows no more than reading does. */
export async function takeSums(tx: Tx, which: ({ networkId: string } & Blocks) | { depositIds: readonly string[] }): Promise<TakenSum[]> {
  const wanted =
    'above' in which
      ? tx`s.network_id = ${which.networkId} and s.height > ${which.above} and s.height <= ${which.upTo}`
      : tx`d.id = any(${[...which.depositIds]}::uuid[])`;
  const rows = await tx<(Row & { depositId: string; decimals: number })[]>`
    delete from transfer_sums s using deposits d, assets a
    where ${isSumOf(tx)} and a.id = d.asset_id and ${wanted} returning d.id as "depositId", a.decimals, ${columns(tx)}`;
  return rows.map(({ depositId, decimals, ...row }) => ({ ...fromRow(row), depositId, decimals }));
}

/**
 * Makes rows of the parts of a sum that was forgotten: its sighting and its deposit become those of the first part, and the others get
 * sightings and deposits of their own, with everything that was decided about the sum. `ids` are those of the new deposits. What was posted
 * stays with the first; the others get headers without entries, as each deposit that was set aside has one. Locks the rows.
 */
export async function splitSum(
  tx: Tx,
  { networkId, blockHash, txid, kind, ordinal, parts, depositId, decimals }: TakenSum,
  ids: readonly string[],
): Promise<void> {
  const [first, ...others] = parts as [SumPart, ...SumPart[]];
  const coins = (part: SumPart): Coins => fromUnits(BigInt(part.rawAmount), decimals);
  const rest = tx`unnest(${[...ids]}::uuid[], ${others.map((part) => part.txid)}::text[], ${others.map((part) => part.position)}::int[],
    ${others.map((part) => part.ordinal)}::int[], ${others.map((part) => part.sender)}::text[], ${others.map((part) => part.rawAmount)}::numeric[],
    ${others.map((part) => formatAmount(coins(part)))}::numeric[]) p (id, txid, position, ordinal, sender, raw_amount, amount)`;
  await tx`
    insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, recipient, contract, raw_amount, canonical, observed_at, booked_at)
    select g.network_id, g.kind, p.txid, p.ordinal, g.height, g.block_hash, p.position, g.block_time, p.sender, g.recipient, g.contract, p.raw_amount, g.canonical, g.observed_at, g.booked_at
    from sightings g, ${rest}
    where g.network_id = ${networkId} and g.block_hash = ${blockHash} and g.txid = ${txid} and g.kind = ${kind} and g.ordinal = ${ordinal}`;
  await tx`
    update sightings set raw_amount = ${first.rawAmount}::text::numeric, parts = null
    where network_id = ${networkId} and block_hash = ${blockHash} and txid = ${txid} and kind = ${kind} and ordinal = ${ordinal}`;
  await tx`
    insert into deposits (id, network_id, txid, kind, ordinal, address_id, payment_id, asset_id, sender, raw_amount, amount, height, block_hash, position, block_time,
      first_seen_at, state, final_at, usd_price, path, lost_at, claimed_by, waits_since, doubted_since, doubt, credit_id, screening_score, screening_ref, trace_context)
    select p.id, d.network_id, p.txid, d.kind, p.ordinal, d.address_id, d.payment_id, d.asset_id, p.sender, p.raw_amount, p.amount, d.height, d.block_hash, p.position, d.block_time,
      d.first_seen_at, d.state, d.final_at, d.usd_price, d.path, d.lost_at, d.claimed_by, d.waits_since, d.doubted_since, d.doubt, d.credit_id, d.screening_score, d.screening_ref, d.trace_context
    from deposits d, ${rest} where d.id = ${depositId}`;
  await tx`update deposits set raw_amount = ${first.rawAmount}::text::numeric, amount = ${formatAmount(coins(first))}::text::numeric, parts = null where id = ${depositId}`;
  await tx`
    insert into ledger_transactions (source_key, kind)
    select 'deposit:' || i.id || k.suffix, t.kind
    from unnest(array['', ':claim']) k (suffix) join ledger_transactions t on t.source_key = ${`deposit:${depositId}`} || k.suffix, unnest(${[...ids]}::uuid[]) i (id)
    where t.kind in ('dust', 'unallocated', 'claim')`;
}

/** For a `from` with deposits `d` and sums `s`: whether the one is the deposit of the other. */
function isSumOf(reads: Reads) {
  return reads`(d.parts is not null and d.network_id = s.network_id and d.block_hash = s.block_hash and d.txid = s.txid and d.kind = s.kind and d.ordinal = s.ordinal)`;
}

function columns(reads: Reads) {
  return reads`s.network_id, s.block_hash, s.txid, s.kind, s.ordinal, s.txids, s.positions, s.ordinals, s.senders, s.raw_amounts::text[]`;
}

function fromRow({ txids, positions, ordinals, senders, rawAmounts, ...key }: Row): StoredSum {
  const parts = txids.map((txid, at) => ({
    txid,
    position: positions[at] as number,
    ordinal: ordinals[at] as number,
    sender: senders[at] as string,
    rawAmount: rawAmounts[at] as string,
  }));
  return { ...key, parts };
}

/**
 * What has to be known about crowds of transfers before they are taken together; empty where coins are outputs, which are spent one by one.
 * `known` are senders that count as ours although no row names them. Locks nothing.
 */
export async function readFoldFacts(reads: Reads, networkId: string, crowds: readonly Transfer[][], known: readonly string[] = []): Promise<FoldFacts> {
  const all = crowds.flat();
  const txids = [...new Set(all.map((one) => one.txid))];
  const recipients = [...new Set(crowds.map(([first]) => (first as Transfer).recipient))];
  const places = await reads<{ recipient: string; contract: string | null; decimals: number; dustFloor: string; wallet: boolean }[]>`
    select r.address as recipient, a.contract, a.decimals, a.dust_floor, not exists (select 1 from deposit_addresses d where d.address = r.address) as wallet
    from unnest(${recipients}::text[]) r (address) join networks n on n.id = ${networkId} and n.family <> 'bitcoin' join assets a on a.network_id = n.id
    where exists (select 1 from deposit_addresses d where d.address = r.address) or exists (select 1 from wallets w where w.network_id = n.id and w.address = r.address)`;
  const stored = await reads<{ txid: string; kind: string; ordinal: number }[]>`
    select d.txid, d.kind, d.ordinal from deposits d where d.network_id = ${networkId} and d.txid = any(${txids}::text[])
    union
    select g.txid, g.kind, g.ordinal from sightings g
    where g.network_id = ${networkId} and g.txid = any(${txids}::text[]) and g.block_hash = any(${[...new Set(all.map((one) => one.blockHash))]}::text[])`;
  const senders = await reads<{ address: string }[]>`
    select s.address from unnest(${[...new Set(all.map((one) => one.sender))]}::text[]) as s (address)
    where exists (select 1 from wallets w where w.address = s.address) or exists (select 1 from deposit_addresses d where d.address = s.address)`;
  const signed = await reads<{ txid: string }[]>`
    select txid from payout_attempts where txid = any(${txids}::text[]) union select txid from adopted_transactions where network_id = ${networkId} and txid = any(${txids}::text[])`;
  return {
    places: new Map(places.map((row) => [placeOfTransfer(row), placeOf(row)])),
    stored: new Set(stored.map(nameOfTransfer)),
    ownSenders: new Set([...known, ...senders.map((row) => row.address)]),
    ownTxids: new Set(signed.map((row) => row.txid)),
  };
}

function placeOf({ wallet, dustFloor, decimals }: { wallet: boolean; dustFloor: string; decimals: number }): FoldPlace {
  return { decimals, dustFloor: wallet ? null : parseTrusted(dustFloor) };
}
