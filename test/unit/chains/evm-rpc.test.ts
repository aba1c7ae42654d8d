import { ReadableStream as Stream } from 'node:stream/web';
import { afterEach, expect, it, vi } from 'vitest';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { Unread } from '#shared/chains/unread.ts';

const MIB = 1024 * 1024;
/** More than is looked over at once. */
const LARGE_MIB = 40;

afterEach(() => vi.unstubAllGlobals());

/** What an endpoint that answers like this is asked for: the receipts of a block, unread. */
async function receiptsFrom(body: string | AsyncIterable<Uint8Array>, statusText = 'OK', more: Record<string, string> = {}): Promise<unknown> {
  const response = new Response(typeof body === 'string' ? body : (Stream.from(body) as ReadableStream<Uint8Array>), {
    headers: { 'content-type': 'application/json', ...more },
  });
  // As fetch gives it where an endpoint's own words are no text: no Response may be made with these.
  Object.defineProperty(response, 'statusText', { value: statusText });
  vi.stubGlobal('fetch', () => Promise.resolve(response));
  return openRpc('http://node.example', undefined, { retryMs: 0, timeoutMs: 60_000 })('eth_getBlockReceipts', ['0x1'], 'unread');
}

it.each([
  ['unread', '[{"jsonrpc":"2.0","id":1,"result":["0x1"]}]'],
  ['parsed', '[{"jsonrpc":"2.0","id":1, "result":["0x1"]}]'],
])('a reply is %s whatever words its status has', async (way, reply) => {
  const answer = await receiptsFrom(reply, 'OK \ufffd');
  expect(answer instanceof Unread ? 'unread' : 'parsed').toBe(way);
  expect(answer instanceof Unread ? answer.read() : answer).toEqual(['0x1']);
});

it('a reply that is too large to be looked over is never held in one piece, and is read as any other', { timeout: 120_000 }, async () => {
  const concat = vi.spyOn(Buffer, 'concat');
  async function* reply(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('[{"jsonrpc":"2.0","id":1,"result":"');
    for (let i = 0; i < LARGE_MIB; i++) yield Buffer.alloc(MIB, 'é');
    yield Buffer.from('"}]');
  }
  const answer = await receiptsFrom(reply());
  expect(answer === 'é'.repeat((LARGE_MIB * MIB) / 2)).toBe(true);
  expect(Math.max(0, ...concat.mock.calls.map(([, size]) => size ?? 0))).toBeLessThan(LARGE_MIB * MIB);
  concat.mockRestore();
});

it('a reply without an end is refused, and nobody waits for the rest of it', { timeout: 120_000 }, async () => {
  let [given, left] = [0, false];
  const piece = Buffer.alloc(MIB, 'a');
  async function* reply(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        given += 1;
        yield piece;
      }
    } finally {
      left = true;
    }
  }
  await expect(receiptsFrom(reply())).rejects.toThrow('the response size is too large');
  expect(left).toBe(true);
  expect(given).toBeLessThan(300);
});

it('a reply that says it is endless is refused before any of it is read', async () => {
  let given = 0;
  async function* reply(): AsyncGenerator<Uint8Array> {
    given += 1;
    yield Buffer.from('[]');
  }
  await expect(receiptsFrom(reply(), 'OK', { 'content-length': '999999999999' })).rejects.toThrow('the response size is too large');
  expect(given).toBe(0);
});
