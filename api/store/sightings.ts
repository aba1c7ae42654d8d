import type { TransferSum } from '#shared/core/fold-transfers.ts';
import type { BlockMessage, SentTransaction, Sighting, Transfer, TransferKind } from '#shared/core/chain-events.ts';
import { MONEY_LIMIT, SCALE } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Movement } from '#shared/core/rereadings.ts';
import type { Blocks } from './chain-blocks.ts';
import { isUnexplained, listedOutgoing } from './adopted.ts';

/** Rows per statement, which are handed over as one parameter: with one for each value, writing and reading them took half of the time. */
const CHUNK = 1_000;

/** What names a transfer wherever it is mined: a deposit is unique by this (architecture 3.4). */
export interface TransferKey {
  networkId: string;
  txid: string;
  kind: TransferKind;
  ordinal: number;
}

/**
 * Stores what an indexer saw; a row that a fork had orphaned becomes canonical again when its block does.
 * Sightings are evidence: nothing else about an existing row changes. Of sums (decision 0030) their parts are to be stored as well.
 */
export async function insertSightings(tx: Tx, networkId: string, sightings: readonly Sighting[], sums: readonly TransferSum[] = []): Promise<void> {
  const all = [
    ...sightings.map((sighting) => ({ sighting, parts: null })),
    ...sums.map(({ transfer, parts }) => ({ sighting: transfer, parts: parts.length })),
  ];
  for (let start = 0; start < all.length; start += CHUNK) {
    const rows = all.slice(start, start + CHUNK).map(({ sighting, parts }) => ({
      parts,
      ...common(sighting),
      ...(sighting.kind === 'sent' ? sent(sighting) : transfer(sighting)),
    }));
    await tx`
      insert into sightings (network_id, parts, kind, txid, height, block_hash, position, block_time, sender, ordinal, recipient, contract, raw_amount, co_senders,
        coinbase, unproven, nonce, succeeded, raw_fee)
      select ${networkId}, g.parts, g.kind, g.txid, g.height, g.block_hash, g.position, g.block_time, g.sender, g.ordinal, g.recipient, g.contract, g.raw_amount,
        g.co_senders, g.coinbase, g.unproven, g.nonce, g.succeeded, g.raw_fee
      from jsonb_to_recordset(${tx.json(rows)}) as g (parts int, kind text, txid text, height bigint, block_hash text, position int, block_time timestamptz,
        sender text, ordinal int, recipient text, contract text, raw_amount numeric, co_senders text[], coinbase boolean, unproven boolean, nonce bigint,
        succeeded boolean, raw_fee numeric)
      on conflict (network_id, block_hash, txid, kind, ordinal) do update set canonical = true where not sightings.canonical`;
  }
}

function common(sighting: Sighting) {
  return {
    kind: sighting.kind,
    txid: sighting.txid,
    height: sighting.height,
    block_hash: sighting.blockHash,
    position: sighting.position,
    block_time: new Date(sighting.time * 1_000).toISOString(),
    sender: sighting.sender,
  };
}

function transfer(sighting: Transfer) {
  return {
    ordinal: sighting.ordinal,
    recipient: sighting.recipient,
    contract: sighting.contract,
    raw_amount: sighting.rawAmount,
    co_senders: sighting.coSenders ?? null,
    coinbase: sighting.coinbase ?? false,
    unproven: sighting.unproven ?? false,
    nonce: null,
    succeeded: null,
    raw_fee: null,
  };
}

function sent(sighting: SentTransaction) {
  const { nonce, succeeded, rawFee } = sighting;
  return {
    ordinal: 0,
    recipient: null,
    contract: null,
    raw_amount: null,
    co_senders: null,
    coinbase: false,
    unproven: false,
    nonce,
    succeeded,
    raw_fee: rawFee,
  };
}

