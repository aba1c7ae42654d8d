import { setTimeout as pause } from 'node:timers/promises';
import { type BlockRef, ChainUnavailable, type UnspentOutput } from '../chain.ts';
import { scriptOfAddress } from './address.ts';
import { type Blocks, refusalOf } from './blocks.ts';
import { refOf } from './content.ts';
import type { BitcoinParams } from './params.ts';
import { type Header, readAmount, readHash, readHex, readInteger, readList, readObject, unsure } from './replies.ts';

/** Everything unspent at some addresses, after one block. */
interface Scan {
  at: Header;
  byAddress: ReadonlyMap<string, UnspentOutput[]>;
}

/** What lies at an address after the block `at`. */
export type Unspent = (address: string) => Promise<{ at: Header; outputs: UnspentOutput[] }>;

/** A node does one scan at a time, and refuses another with this code. */
const SCAN_IN_PROGRESS = -8;
const PATIENCE_TRIES = 12;
const PATIENCE_MS = 250;
/** A head that moves more often than this between questions makes no answer. */
const TRIES = 5;
/** Outputs asked about in one `gettxspendingprevout`. */
const SPENDERS_PER_REQUEST = 500;

/**
 * What lies at addresses, from one look at all unspent outputs of the chain (`scantxoutset`: seconds on a test network,
 * minutes on mainnet). Addresses asked about in the same moment, or while a scan runs, share the next one.
 */
export function openScans({ call, header }: Blocks, params: BitcoinParams): Unspent {
  const waiting = new Map<string, { resolve(scan: Scan): void; reject(error: unknown): void }[]>();
  let running = false;

  const scan = async (addresses: readonly string[]): Promise<Scan> => {
    const answer = readObject(await patiently(() => call('scantxoutset', ['start', addresses.map((address) => `addr(${address})`)])), 'the unspent outputs');
    if (answer.success !== true) unsure('the search through unspent outputs was broken off');
    const at = await header(readHash(answer.bestblock, 'the block of the unspent outputs'));
    if (answer.height !== at.height) unsure(`the unspent outputs are said to be of another block than ${at.height}`);
    const byScript = new Map(addresses.map((address) => [scriptOfAddress(address, params), address]));
    const byAddress = new Map<string, UnspentOutput[]>(addresses.map((address) => [address, []]));
    const seen = new Set<string>();
    let sum = 0n;
    for (const entry of readList(answer.unspents, 'the unspent outputs')) {
      const one = readObject(entry, 'an unspent output');
      const address =
        byScript.get(readHex(one.scriptPubKey, 'the script of an unspent output')) ?? unsure('an unspent output lies at an address nobody asked for');
      const output = { txid: readHash(one.txid, 'a transaction id'), vout: readInteger(one.vout, 'the number of an output'), address };
      const id = `${output.txid}:${output.vout}`;
      if (seen.has(id)) unsure(`output ${id} is told twice`);
      seen.add(id);
      const [rawAmount, height] = [readAmount(one.amount, 'the amount of an output'), readInteger(one.height, 'the height of an output')];
      if (height > at.height) unsure(`output ${id} is from a later block than the answer`);
      byAddress.get(address)?.push({ ...output, rawAmount, height, coinbase: one.coinbase === true });
      sum += rawAmount;
    }
    if (readAmount(answer.total_amount, 'the sum of the unspent outputs') !== sum) unsure('the sum of the unspent outputs is another than theirs');
    return { at, byAddress };
  };

  const next = async (): Promise<void> => {
    running = true;
    while (waiting.size > 0) {
      const asked = new Map(waiting);
      waiting.clear();
      try {
        const answer = await scan([...asked.keys()]);
        for (const [, askers] of asked) for (const { resolve } of askers) resolve(answer);
      } catch (error) {
        for (const [, askers] of asked) for (const { reject } of askers) reject(error);
      }
    }
    running = false;
  };

  return async (address) => {
    if (address !== addressIn(address, params)) throw new ChainUnavailable(`${address} is no address whose outputs could be searched`, { trouble: 'refused' });
    const { at, byAddress } = await new Promise<Scan>((resolve, reject) => {
      waiting.set(address, [...(waiting.get(address) ?? []), { resolve, reject }]);
      if (!running && waiting.size === 1) setTimeout(() => void (running ? undefined : next()), 0);
    });
    return { at, outputs: byAddress.get(address) ?? [] };
  };
}

/**
 * What the chain says of outputs after one and the same block: their amounts, null for those spent or never made. What only
 * waits in the node's pool changes nothing.
 */
export async function unspentAmounts(
  { call, head }: Blocks,
  wanted: readonly { txid: string; vout: number }[],
): Promise<{ at: BlockRef; rawAmounts: (bigint | null)[] }> {
  let before = await head();
  for (let tried = 1; tried <= TRIES; tried++) {
    const answers = await Promise.all(wanted.map(({ txid, vout }) => call('gettxout', [txid, vout, false])));
    const after = await head();
    const found = answers.map((answer) => (answer === null ? null : readObject(answer, 'an output')));
    // A spent output names no block, so the head must be the same on either side of the question.
    if (after.hash === before.hash && found.every((output) => output === null || output.bestblock === before.hash))
      return { at: refOf(before), rawAmounts: found.map((output) => (output === null ? null : readAmount(output.value, 'the amount of an output'))) };
    before = after;
  }
  return unsure(`its head moved ${TRIES} times while ${wanted.length} outputs were read`);
}

/** Which waiting transactions spend some outputs. */
export async function waitingSpenders({ call }: Blocks, wanted: readonly { txid: string; vout: number }[]): Promise<(string | null)[]> {
  const spenders: (string | null)[] = [];
  for (let from = 0; from < wanted.length; from += SPENDERS_PER_REQUEST) {
    const part = wanted.slice(from, from + SPENDERS_PER_REQUEST).map(({ txid, vout }) => ({ txid, vout }));
    const answers = readList(await call('gettxspendingprevout', [part]), 'the spending transactions');
    if (answers.length !== part.length) unsure(`asked about ${part.length} outputs, got ${answers.length}`);
    for (const [i, { txid, vout }] of part.entries()) {
      const answer = readObject(answers[i], 'a spending transaction');
      if (answer.txid !== txid || answer.vout !== vout) unsure(`asked about output ${txid}:${vout}, got another one`);
      spenders.push(answer.spendingtxid === undefined ? null : readHash(answer.spendingtxid, 'a spending transaction'));
    }
  }
  return spenders;
}

async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await ask();
    } catch (error) {
      if (refusalOf(error)?.code !== SCAN_IN_PROGRESS) throw error;
      if (tried === PATIENCE_TRIES) throw new ChainUnavailable('the node is busy with another search through its unspent outputs', { trouble: 'busy' });
      await pause(PATIENCE_MS);
    }
  }
}

function addressIn(address: string, params: BitcoinParams): string | null {
  try {
    scriptOfAddress(address, params);
    return address;
  } catch {
    return null;
  }
}
