import { once } from 'node:events';
import WebSocket from 'ws';
import { post } from '#shared/chains/post.ts';

// What nobody can leave out who hears of a block, asks for what proves it and for what names its payers, and tells others: the round trips of the
// indexer and nothing between them. Nothing of the answers is read but the hash that the node announces.

/** Milliseconds since the block was there, `performance.now()`: heard of, first answers there, transactions there, entry added. */
export interface LeastHop {
  heardMs: number;
  answeredMs: number;
  bodiesMs: number;
  addedMs: number;
}

interface Announced {
  hash: string;
  height: string;
  atMs: number;
}

const TIMEOUT_MS = 10_000;
const LARGEST_BYTES = 64 * 1024 * 1024;

/** Listens to a node's heads; `hop` waits for the block that `mine` makes and goes the way of the indexer until its entry is added. */
export async function openLeastHop(
  url: string,
  add: (payload: string) => Promise<unknown>,
): Promise<{ hop(mine: () => Promise<number>): Promise<LeastHop>; close(): void }> {
  const socket = new WebSocket(url.replace('http', 'ws'));
  await once(socket, 'open');
  let tell: (announced: Announced) => void = () => undefined;
  const subscribed = once(socket, 'message');
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }));
  await subscribed;
  socket.on('message', (data) => {
    const atMs = performance.now();
    const { hash, number } = (JSON.parse(String(data)) as { params: { result: { hash: string; number: string } } }).params.result;
    tell({ hash, height: number, atMs });
  });
  const target = new URL(url);
  const ask = (...calls: [method: string, params: unknown[]][]): Promise<unknown> => {
    const body = JSON.stringify(calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params })));
    return post(target, { headers: { 'content-type': 'application/json' }, body, timeoutMs: TIMEOUT_MS, largestBytes: LARGEST_BYTES });
  };
  return {
    async hop(mine) {
      const announced = new Promise<Announced>((resolve) => {
        tell = resolve;
      });
      const entered = announced.then(async ({ hash, height, atMs }) => {
        await ask(['eth_getBlockByHash', [hash, false]], ['eth_getBlockReceipts', [hash]], ['trace_block', [height]]);
        const answeredAt = performance.now();
        await ask(['eth_getBlockByHash', [hash, true]]);
        const bodiesAt = performance.now();
        await add(hash);
        return { atMs, answeredAt, bodiesAt, addedAt: performance.now() };
      });
      const [minedAt, { atMs, answeredAt, bodiesAt, addedAt }] = await Promise.all([mine(), entered]);
      return { heardMs: atMs - minedAt, answeredMs: answeredAt - minedAt, bodiesMs: bodiesAt - minedAt, addedMs: addedAt - minedAt };
    },
    close: () => socket.terminate(),
  };
}
