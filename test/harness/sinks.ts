import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { FreshDatabase } from './database.ts';
import type { FreshRedis } from './redis.ts';

/** Everything a deployment may have written something to, as text, by the name of where. */
export type Sinks = Record<string, string>;

/** Every row of every table, bytes in hexadecimal. */
export async function dumpDatabase({ sql }: FreshDatabase): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`;
  const rows = await Promise.all(tables.map(({ name }) => sql<{ row: string }[]>`select t::text as row from ${sql(name)} t`));
  return rows.flatMap((found, at) => found.map(({ row }) => `${tables[at]?.name} ${row}`)).join('\n');
}

/** Every key with its value, whatever its type: streams, queues, counters. */
export async function dumpRedis(redis: FreshRedis): Promise<string> {
  const reads: Record<string, (key: string) => string[]> = {
    string: (key) => ['GET', key],
    hash: (key) => ['HGETALL', key],
    list: (key) => ['LRANGE', key, '0', '-1'],
    set: (key) => ['SMEMBERS', key],
    zset: (key) => ['ZRANGE', key, '0', '-1'],
    stream: (key) => ['XRANGE', key, '-', '+'],
  };
  const lines: string[] = [];
  for (const key of (await redis.command('KEYS', '*')) as string[]) {
    const type = String(await redis.command('TYPE', key));
    // It may be gone by now.
    const read = reads[type];
    lines.push(`${key} ${type} ${read === undefined ? '' : JSON.stringify(await redis.command(...read(key)).catch(() => null))}`);
  }
  return lines.join('\n');
}

/** Every file of a folder, which need not exist. */
export async function readFolder(folder: string): Promise<string> {
  const names = await readdir(folder).catch(() => []);
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('\n');
}

/** The forms in which a text could be found again by whoever reads a sink: as it is, and in the usual encodings. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  return [...new Set([text, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url'), encodeURIComponent(text)])];
}

/** Which of these texts are in which sinks, in any form. */
export function search(texts: Record<string, string>, sinks: Sinks): string[] {
  return Object.entries(sinks).flatMap(([sink, text]) => {
    const lower = text.toLowerCase();
    return Object.entries(texts).flatMap(([name, value]) => {
      const form = formsOf(value).find((one) => text.includes(one) || lower.includes(one.toLowerCase()));
      if (form === undefined) return [];
      const at = lower.indexOf(form.toLowerCase());
      return [`${name} in ${sink}: …${text.slice(Math.max(0, at - 160), at)}‹here›`];
    });
  });
}

export interface Collector {
  url: string;
  /** Everything that was sent, as Latin-1, so that any text in it can be found. */
  received(): string;
  stop(): Promise<void>;
}

/** Takes what is exported to it and keeps every byte, as a collector of traces would. */
export async function startCollector(): Promise<Collector> {
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      bodies.push(Buffer.from(JSON.stringify(request.headers)), Buffer.concat(parts));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: () => Buffer.concat(bodies).toString('latin1'),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A status with a body, an error of the protocol with this message, or nothing at all. */
type Failing = { status: number; body: string } | { refuse: string } | 'hang up';

export interface KeyedNode {
  /** Its path is a key, as with most who sell access to a node. */
  url: string;
  /** From now on it answers every question with one of these, in turn; with nothing, it answers again. */
  fail(failures?: readonly Failing[]): void;
  /** How many questions it failed. */
  failed(): number;
  stop(): Promise<void>;
}

/** A node behind a URL that holds a key. */
export async function keyedNode(url: string, key: string): Promise<KeyedNode> {
  let failures: readonly Failing[] = [];
  let failed = 0;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const failure = failures[failed % failures.length];
      if (failure !== undefined) failed += 1;
      if (failure === 'hang up') request.socket.destroy();
      else if (failure !== undefined && 'refuse' in failure) response.writeHead(200).end(refusing(Buffer.concat(parts), failure.refuse));
      else if (failure !== undefined) response.writeHead(failure.status, { 'content-type': 'application/json' }).end(failure.body);
      else if (request.url !== `/v3/${key}`) response.writeHead(401).end(`no project ${request.url}`);
      else {
        fetch(url, { method: 'POST', body: Buffer.concat(parts), headers: { 'content-type': 'application/json' } })
          .then(async (answer) => response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text()))
          .catch(() => request.socket.destroy());
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3/${key}`,
    fail: (given = []) => {
      failures = given;
    },
    failed: () => failed,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The answer to one JSON-RPC request, or to several in one, that refuses each. */
function refusing(body: Buffer, message: string): string {
  const asked = JSON.parse(body.toString('utf8')) as { id: number } | { id: number }[];
  const refuse = ({ id }: { id: number }): object => ({ jsonrpc: '2.0', id, error: { code: -32_000, message } });
  return JSON.stringify(Array.isArray(asked) ? asked.map(refuse) : refuse(asked));
}
