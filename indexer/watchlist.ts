import type { WatchSet } from '#shared/chains/chain.ts';
import type { WatchAck } from '#shared/core/chain-events.ts';
import { createAddressTable } from './address-table.ts';

/** After this long without the consumer's word an acknowledgement is sent again: the message that carried it may be lost. */
const RESEND_MS = 2_000;
/** Keeps one message small however many addresses arrive at once. */
const ACKS_PER_MESSAGE = 5_000;

/** Which addresses are matched, and which of them still have to be told so to the api. */
export interface Watchlist extends WatchSet {
  /** Watches an address from the next block that is read on. */
  add(address: string): void;
  /** The same of many, joined by spaces. */
  addAll(addresses: string): void;
  /** What the database says waits for an acknowledgement: each is watched from here on, whatever is not named was acknowledged. */
  expect(addresses: readonly string[]): void;
  /**
   * The acknowledgements to send with the next message, whose first block is `watchedFrom`. Must be called before that
   * block is read, so that every address it names is really matched from there.
   */
  takeAcks(watchedFrom: number, nowMs: number): WatchAck[];
  /** Whether `takeAcks` would give any. */
  hasAcks(nowMs: number): boolean;
  readonly size: number;
}

/** An empty watch list. */
export function createWatchlist(): Watchlist {
  const table = createAddressTable();
  /** Addresses without an acknowledgement that was applied, and when one was last sent. */
  let waiting = new Map<string, number>();
  const due = (sentAt: number, nowMs: number): boolean => nowMs - sentAt >= RESEND_MS;
  return {
    has: (address) => table.has(address),
    hasKey: (bytes, at) => table.hasKey(bytes, at),
    add: (address) => void table.add(address),
    addAll: (addresses) => table.addAll(addresses),
    expect(addresses) {
      const still = new Map<string, number>();
      for (const address of addresses) {
        table.add(address);
        still.set(address, waiting.get(address) ?? Number.NEGATIVE_INFINITY);
      }
      waiting = still;
    },
    takeAcks(watchedFrom, nowMs) {
      const acks: WatchAck[] = [];
      for (const [address, sentAt] of waiting) {
        if (!due(sentAt, nowMs)) continue;
        acks.push({ address, watchedFrom });
        waiting.set(address, nowMs);
        if (acks.length === ACKS_PER_MESSAGE) break;
      }
      return acks;
    },
    hasAcks(nowMs) {
      for (const sentAt of waiting.values()) if (due(sentAt, nowMs)) return true;
      return false;
    },
    get size() {
      return table.size;
    },
  };
}
