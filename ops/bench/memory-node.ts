import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Family } from '#shared/core/assets.ts';
import { answerLines } from './tool.ts';

// A node that answers from memory what a real one was asked before, as fast as a process can: behind it the client is the limit.

/** What to record: a node, and the blocks up to which. `traces` false leaves out that a node offers them. */
export interface Recording {
  family: Family;
  url: string;
  to: number;
  traces?: boolean;
}

const answers = new Map<string, Buffer>();
/** Transfers of tokens by block, each list without its brackets. */
const transfers: Buffer[] = [];
const EVM_TAGS = ['latest', 'safe', 'finalized'];
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const ASKED_AT_ONCE = 64;
let port = 0;

async function post(url: string, body: unknown): Promise<string> {
  const target = new URL(url);
  const authorization = target.username === '' ? {} : { authorization: `Basic ${btoa(`${target.username}:${target.password}`)}` };
  target.username = '';
  target.password = '';
  const response = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json', ...authorization }, body: JSON.stringify(body) });
  return response.text();
}

async function rpc<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const { result, error } = JSON.parse(await post(url, { jsonrpc: '2.0', id: 1, method, params })) as { result: T; error?: { message: string } };
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

/** Asks once and remembers the answer. */
async function keep<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const result = await rpc<T>(url, method, params);
  answers.set(keyOf(method, params), Buffer.from(JSON.stringify(result)));
  return result;
}

function keyOf(method: string, params: readonly unknown[]): string {
  // What follows the first parameter says how much of the answer is wanted, which tells nothing apart but in Bitcoin and headers.
  return `${method} ${JSON.stringify(params.slice(0, 2))}`;
}

const recorders: Record<Family, (recording: Recording) => Promise<void>> = {
  async evm({ url, to, traces }) {
    await keep(url, 'eth_chainId', []);
    await inParts(to, async (height) => {
      const at = `0x${height.toString(16)}`;
      const block = await keep<{ hash: string }>(url, 'eth_getBlockByNumber', [at, false]);
      answers.set(keyOf('eth_getBlockByHash', [block.hash, false]), answers.get(keyOf('eth_getBlockByNumber', [at, false])) as Buffer);
      const receipts = await keep<{ logs: { topics: string[] }[] }[]>(url, 'eth_getBlockReceipts', [at]);
      const moved = receipts.flatMap(({ logs }) => logs).filter(({ topics }) => topics[0] === TRANSFER);
      transfers[height] = Buffer.from(JSON.stringify(moved).slice(1, -1));
      answers.set(keyOf('eth_getBlockReceipts', [block.hash]), answers.get(keyOf('eth_getBlockReceipts', [at])) as Buffer);
      if (traces !== false) await keep(url, 'trace_block', [at]);
      const { transactions } = await keep<{ transactions: { hash: string }[] }>(url, 'eth_getBlockByHash', [block.hash, true]);
      for (const transaction of transactions) answers.set(keyOf('eth_getTransactionByHash', [transaction.hash]), Buffer.from(JSON.stringify(transaction)));
    });
    const last = answers.get(keyOf('eth_getBlockByNumber', [`0x${to.toString(16)}`, false])) as Buffer;
    for (const tag of EVM_TAGS) answers.set(keyOf('eth_getBlockByNumber', [tag, false]), last);
  },
  async bitcoin({ url, to }) {
    await inParts(to, async (height) => {
      const hash = await keep<string>(url, 'getblockhash', [height]);
      await keep(url, 'getblockheader', [hash]);
      const { tx } = await keep<{ tx: { txid: string }[] }>(url, 'getblock', [hash, 3]);
      await keep(url, 'getblock', [hash, 0]);
      for (const { txid } of tx) await keep(url, 'getrawtransaction', [txid, 2, hash]);
    });
    await keep(url, 'getbestblockhash', []);
  },
  async tron({ url, to }) {
    const keepPath = async (path: string, body: object): Promise<void> =>
      void answers.set(`${path} ${JSON.stringify(body)}`, Buffer.from(await post(`${url}/${path}`, body)));
    await inParts(to, async (height) => {
      await keepPath('wallet/getblockbynum', { num: height });
      await keepPath('wallet/gettransactioninfobyblocknum', { num: height });
      await keepPath('wallet/getblock', { id_or_num: String(height), detail: false });
    });
    for (const view of ['wallet', 'walletsolidity']) await keepPath(`${view}/getblock`, { detail: false });
  },
};

async function inParts(to: number, one: (height: number) => Promise<void>): Promise<void> {
  for (let from = 0; from <= to; from += ASKED_AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(ASKED_AT_ONCE, to - from + 1) }, (_, i) => one(from + i)));
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

function answerRpc(text: string): Buffer {
  const asked = JSON.parse(text) as Call | Call[];
  if (!Array.isArray(asked)) return answerCall(asked);
  return Buffer.concat([OPEN, ...asked.flatMap((call, i) => (i === 0 ? [answerCall(call)] : [COMMA, answerCall(call)])), CLOSE]);
}

interface Call {
  id: number;
  method: string;
  params: unknown[];
}

/** All transfers of tokens in a range, whatever of them was asked for. */
function logsOf({ fromBlock, toBlock }: { fromBlock: string; toBlock: string }): Buffer {
  const told = transfers.slice(Number(fromBlock), Number(toBlock) + 1).filter(({ length }) => length > 0);
  return Buffer.concat([OPEN, ...told.flatMap((some, i) => (i === 0 ? [some] : [COMMA, some])), CLOSE]);
}

function answerCall({ id, method, params }: Call): Buffer {
  const result = method === 'eth_getLogs' ? logsOf(params[0] as Parameters<typeof logsOf>[0]) : answers.get(keyOf(method, params));
  const head = `{"jsonrpc":"2.0","id":${id},`;
  if (result === undefined) return Buffer.from(`${head}"error":{"code":-32601,"message":"the method is not available"}}`);
  return Buffer.concat([Buffer.from(`${head}"result":`), result, Buffer.from('}')]);
}

function answerPath(path: string, text: string): Buffer {
  if (path !== 'wallet/getblockbylimitnext') return answers.get(`${path} ${text}`) ?? Buffer.from('{}');
  const { startNum, endNum } = JSON.parse(text) as { startNum: number; endNum: number };
  const blocks = Array.from(
    { length: endNum - startNum },
    (_, i) => answers.get(`wallet/getblockbynum ${JSON.stringify({ num: startNum + i })}`) ?? Buffer.from('{}'),
  );
  return Buffer.concat([Buffer.from('{"block":['), ...blocks.flatMap((block, i) => (i === 0 ? [block] : [COMMA, block])), Buffer.from(']}')]);
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString();
  const path = (request.url ?? '/').slice(1);
  const body = path === '' ? answerRpc(text) : answerPath(path, text);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

answerLines(async (recording: Recording) => {
  answers.clear();
  transfers.length = 0;
  await recorders[recording.family](recording);
  if (port === 0) {
    const server = createServer((request, response) => void serve(request, response));
    // Contestants take turns, and their connections wait meanwhile.
    server.keepAliveTimeout = 600_000;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  }
  const bytes = [...answers.values()].reduce((sum, { length }) => sum + length, 0);
  return { url: `http://127.0.0.1:${port}`, mebibytes: bytes / 2 ** 20 };
});