/** The internal transfers that are stored of the blocks and transactions of these; locks nothing. */
export async function listInternal(reads: Reads, networkId: string, those: readonly Pick<Transfer, 'blockHash' | 'txid'>[]): Promise<Movement[]> {
  if (those.length === 0) return [];
  const [hashes, txids] = [those.map((one) => one.blockHash), those.map((one) => one.txid)];
  return reads<Movement[]>`
    select block_hash, txid, ordinal, recipient, raw_amount from sightings
    where network_id = ${networkId} and kind = 'internal' and parts is null and block_hash = any(${[...new Set(hashes)]}) and txid = any(${[...new Set(txids)]})
    union all
    select s.block_hash, p.txid, p.ordinal, g.recipient, p.raw_amount
    from transfer_sums s join sightings g on g.network_id = s.network_id and g.block_hash = s.block_hash and g.txid = s.txid and g.kind = s.kind and g.ordinal = s.ordinal
      cross join lateral unnest(s.txids, s.ordinals, s.raw_amounts) p (txid, ordinal, raw_amount)
    where s.network_id = ${networkId} and s.kind = 'internal' and s.block_hash = any(${[...new Set(hashes)]}) and p.txid = any(${[...new Set(txids)]})`;
}

/** Hash of the canonical block in which a transaction was seen at an address of ours; undefined when it was not. Locks nothing. */
export async function findSightedBlock(reads: Reads, networkId: string, txid: string): Promise<string | undefined> {
  const [row] = await reads<{ blockHash: string }[]>`
    select block_hash from sightings where network_id = ${networkId} and txid = ${txid} and canonical
    union all
    select g.block_hash from transfer_sums s join sightings g on g.network_id = s.network_id and g.block_hash = s.block_hash and g.txid = s.txid and g.kind = s.kind and g.ordinal = s.ordinal
    where s.network_id = ${networkId} and s.txids @> array[${txid}::text] and g.canonical limit 1`;
  return row?.blockHash;
}

/** Takes the sightings of these blocks off the canonical chain; answers how many there were. */
export async function orphanSightings(tx: Tx, networkId: string, { above, upTo }: Blocks): Promise<number> {
  const rows = await tx`
    update sightings set canonical = false where network_id = ${networkId} and height > ${above} and height <= ${upTo} and canonical returning 1`;
  return rows.length;
}

/**
 * Ids of the transactions whose transfers are stored of blocks above the tip and that a message about all of those does not tell of, although the
 * indexer watches the recipient: the node that told of them lied, or its block is gone. None where nothing was applied yet. Locks nothing.
 */
export async function listUntold(
  reads: Reads,
  networkId: string,
  message: Pick<BlockMessage, 'to' | 'sightings' | 'internalUnseen' | 'byLogs'>,
): Promise<string[]> {
  const stored = await reads<{ txid: string; kind: string; ordinal: number; blockHash: string }[]>`
    select s.txid, s.kind, s.ordinal, s.block_hash from (
        select * from sightings
        where network_id = ${networkId} and height > (select height from chain_tips where network_id = ${networkId}) and height <= ${message.to}
          and canonical and kind <> 'sent' offset 0) s
      cross join lateral (
        select from watches w
        where w.network_id = s.network_id and w.address = s.recipient and w.acked_epoch is not null and w.watched_from <= s.height
          and (w.watch_until is null or w.watch_until > sluice_now()) limit 1) w
    where ${message.byLogs === undefined} or exists (select 1 from assets a where a.network_id = s.network_id and a.contract = s.contract)`;
  if (stored.length === 0) return [];
  const nameOf = (one: { txid: string; kind: string; ordinal?: number; blockHash: string }): string =>
    `${one.blockHash} ${one.txid} ${one.kind} ${one.ordinal}`;
  const told = new Set(message.sightings.map(nameOf));
  return stored.filter((one) => !told.has(nameOf(one)) && !(one.kind === 'internal' && message.internalUnseen)).map((one) => one.txid);
}

