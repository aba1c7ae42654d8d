import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FaultProxy, faultProxy } from '#test/harness/fault-proxy.ts';

/** Says back whatever it is told. */
let server: Server;
let proxy: FaultProxy;
const opened: Socket[] = [];
beforeEach(async () => {
  server = createServer((socket) => void socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await faultProxy({ port: (server.address() as { port: number }).port });
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await proxy.close();
  server.close();
});

interface Client {
  say(text: string): void;
  /** What it was told so far, piece by piece. */
  heard: string[];
  told(text: string): Promise<void>;
  ended: Promise<string>;
}

async function aClient(): Promise<Client> {
  const socket = connect(proxy.port, '127.0.0.1').setNoDelay(true);
  opened.push(socket);
  const heard: string[] = [];
  let look = (): void => undefined;
  socket.on('data', (data) => {
    heard.push(data.toString());
    look();
  });
  const ended = new Promise<string>((resolve) => {
    socket.on('error', (error) => resolve((error as NodeJS.ErrnoException).code ?? ''));
    socket.on('close', () => resolve('closed'));
  });
  await Promise.race([once(socket, 'connect'), ended]);
  return {
    say: (text) => void socket.write(text),
    heard,
    told: (text) =>
      new Promise((resolve) => {
        look = () => {
          if (heard.join('') === text) resolve();
        };
        look();
      }),
    ended,
  };
}

it('passes everything on, both ways', async () => {
  const client = await aClient();
  client.say('hello');
  await client.told('hello');
  expect(proxy.open()).toBe(1);
  expect(proxy.url('postgres://a:b@database:5432/c')).toBe(`postgres://a:b@127.0.0.1:${proxy.port}/c`);
});

it('latency delays everything and keeps its order', async () => {
  const client = await aClient();
  proxy.add({ type: 'latency', latency: 40 });
  const startedAt = performance.now();
  client.say('a');
  client.say('b');
  await client.told('ab');
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(38);
});

it('down ends what is open, refuses what is new, and is over when it is mended', async () => {
  const client = await aClient();
  proxy.add({ type: 'down' });
  await client.ended;
  expect(await (await aClient()).ended).toBe('ECONNRESET');
  proxy.mend();
  const next = await aClient();
  next.say('again');
  await next.told('again');
});

it('timeout holds everything back until it is taken away, or ends the connection', async () => {
  const client = await aClient();
  const mend = proxy.add({ type: 'timeout', timeout: 0 });
  client.say('held');
  const other = await aClient();
  other.say('held too');
  expect(client.heard).toEqual([]);
  mend();
  await Promise.all([client.told('held'), other.told('held too')]);
  proxy.add({ type: 'timeout', timeout: 5, direction: 'upstream' });
  client.say('lost');
  await client.ended;
  expect(client.heard).toEqual(['held']);
});

it('reset_peer resets', async () => {
  const client = await aClient();
  proxy.add({ type: 'reset_peer', timeout: 0 });
  client.say('x');
  expect(await client.ended).toBe('ECONNRESET');
});

it('slicer cuts everything into pieces that say the same', async () => {
  const client = await aClient();
  proxy.add({ type: 'slicer', averageSize: 2, sizeVariation: 1, delay: 3 });
  client.say('abcdefgh');
  await client.told('abcdefgh');
  expect(client.heard.length).toBeGreaterThan(2);
});

it('limit_data ends a connection in the middle of a sentence', async () => {
  const client = await aClient();
  proxy.add({ type: 'limit_data', bytes: 6 });
  client.say('abcd');
  await client.told('abcd');
  client.say('efgh');
  await client.ended;
  expect(client.heard.join('')).toBe('abcdef');
});

it('bandwidth lets no more through than it says', async () => {
  const client = await aClient();
  proxy.add({ type: 'bandwidth', rate: 1_000 });
  const startedAt = performance.now();
  const text = 'x'.repeat(40_000);
  client.say(text);
  await client.told(text);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(38);
});

it('leads new connections elsewhere, cuts open ones, and tells neither end of a silence', async () => {
  const silent = await aClient();
  proxy.goSilent();
  silent.say('into the void');
  const fresh = await aClient();
  fresh.say('heard');
  await fresh.told('heard');
  expect(silent.heard).toEqual([]);
  proxy.leadTo(1);
  expect(await Promise.race([(await aClient()).ended, fresh.ended])).toMatch(/closed|ECONNRESET/);
  proxy.cut();
  await Promise.all([silent.ended, fresh.ended]);
});
