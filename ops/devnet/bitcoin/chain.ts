import { type Block, type Found, medianTime, parseBlock, subsidyAt } from './block.ts';
import { hash256, idOf } from './bytes.ts';
import { checkBlock } from './check-block.ts';
import { applyTo, checkTransaction, type Coin, type Coins, createCoins, feeOf, undoIn } from './coins.ts';
import { isFinal, isRipe } from './locks.ts';
import { REGTEST } from './parameters.ts';
import { Rejected } from './refusal.ts';
import { checkSpend } from './spend.ts';
import { spentBy, type Tx } from './transaction.ts';

/** What following the best branch did to the chain. */
export interface Moved {
  /** Newest first. */
  disconnected: Block[];
  /** Oldest first. */
  connected: Block[];
}

/** The tree of blocks, the branch with the most work in it, and the coins after that branch. */
export interface Chain {
  tip(): Block;
  /** A block of the branch that counts. */
  at(height: number): Block | undefined;
  find(hash: string): Block | undefined;
  active(block: Block): boolean;
  /** Every block, also those on other branches. */
  all(): IterableIterator<Block>;
  coins: Coins;
  /** The block that held a transaction last, on whichever branch that is now: a node's index forgets nothing. */
  blockOf(txid: string): Block | undefined;
  /** Adds a block and follows it if it has the most work. @throws Rejected when it breaks a rule */
  add(found: Found): { block: Block; moved: Moved };
  /** Whether a block with these transactions could be next. @throws Rejected */
  check(transactions: Tx[], time: number): { fees: bigint };
  invalidate(block: Block): Moved;
  reconsider(block: Block): Moved;
}

