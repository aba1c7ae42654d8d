import type { Block, Included } from './block.ts';
import { fromHex, type Hex, toHex } from './bytes.ts';
import { type Before, type Cells, cellsOf, undo, type Value } from './cells.ts';
import type { Effects } from './execute.ts';
import { bytesOf, fromBytes, type Transaction } from './transaction.ts';

/** What is kept besides blocks and cells. */
export interface Settings {
  /** How many blocks the solidified view stays behind the head. */
  solidLag: number;
  /** Height of the newest solidified block; never moves back. */
  solidHeight: number;
  /** Added to the machine's clock. */
  clockOffsetMs: number;
}

/** A change made from outside, as though it had always been so: it survives every reorganisation. */
export type Amendment = { add: string; value: bigint } | { put: string; value: Value };

/** A block as it is written down. */
export interface StoredBlock {
  number: number;
  id: Hex;
  txTrieRoot: Hex;
  parentId: Hex;
  timestamp: bigint;
  producer: number;
  included: { bytes: Hex; effects: Effects }[];
  before: [string, Value | null][];
}

/** One step of the chain's life; replaying all of them in order gives the same chain. */
export type Entry =
  | { block: StoredBlock; writes: [string, Value | null][] }
  | { rewind: number }
  | { amend: Amendment[] }
  | { accept: Hex }
  | { forget: Hex[] }
  | { settings: Partial<Settings> }
  | { cells: [string, Value][] };

/** The chain and everything it knows; changed through its functions only, each of which is one `Entry`. */
export interface ChainState {
  readonly blocks: readonly Block[];
  readonly cells: Cells;
  readonly pool: ReadonlyMap<Hex, Transaction>;
  readonly settings: Readonly<Settings>;
  head(): Block;
  /** Names of every cell. */
  keys(): string[];
  find(txid: Hex): { block: Block; included: Included } | null;
  blockById(id: Hex): Block | null;
  append(block: Block, writes: Before): void;
  /** Undoes every block above `height`; their transactions are gone. */
  rewind(height: number): void;
  amend(amendments: Amendment[]): void;
  accept(transaction: Transaction): void;
  forget(txids: Hex[]): void;
  set(settings: Partial<Settings>): void;
  replay(entry: Entry): void;
  /** The fewest entries that lead here. */
  entries(): Iterable<Entry>;
}

export function createChainState(record: (entry: Entry) => void): ChainState {
  const blocks: Block[] = [];
  const values = new Map<string, Value>();
  const cells = cellsOf(values);
  const pool = new Map<Hex, Transaction>();
  const byTransaction = new Map<Hex, { height: number; index: number }>();
  const byId = new Map<Hex, number>();
  const settings: Settings = { solidLag: 1, solidHeight: 0, clockOffsetMs: 0 };

  const append = (block: Block): void => {
    blocks.push(block);
    byId.set(block.id, block.number);
    for (const [index, { transaction }] of block.included.entries()) {
      byTransaction.set(transaction.txid, { height: block.number, index });
      pool.delete(transaction.txid);
    }
  };
  const rewind = (height: number): void => {
    while (blocks.length > height + 1) {
      const block = blocks.pop() as Block;
      byId.delete(block.id);
      for (const { transaction } of block.included) byTransaction.delete(transaction.txid);
      undo(cells, block.before);
    }
  };
  const amend = (amendments: Amendment[]): void => {
    for (const amendment of amendments) {
      const key = 'add' in amendment ? amendment.add : amendment.put;
      const change = (value: Value | undefined): Value => ('add' in amendment ? ((value ?? 0n) as bigint) + amendment.value : amendment.value);
      values.set(key, change(values.get(key)));
      for (const { before } of blocks) if (before.has(key)) before.set(key, change(before.get(key)));
    }
  };
  const state: ChainState = {
    blocks,
    cells,
    pool,
    settings,
    head: () => blocks.at(-1) as Block,
    keys: () => [...values.keys()],
    find: (txid) => {
      const place = byTransaction.get(txid);
      const block = place && blocks[place.height];
      const included = place && block?.included[place.index];
      return block && included ? { block, included } : null;
    },
    blockById: (id) => blocks[byId.get(id) ?? -1] ?? null,
    append: (block, writes) => {
      append(block);
      record({ block: store(block), writes: [...writes].map(([key, value]) => [key, value ?? null]) });
    },
    rewind: (height) => {
      rewind(height);
      record({ rewind: height });
    },
    amend: (amendments) => {
      amend(amendments);
      record({ amend: amendments });
    },
    accept: (transaction) => {
      pool.set(transaction.txid, transaction);
      record({ accept: toHex(bytesOf(transaction)) });
    },
    forget: (txids) => {
      for (const txid of txids) pool.delete(txid);
      record({ forget: txids });
    },
    set: (changed) => {
      Object.assign(settings, changed);
      record({ settings: changed });
    },
    replay: (entry) => {
      if ('block' in entry) {
        append(restore(entry.block));
        for (const [key, value] of entry.writes) cells.set(key, value ?? undefined);
      } else if ('rewind' in entry) rewind(entry.rewind);
      else if ('amend' in entry) amend(entry.amend);
      else if ('accept' in entry) {
        const transaction = fromBytes(fromHex(entry.accept));
        pool.set(transaction.txid, transaction);
      } else if ('forget' in entry) for (const txid of entry.forget) pool.delete(txid);
      else if ('settings' in entry) Object.assign(settings, entry.settings);
      else for (const [key, value] of entry.cells) values.set(key, value);
    },
    entries: function* () {
      yield { cells: [...values] };
      for (const block of blocks) yield { block: store(block), writes: [] };
      for (const transaction of pool.values()) yield { accept: toHex(bytesOf(transaction)) };
      yield { settings: { ...settings } };
    },
  };
  return state;
}

/** The cells as they were after block `height`, for the solidified view; nothing can be written there. */
export function cellsAt(state: ChainState, height: number): Cells {
  const then: Before = new Map();
  for (let at = state.blocks.length - 1; at > height; at--) for (const [key, value] of state.blocks[at]?.before ?? []) then.set(key, value);
  return {
    get: (key) => (then.has(key) ? then.get(key) : state.cells.get(key)),
    set: () => {
      throw new Error('the past cannot be written');
    },
  };
}

function store({ number, id, parentId, txTrieRoot, timestamp, producer, included, before }: Block): StoredBlock {
  return {
    number,
    id,
    txTrieRoot,
    parentId,
    timestamp,
    producer,
    included: included.map(({ transaction, effects }) => ({ bytes: toHex(bytesOf(transaction)), effects })),
    before: [...before].map(([key, value]) => [key, value ?? null]),
  };
}

function restore(stored: StoredBlock): Block {
  const included = stored.included.map(({ bytes, effects }) => ({ transaction: fromBytes(fromHex(bytes)), effects }));
  return { ...stored, included, before: new Map(stored.before.map(([key, value]) => [key, value ?? undefined])) };
}
