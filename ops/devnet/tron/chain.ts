import { type Block, type Included, sealBlock } from './block.ts';
import type { Hex } from './bytes.ts';
import { type Before, type Cells, layer } from './cells.ts';
import type { ChainState } from './chain-state.ts';
import { type Effects, execute, ownerOf } from './execute.ts';
import { checkSignatures } from './permission.ts';
import { Refused } from './refusal.ts';
import { bytesOf, type Transaction } from './transaction.ts';

const DAY_MS = 86_400_000n;
const MOST_BYTES = 500 * 1024;
/** References to blocks further back are refused (TAPOS): only two bytes of the number are in a transaction. */
const REFERENCE_MASK = 65_536 - 1;

/** What the blocks of a reorganisation hold instead: the old transactions, none, or transactions block by block. */
export type Replacement = 'keep' | 'drop' | 'pool' | Transaction[][];

export interface Mined {
  blocks: Block[];
  /** Transactions that no block takes any more, with the reason. */
  refused: { txid: Hex; reason: string }[];
}

/** The rules of the chain over its state: what is taken into the pool, and what blocks are made of. */
export interface Chain {
  state: ChainState;
  /** Unix milliseconds by the chain's own clock. */
  now(): bigint;
  /** The cells as they will be once the pool is mined; writing there is forgotten. */
  pendingCells(): Cells;
  /** Takes a transaction into the pool. @throws Refused as a node refuses it */
  accept(transaction: Transaction): void;
  mine(count: number, options?: { txids?: Hex[]; stepMs?: number }): Mined;
  /** @throws Error when solidified blocks would be undone and it is not forced */
  reorg(depth: number, replacement: Replacement, force: boolean): Mined;
}

export function createChain(state: ChainState, clock: () => number): Chain {
  let forks = state.blocks.reduce((most, block) => Math.max(most, block.producer), 0);

  const now = (): bigint => BigInt(clock() + state.settings.clockOffsetMs);

  const pendingCells = (): Cells => {
    const cells = layer(state.cells);
    for (const transaction of state.pool.values()) attempt(cells, transaction, now());
    return cells;
  };

  const accept = (transaction: Transaction): void => {
    if (state.pool.has(transaction.txid)) throw new Refused('DUP_TRANSACTION_ERROR', 'Transaction already exists.');
    const cells = pendingCells();
    if (transaction.contracts.length === 0) throw new Refused('CONTRACT_VALIDATE_ERROR', 'Contract validate error : No contract!');
    checkSignatures(cells, transaction, ownerOf(transaction));
    checkPlace(state, transaction, true);
    if (transaction.expiration < now()) throw expired();
    execute(layer(cells), transaction, now());
    state.accept(transaction);
  };

  /** Makes the next block of `transactions`; those that no longer can be are left out. */
  const produce = (transactions: Iterable<Transaction>, timestamp: bigint, checkReference: boolean): { block: Block; refused: Mined['refused'] } => {
    const parent = state.head();
    const cells = layer(state.cells);
    const included: Included[] = [];
    const refused: Mined['refused'] = [];
    for (const transaction of transactions) {
      try {
        checkPlace(state, transaction, checkReference);
        if (transaction.expiration < timestamp) throw expired();
        const sheet = layer(cells);
        const effects = execute(sheet, transaction, timestamp);
        sheet.apply();
        included.push({ transaction, effects });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        refused.push({ txid: transaction.txid, reason: error.message });
      }
    }
    const writes: Before = new Map(cells.writes());
    const before = cells.apply();
    const block = sealBlock({ number: parent.number + 1, parentId: parent.id, timestamp, producer: forks, included, before });
    state.append(block, writes);
    settle();
    return { block, refused };
  };

  const settle = (): void => {
    const solidHeight = Math.max(state.settings.solidHeight, state.head().number - state.settings.solidLag);
    if (solidHeight !== state.settings.solidHeight) state.set({ solidHeight });
  };

  const mine: Chain['mine'] = (count, options = {}) => {
    const mined: Mined = { blocks: [], refused: [] };
    for (let nth = 0; nth < count; nth++) {
      const parent = state.head();
      const wanted = [...state.pool.values()].filter(({ txid }) => (nth > 0 ? options.txids === undefined : (options.txids?.includes(txid) ?? true)));
      const earliest = parent.timestamp + BigInt(options.stepMs ?? 1);
      const timestamp = options.stepMs === undefined && now() > earliest ? now() : earliest;
      const { block, refused } = produce(wanted, timestamp, true);
      if (refused.length > 0) state.forget(refused.map(({ txid }) => txid));
      mined.blocks.push(block);
      mined.refused.push(...refused);
    }
    return mined;
  };

  const reorg: Chain['reorg'] = (depth, replacement, force) => {
    const height = state.head().number - depth;
    if (depth < 1 || height < 0) throw new Error(`there are no ${depth} blocks to undo`);
    if (height < state.settings.solidHeight && !force) throw new Error(`block ${height + 1} is solidified; only force undoes it`);
    const undone = state.blocks.slice(height + 1);
    state.rewind(height);
    forks += 1;
    const mined: Mined = { blocks: [], refused: [] };
    for (const [nth, old] of undone.entries()) {
      const transactions = Array.isArray(replacement) ? (replacement[nth] ?? []) : replacement === 'keep' ? old.included.map((each) => each.transaction) : [];
      const { block, refused } = produce(transactions, old.timestamp, Array.isArray(replacement));
      mined.blocks.push(block);
      mined.refused.push(...refused);
    }
    if (replacement === 'pool') for (const block of undone) for (const { transaction } of block.included) state.accept(transaction);
    return mined;
  };

  return { state, now, pendingCells, accept, mine, reorg };
}

/** Runs a transaction if it can be run; the cells are untouched when it cannot. */
function attempt(cells: Cells, transaction: Transaction, timeMs: bigint): Effects | null {
  const sheet = layer(cells);
  try {
    const effects = execute(sheet, transaction, timeMs);
    sheet.apply();
    return effects;
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

/** What a transaction's own words say about where it may be: which fork, until when, only once. */
function checkPlace(state: ChainState, transaction: Transaction, checkReference: boolean): void {
  const head = state.head();
  if (state.find(transaction.txid)) throw new Refused('DUP_TRANSACTION_ERROR', 'Dup transaction.');
  if (checkReference && !refersTo(state, transaction)) throw new Refused('TAPOS_ERROR', 'Tapos check error.');
  const size = bytesOf(transaction).length;
  if (size > MOST_BYTES)
    throw new Refused('TOO_BIG_TRANSACTION_ERROR', `Too big transaction, TxId ${transaction.txid}, the size is ${size} bytes, maxTxSize ${MOST_BYTES}`);
  if (transaction.expiration <= head.timestamp || transaction.expiration > head.timestamp + DAY_MS) throw expired();
}

function refersTo(state: ChainState, { refBlockBytes, refBlockHash }: Transaction): boolean {
  if (!/^[0-9a-f]{4}$/.test(refBlockBytes)) return false;
  const head = state.head().number;
  const distance = (head - Number.parseInt(refBlockBytes, 16)) & REFERENCE_MASK;
  if (distance > head) return false;
  return state.blocks[head - distance]?.id.slice(16, 32) === refBlockHash;
}

function expired(): Refused {
  return new Refused('TRANSACTION_EXPIRATION_ERROR', 'Transaction expired');
}
