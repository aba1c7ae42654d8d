import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Which way a toxic works on: `upstream` is what clients say, `downstream` what they are told. */
export type Direction = 'upstream' | 'downstream';

/**
 * What can be wrong with a way to a server, by the names Toxiproxy gives it. Times are milliseconds. Where no direction is
 * named it is downstream.
 */
export type Toxic =
  /** Everything arrives late, by `latency` give or take `jitter`, and in order. */
  | { type: 'latency'; latency: number; jitter?: number; direction?: Direction }
  /** Nothing is there: open connections end at once and new ones are refused. */
  | { type: 'down' }
  /** Nothing arrives, and nobody is told; after `timeout` the connection ends, with 0 never. What was held back arrives when the toxic goes. */
  | { type: 'timeout'; timeout: number; direction?: Direction }
  /** Connections are reset `timeout` after they said something. */
  | { type: 'reset_peer'; timeout: number; direction?: Direction }
  /** Everything arrives in pieces of `averageSize` bytes give or take `sizeVariation`, with `delay` between them. */
  | { type: 'slicer'; averageSize: number; sizeVariation?: number; delay?: number; direction?: Direction }
  /** A connection ends after this many bytes from when it was poisoned. */
  | { type: 'limit_data'; bytes: number; direction?: Direction }
  /** No more than `rate` kilobytes arrive in a second. */
  | { type: 'bandwidth'; rate: number; direction?: Direction };

/** A connection's two ends at the proxy. */
export interface ProxiedPair {
  client: Socket;
  upstream: Socket;
}

/** A port that leads to a server, with whatever is wrong on the way. */
export interface FaultProxy {
  port: number;
  /** The same server through the proxy. */
  url(direct: string): string;
  /** Poisons connections that are open and those to come; the answer takes it away again. */
  add(toxic: Toxic): () => void;
  /** Takes every toxic away. */
  mend(): void;
  /** Ends every open connection; new ones work. */
  cut(): void;
  /** Connections that are open carry nothing any more for as long as they exist, and neither end is told; new ones work. */
  goSilent(): void;
  /** Where new connections lead from now on; those that are open stay where they are. */
  leadTo(port: number): void;
  /** How many connections are open. */
  open(): number;
  close(): Promise<void>;
}

export interface FaultProxyOptions {
  host?: string;
  port: number;
  /** Decides about each piece of what the server says, before any toxic: true passes it on. */
  answer?(data: Buffer, pair: ProxiedPair): boolean;
  /** Is shown each piece of what clients say, before any toxic, and may change its bytes. */
  hear?(data: Buffer): void;
  /** Where chance is needed, so that a seed repeats it; from 0 to below 1. */
  random?(): number;
}

interface Active {
  toxic: Toxic;
  gone: AbortController;
}

interface Link extends ProxiedPair {
  silent: boolean;
}

