import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { post, textOf } from '#shared/chains/post.ts';
import { Unread } from '#shared/chains/unread.ts';

const MIB = 1024 * 1024;
/** More than is looked over at once. */
const LARGE_MIB = 40;

let stop = (): unknown => undefined;
afterEach(() => stop());

/** An endpoint that answers every request by what is written here, to the byte; its URL. */
async function endpoint(write: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => write(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stop = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The receipts of a block, unread. */
const receiptsFrom = (url: string): Promise<unknown> => openRpc(url, undefined, { retryMs: 0, timeoutMs: 60_000 })('eth_getBlockReceipts', ['0x1'], 'unread');

it.each([
  ['unread', '[{"jsonrpc":"2.0","id":1,"result":["0x1"]}]'],
  ['parsed', '[{"jsonrpc":"2.0","id":1, "result":["0x1"]}]'],
])('a reply is %s whatever words its status has', async (way, reply) => {
  const url = await endpoint((socket) =>
    socket.end(Buffer.from(`HTTP/1.1 200 \u00ff\u0080 is no word\r\ncontent-length: ${reply.length}\r\n\r\n${reply}`, 'latin1')),
  );
  const answer = await receiptsFrom(url);
  expect(answer instanceof Unread ? 'unread' : 'parsed').toBe(way);
  expect(answer instanceof Unread ? answer.read() : answer).toEqual(['0x1']);
});

/** In chunks, each of which ends in the middle of a letter. */
function writeLarge(socket: Socket): void {
  const whole = Buffer.from(`[{"jsonrpc":"2.0","id":1,"result":"${'é'.repeat((LARGE_MIB * MIB) / 2)}"}]`);
  socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n');
  for (let at = 0; at < whole.length; at += MIB) {
    const part = whole.subarray(at, at + MIB);
    socket.write(`${part.length.toString(16)}\r\n`);
    socket.write(part);
    socket.write('\r\n');
  }
  socket.end('0\r\n\r\n');
}

it('a reply that is too large to be looked over is read as any other', { timeout: 120_000 }, async () => {
  expect((await receiptsFrom(await endpoint(writeLarge))) === 'é'.repeat((LARGE_MIB * MIB) / 2)).toBe(true);
});

it('bytes of a long reply are never held beside its text', { timeout: 120_000 }, async () => {
  const url = new URL(await endpoint(writeLarge));
  const asked = { headers: {}, body: '', timeoutMs: 60_000, largestBytes: 256 * MIB };
  const long = await post(url, { ...asked, textBeyond: 32 * MIB });
  expect(typeof long.body).toBe('string');
  const short = await post(url, { ...asked, textBeyond: 64 * MIB });
  expect(typeof short.body).toBe('object');
  expect(textOf(short) === long.body).toBe(true);
});

it('a reply without an end is refused, and nobody waits for the rest of it', { timeout: 120_000 }, async () => {
  let given = 0;
  let left = false;
  const piece = Buffer.concat([Buffer.from(`${MIB.toString(16)}\r\n`), Buffer.alloc(MIB, 'a'), Buffer.from('\r\n')]);
  const url = await endpoint((socket) => {
    const more = (): void => {
      given += 1;
      socket.write(piece, (error) => (error ? undefined : more()));
    };
    socket.once('close', () => {
      left = true;
    });
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    more();
  });
  await expect(receiptsFrom(url)).rejects.toThrow('the response size is too large');
  await expect.poll(() => left).toBe(true);
  expect(given).toBeLessThan(300);
});

it('a reply that says it is endless is refused before any of it is read', async () => {
  const url = await endpoint((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\n'));
  await expect(receiptsFrom(url)).rejects.toThrow('the response size is too large');
});

it.each([
  ['a list that is answered by fewer', 200, '[{"jsonrpc":"2.0","id":1,"result":"0x1"}]'],
  ['what is no JSON', 200, 'busy'],
  ['another protocol', 101, ''],
])('%s is no answer to anybody', async (_what, status, reply) => {
  const url = await endpoint((socket) => socket.end(`HTTP/1.1 ${status} OK\r\ncontent-length: ${reply.length}\r\nconnection: close\r\n\r\n${reply}`));
  const rpc = openRpc(url, undefined, { retryMs: 0, timeoutMs: 60_000 });
  const answers = await Promise.allSettled([rpc('eth_chainId', []), rpc('eth_blockNumber', [])]);
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
