import { Buffer } from 'node:buffer';
import type { Steps } from '#shared/core/turns.ts';
import type { BlockRef, HasKey } from '../chain.ts';
import { DIGEST_BYTES, hash160, writeSha256d } from './digests.ts';
import { HEADER_BYTES, KEY_BYTES, type Outline, outlineOf } from './outline.ts';
import type { BitcoinParams } from './params.ts';
import { commitmentOf, hasItsWork, isCommittedTo, namesHeight } from './proofs.ts';
import { type RawTransaction, readParts, reversedHex } from './raw-transaction.ts';

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
/** Each takes some microseconds. */
const HASHES_IN_A_ROW = 256;

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
  if (!(yield* rootOf(ids.txids)).equals(bytes.subarray(ROOT_AT, ROOT_AT + DIGEST_BYTES))) return null;
  if (commitment !== undefined && !isCommittedTo(yield* rootOf(ids.wtxids, true), commitment)) return null;

  const positions = new Set(outline.paying);
  for (const [i, { position, at }] of outline.keys.entries()) {
    if (hasKey(hash160(bytes.subarray(at, at + KEY_BYTES)), 0)) positions.add(position);
    if (i % HASHES_IN_A_ROW === HASHES_IN_A_ROW - 1) yield;
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
  const own = Buffer.alloc(DIGEST_BYTES);
  writeSha256d(bytes.subarray(0, HEADER_BYTES), own, 0);
  const { easiestTarget } = params.sinceThen !== undefined && height >= params.sinceThen.height ? params.sinceThen : params;
  return reversedHex(own) === hash && (height === 0 || hasItsWork(hash, bytes.readUInt32LE(BITS_AT), { easiestTarget }));
}

/** Ids of all transactions, one after the other as their bytes stand, those that cover witnesses, and how many of the first kind are unlike the others. */
function* idsOf(bytes: Buffer, { starts, bodyEnds }: Outline): Steps<{ txids: Buffer; wtxids: Buffer; different: number }> {
  const count = bodyEnds.length;
  const [txids, wtxids] = [Buffer.alloc(count * DIGEST_BYTES), Buffer.alloc(count * DIGEST_BYTES)];
  const seen = new Set<string>();
  const stripped = Buffer.allocUnsafe(bytes.length);
  for (let position = 0; position < count; position++) {
    const [start, bodyEnd, end] = [starts[position] as number, bodyEnds[position] as number, starts[position + 1] as number];
    const place = position * DIGEST_BYTES;
    const whole = writeSha256d(bytes.subarray(start, end), wtxids, place);
    if (bytes[start + MARKER_AT] === 0) {
      let length = bytes.copy(stripped, 0, start, start + MARKER_AT);
      length += bytes.copy(stripped, length, start + MARKER_AT + MARKER_BYTES, bodyEnd);
      length += bytes.copy(stripped, length, end - LOCK_TIME_BYTES, end);
      seen.add(writeSha256d(stripped.subarray(0, length), txids, place));
    } else {
      seen.add(whole);
      wtxids.copy(txids, place, place, place + DIGEST_BYTES);
    }
    if (position % HASHES_IN_A_ROW === HASHES_IN_A_ROW - 1) yield;
  }
  return { txids, wtxids, different: seen.size };
}

/** The merkle root over ids that stand one after the other; `withoutFirst` takes zeros in the place of the first one (BIP-141). */
function* rootOf(ids: Buffer, withoutFirst = false): Steps<Buffer> {
  const row = Buffer.from(ids);
  if (withoutFirst) row.fill(0, 0, DIGEST_BYTES);
  for (let count = row.length / DIGEST_BYTES; count > 1; count = Math.ceil(count / 2)) {
    for (let left = 0; left < count; left += 2) {
      const at = left * DIGEST_BYTES;
      const pair = row.subarray(at, Math.min(left + 2, count) * DIGEST_BYTES);
      // An odd one is paired with itself.
      writeSha256d(left + 1 < count ? pair : Buffer.concat([pair, pair]), row, at / 2);
      if (left % (2 * HASHES_IN_A_ROW) === 2 * HASHES_IN_A_ROW - 2) yield;
    }
  }
  return row.subarray(0, DIGEST_BYTES);
}