/** Opens a way to a server of this machine. */
export async function faultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const active = new Set<Active>();
  const links = new Set<Link>();
  const random = options.random ?? Math.random;
  let target = options.port;
  const isDown = (): boolean => [...active].some(({ toxic }) => toxic.type === 'down');

  const server = createServer((client) => {
    client.on('error', () => undefined);
    if (isDown()) return void client.resetAndDestroy();
    const upstream = connect(target, options.host ?? '127.0.0.1').on('error', () => undefined);
    const link: Link = { client, upstream, silent: false };
    links.add(link);
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    const ended = new AbortController();
    const end = (): void => {
      // A silent connection's ends each find out by themselves.
      if (link.silent) return;
      ended.abort();
      links.delete(link);
      client.destroy();
      upstream.destroy();
    };
    client.on('close', end);
    upstream.on('close', end);
    const passOn = (data: Buffer): boolean => options.answer?.(data, link) ?? true;
    const hear = (data: Buffer): boolean => {
      options.hear?.(data);
      return true;
    };
    void pump({ from: client, to: upstream, direction: 'upstream', link, active, random, signal: ended.signal, passOn: hear }).then(end, end);
    void pump({ from: upstream, to: client, direction: 'downstream', link, active, random, signal: ended.signal, passOn }).then(end, end);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };

  const cut = (): void => {
    for (const link of links) endLink(link);
    links.clear();
  };
  const remove = (one: Active): void => {
    active.delete(one);
    one.gone.abort();
  };
  return {
    port,
    url(direct) {
      const url = new URL(direct);
      url.hostname = '127.0.0.1';
      url.port = String(port);
      return url.href;
    },
    add(toxic) {
      const one: Active = { toxic, gone: new AbortController() };
      active.add(one);
      if (toxic.type === 'down') cut();
      return () => remove(one);
    },
    mend() {
      for (const one of active) remove(one);
    },
    cut,
    goSilent() {
      for (const link of links) link.silent = true;
    },
    leadTo(next) {
      target = next;
    },
    open: () => links.size,
    async close() {
      for (const one of active) remove(one);
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

function endLink(link: Link): void {
  link.silent = false;
  link.client.destroy();
  link.upstream.destroy();
}

interface Pump {
  from: Socket;
  to: Socket;
  direction: Direction;
  link: Link;
  active: ReadonlySet<Active>;
  random(): number;
  signal: AbortSignal;
  passOn(data: Buffer): boolean;
}

/** Carries one direction of a connection, piece by piece, through the toxics there are when the piece comes by. */
async function pump(way: Pump): Promise<void> {
  /** Bytes let through by each limit since it was there. */
  const counted = new Map<Active, number>();
  for await (const data of way.from as AsyncIterable<Buffer>) {
    const cameAt = performance.now();
    if (!way.passOn(data)) continue;
    if (way.link.silent) return forEver(way);
    let pieces = [data];
    for (const one of [...way.active]) {
      const { toxic } = one;
      if (toxic.type === 'down' || (toxic.direction ?? 'downstream') !== way.direction) continue;
      if (toxic.type === 'slicer') pieces = pieces.flatMap((piece) => slice(piece, toxic, way.random));
      else if (toxic.type === 'limit_data') pieces = limit(pieces, toxic.bytes, one, counted);
      else await suffer(way, one, data.length, cameAt);
    }
    const ends = [...way.active].some((one) => one.toxic.type === 'limit_data' && (counted.get(one) ?? 0) >= one.toxic.bytes);
    const delay = Math.max(0, ...[...way.active].map(({ toxic }) => (toxic.type === 'slicer' ? (toxic.delay ?? 0) : 0)));
    for (const [at, piece] of pieces.entries()) {
      if (at > 0) await pause(delay, undefined, { signal: way.signal });
      if (way.link.silent) return forEver(way);
      if (!way.to.write(piece)) await once(way.to, 'drain', { signal: way.signal });
    }
    if (ends) return;
  }
}

/** Waits out what delays a piece, or ends its connection. */
async function suffer({ link, random, signal }: Pump, { toxic, gone }: Active, bytes: number, cameAt: number): Promise<void> {
  const until = AbortSignal.any([signal, gone.signal]);
  const wait = (ms: number): Promise<void> => pause(Math.max(0, ms), undefined, { signal: until }).catch(() => undefined);
  switch (toxic.type) {
    case 'latency':
      return wait(toxic.latency + (2 * random() - 1) * (toxic.jitter ?? 0) - (performance.now() - cameAt));
    case 'bandwidth':
      return wait(bytes / toxic.rate);
    case 'timeout':
      await wait(toxic.timeout === 0 ? 2 ** 31 - 1 : toxic.timeout);
      if (!until.aborted) endLink(link);
      return;
    case 'reset_peer':
      await wait(toxic.timeout);
      link.client.resetAndDestroy();
      link.upstream.resetAndDestroy();
  }
}

function slice(data: Buffer, { averageSize, sizeVariation = 0 }: { averageSize: number; sizeVariation?: number }, random: () => number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < data.length; ) {
    const size = Math.max(1, Math.round(averageSize + (2 * random() - 1) * sizeVariation));
    pieces.push(data.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

/** As much of it as the limit still lets through. */
function limit(pieces: Buffer[], bytes: number, one: Active, counted: Map<Active, number>): Buffer[] {
  const whole = Buffer.concat(pieces);
  const before = counted.get(one) ?? 0;
  counted.set(one, before + whole.length);
  return whole.length <= bytes - before ? pieces : [whole.subarray(0, Math.max(0, bytes - before))];
}

async function forEver({ signal }: Pump): Promise<void> {
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
}