/** Marks the canonical sightings of these transfers as having reached the books. */
export async function markSightingsBooked(tx: Tx, keys: readonly TransferKey[]): Promise<void> {
  await tx`
    update sightings s set booked_at = sluice_now()
    from unnest(${keys.map((key) => key.networkId)}::uuid[], ${keys.map((key) => key.txid)}::text[], ${keys.map((key) => key.kind)}::text[],
      ${keys.map((key) => key.ordinal)}::int[]) as key (network_id, txid, kind, ordinal)
    where s.network_id = key.network_id and s.txid = key.txid and s.kind = key.kind and s.ordinal = key.ordinal and s.canonical and s.booked_at is null`;
}

/** Takes the mark of the former off the canonical sightings of these transfers: what was booked of them is corrected. */
export async function markSightingsUnbooked(tx: Tx, keys: readonly TransferKey[]): Promise<void> {
  await tx`
    update sightings s set booked_at = null
    from unnest(${keys.map((key) => key.networkId)}::uuid[], ${keys.map((key) => key.txid)}::text[], ${keys.map((key) => key.kind)}::text[],
      ${keys.map((key) => key.ordinal)}::int[]) as key (network_id, txid, kind, ordinal)
    where s.network_id = key.network_id and s.txid = key.txid and s.kind = key.kind and s.ordinal = key.ordinal and s.canonical`;
}

/**
 * Closes final transfers to deposit addresses that have no effect on the books: tokens nobody configured, zero amounts, and
 * what is beyond all amounts. Answers how many there were.
 */
export async function closeWorthlessSightings(sql: Reads, networkId: string, finalHeight: number): Promise<number> {
  const rows = await sql`
    update sightings g set booked_at = sluice_now()
    where g.network_id = ${networkId} and g.canonical and g.booked_at is null and ${isUpTo(sql, networkId, sql`${finalHeight}`)} and g.kind <> 'sent'
      and exists (select 1 from deposit_addresses d where d.address = g.recipient)
      and (g.raw_amount = 0 or not exists (
        select 1 from assets a where a.network_id = g.network_id and a.contract is not distinct from g.contract
          and g.raw_amount * 10::numeric ^ (${SCALE}::int - a.decimals) < ${MONEY_LIMIT.toString()}::text::numeric))
    returning 1`;
  return rows.length;
}

/** What the chain shows one of our addresses doing: a transaction it signed, or a transfer at one of its ends. */
export interface OutgoingSighting {
  id: number;
  kind: TransferKind | 'sent';
  txid: string;
  ordinal: number;
  height: number;
  sender: string;
  recipient: string | null;
  contract: string | null;
  rawAmount: bigint | null;
  nonce: number | null;
  succeeded: boolean | null;
  rawFee: bigint | null;
  /** The payout whose stored bytes this is; null when the books know of none. */
  payoutId: string | null;
  senderOurs: boolean;
  recipientOurs: boolean;
  /** The recipient is a wallet, not a deposit address. */
  recipientWallet: boolean;
  /** It moves a configured asset; anybody can write a contract whose transfers say anything. */
  configured: boolean;
}

type Row = Omit<OutgoingSighting, 'rawAmount' | 'rawFee'> & { rawAmount: string | null; rawFee: string | null };

/**
 * Canonical sightings up to `finalHeight` that are about our own wallets and did not reach the books yet: everything an
 * address of ours signed or sent, what came to a wallet, and what else our own transactions moved to addresses of ours.
 * Deposits are not among them. In chain order; locks nothing.
 */
export async function listFinalOutgoing(sql: Reads, networkId: string, finalHeight: number): Promise<OutgoingSighting[]> {
  const rows = await finalOutgoing(sql, networkId, finalHeight);
  return rows.map((row) => ({
    ...row,
    rawAmount: row.rawAmount === null ? null : BigInt(row.rawAmount),
    rawFee: row.rawFee === null ? null : BigInt(row.rawFee),
  }));
}