/** A chain that has nothing but regtest's first block; `trusted` skips what was found good before: proofs and scripts. */
export function createChain(trusted: () => boolean): Chain {
  const blocks = new Map<string, Block>();
  const branch: Block[] = [];
  const coins = createCoins();
  const where = new Map<string, Block>();
  /** Witness ids whose scripts were found good: what they spend is named by them. */
  const verified = new Set<string>();
  /** Why blocks turned out invalid. */
  const failures = new Map<string, unknown>();

  const tip = (): Block => branch[branch.length - 1] as Block;
  const active = (block: Block): boolean => branch[block.height] === block;

  const verify = (tx: Tx, spent: Coin[]): void => {
    if (trusted() || verified.has(tx.wtxid)) return;
    tx.raw.ins.forEach((_input, index) => {
      try {
        checkSpend(tx, index, spent);
      } catch (error) {
        throw new Rejected(
          `block-script-verify-flag-failed (${error instanceof Error ? error.message : String(error)})`,
          `input ${index} of ${tx.txid} (wtxid ${tx.wtxid}), spending ${spentBy(tx)[index]}`,
        );
      }
    });
    verified.add(tx.wtxid);
  };

  /** Applies transactions on top of the tip, all or none. */
  const apply = (transactions: Tx[], height: number, time: number): { spent: Coin[][]; fees: bigint } => {
    const parent = tip();
    const medianBefore = medianTime(parent);
    const done: { tx: Tx; spent: Coin[] }[] = [];
    let fees = 0n;
    try {
      for (const tx of transactions) {
        checkTransaction(tx);
        if (!isFinal(tx, height, medianBefore)) throw new Rejected('bad-txns-nonfinal', 'non-final transaction');
        const spent = applyTo(coins, tx, height);
        done.push({ tx, spent });
        if (tx.coinbase) continue;
        fees += feeOf(tx, spent, height);
        if (!isRipe(tx, spent, height, medianBefore, (at) => medianTime(branch[Math.min(at, parent.height)] ?? parent)))
          throw new Rejected('bad-txns-nonfinal', 'contains a non-BIP68-final transaction');
        verify(tx, spent);
      }
      if (time <= medianBefore) throw new Rejected('time-too-old', "block's timestamp is too early");
      return { spent: done.map(({ spent }) => spent), fees };
    } catch (error) {
      for (const { tx, spent } of done.reverse()) undoIn(coins, tx, spent);
      throw error;
    }
  };

  const revert = (transactions: Tx[], spent: Coin[][]): void => {
    for (let at = transactions.length - 1; at >= 0; at -= 1) undoIn(coins, transactions[at] as Tx, spent[at] ?? []);
  };

  const connect = (block: Block): void => {
    const { spent, fees } = apply(block.transactions, block.height, block.time);
    const made = block.transactions[0]?.raw.outs.reduce((sum, { value }) => sum + value, 0n) ?? 0n;
    if (made > subsidyAt(block.height) + fees) {
      revert(block.transactions, spent);
      throw new Rejected('bad-cb-amount', `coinbase pays too much (actual=${made} vs limit=${subsidyAt(block.height) + fees})`);
    }
    block.spent = spent;
    branch.push(block);
    for (const { txid } of block.transactions) where.set(txid, block);
  };

  const disconnect = (): Block => {
    const block = branch.pop() as Block;
    revert(block.transactions, block.spent ?? []);
    return block;
  };

  /** On a branch of which a block is invalid; none of the chain's own are. */
  const condemned = (block: Block): boolean => {
    for (let at = block; !active(at); at = at.parent as Block) if (at.invalid) return true;
    return false;
  };

  const best = (candidates: Iterable<Block>): Block => {
    let found = tip();
    for (const block of candidates) {
      const better = block.work > found.work || (block.work === found.work && block.arrival < found.arrival);
      if (better && !condemned(block)) found = block;
    }
    return found;
  };

  const down = (fork: Block, moved: Moved): void => {
    while (tip() !== fork) {
      const gone = disconnect();
      // What this very move had put there was never seen by anybody.
      const again = moved.connected.indexOf(gone);
      if (again < 0) moved.disconnected.push(gone);
      else moved.connected.splice(again, 1);
    }
  };

  /** Moves to the branch with the most work; a block that turns out to break a rule is left out for good. */
  const follow = (candidates: Iterable<Block>, moved: Moved = { disconnected: [], connected: [] }): Moved => {
    const target = best(candidates);
    if (target === tip()) return moved;
    const path: Block[] = [];
    for (let at = target; !active(at); at = at.parent as Block) path.push(at);
    down(path[path.length - 1]?.parent ?? target, moved);
    for (const block of path.reverse()) {
      try {
        connect(block);
        moved.connected.push(block);
      } catch (error) {
        block.invalid = true;
        failures.set(block.hash, error);
        return follow(blocks.values(), moved);
      }
    }
    return moved;
  };

  const genesis = parseBlock(REGTEST.genesisBlock);
  if (genesis === null) throw new Error('the first block cannot be read');
  const first: Block = placed(genesis, null, 0);
  blocks.set(first.hash, first);
  branch.push(first);
  first.spent = [[]];

  return {
    tip,
    at: (height) => branch[height],
    find: (hash) => blocks.get(hash),
    active,
    all: () => blocks.values(),
    coins,
    blockOf: (txid) => where.get(txid),
    add(found) {
      const hash = idOf(hash256(found.header));
      const known = blocks.get(hash);
      if (known !== undefined) throw new Rejected(known.invalid ? 'duplicate-invalid' : 'duplicate');
      const parent = blocks.get(idOf(found.header.subarray(4, 36)));
      if (parent === undefined) throw new Rejected('prev-blk-not-found');
      if (condemned(parent)) throw new Rejected('bad-prevblk');
      const block = placed(found, parent, blocks.size);
      if (!trusted()) checkBlock(block);
      blocks.set(hash, block);
      const moved = follow([block]);
      if (block.invalid) throw failures.get(hash);
      return { block, moved };
    },
    check(transactions, time) {
      const { spent, fees } = apply(transactions, tip().height + 1, time);
      revert(transactions, spent);
      return { fees };
    },
    invalidate(block) {
      block.invalid = true;
      if (!active(block)) return { disconnected: [], connected: [] };
      const moved: Moved = { disconnected: [], connected: [] };
      down(block.parent ?? block, moved);
      return follow(blocks.values(), moved);
    },
    reconsider(block) {
      for (let at: Block | null = block; at !== null; at = at.parent) at.invalid = false;
      for (const other of blocks.values()) if (descends(other, block)) other.invalid = false;
      return follow(blocks.values());
    },
  };
}

function descends(block: Block, ancestor: Block): boolean {
  let at: Block | null = block;
  while (at !== null && at.height > ancestor.height) at = at.parent;
  return at === ancestor;
}

function placed({ header, transactions }: Found, parent: Block | null, arrival: number): Block {
  return {
    hash: idOf(hash256(header)),
    height: parent === null ? 0 : parent.height + 1,
    parent,
    header,
    time: Buffer.from(header).readUInt32LE(68),
    work: (parent?.work ?? 0n) + REGTEST.workPerBlock,
    transactions,
    spent: null,
    invalid: false,
    arrival,
  };
}
