import { syncBuiltinESMExports } from 'node:module';
import crypto from 'node:crypto';
import http from 'node:http';
import type { Reader } from '#shared/chains/chain.ts';
import type { Search, SearchResult } from './floor.ts';
import { hashed } from './noted-keccak.ts';
import { answerLines } from './tool.ts';

// What no reader can leave out that asks the same questions and proves the same blocks: it receives the replies, finds where each text in
// them begins and ends, hashes the same bytes and finds the same signers, on one thread, and does nothing else. All of that is written down
// while a reader reads once.

/** Seconds of a round: of the real reader, and of each part that is left when everything else costs nothing. */
export interface Bound {
  reader: SearchResult;
  receiveSeconds: number;
  quoteSeconds: number;
  bytesHashed: number;
  hashSeconds: number;
  signerSeconds: number;
}

interface Asked {
  options: http.RequestOptions;
  body: string;
}

const IN_FLIGHT = 2;
const HASHED_AT_ONCE = 256;
/** What is gone through in one go; behind it there is room for the place of every byte of it. */
const PIECE = 1 << 20;
const AT = 1 << 16;
const recorded = { asked: [] as Asked[], sha256: [] as Uint8Array[] };
let recording = false;

// Both are put in place before the reader is imported, which takes them by name.
const { hash } = crypto;
crypto.hash = ((algorithm: string, bytes: Uint8Array, encoding: crypto.BinaryToTextEncoding) => {
  if (recording) recorded.sha256.push(Uint8Array.from(bytes));
  return hash(algorithm, bytes, encoding);
}) as typeof hash;
const { request } = http;
http.request = ((options: http.RequestOptions, ...rest: []) => {
  const asked = request(options, ...rest);
  const end = asked.end.bind(asked) as (body: string) => typeof asked;
  asked.end = ((body: string) => {
    if (recording) recorded.asked.push({ options, body });
    return end(body);
  }) as typeof asked.end;
  return asked;
}) as typeof request;
syncBuiltinESMExports();

const { openLocalReader, readAll, watchedTable } = await import('./open-reader.ts');
const { evmReader } = await import('#shared/chains/evm/reader.ts');
const { openRpc } = await import('#shared/chains/evm/rpc.ts');
const { keccakBoth, sha256Each } = await import('#shared/chains/kernel.ts');
const { openTronApi } = await import('#shared/chains/tron/http.ts');
const { tronReader } = await import('#shared/chains/tron/reader.ts');
const { recover, signRecoverable } = await import('tiny-secp256k1');
const digest = crypto.randomBytes(32);
const { signature, recoveryId } = signRecoverable(digest, crypto.randomBytes(32).fill(1, 0, 1));

/** `take` is given each reply, which nobody keeps otherwise. */
async function receive(all: readonly Asked[], take: (reply: Buffer) => void = () => undefined): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let one = all[next++]; one !== undefined; one = all[next++]) take(await receiveOne(one));
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

function receiveOne({ options, body }: Asked): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const asked = request(options, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.once('end', () => resolve(Buffer.concat(parts)));
      answer.once('error', reject);
    });
    asked.once('error', reject);
    asked.end(body);
  });
}

/** What is walked over is hashed where nobody can look: a reader that parses everything hashes the same bytes, and asks the same questions but of Bitcoin. */
function openCarefulReader({ family, url }: Search): Pick<Reader, 'range'> {
  if (family === 'tron') {
    const api = openTronApi(url);
    return tronReader({ name: 'local', chainId: 'local' }, (path, body) => api(path, body));
  }
  if (family === 'evm') {
    const rpc = openRpc(url);
    return evmReader({ name: 'local', chainId: '31337' }, (method, params) => rpc(method, params));
  }
  const reader = openLocalReader(family, url);
  return { range: (from, to, { has }, how) => reader.range(from, to, { has: (address) => has(address) }, how) };
}

interface Quotes {
  memory: WebAssembly.Memory;
  findQuotes(reply: number, length: number, places: number): number;
}
const { instance } = await WebAssembly.instantiate(Buffer.from(process.argv[2] ?? '', 'base64'));
const quotes = instance.exports as unknown as Quotes;

/** Seconds to find the quotes in a reply, which lies there already, as it could have been received there. */
function secondsToFindQuotes(reply: Buffer): number {
  let spent = 0;
  for (let from = 0; from < reply.length; from += PIECE) {
    const piece = reply.subarray(from, from + PIECE);
    const memory = new Uint8Array(quotes.memory.buffer);
    memory.set(piece, AT);
    memory.fill(0, AT + piece.length, AT + piece.length + 16);
    const started = performance.now();
    quotes.findQuotes(AT, piece.length, AT + PIECE + 16);
    spent += performance.now() - started;
  }
  return spent / 1_000;
}

/** Hashes as many side by side as there is room for. */
function hashAll(messages: readonly Uint8Array[]): void {
  for (let from = 0; from < messages.length; from += HASHED_AT_ONCE) sha256Each(messages.slice(from, from + HASHED_AT_ONCE));
}

async function seconds(work: () => void | Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

answerLines(async (search: Search): Promise<Bound> => {
  watchedTable(search.family, search.watched);
  recorded.asked.length = hashed.messages.length = recorded.sha256.length = 0;
  recording = hashed.note = true;
  const { deposits } = await readAll(openCarefulReader(search), search);
  recording = hashed.note = false;
  if (search.family === 'bitcoin') {
    const { sha256 } = recorded;
    recorded.sha256 = [];
    recorded.asked.length = 0;
    recording = true;
    await readAll(openLocalReader(search.family, search.url), search);
    recording = false;
    recorded.sha256 = sha256;
  }
  // One transaction for each deposit: whoever pays natively is found by the signature.
  const signers = search.family === 'evm' ? deposits : 0;
  const reader = await readAll(openLocalReader(search.family, search.url), search);
  const receiveSeconds = await seconds(() => receive(recorded.asked));
  let quoteSeconds = 0;
  await receive(recorded.asked, (reply) => {
    quoteSeconds += secondsToFindQuotes(reply);
  });
  return {
    reader,
    receiveSeconds,
    quoteSeconds,
    bytesHashed: [...hashed.messages, ...recorded.sha256].reduce((sum, { length }) => sum + length, 0),
    hashSeconds: await seconds(() => {
      const { messages } = hashed;
      for (let i = 0; i < messages.length; i += 2) keccakBoth(messages[i] as Uint8Array, messages[i + 1] ?? new Uint8Array());
      hashAll(recorded.sha256);
    }),
    signerSeconds: await seconds(() => {
      for (let i = 0; i < signers; i++) recover(digest, signature, recoveryId, false);
    }),
  };
});
