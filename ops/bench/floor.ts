import { Agent, request } from 'node:http';
import type { Family } from '#shared/core/assets.ts';
import { answerLines } from './tool.ts';
import { watchedHex } from './watched.ts';

// The fastest loop there can be over the same RPC that finds the same deposits: it believes every byte it is sent, checks
// nothing, keeps nothing and never fails. What a real indexer does beyond it is what its ratio pays for.

/** What to look through. `traces` also reads what contracts passed on, where the family tells it apart. */
export interface Search {
  family: Family;
  url: string;
  from: number;
  to: number;
  watched: number;
  traces: boolean;
  /** Asks for logs of ranges, and for nothing else. */
  logs?: boolean;
}

export interface SearchResult {
  seconds: number;
  deposits: number;
  /** Of raw amounts, decimal. */
  sum: string;
}

const BLOCKS_PER_REQUEST = 20;
const BLOCKS_OF_LOGS = 200;
const IN_FLIGHT = 2;
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const agent = new Agent({ keepAlive: true });

interface Tally {
  has(hex: string): boolean;
  take(rawAmount: bigint): void;
}

function post(url: string, body: string): Promise<Buffer> {
  const target = new URL(url);
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(target.username === '' ? {} : { authorization: `Basic ${btoa(`${target.username}:${target.password}`)}` }),
    };
    const asked = request({ host: target.hostname, port: target.port, path: target.pathname, method: 'POST', agent, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.once('end', () => resolve(Buffer.concat(parts)));
      answer.once('error', reject);
    });
    asked.once('error', reject);
    asked.end(body);
  });
}

function batch(url: string, calls: readonly (readonly [method: string, params: readonly unknown[]])[]): Promise<Buffer> {
  return post(url, JSON.stringify(calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }))));
}

