import { medianTime } from './block.ts';
import type { Chain, Moved } from './chain.ts';
import { checkTransaction, type Coin, type CoinView, feeOf } from './coins.ts';
import type { Entry } from './entry.ts';
import { isFinal, isRipe } from './locks.ts';
import { POLICY } from './parameters.ts';
import { checkCluster, checkFee, checkInputs, checkReplacement, checkStandard } from './policy.ts';
import { Rejected } from './refusal.ts';
import { checkSpend } from './spend.ts';
import { outpoint, spentBy, type Tx } from './transaction.ts';

export interface Mempool {
  /** In the order they came, so that no transaction is before what it spends. */
  entries: ReadonlyMap<string, Entry>;
  /** The transaction that spends an output. */
  spender(point: string): string | undefined;
  /** Counts additions and removals; starts at 1. */
  sequence(): number;
  /** Coins as though everything waiting were mined next. */
  view: CoinView;
  parents(entry: Entry): Entry[];
  children(entry: Entry): Entry[];
  /** Everything a transaction spends from or is spent by, near and far, itself first. */
  ancestors(entry: Entry): Entry[];
  descendants(entry: Entry): Entry[];
  /** What taking a transaction in would do. @throws Rejected */
  examine(tx: Tx): { entry: Entry; replaces: Entry[] };
  /** Takes a transaction in and throws out what it replaces. @throws Rejected */
  accept(tx: Tx): Entry;
  /** Follows the chain: what was mined leaves, what was in disconnected blocks comes back if it still can. */
  follow(moved: Moved): void;
  /** Takes in, at the time it was taken in before, what was found good then: what it replaced leaves again. */
  repeat(tx: Tx, time: number): void;
  /** Loses transactions and what spends them, as a node that restarts without its mempool. */
  forget(txids: string[]): void;
}

