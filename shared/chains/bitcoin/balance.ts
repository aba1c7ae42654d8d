import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '../breathe.ts';
import type { Blocks } from './blocks.ts';
import type { BitcoinParams } from './params.ts';
import { type Block, unsure } from './replies.ts';
import { ownerOfScript } from './script.ts';
import { crossCheckSpends } from './prevouts.ts';
import type { Unspent } from './unspent.ts';

/** Blocks whose changes are remembered; the addresses of one audit ask for the same ones. */
const REMEMBERED = 256;
/** Farther back than a fortnight nobody audits by walking. */
const FARTHEST_BLOCKS = 2_016;

interface Change {
  parentHash: string;
  byOwner: ReadonlyMap<string, bigint>;
}

/**
 * Satoshis at an address after a block: what lies there now, less everything that later blocks brought, with everything that
 * they took. Costs what reading these blocks costs.
 * @throws ChainUnavailable when the block is above the head or too far below it
 */
export function openBalances({ block }: Blocks, unspent: Unspent, params: BitcoinParams): (address: string, height: number | undefined) => Promise<bigint> {
  const remembered = new Map<string, Promise<Change>>();

  const changeOf = (hash: string): Promise<Change> => {
    const known = remembered.get(hash);
    if (known !== undefined) return known;
    const read = block(hash).then((content) => changesIn(content, params));
    remembered.set(hash, read);
    read.catch(() => remembered.delete(hash));
    for (const oldest of remembered.keys()) {
      if (remembered.size <= REMEMBERED) break;
      remembered.delete(oldest);
    }
    return read;
  };

  return async (address, height) => {
    const { at, outputs } = await unspent(address);
    let held = outputs.reduce((sum, { rawAmount }) => sum + rawAmount, 0n);
    if (height === undefined) return held;
    if (at.height < height) unsure(`its head ${at.height} is below block ${height}`);
    if (at.height - height > FARTHEST_BLOCKS) unsure(`block ${height} is too far below its head ${at.height} to tell a balance`);
    let { hash } = at;
    for (let above = at.height; above > height; above--) {
      const { byOwner, parentHash } = await changeOf(hash);
      held -= byOwner.get(address) ?? 0n;
      hash = parentHash;
    }
    return held >= 0n ? held : unsure(`${address} would have held less than nothing at block ${height}`);
  };
}

async function changesIn({ transactions, parentHash }: Block, params: BitcoinParams): Promise<Change> {
  const byOwner = new Map<string, bigint>();
  const add = (script: string, rawAmount: bigint): void => {
    const owner = ownerOfScript(script, params);
    byOwner.set(owner, (byOwner.get(owner) ?? 0n) + rawAmount);
  };
  for (const transaction of transactions) {
    await inTurns(crossCheckSpends(transaction), breathe);
    for (const { script, rawAmount } of transaction.outputs) add(script, rawAmount);
    for (const { script, rawAmount } of transaction.prevouts) add(script, -rawAmount);
  }
  return { parentHash, byOwner };
}
