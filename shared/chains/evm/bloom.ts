import { keccak } from './keccak.ts';
import type { Log } from './replies.ts';

const BYTES = 256;
const EMPTY = `0x${'00'.repeat(BYTES)}`;
/** Contracts and topics repeat all the time; hashing each once is most of the cost of the check. */
const REMEMBERED = 50_000;
const positions = new Map<string, readonly [number, number, number]>();

function positionsOf(item: string): readonly [number, number, number] {
  const known = positions.get(item);
  if (known !== undefined) return known;
  const hash = keccak(Buffer.from(item.slice(2), 'hex'));
  const at = (i: number): number => (((hash[i] as number) << 8) | (hash[i + 1] as number)) & 2047;
  const found = [at(0), at(2), at(4)] as const;
  if (positions.size >= REMEMBERED) positions.clear();
  positions.set(item, found);
  return found;
}

/** The logs bloom of exactly these logs (Yellow Paper 4.3.1); a log that a node left out shows as a difference. */
export function bloomOf(logs: readonly Log[]): string {
  if (logs.length === 0) return EMPTY;
  const bloom = new Uint8Array(BYTES);
  const add = (item: string): void => {
    for (const bit of positionsOf(item)) {
      const index = BYTES - 1 - (bit >> 3);
      bloom[index] = (bloom[index] as number) | (1 << (bit & 7));
    }
  };
  for (const log of logs) {
    add(log.emitter);
    for (const topic of log.topics) add(topic);
  }
  return `0x${Buffer.from(bloom).toString('hex')}`;
}

/** The bloom of a block whose receipts have these. */
export function joinBlooms(blooms: readonly string[]): string {
  let joined = 0n;
  for (const bloom of blooms) if (bloom !== EMPTY) joined |= BigInt(bloom);
  return `0x${joined.toString(16).padStart(BYTES * 2, '0')}`;
}
