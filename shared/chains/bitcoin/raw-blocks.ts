import { setImmediate as turn } from 'node:timers/promises';
import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '../breathe.ts';
import { type BlockContent, ChainUnavailable, type HasKey, type WatchSet } from '../chain.ts';
import { type Blocks, refusalOf } from './blocks.ts';
import { gathered, type Movements, movementsOf } from './content.ts';
import type { BitcoinParams } from './params.ts';
import { type Header, readPrevouts } from './replies.ts';
import { bytesOf, inputsOf } from './unread-hex.ts';
import { type WalkedBlock, walkBlock } from './walk-block.ts';

/** For more than this of one block the node would read it from its disk more often than it takes to tell all of it. */
const MOST_ASKED_ALONE = 16;
const BLOCKS_A_TURN = 8;

/** Blocks that follow each other as a node gave them: bytes that nobody looked at yet, null where it gave none. */
export interface ToldBlocks {
  hashes: readonly string[];
  blocks: (Buffer | null)[];
  /** Of the last one; null when it could not be proven. */
  last: Header | null;
}

/** A watch set that knows twenty bytes when it sees them. */
export type KeySet = WatchSet & { hasKey: HasKey };

/** Reads blocks as bytes, over which it walks. */
export interface RawBlocks {
  ask(hashes: readonly string[]): Promise<ToldBlocks>;
  /** What happened to watched addresses; null for a block that has to be read with care. */
  contents(told: ToldBlocks, watched: KeySet): Promise<(BlockContent | null)[]>;
}

/**
 * Opens the quick way to read a block: as bytes, of which only transactions that may concern us become objects, and only of these is asked what they spend. Whatever
 * is unusual about an answer is left to `Blocks.block` (decision 0047); only a node that gives no answer at all is an error.
 */
export function openRawBlocks({ call, header }: Blocks, params: BitcoinParams): RawBlocks {
  const contentOf = async (block: WalkedBlock, watched: KeySet): Promise<BlockContent | null> => {
    const { hits, ...ref } = block;
    if (hits.length > MOST_ASKED_ALONE) return null;
    const told = await Promise.all(
      hits.map(({ transaction }) => (transaction.coinbase ? {} : unlessDoubtful(call('getrawtransaction', [transaction.txid, 2, block.hash], 'unread')))),
    );
    try {
      const found: Movements[] = [];
      for (const [i, { position, transaction }] of hits.entries()) {
        const prevouts = transaction.coinbase ? [] : readPrevouts({ vin: inputsOf(told[i]) }, transaction, block.height);
        found.push(await inTurns(movementsOf(ref, { ...transaction, prevouts }, position, params, watched), breathe));
      }
      return gathered(ref, found);
    } catch (error) {
      if (error instanceof ChainUnavailable) return null;
      throw error;
    }
  };

  return {
    async ask(hashes) {
      const [last, ...answers] = await Promise.all([
        unlessDoubtful(header(hashes.at(-1) as string)),
        ...hashes.map((hash) => unlessDoubtful(call('getblock', [hash, 0], 'unread'))),
      ]);
      return { hashes, blocks: answers.map(bytesOf), last };
    },

    async contents({ hashes, blocks, last }, watched) {
      // Those before a block of the node's chain are of it too.
      if (last === null || last.confirmations === null) return hashes.map(() => null);
      const hasKey = watched.hasKey.bind(watched);
      const walked: (WalkedBlock | null)[] = [];
      for (const [i, hash] of hashes.entries()) {
        const bytes = blocks[i] ?? null;
        const height = last.height - (hashes.length - 1 - i);
        walked.push(bytes === null ? null : await inTurns(walkBlock(bytes, { hash, height }, params, hasKey), breathe));
        // So that what was asked for meanwhile goes out, and comes in.
        if (i % BLOCKS_A_TURN === BLOCKS_A_TURN - 1) await turn();
      }
      return Promise.all(walked.map((block) => (block === null ? null : contentOf(block, watched))));
    },
  };
}

/** Null for what a node refused to answer or answered wrongly; that there is no answer remains an error. */
async function unlessDoubtful<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ChainUnavailable && (error.trouble === 'untrusted' || refusalOf(error) !== undefined)) return null;
    throw error;
  }
}
