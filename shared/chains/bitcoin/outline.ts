import type { HasKey } from '../chain.ts';
import { MOST_COINS } from './raw-transaction.ts';

/** Where the things of a block begin that anybody needs; places are offsets into its bytes. */
export interface Outline {
  /** Of each transaction, and after the last one the end. */
  starts: number[];
  /** Where the outputs of each transaction end, and its witnesses or its lock time begin. */
  bodyEnds: number[];
  /** Transactions with an output to a watched key, by their numbers, in order. */
  paying: number[];
  /** Witnesses of two items, the second as long as a key, and to which transactions they belong. */
  keys: { position: number; at: number }[];
  /** Whether any input has a witness, which the coinbase then has to commit to. */
  witnesses: boolean;
}

export const HEADER_BYTES = 80;
/** What the rules of the network allow (BIP-141: four million units of weight, of which each byte is at least one). */
const LARGEST_BLOCK_BYTES = 4_000_000;
const KEY_BYTES = 33;
const OUTPOINT_BYTES = 36;
const NO_VOUT = 0xffff_ffff;
const KEY_HASH_BYTES = 20;
const P2WPKH_BYTES = 22;
const MOST_SATOSHIS = Number(MOST_COINS);

/**
 * Goes once over the bytes of a block without making anything of them (BIP-144). Null unless they are exactly a header and at least one transaction, each with
 * inputs, outputs, amounts that can be and lengths in their shortest form, none beside the first with the only input of a coinbase. Pure.
 */
export function outlineOf(bytes: Buffer, hasKey: HasKey): Outline | null {
  if (bytes.length > LARGEST_BLOCK_BYTES) return null;
  try {
    return read(bytes, hasKey);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function read(bytes: Buffer, hasKey: HasKey): Outline {
  const end = bytes.length;
  let at = HEADER_BYTES;
  const skip = (length: number): void => {
    at += length;
    if (at > end) throw new RangeError('the bytes end too early');
  };
  const count = (): number => {
    skip(1);
    const first = bytes[at - 1] as number;
    if (first < 0xfd) return first;
    if (first === 0xff) throw new RangeError('a length beyond the bytes');
    const width = first === 0xfd ? 2 : 4;
    skip(width);
    const value = bytes.readUIntLE(at - width, width);
    if (value < (first === 0xfd ? 0xfd : 0x1_0000)) throw new RangeError('a length that is written too long');
    return value;
  };

  const outline: Outline = { starts: [], bodyEnds: [], paying: [], keys: [], witnesses: false };
  const transactions = count();
  for (let position = 0; position < transactions; position++) {
    outline.starts.push(at);
    skip(6);
    const segwit = bytes[at - 2] === 0 && bytes[at - 1] === 1;
    if (!segwit) at -= 2;
    const inputs = count();
    for (let left = inputs; left > 0; left--) {
      skip(OUTPOINT_BYTES);
      if (position > 0 && inputs === 1 && bytes.readUInt32LE(at - 4) === NO_VOUT) throw new RangeError('perhaps another coinbase');
      skip(count());
      skip(4);
    }
    const outputs = count();
    if (inputs === 0 || outputs === 0) throw new RangeError('not a transaction');
    let pays = false;
    for (let left = outputs; left > 0; left--) {
      skip(8);
      if (bytes.readUInt32LE(at - 4) * 0x1_0000_0000 + bytes.readUInt32LE(at - 8) > MOST_SATOSHIS) throw new RangeError('an amount beyond all coins');
      const length = count();
      skip(length);
      const script = at - length;
      if (length === P2WPKH_BYTES && bytes[script] === 0 && bytes[script + 1] === KEY_HASH_BYTES && hasKey(bytes, script + 2)) pays = true;
    }
    if (pays) outline.paying.push(position);
    outline.bodyEnds.push(at);
    if (segwit)
      for (let input = inputs; input > 0; input--) {
        const items = count();
        if (items > 0) outline.witnesses = true;
        let length = 0;
        for (let left = items; left > 0; left--) {
          length = count();
          skip(length);
        }
        if (items === 2 && length === KEY_BYTES) outline.keys.push({ position, at: at - KEY_BYTES });
      }
    skip(4);
  }
  if (transactions === 0 || at !== end) throw new RangeError('not exactly one block');
  outline.starts.push(at);
  return outline;
}
