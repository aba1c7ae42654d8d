import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { waitFor } from '#ops/dev/services/wait.ts';
import { hearHeads } from '#shared/chains/readers.ts';

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

async function aNode(): Promise<{ url: string; sockets: WebSocket[]; asked: string[] }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const node = { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets: [] as WebSocket[], asked: [] as string[] };
  server.on('connection', (socket) => {
    node.sockets.push(socket);
    socket.on('message', (text) => {
      node.asked.push(String(text));
      socket.send('{"jsonrpc":"2.0","id":1,"result":"0x1"}');
    });
  });
  opened.push(server);
  return node;
}

function hear(url: string | undefined, family: 'evm' | 'tron' = 'evm'): { rung(): number; announced: unknown[]; stop(): void } {
  const announced: unknown[] = [];
  const stop = hearHeads({ family, ...(url === undefined ? {} : { headUrl: url }) }, (block) => void announced.push(block));
  opened.push({ close: stop });
  return { rung: () => announced.length, announced, stop };
}

const hash = (digit: string): string => `0x${digit.repeat(64)}`;
const notified = (result: unknown): string => JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: '0x1', result } });

describe('news of the head', () => {
  it('rings with every word of the node, and comes back when the connection breaks', async () => {
    const node = await aNode();
    const heard = hear(node.url);
    await waitFor(() => heard.rung() === 1, { what: 'the answer to the subscription' });
    expect(JSON.parse(node.asked[0] as string)).toMatchObject({ method: 'eth_subscribe', params: ['newHeads'] });
    node.sockets[0]?.send('anything');
    await waitFor(() => heard.rung() === 2, { what: 'a new head' });
    node.sockets[0]?.terminate();
    await waitFor(() => heard.rung() === 3, { what: 'the second subscription' });
    expect(node.sockets).toHaveLength(2);
  });

  it('name the block that the node announces', async () => {
    const node = await aNode();
    const heard = hear(node.url);
    await waitFor(() => heard.rung() === 1, { what: 'the answer to the subscription' });
    node.sockets[0]?.send(notified({ hash: hash('a'), parentHash: hash('b'), number: '0x1f', miner: '0x' }));
    await waitFor(() => heard.rung() === 2, { what: 'a new head' });
    expect(heard.announced).toEqual([undefined, { hash: hash('a'), parentHash: hash('b'), height: 31 }]);
  });

  it.each([
    'no JSON',
    'null',
    '[]',
    '{"params":null}',
    notified(null),
    notified('0x1'),
    notified({ hash: hash('A'), parentHash: hash('b'), number: '0x1' }),
    notified({ hash: hash('a'), parentHash: 'latest', number: '0x1' }),
    notified({ hash: hash('a'), parentHash: hash('b'), number: 1 }),
    notified({ hash: hash('a'), parentHash: hash('b'), number: '0xffffffffffffffff' }),
    notified({ hash: [hash('a')], parentHash: hash('b'), number: '0x1' }),
  ])('ring and name nothing when the node says %s', async (text) => {
    const node = await aNode();
    const heard = hear(node.url);
    await waitFor(() => heard.rung() === 1, { what: 'the answer to the subscription' });
    node.sockets[0]?.send(text);
    await waitFor(() => heard.rung() === 2, { what: 'the bell' });
    expect(heard.announced).toEqual([undefined, undefined]);
  });

  it('is silent where no node is named, on other families, and once it was stopped', async () => {
    const node = await aNode();
    expect(hear(undefined).rung() + hear(node.url, 'tron').rung()).toBe(0);
    const heard = hear(node.url);
    await waitFor(() => heard.rung() === 1, { what: 'the answer to the subscription' });
    const [socket] = node.sockets as [WebSocket];
    const gone = once(socket, 'close');
    heard.stop();
    await gone;
    expect(node.sockets).toHaveLength(1);
    expect(heard.rung()).toBe(1);
  });
});
