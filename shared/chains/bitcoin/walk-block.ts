import { Buffer } from 'node:buffer';
import type { Steps } from '#shared/core/turns.ts';
import type { BlockRef, HasKey } from '../chain.ts';
import { hashTransactions, MOST_HASHED, MOST_HASHED_BYTES, whichKeys } from '../kernel.ts';
import { merkleRoot } from '../merkle-root.ts';
import { DIGEST_BYTES } from './digests.ts';
import { HEADER_BYTES, type Outline, outlineOf } from './outline.ts';
import type { BitcoinParams } from './params.ts';
import { commitmentOf, hasItsWork, isCommittedTo, namesHeight } from './proofs.ts';
import { type RawTransaction, readParts, reversedHex, sha256d } from './raw-transaction.ts';

/** A transaction that may concern us, and its place in its block. */
export interface Hit {
  position: number;
  transaction: RawTransaction;
}

/** A block that is proven, and those of its transactions that pay to a watched key, or show one as whoever spends its coins has to. */
export interface WalkedBlock extends BlockRef {
  hits: Hit[];
}

const PARENT_AT = 4;
const ROOT_AT = 36;
const TIME_AT = 68;
const BITS_AT = 72;
/** Where room for witnesses is announced, and by how many bytes (BIP-144). */
const MARKER_AT = 4;
const MARKER_BYTES = 2;
const LOCK_TIME_BYTES = 4;
const PAIRING = { twice: true, carries: false };

/**
 * Proves a block from its bytes and finds what concerns watched keys, in steps. It makes every check that `readBlock` makes of a block and refuses nothing:
 * null when there is any doubt, so that whoever reads with care decides (decision 0047). Takes time in proportion to the bytes, whatever they are. Pure.
 */
export function* walkBlock(
  bytes: Buffer,
  { hash, height }: Pick<BlockRef, 'hash' | 'height'>,
  params: BitcoinParams,
  hasKey: HasKey,
): Steps<WalkedBlock | null> {
  const outline = outlineOf(bytes, hasKey);
  if (outline === null || !isHeaderOf(bytes, { hash, height }, params)) return null;
  const bytesAt = (position: number): Buffer => bytes.subarray(outline.starts[position], outline.starts[position + 1]);
  const coinbase = readParts(bytesAt(0));
  if (coinbase?.coinbase !== true || (height >= params.heightInCoinbaseFrom && !namesHeight(coinbase, height))) return null;
  const commitment = commitmentOf(coinbase);
  if (commitment === undefined && outline.witnesses) return null;

  const ids = yield* idsOf(bytes, outline);
  const count = outline.bodyEnds.length;
  const idAt = (all: Buffer, position: number): Buffer => all.subarray(position * DIGEST_BYTES, (position + 1) * DIGEST_BYTES);
  // Ids must be unlike one another: where the end of an odd row is told twice, the root is the same (CVE-2012-2459).
  if (ids.different !== count) return null;
  if (!(yield* merkleRoot(Buffer.from(ids.txids), PAIRING)).equals(bytes.subarray(ROOT_AT, ROOT_AT + DIGEST_BYTES))) return null;
  // Nothing covers the coinbase's own witness (BIP-141).
  const covered = Buffer.from(ids.wtxids).fill(0, 0, DIGEST_BYTES);
  if (commitment !== undefined && !isCommittedTo(yield* merkleRoot(covered, PAIRING), commitment)) return null;

  const positions = new Set(outline.paying);
  for (let from = 0; from < outline.keys.length; from += MOST_HASHED) {
    if (from > 0) yield;
    const some = outline.keys.slice(from, from + MOST_HASHED);
    const watched = whichKeys(
      bytes,
      some.map(({ at }) => at),
      hasKey,
    );
    for (const [i, { position }] of some.entries()) if (watched[i]) positions.add(position);
  }
  const hits: Hit[] = [];
  for (const position of [...positions].sort((a, b) => a - b)) {
    const parts = position === 0 ? coinbase : readParts(bytesAt(position));
    if (parts === undefined) return null;
    const [txid, wtxid] = [reversedHex(idAt(ids.txids, position)), reversedHex(idAt(ids.wtxids, position))];
    hits.push({ position, transaction: { bytes: bytesAt(position), txid, wtxid, ...parts } });
  }
  return { height, hash, parentHash: reversedHex(bytes.subarray(PARENT_AT, ROOT_AT)), time: bytes.readUInt32LE(TIME_AT), hits };
}

function isHeaderOf(bytes: Buffer, { hash, height }: Pick<BlockRef, 'hash' | 'height'>, params: BitcoinParams): boolean {
  const { easiestTarget } = params.sinceThen !== undefined && height >= params.sinceThen.height ? params.sinceThen : params;
  return reversedHex(sha256d(bytes.subarray(0, HEADER_BYTES))) === hash && (height === 0 || hasItsWork(hash, bytes.readUInt32LE(BITS_AT), { easiestTarget }));
}

/** Ids of all transactions, one after the other as their bytes stand, those that cover witnesses, and how many of the first kind are unlike the others. */
function* idsOf(bytes: Buffer, outline: Outline): Steps<{ txids: Buffer; wtxids: Buffer; different: number }> {
  const { starts, bodyEnds } = outline;
  const count = bodyEnds.length;
  const ids = { txids: Buffer.allocUnsafe(count * DIGEST_BYTES), wtxids: Buffer.allocUnsafe(count * DIGEST_BYTES) };
  for (let from = 0; from < count; ) {
    if (from > 0) yield;
    const start = starts[from] as number;
    let to = from;
    while (to < count && to - from < MOST_HASHED && (starts[to + 1] as number) - start <= MOST_HASHED_BYTES) to += 1;
    if (to > from) hashTransactions(bytes, outline, [from, to], ids);
    else {
      // The kernel is quick with many short ones.
      writeIds(bytes, outline, from, ids);
      to = from + 1;
    }
    from = to;
  }
  const seen = new Set<string>();
  for (let at = 0; at < ids.txids.length; at += DIGEST_BYTES) seen.add(ids.txids.toString('latin1', at, at + DIGEST_BYTES));
  return { ...ids, different: seen.size };
}

/** Writes both of one transaction. */
function writeIds(bytes: Buffer, { starts, bodyEnds }: Outline, position: number, { txids, wtxids }: { txids: Buffer; wtxids: Buffer }): void {
  const [start, bodyEnd, end] = [starts[position] as number, bodyEnds[position] as number, starts[position + 1] as number];
  const at = position * DIGEST_BYTES;
  sha256d(bytes.subarray(start, end)).copy(wtxids, at);
  const stripped = [
    bytes.subarray(start, start + MARKER_AT),
    bytes.subarray(start + MARKER_AT + MARKER_BYTES, bodyEnd),
    bytes.subarray(end - LOCK_TIME_BYTES, end),
  ];
  if (bytes[start + MARKER_AT] === 0) sha256d(Buffer.concat(stripped)).copy(txids, at);
  else wtxids.copy(txids, at, at, at + DIGEST_BYTES);
}
