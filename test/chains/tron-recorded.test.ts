import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { parse, stringify } from 'lossless-json';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BlockContent, ChainUnavailable, type Reader } from '#shared/chains/chain.ts';
import { openTronApi } from '#shared/chains/tron/http.ts';
import { parseLossless } from '#shared/chains/tron/json.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { tronReader } from '#shared/chains/tron/reader.ts';
import { blockIdOf, sha256 } from '#shared/chains/tron/proofs.ts';
import { openReader } from '#shared/chains/readers.ts';

/**
 * Block 79072107 of TRON's mainnet: 619 transactions, of which one (6e27bfe4…3a33) has a field in its `ret` that no build of java-tron knows, and one a
 * timestamp of eighteen digits. The file names its source, a public repository, which kept the block as protobuf; it is printed in the form of the HTTP API.
 * Transaction infos are recorded nowhere in public: those below are made up of what the reader needs of them, with one TRC-20 log.
 */
const FILE = new URL('../fixtures/chain/tron-mainnet/79072107.json.gz', import.meta.url);
const TEXT = gunzipSync(readFileSync(FILE)).toString();
const UNKNOWN = 187;
const TOKEN = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c';
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const PAYEE = 'ab'.repeat(20);

const FIRST = { timestamp: 0n, txTrieRoot: '', parentHash: '0'.repeat(64), number: 0n, witnessId: 0n, witnessAddress: '', version: 0n, accountStateRoot: '' };
const GENESIS = { blockID: blockIdOf(FIRST), block_header: { raw_data: { parentHash: FIRST.parentHash } } };

interface Recorded {
  blockID: string;
  block_header: { raw_data: Record<string, unknown> };
  transactions: {
    txID: string;
    raw_data_hex: string;
    ret: Record<string, unknown>[];
    raw_data: { contract: { type: string; parameter: { value: Record<string, unknown> } }[] };
  }[];
}
type Info = Record<string, unknown> & { log?: { address: string; topics: string[]; data: string }[] };

const recorded = (): Recorded => (parse(TEXT) as { block: Recorded }).block;
const typeOf = (tx: Recorded['transactions'][number] | undefined): string | undefined => tx?.raw_data.contract[0]?.type;
const CALL = recorded().transactions.findIndex((tx) => typeOf(tx) === 'TriggerSmartContract');
const PLAIN = recorded().transactions.findIndex((tx) => typeOf(tx) === 'TransferContract');

const pad = (hex: string): string => hex.padStart(64, '0');
function infosOf(block: Recorded, amount = 2_500_000): Info[] {
  const { number, timestamp } = block.block_header.raw_data;
  return block.transactions.map((tx, i) => ({
    id: tx.txID,
    blockNumber: number,
    blockTimeStamp: timestamp,
    receipt: typeOf(tx) === 'TriggerSmartContract' ? { result: 'SUCCESS' } : {},
    ...(i === CALL ? { log: [{ address: TOKEN, topics: [TRANSFER, pad('cd'.repeat(20)), pad(PAYEE)], data: pad(amount.toString(16)) }] } : {}),
  }));
}

/** A node that knows this one block, over HTTP, as it was recorded or as `block` and `infos` say. */
interface Node {
  url: string;
  block: Recorded;
  infos: Info[];
  stop(): void;
}

