import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '../breathe.ts';
import { ChainUnavailable, type Mempool, type WaitingTransaction, type WatchSet } from '../chain.ts';
import { type Blocks, refusalOf } from './blocks.ts';
import { flowsOf } from './content.ts';
import { addressOfPublicKey } from './deriver.ts';
import type { BitcoinParams } from './params.ts';
import { crossCheckSpends } from './prevouts.ts';
import type { RawInput, RawTransaction } from './raw-transaction.ts';
import { type Prevout, readAmount, readHash, readList, readObject, readScript, readTransaction } from './replies.ts';
import { ownerOfScript } from './script.ts';

/** Transactions read in one look, and for how long at most; after a start, or a long absence, the next looks read the rest. */
const MOST_READ = 2_000;
const LONGEST_LOOK_MS = 3_000;
/** As many as share one request. One request after the other: hints must not take the place of blocks at a node that answers slowly. */
const READ_AT_ONCE = 64;
const UNKNOWN = -5;
const KEY_BYTES = 33;

/**
 * What waits at a node: its ids, and of those not known yet the ones that concern a watched address, read from their bytes.
 * What one look has no time for, or what the node would not tell after some of it, is not among the ids, so that the next one
 * finds it unknown. Waiting money proves nothing: any of it may be replaced (chains 2.3).
 */
export async function readMempool({ call }: Blocks, params: BitcoinParams, watched: WatchSet, known: ReadonlySet<string>): Promise<Mempool> {
  const txids = new Set<string>();
  const unread: string[] = [];
  // There are hundreds of thousands of them on some days, nearly all known: one pass, and nothing that is not needed.
  for (const id of readList(await call('getrawmempool', []), 'the ids of waiting transactions')) {
    if (typeof id === 'string' && known.has(id)) txids.add(id);
    else if (unread.length < MOST_READ) unread.push(readHash(id, 'a transaction id'));
  }

  /** Null when it waits no more. */
  const read = async (txid: string): Promise<RawTransaction | null> => {
    const bytes = await unlessUnknown(call('getrawtransaction', [txid, false]));
    return bytes === null ? null : readTransaction(bytes, txid);
  };

  /** What an input spends: made by a block, or by another waiting transaction. */
  const prevoutOf = async ({ txid, vout }: RawInput): Promise<Prevout | null> => {
    const made = await call('gettxout', [txid, vout, false]);
    if (made !== null) {
      const output = readObject(made, 'an output');
      return { rawAmount: readAmount(output.value, 'the amount of an output'), script: readScript(output.scriptPubKey, 'the script of an output') };
    }
    return (await read(txid))?.outputs[vout] ?? null;
  };

  const describe = async (transaction: RawTransaction): Promise<WaitingTransaction | null> => {
    const prevouts = await Promise.all(transaction.inputs.map(prevoutOf));
    if (prevouts.some((prevout) => prevout === null)) return null;
    const whole = { ...transaction, prevouts: prevouts as Prevout[] };
    await inTurns(crossCheckSpends(whole), breathe);
    const { txid, inputs } = transaction;
    const transfers = flowsOf(whole, params, watched).flows.filter(({ recipient }) => watched.has(recipient));
    return { txid, transfers, spends: inputs.map((input) => `${input.txid}:${input.vout}`) };
  };

  const fresh: WaitingTransaction[] = [];
  const readSome = async (some: readonly string[]): Promise<void> => {
    for (const transaction of await Promise.all(some.map(read))) {
      if (transaction === null) continue;
      if (concerns(transaction, params, watched)) {
        const waiting = await describe(transaction);
        // Mined or replaced meanwhile: the next look tells.
        if (waiting === null) continue;
        fresh.push(waiting);
      }
      txids.add(transaction.txid);
    }
  };

  const until = performance.now() + LONGEST_LOOK_MS;
  for (let from = 0; from < unread.length && (from === 0 || performance.now() < until); from += READ_AT_ONCE) {
    try {
      await readSome(unread.slice(from, from + READ_AT_ONCE));
    } catch (error) {
      // What was read so far counts, or a node that bears no more at once would never get to the end.
      if (from === 0 || !(error instanceof ChainUnavailable)) throw error;
      break;
    }
  }
  return { txids, fresh };
}

/** Outputs name their owners; of inputs those do that show a key, as all of ours do. */
function concerns({ inputs, outputs }: RawTransaction, params: BitcoinParams, watched: WatchSet): boolean {
  if (outputs.some(({ script }) => watched.has(ownerOfScript(script, params)))) return true;
  return inputs.some(({ witness: [, key, ...more] }) => key?.length === KEY_BYTES && more.length === 0 && watched.has(addressOfPublicKey(key, params)));
}

async function unlessUnknown(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (refusalOf(error)?.code === UNKNOWN) return null;
    throw error;
  }
}
