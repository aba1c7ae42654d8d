import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nowMs } from './monotonic.ts';
import { answerLines } from './tool.ts';

/** What a receiver is asked: to listen on so many ports, to say when so many webhooks have come since `from`, or to tell of those. */
export type ReceiverQuestion = { ask: 'listen'; ports: number } | { ask: 'came'; count: number } | { ask: 'told' };

/** A request as it came. */
export interface Arrival {
  id: string;
  /** Milliseconds of `nowMs`. */
  atMs: number;
  body: string;
  headers: Record<string, string>;
}

const arrivals: Arrival[] = [];
let arrived: () => void = () => undefined;

/** Takes every webhook, answers 200 with nothing at once, and keeps what came until it is told. */
async function answer(question: ReceiverQuestion): Promise<object> {
  if (question.ask === 'listen') return { ports: await Promise.all(Array.from({ length: question.ports }, listen)) };
  if (question.ask === 'told') return { arrivals: arrivals.splice(0) };
  while (arrivals.length < question.count)
    await new Promise<void>((resolve) => {
      arrived = resolve;
    });
  return { atMs: arrivals[question.count - 1]?.atMs };
}

async function listen(): Promise<number> {
  // Nobody is to post on a connection that is just being closed.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const atMs = nowMs();
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.once('end', () => {
      const headers = request.headers as Record<string, string>;
      arrivals.push({ id: headers['webhook-id'] as string, atMs, body, headers });
      response.end();
      arrived();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

answerLines(answer);