/** One request's worth of blocks of each family. */
const readers: Record<Family, (search: Search, from: number, to: number, tally: Tally) => Promise<void>> = {
  async evm({ url, traces, logs }, from, to, tally) {
    if (logs) {
      const asked = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}`, topics: [`0x${TRANSFER}`] };
      return scanTransfers((await batch(url, [['eth_getLogs', [asked]]])).toString('latin1'), tally);
    }
    const heights = Array.from({ length: to - from + 1 }, (_, i) => `0x${(from + i).toString(16)}`);
    const calls = heights.flatMap(
      (at) =>
        [
          ['eth_getBlockByNumber', [at, false]],
          ['eth_getBlockReceipts', [at]],
        ] as const,
    );
    const [bodies, traced] = await Promise.all([
      batch(url, calls),
      traces
        ? batch(
            url,
            heights.map((at) => ['trace_block', [at]] as const),
          )
        : undefined,
    ]);
    const text = bodies.toString('latin1');
    scanTransfers(text, tally);
    for (const hash of recipients(text, tally)) {
      const { result } = JSON.parse(
        (await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getTransactionByHash', params: [hash] }))).toString(),
      ) as { result: { value: string } };
      tally.take(BigInt(result.value));
    }
    if (traced !== undefined) passedOn(traced.toString('latin1'), tally);
  },
  async bitcoin({ url }, from, to, tally) {
    const heights = Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const hashes = JSON.parse(
      (
        await batch(
          url,
          heights.map((height) => ['getblockhash', [height]] as const),
        )
      ).toString(),
    ) as { result: string }[];
    const text = (
      await batch(
        url,
        hashes.map(({ result }) => ['getblock', [result, 0]] as const),
      )
    ).toString('latin1');
    for (const [, hex] of text.matchAll(/"result":"([0-9a-f]+)"/g)) scanBitcoin(Buffer.from(hex as string, 'hex'), tally);
  },
  async tron({ url }, from, to, tally) {
    const heights = Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const [blocks, ...infos] = await Promise.all([
      post(`${url}/wallet/getblockbylimitnext`, JSON.stringify({ startNum: from, endNum: to + 1 })),
      ...heights.map((num) => post(`${url}/wallet/gettransactioninfobyblocknum`, JSON.stringify({ num }))),
    ]);
    for (const block of (JSON.parse((blocks as Buffer).toString()) as TronBlocks).block)
      for (const { raw_data } of block.transactions ?? []) {
        const { type, parameter } = raw_data.contract[0];
        if (type === 'TransferContract' && tally.has(parameter.value.to_address.slice(2))) tally.take(BigInt(parameter.value.amount));
      }
    for (const info of infos)
      for (const { log = [] } of JSON.parse(info.toString()) as TronInfo[])
        for (const { topics = [], data } of log) if (topics[0] === TRANSFER && tally.has((topics[2] as string).slice(24))) tally.take(BigInt(`0x${data}`));
  },
};

interface TronBlocks {
  block: { transactions?: { raw_data: { contract: [{ type: string; parameter: { value: { to_address: string; amount: number } } }] } }[] }[];
}

interface TronInfo {
  log?: { topics?: string[]; data: string }[];
}

/** Adds the transfers of tokens to watched addresses in a text of logs. */
function scanTransfers(text: string, tally: Tally): void {
  for (let at = text.indexOf(TRANSFER); at >= 0; at = text.indexOf(TRANSFER, at + 260)) {
    // …f3b3ef","0x<24 zeros><sender>","0x<24 zeros><recipient>"],"data":"0x<amount>"
    if (tally.has(text.slice(at + 162, at + 202))) tally.take(BigInt(`0x${text.slice(at + 215, at + 279)}`));
  }
}

/** Ids of the transactions in a text of receipts whose own recipient is watched. */
function recipients(text: string, tally: Tally): string[] {
  const found: string[] = [];
  for (let at = text.indexOf('"to":"0x'); at >= 0; at = text.indexOf('"to":"0x', at + 48)) {
    if (!tally.has(text.slice(at + 8, at + 48))) continue;
    const hash = text.lastIndexOf('"transactionHash":"', at) + 19;
    found.push(text.slice(hash, hash + 66));
  }
  return found;
}

/** Adds what calls inside of transactions handed to watched addresses. */
function passedOn(text: string, tally: Tally): void {
  for (let at = text.indexOf('"to":"0x'); at >= 0; at = text.indexOf('"to":"0x', at + 48)) {
    if (!tally.has(text.slice(at + 8, at + 48)) || text.startsWith('"traceAddress":[]', text.indexOf('"traceAddress"', at))) continue;
    const value = text.indexOf('"value":"', at) + 9;
    tally.take(BigInt(text.slice(value, text.indexOf('"', value))));
  }
}

/** Adds the outputs of a block's bytes that pay to watched key hashes. */
function scanBitcoin(bytes: Buffer, tally: Tally): void {
  let at = 80;
  const count = (): number => {
    const first = bytes[at++] as number;
    if (first < 0xfd) return first;
    const width = first === 0xfd ? 2 : 4;
    at += width;
    return bytes.readUIntLE(at - width, width);
  };
  const skip = (bytesToSkip: number): void => {
    at += bytesToSkip;
  };
  for (let left = count(); left > 0; left--) {
    at += 4;
    const segwit = bytes[at] === 0;
    if (segwit) at += 2;
    const inputs = count();
    for (let i = 0; i < inputs; i++) {
      at += 36;
      skip(count());
      at += 4;
    }
    for (let outputs = count(); outputs > 0; outputs--) {
      const amountAt = at;
      at += 8;
      const length = count();
      if (length === 22 && bytes[at] === 0 && bytes[at + 1] === 20 && tally.has(bytes.toString('hex', at + 2, at + 22)))
        tally.take(bytes.readBigUInt64LE(amountAt));
      at += length;
    }
    if (segwit) for (let i = 0; i < inputs; i++) for (let items = count(); items > 0; items--) skip(count());
    at += 4;
  }
}

answerLines(async (search: Search): Promise<SearchResult> => {
  const watched = new Set(Array.from({ length: search.watched }, (_, i) => watchedHex(i)));
  let deposits = 0;
  let sum = 0n;
  const tally: Tally = {
    has: (hex) => watched.has(hex),
    take(rawAmount) {
      deposits += 1;
      sum += rawAmount;
    },
  };
  const started = performance.now();
  let next = search.from;
  const worker = async (): Promise<void> => {
    while (next <= search.to) {
      const from = next;
      next = Math.min(search.to + 1, from + (search.logs === true ? BLOCKS_OF_LOGS : BLOCKS_PER_REQUEST));
      await readers[search.family](search, from, next - 1, tally);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return { seconds: (performance.now() - started) / 1_000, deposits, sum: sum.toString() };
});