export function createMempool(chain: Chain, now: () => number): Mempool {
  const entries = new Map<string, Entry>();
  const spenders = new Map<string, string>();
  const verified = new Set<string>();
  let sequence = 1;

  const view: CoinView = {
    get(point) {
      const [txid = '', vout = ''] = point.split(':');
      const output = entries.get(txid)?.tx.raw.outs[Number(vout)];
      if (output === undefined) return chain.coins.get(point);
      return { script: output.script, value: output.value, height: chain.tip().height + 1, coinbase: false };
    },
  };

  const parents = (entry: Entry): Entry[] => {
    const txids = new Set(spentBy(entry.tx).map((point) => point.split(':')[0] ?? ''));
    return [...txids].flatMap((txid) => entries.get(txid) ?? []);
  };
  const children = (entry: Entry): Entry[] => {
    const txids = new Set(entry.tx.raw.outs.flatMap((_output, vout) => spenders.get(outpoint(entry.tx.txid, vout)) ?? []));
    return [...txids].flatMap((txid) => entries.get(txid) ?? []);
  };
  const closure = (start: Entry, next: (entry: Entry) => Entry[]): Entry[] => {
    const found = new Set([start]);
    for (const each of found) for (const further of next(each)) found.add(further);
    return [...found];
  };

  const insert = (entry: Entry): void => {
    entries.set(entry.tx.txid, entry);
    for (const point of spentBy(entry.tx)) spenders.set(point, entry.tx.txid);
    sequence += 1;
  };
  const remove = (entry: Entry): void => {
    if (!entries.delete(entry.tx.txid)) return;
    for (const point of spentBy(entry.tx)) spenders.delete(point);
    sequence += 1;
  };

  const drop = (txid: string): void => {
    const entry = entries.get(txid);
    if (entry !== undefined) for (const each of closure(entry, children)) remove(each);
  };

  /** Looked for when something comes, as Bitcoin Core does. */
  const expire = (at: number): void => {
    const old = [...entries.values()].filter(({ time }) => time < at - POLICY.mempoolExpirySeconds);
    for (const { tx } of old) drop(tx.txid);
  };

  const coinsOf = (tx: Tx): Coin[] =>
    spentBy(tx).map((point) => {
      const coin = view.get(point);
      if (coin === undefined) throw new Rejected('bad-txns-inputs-missingorspent');
      return coin;
    });

  /** Everything that no other transaction and no fee has a say in. */
  const enterable = (tx: Tx): Entry => {
    const height = chain.tip().height + 1;
    const median = medianTime(chain.tip());
    if (!isFinal(tx, height, median)) throw new Rejected('non-final');
    const spent = coinsOf(tx);
    if (!isRipe(tx, spent, height, median, (at) => medianTime(chain.at(at) ?? chain.tip()))) throw new Rejected('non-BIP68-final');
    const fee = feeOf(tx, spent, height);
    return { tx, fee, time: now(), height: chain.tip().height, spent };
  };

  const checkScripts = ({ tx, spent }: Entry): void => {
    if (verified.has(tx.wtxid)) return;
    tx.raw.ins.forEach((_input, index) => {
      try {
        checkSpend(tx, index, spent);
      } catch (error) {
        const point = spentBy(tx)[index];
        const words = error instanceof Error ? error.message : String(error);
        throw new Rejected(`mempool-script-verify-flag-failed (${words})`, `input ${index} of ${tx.txid} (wtxid ${tx.wtxid}), spending ${point}`);
      }
    });
    verified.add(tx.wtxid);
  };

  const examine = (tx: Tx): { entry: Entry; replaces: Entry[] } => {
    checkTransaction(tx);
    if (tx.coinbase) throw new Rejected('coinbase');
    checkStandard(tx);
    const present = entries.get(tx.txid);
    if (present !== undefined) throw new Rejected(present.tx.wtxid === tx.wtxid ? 'txn-already-in-mempool' : 'txn-same-nonwitness-data-in-mempool');
    if (tx.raw.outs.some((_output, vout) => chain.coins.has(outpoint(tx.txid, vout)))) throw new Rejected('txn-already-known');
    const entry = enterable(tx);
    checkInputs(tx, entry.spent);
    checkFee(entry);
    const conflicts = [...new Set(spentBy(tx).flatMap((point) => spenders.get(point) ?? []))].flatMap((txid) => entries.get(txid) ?? []);
    const evicted = [...new Set(conflicts.flatMap((each) => closure(each, children)))];
    if (conflicts.length > 0) checkReplacement(entry, closure(entry, parents).slice(1), conflicts, evicted);
    const gone = new Set(evicted);
    checkCluster(closure(entry, (each) => [...parents(each), ...children(each)].filter((other) => !gone.has(other))));
    checkScripts(entry);
    return { entry, replaces: evicted };
  };

  /** As a block or an earlier life brought it: only what the rules of the chain say counts. */
  const restore = (tx: Tx, known?: Pick<Entry, 'time' | 'height'>): void => {
    if (entries.has(tx.txid) || spentBy(tx).some((point) => spenders.has(point))) return;
    try {
      const entry = enterable(tx);
      insert({ ...entry, ...(known !== undefined && { time: known.time, height: known.height }) });
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
    }
  };

  return {
    entries,
    spender: (point) => spenders.get(point),
    sequence: () => sequence,
    view,
    parents,
    children,
    ancestors: (entry) => closure(entry, parents),
    descendants: (entry) => closure(entry, children),
    examine,
    accept(tx) {
      const { entry, replaces } = examine(tx);
      for (const each of replaces) remove(each);
      insert(entry);
      expire(entry.time);
      return entry;
    },
    follow({ disconnected, connected }) {
      for (const tx of connected.flatMap((block) => block.transactions)) {
        const mined = entries.get(tx.txid);
        if (mined !== undefined) remove(mined);
        for (const txid of spentBy(tx).flatMap((point) => spenders.get(point) ?? [])) drop(txid);
      }
      if (disconnected.length === 0) return;
      const waiting = [...entries.values()];
      const before = sequence;
      entries.clear();
      spenders.clear();
      for (const block of [...disconnected].reverse()) for (const tx of block.transactions) if (!tx.coinbase) restore(tx);
      for (const entry of waiting) restore(entry.tx, entry);
      sequence = before + 1;
    },
    repeat(tx, time) {
      for (const txid of spentBy(tx).flatMap((point) => spenders.get(point) ?? [])) drop(txid);
      restore(tx, { time, height: chain.tip().height });
      expire(time);
    },
    forget(txids) {
      for (const txid of txids) drop(txid);
    },
  };
}
