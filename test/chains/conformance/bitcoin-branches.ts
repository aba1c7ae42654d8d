import { randomBytes } from 'node:crypto';
import { networks, payments } from 'bitcoinjs-lib';
import type { CoreCall, Output, Purse, Signed } from './bitcoin-purse.ts';
import type { Fates } from './family.ts';

/** What somebody signed, and with whose key. */
export interface Made extends Signed {
  purse: Purse;
}

/** Mines one block of exactly these transactions. */
export async function mineThese(call: CoreCall, transactions: readonly string[]): Promise<string> {
  const { hash } = await call<{ hash: string }>('generateblock', [somebody(), transactions]);
  return hash;
}

/** Where the coins of a block go, another address each time: the blocks of a branch must not be those it replaces. */
function somebody(): string {
  return payments.p2wpkh({ hash: randomBytes(20), network: networks.regtest }).address as string;
}

/**
 * Replaces the last `depth` blocks. A node puts what they held back into its mempool, so whoever is to lose a payment spends
 * its coin otherwise; what others signed (the deployment's own payouts) comes back by itself.
 */
export async function branch(
  call: CoreCall,
  made: ReadonlyMap<string, Made>,
  depth: number,
  { again, replaced }: Fates,
  pay: (by: Fates['replaced'][number]['by']) => Output,
): Promise<Made[]> {
  const height = await call<number>('getblockcount');
  const blocks: string[][] = Array.from({ length: depth }, () => []);
  const gone: string[] = [];
  const first = await call<string>('getblockhash', [height - depth + 1]);
  for (let at = height - depth + 1; at <= height; at++) {
    const hash = await call<string>('getblockhash', [at]);
    gone.push(...(await call<{ tx: string[] }>('getblock', [hash, 1])).tx.slice(1));
  }
  const taken = new Set(gone);
  for (const { txid, block } of again) if (taken.has(txid)) blocks[block]?.push(hexOf(made, txid));
  const kept = new Set(again.map(({ txid }) => txid));
  const signed: Made[] = [];
  const instead = async (old: Made, outputs: Output[], block: number): Promise<void> => {
    const other = { ...(await old.purse.sign(outputs, { spends: old.spends })), purse: old.purse };
    signed.push(other);
    blocks[block]?.push(other.hex);
  };
  const dead = new Set<string>();
  for (const { txid, by, block } of replaced) {
    dead.add(txid);
    await instead(made.get(txid) as Made, [pay(by)], block);
  }
  for (const txid of gone) {
    const old = made.get(txid);
    if (old === undefined || kept.has(txid) || dead.has(txid)) continue;
    const orphaned = old.spends.some((coin) => dead.has(coin.txid));
    dead.add(txid);
    if (!orphaned) await instead(old, [], 0);
  }
  await call('invalidateblock', [first]);
  for (const transactions of blocks) await mineThese(call, transactions);
  return signed;
}

function hexOf(made: ReadonlyMap<string, Made>, txid: string): string {
  const found = made.get(txid);
  if (found === undefined) throw new Error(`nobody here signed ${txid}`);
  return found.hex;
}
