import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { openBitcoinRpc } from '#shared/chains/bitcoin/rpc.ts';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { openTronApi } from '#shared/chains/tron/http.ts';

const PIECES = 80_000;
const MOST_HELD = 6_000_000;
/** Each of them is a chunk of its own, which is as small as HTTP can make it. */
const BEGIN = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const held = (): number => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

it.each<[string, (url: string) => Promise<unknown>]>([
  ['Bitcoin, of blocks as bytes', (url) => openBitcoinRpc(url, undefined, { retryMs: 0 })('getblock', ['ab', 0], 'unread')],
  ['TRON', (url) => openTronApi(url, undefined, { retryMs: 0 })('wallet/getblockbynum', { num: 1 }, 'unread')],
  ['EVM', (url) => openRpc(url, undefined, { retryMs: 0 })('eth_getBlockReceipts', ['0x1'], 'unread')],
])('a reply of %s that is told byte by byte takes no more memory than its bytes', { timeout: 60_000 }, async (_family, ask) => {
  let told: Socket | undefined;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      told = socket;
      socket.write(BEGIN + '1\r\n[\r\n'.repeat(PIECES));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const before = held();
  const answer = ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).catch((error: unknown) => error);
  while (told === undefined || told.writableLength > 0) await pause(5);
  await pause(50);
  const during = held();
  told.destroy();
  server.close();
  await answer;
  expect(during - before).toBeLessThan(MOST_HELD);
});
