import { type Block, blockHex, type Found, medianTime, mineBlock } from './block.ts';
import { hash256, idOf } from './bytes.ts';
import type { Chain } from './chain.ts';
import type { Entry } from './entry.ts';
import type { Mempool } from './mempool.ts';
import { REGTEST } from './parameters.ts';
import type { Tx } from './transaction.ts';
import type { Wallets } from './wallet.ts';

/** How this node misbehaves; set by control, kept nowhere. */
export interface Behaviour {
  /** Blocks the node pretends not to have seen yet. */
  staleBlocks: number;
}

/** What happened to the chain or the mempool, for whoever keeps it. */
export type Step =
  | { block: string }
  | { tx: string; time: number }
  | { invalidate: string }
  | { reconsider: string }
  | { forget: string[] }
  | { wallet: string; addresses: number };

/** A node: its chain, its mempool, its wallets and its clock. */
export interface BitcoinNode {
  chain: Chain;
  mempool: Mempool;
  wallets: Wallets;
  behaviour: Behaviour;
  /** Unix seconds, as `setmocktime` says or the machine's clock. */
  now(): number;
  setMockTime(unixSeconds: number): void;
  /** Adds a block found elsewhere. @throws Rejected */
  take(found: Found): Block;
  /** Mines one block on the tip; with `transactions` it holds these alone, otherwise all that waits. @throws Rejected */
  mine(script: Uint8Array, transactions?: Tx[]): Block;
  /** The block `mine` would add, without adding it. @throws Rejected */
  draft(script: Uint8Array, transactions?: Tx[]): Found;
  hashOf(found: Found): string;
  send(tx: Tx): Entry;
  /** Loses waiting transactions. */
  forget(txids: string[]): void;
  invalidate(block: Block): void;
  reconsider(block: Block): void;
}

export interface NodeParts {
  chain: Chain;
  mempool: Mempool;
  wallets: Wallets;
  clock: Clock;
  record(step: Step): void;
}

export interface Clock {
  now(): number;
  set(unixSeconds: number): void;
}

/** Weight left for the header and the coinbase. */
const RESERVED_WEIGHT = 4_000;

export function createNode({ chain, mempool, wallets, clock, record }: NodeParts): BitcoinNode {
  const take = (found: Found): Block => {
    const { block, moved } = chain.add(found);
    mempool.follow(moved);
    record({ block: blockHex(block) });
    return block;
  };

  /** As much of what waits as fits, nothing before what it spends. */
  const waiting = (): Tx[] => {
    let weight = RESERVED_WEIGHT;
    const taken = new Set<Entry>();
    for (const entry of mempool.entries.values()) {
      if (weight + entry.tx.weight > REGTEST.maxBlockWeight || mempool.parents(entry).some((parent) => !taken.has(parent))) continue;
      weight += entry.tx.weight;
      taken.add(entry);
    }
    return [...taken].map(({ tx }) => tx);
  };

  const draft = (script: Uint8Array, transactions: Tx[] = waiting()): Found => {
    const parent = chain.tip();
    const time = Math.max(medianTime(parent) + 1, clock.now());
    const { fees } = chain.check(transactions, time);
    return mineBlock({ parent, time, script, fees, transactions });
  };

  return {
    chain,
    mempool,
    wallets,
    behaviour: { staleBlocks: 0 },
    now: clock.now,
    setMockTime: clock.set,
    take,
    draft,
    hashOf: ({ header }) => idOf(hash256(header)),
    mine: (script, transactions) => take(draft(script, transactions)),
    send(tx) {
      const entry = mempool.accept(tx);
      record({ tx: tx.hex, time: entry.time });
      return entry;
    },
    forget(txids) {
      mempool.forget(txids);
      record({ forget: txids });
    },
    invalidate(block) {
      mempool.follow(chain.invalidate(block));
      record({ invalidate: block.hash });
    },
    reconsider(block) {
      mempool.follow(chain.reconsider(block));
      record({ reconsider: block.hash });
    },
  };
}
