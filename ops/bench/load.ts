import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { signedHeaders } from '#ops/client/sign.ts';
import { percentile } from './bench.ts';
import { answerLines } from './tool.ts';

/** One kind of request, sent by many clients that each wait for their answer. */
export interface Load {
  port: number;
  clients: number;
  seconds: number;
  method: string;
  /** `{id}` stands for one of `ids`, another one each time. */
  path: string;
  ids?: string[];
  headers: Record<string, string>;
  body?: string;
  /** Sends a new Idempotency-Key with each; `{key}` in the body stands for it. */
  keyed?: boolean;
  /** Signs each as a cashout is signed, with this secret. */
  signedWith?: string;
}

export interface Loaded {
  answers: number;
  /** Answers other than 2xx. */
  refused: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');

/** As lean as a client can be: it shares the machine with what it measures. */
async function run(load: Load): Promise<Loaded> {
  const nextRequest = requestsOf(load);
  const latencies: number[] = [];
  let refused = 0;
  const started = performance.now();
  const until = started + load.seconds * 1_000;
  await Promise.all(
    Array.from({ length: load.clients }, () =>
      client(
        load.port,
        nextRequest,
        () => performance.now() < until,
        (ms, ok) => {
          latencies.push(ms);
          if (!ok) refused += 1;
        },
      ),
    ),
  );
  const seconds = (performance.now() - started) / 1_000;
  return { answers: latencies.length, refused, perSecond: latencies.length / seconds, p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
}

function requestsOf({ port, method, path, ids, headers, body = '', keyed = false, signedWith }: Load): () => Buffer {
  const linesOf = (fields: Record<string, string>): string =>
    Object.entries(fields)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
  const common = { host: `127.0.0.1:${port}`, ...(body === '' ? {} : { 'content-type': 'application/json' }), ...headers };
  const lines = linesOf(common);
  const write = (id: string, own: string, text = body): Buffer => {
    const length = text === '' ? '' : `content-length: ${Buffer.byteLength(text)}\r\n`;
    return Buffer.from(`${method} ${path.replace('{id}', id)} HTTP/1.1\r\n${lines}${length}${own}\r\n${text}`);
  };
  if (keyed)
    return () => {
      const key = `order-${randomUUID()}`;
      const text = body.replace('{key}', key);
      const signed = signedWith === undefined ? {} : signedHeaders(signedWith, text, Date.now());
      return write('', linesOf({ 'idempotency-key': key, ...signed }), text);
    };
  const made = (ids ?? ['']).map((id) => write(id, ''));
  let at = 0;
  return () => made[at++ % made.length] as Buffer;
}

function client(port: number, nextRequest: () => Buffer, goOn: () => boolean, told: (ms: number, ok: boolean) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    let sentAt = 0;
    let held: Buffer | undefined;
    const send = (): void => {
      sentAt = performance.now();
      socket.write(nextRequest());
    };
    socket.once('connect', send);
    socket.once('error', reject);
    socket.on('data', (part: Buffer) => {
      held = held === undefined ? part : Buffer.concat([held, part]);
      const headEnd = held.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const head = held.toString('latin1', 0, headEnd);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (held.length < headEnd + 4 + length) return;
      told(performance.now() - sentAt, head.startsWith('HTTP/1.1 2'));
      held = undefined;
      if (goOn()) send();
      else socket.end(resolve);
    });
  });
}

answerLines(run);