/** The same as a statement, or a part of one. */
export function finalOutgoing(sql: Reads, networkId: string, finalHeight: number) {
  return sql<Row[]>`
    with unbooked as (
      select g.*, ${isOurs(sql, sql`g.sender`)} as sender_ours, ${isOurs(sql, sql`g.recipient`)} as recipient_ours, ${isConfigured(sql)} as configured,
        exists (select 1 from wallets w where w.network_id = g.network_id and w.address = g.recipient and w.role <> 'deposit') as recipient_wallet
      from sightings g where g.network_id = ${networkId} and g.canonical and g.booked_at is null and ${isUpTo(sql, networkId, sql`${finalHeight}`)})
    select ${columns(sql)} from unbooked g left join payout_attempts t on t.txid = g.txid
    where g.kind = 'sent' or g.sender_ours or g.recipient_wallet or t.payout_id is not null
    order by g.height, g.position, g.kind = 'sent' desc, g.ordinal`;
}

/**
 * Addresses of ours that signed something, or lost some of a configured asset, on the canonical chain that no stored bytes
 * explain, with the transaction, until the books have it. What other contracts log about them is anybody's word. It is looked for on a list, where it is from the
 * moment it is sighted (decision 0114), and among what is final, for what only became ours, or an asset, after that. Locks nothing.
 */
export function listUnknownOutgoing(sql: Reads, networkId: string) {
  return sql<{ address: string; txid: string; walletId: string | null; halted: boolean }[]>`
    select distinct on (g.sender) g.sender as address, g.txid, w.id as "walletId", w.halted_reason is not null as halted
    from (
      select s.* from (${listedOutgoing(sql)}) s where s.network_id = ${networkId} and s.canonical and s.booked_at is null
      union all
      select g.* from sightings g
      where g.network_id = ${networkId} and g.canonical and g.booked_at is null
        and ${isUpTo(sql, networkId, sql`(select final_height from chain_tips where network_id = ${networkId})`)}) g
      left join wallets w on w.network_id = g.network_id and w.address = g.sender
    where ${isUnexplained(sql, sql`g.txid`)}
      and (g.kind = 'sent' or (g.raw_amount > 0 and ${isConfigured(sql)})) and ${isOurs(sql, sql`g.sender`)}
    order by g.sender, g.height, g.position`;
}

/**
 * Whether a sighting that did not reach the books is up to a height. The lowest of them says nothing new, but of a range without a lower end Postgres expects a
 * third of all there is, and reads all of it for the few that are final.
 */
function isUpTo(sql: Reads, networkId: string, height: ReturnType<Reads>) {
  return sql`g.height between (select min(height) from sightings where network_id = ${networkId} and canonical and booked_at is null) and ${height}`;
}

/** Marks sightings as having reached the books, once. */
export async function markBooked(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx`update sightings set booked_at = sluice_now() where id = any(${[...ids]}::bigint[]) and booked_at is null`;
}

/** An address is ours when it is a wallet of the network or a deposit address of any: those exist on every network of their family. */
function isOurs(sql: Reads, address: ReturnType<Reads>) {
  return sql`(exists (select 1 from wallets w where w.network_id = g.network_id and w.address = ${address})
    or exists (select 1 from deposit_addresses d where d.address = ${address}))`;
}

function isConfigured(sql: Reads) {
  return sql`(g.contract is null or exists (select 1 from assets a where a.network_id = g.network_id and a.contract = g.contract))`;
}

function columns(sql: Reads) {
  return sql`g.id, g.kind, g.txid, g.ordinal, g.height, g.sender, g.recipient, g.contract, g.raw_amount, g.nonce, g.succeeded, g.raw_fee,
    t.payout_id, g.sender_ours, g.recipient_ours, g.recipient_wallet, g.configured`;
}