async function aNode(): Promise<Node> {
  const node: Node = { url: '', block: recorded(), infos: infosOf(recorded()), stop: () => server.close() };
  const server: Server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    const { block } = node;
    const answers: Record<string, () => unknown> = {
      '/wallet/getblockbynum': () => block,
      '/wallet/getblock': () => (body.includes('"0"') ? GENESIS : { blockID: block.blockID, block_header: block.block_header }),
      '/walletsolidity/getblock': () => ({ blockID: block.blockID, block_header: block.block_header }),
      '/wallet/gettransactioninfobyblocknum': () => node.infos,
      '/wallet/gettransactioninfobyid': () => node.infos.find(({ id }) => id === (JSON.parse(body) as { value: string }).value) ?? {},
    };
    response.end(stringify(answers[request.url ?? '']?.() ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return node;
}

let node: Node;
let reader: Reader;
const EVERYTHING = { has: () => true };
const read = (): Promise<BlockContent> => reader.block(node.block.blockID, EVERYTHING);

beforeAll(async () => {
  node = await aNode();
});
afterAll(() => node?.stop());
beforeEach(() => {
  node.block = recorded();
  node.infos = infosOf(node.block);
  reader = tronReader({ name: 'tron', chainId: 'mainnet' }, openTronApi(node.url));
});

describe('a block of mainnet with a field nobody knows and a number of eighteen digits', () => {
  it('is read to the unit: every transfer of TRX as its decoded form says, and the token by its log', async () => {
    const { block, transfers } = await read();
    expect(block).toMatchObject({ height: 79_072_107, time: 1_767_879_414, hash: recorded().blockID });
    const told = recorded()
      .transactions.filter((tx) => typeOf(tx) === 'TransferContract')
      .map((tx) => [tx.txID, String(tx.raw_data.contract[0]?.parameter.value.amount)]);
    expect(transfers.filter(({ kind, rawAmount }) => kind === 'native' && rawAmount !== '0').map(({ txid, rawAmount }) => [txid, rawAmount])).toEqual(
      expect.arrayContaining(told),
    );
    expect(told).toHaveLength(230);
    expect(transfers.filter(({ kind }) => kind === 'token')).toMatchObject([{ rawAmount: '2500000', ordinal: 0 }]);
  });

  it.each<[string, (block: Recorded) => void]>([
    ['an amount in the bytes', (block) => retell(block, (hex) => `${hex.slice(0, -8)}${hex.endsWith('00000000') ? '00000001' : '00000000'}`)],
    ['an amount in the bytes, under the id of those bytes', (block) => retell(block, (hex) => hex.replace(/.{8}$/, '00000000'), true)],
    ['an amount in the decoded form', ({ transactions }) => setValue(transactions[PLAIN], 'amount', 1)],
    ['a sender', ({ transactions }) => setValue(transactions[PLAIN], 'owner_address', `41${'ee'.repeat(20)}`)],
    ['the root', ({ block_header }) => void Object.assign(block_header.raw_data, { txTrieRoot: 'f'.repeat(64) })],
    ['a transaction that is gone', ({ transactions }) => void transactions.splice(PLAIN, 1)],
    ['a transaction told twice', ({ transactions }) => void transactions.push(transactions[PLAIN] as Recorded['transactions'][number])],
    ["two transactions in each other's place", ({ transactions }) => void transactions.reverse()],
    ['the outcome of a transaction', ({ transactions }) => void Object.assign(transactions[PLAIN]?.ret[0] as object, { contractRet: 'REVERT' })],
    ['the field nobody knows', ({ transactions }) => void Object.assign(transactions[UNKNOWN]?.ret[0] as object, { 1002: ['00'] })],
    ['the field nobody knows under another number', ({ transactions }) => void Object.assign(transactions[UNKNOWN]?.ret[0] as object, { 1003: ['00'] })],
    ['the field nobody knows on another transaction', ({ transactions }) => void Object.assign(transactions[PLAIN]?.ret[0] as object, { 1002: [1] })],
  ])('is refused when it differs in %s', async (_what, lie) => {
    lie(node.block);
    node.infos = infosOf(node.block);
    await expect(read()).rejects.toBeInstanceOf(ChainUnavailable);
  });

  it('is believed about the amount in a TRC-20 log by itself, which no root covers: SECURITY.md says so', async () => {
    node.infos = infosOf(node.block, 9_000_000);
    expect((await read()).transfers.filter(({ kind }) => kind === 'token')).toMatchObject([{ rawAmount: '9000000' }]);
  });

  it('is not credited by a changed TRC-20 log when a second provider tells another one', async () => {
    const honest = await aNode();
    try {
      const network = { name: 'tron', family: 'tron', chainId: 'local', blockSeconds: 3, rpcUrls: [node.url, honest.url] };
      const joined = openReader(network as NetworkConfig);
      node.infos = infosOf(node.block, 9_000_000);
      const { transfers } = await read();
      const claim = transfers.find(({ kind }) => kind === 'token') as (typeof transfers)[number];
      expect(await joined.agrees([claim], () => true)).toBe('disputed');
      expect(await joined.agrees([{ ...claim, rawAmount: '2500000' }], () => true)).toBe('disputed');
      node.infos = infosOf(node.block);
      expect(await joined.agrees([{ ...claim, rawAmount: '2500000' }], () => true)).toBe('agreed');
      await joined.close();
    } finally {
      honest.stop();
    }
  });
});

describe('a long number in a reply', () => {
  it('is read by the built-in parser in one go, and not by one that takes dozens of times as long', () => {
    const whole = stringify(recorded()) as string;
    expect(whole).toContain(':639035050123436598');
    const parse = vi.spyOn(JSON, 'parse');
    const read = parseLossless(whole);
    expect(parse).toHaveBeenCalledTimes(1);
    parse.mockRestore();
    expect(stringify(read)).toBe(whole);
  });
});

function setValue(tx: Recorded['transactions'][number] | undefined, field: string, value: unknown): void {
  (tx?.raw_data.contract[0]?.parameter.value as Record<string, unknown>)[field] = value;
}

/** Changes the bytes of a plain transfer, and its id too where the lie is careful. */
function retell(block: Recorded, change: (hex: string) => string, careful = false): void {
  const tx = block.transactions[PLAIN] as Recorded['transactions'][number];
  tx.raw_data_hex = change(tx.raw_data_hex);
  if (careful) tx.txID = sha256(Buffer.from(tx.raw_data_hex, 'hex'));
}
