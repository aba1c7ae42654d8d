import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Arrived, isSigned, whatItSays } from '#ops/dev/read-webhook.ts';
import type { ReceivedWebhook } from '#ops/dev/webhook-receiver.ts';
import { parseUrl } from '#shared/core/parse-url.ts';
import { type Command, type Options, textOption, UsageError } from './command.ts';

const POLL_MILLISECONDS = 300;
const FORWARD_MILLISECONDS = 10_000;
/** What goes on to the merchant's own server; the rest belongs to this connection. */
const FORWARDED = ['content-type', 'user-agent', 'x-webhook-signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];

interface Listening {
  forwardTo: URL | undefined;
  secret: string;
  json: boolean;
  /** Ends the command after this many webhooks. */
  count: number;
}

/** What the merchant's own server made of a webhook. */
type Forwarded = { status: number; ms: number } | { problem: string; ms: number };

export const listenCommands: readonly Command[] = [
  {
    name: 'listen',
    args: '',
    summary: 'show webhooks as they arrive, check their signatures, and pass them on (development)',
    options: {
      'forward-to': { type: 'string', help: 'URL of your own server; each webhook goes there byte for byte' },
      port: { type: 'string', help: 'port of the webhookUrl opened here (any free one)' },
      secret: { type: 'string', help: "the gateway's webhook secret (the demo gateway's)" },
      'print-secret': { type: 'boolean', help: 'print that secret and end' },
      count: { type: 'string', help: 'end after so many webhooks (until Ctrl+C)' },
    },
    arity: [0, 0],
    async run(open, _args, options) {
      const listening = readOptions(options);
      const context = await open();
      const secret = listening.secret === '' ? context.dev?.gateway.webhookSecret : listening.secret;
      if (secret === undefined) throw new UsageError('--secret is needed where npm start does not run: the webhook secret of the gateway');
      if (options['print-secret'] === true) return { data: { webhookSecret: secret }, text: secret };
      await listen({ ...listening, secret }, readPort(options), context.dev?.webhookReceiver.log);
      return { said: true };
    },
  },
];

function readOptions(options: Options): Listening {
  const target = textOption(options, 'forward-to');
  const count = textOption(options, 'count');
  if (count !== undefined && !/^[1-9]\d{0,8}$/.test(count)) throw new UsageError('--count must be a whole number above 0');
  return {
    forwardTo: target === undefined ? undefined : readTarget(target),
    secret: textOption(options, 'secret') ?? '',
    json: options.json === true,
    count: count === undefined ? Number.POSITIVE_INFINITY : Number(count),
  };
}

/** `localhost:8080/hooks` is as good as `http://localhost:8080/hooks`. */
function readTarget(text: string): URL {
  const url = /^\w+:\/\//.test(text) ? text : `http://${text}`;
  const target = /^https?:/.test(url) ? parseUrl(url) : null;
  if (target === null) throw new UsageError(`--forward-to must be a URL, not "${text}"`);
  return target;
}

function readPort(options: Options): number {
  const port = textOption(options, 'port') ?? '0';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new UsageError('--port must be a port number');
  return Number(port);
}

/** Shows what arrives at a receiver of its own and at the one of `npm start`, until Ctrl+C or the wanted count. */
async function listen(listening: Listening, port: number, devLog: string | undefined): Promise<void> {
  // What the built-in receiver numbered before now is not shown.
  const from = Date.now() * 1_000;
  const over = new AbortController();
  const end = (): void => over.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  let shown = 0;
  const pass = async (webhook: Arrived): Promise<Forwarded | undefined> => {
    const forwarded = listening.forwardTo === undefined ? undefined : await forward(listening.forwardTo, webhook);
    if (shown < listening.count) process.stdout.write(`${listening.json ? asJson(webhook, listening, forwarded) : asLine(webhook, listening, forwarded)}\n`);
    shown += 1;
    if (shown >= listening.count) end();
    return forwarded;
  };
  const server = await receive(port, pass);
  note(
    `ready: webhooks to http://127.0.0.1:${(server.address() as AddressInfo).port}/${devLog === undefined ? '' : ' and to the built-in receiver'} are shown here`,
  );
  if (listening.forwardTo !== undefined) note(`and passed on to ${listening.forwardTo.href}`);
  try {
    if (devLog === undefined) await new Promise((resolve) => over.signal.addEventListener('abort', resolve, { once: true }));
    else await follow(devLog, from, pass, over.signal);
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end);
    server.close();
    server.closeIdleConnections();
  }
}

/** A webhook endpoint that answers what the merchant's own server answered, so that retries can be seen as well. */
async function receive(port: number, pass: (webhook: Arrived) => Promise<Forwarded | undefined>): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') {
        response.writeHead(405).end();
        return;
      }
      void pass({ headers: request.headers, body: Buffer.concat(chunks).toString('utf8') }).then((forwarded) => {
        response.writeHead(forwarded === undefined ? 200 : 'status' in forwarded ? forwarded.status : 502, { connection: 'close' }).end();
      });
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return server;
}

/** Follows the log of the built-in receiver after `from`; says so when it goes away and when it is back. */
async function follow(log: string, from: number, pass: (webhook: Arrived) => Promise<unknown>, over: AbortSignal): Promise<void> {
  let after = from;
  let lost = false;
  while (!over.aborted) {
    try {
      const response = await fetch(`${log}?after=${after}`, { signal: AbortSignal.any([over, AbortSignal.timeout(5_000)]) });
      const arrived = (await response.json()) as ReceivedWebhook[];
      if (lost) note('the built-in receiver is back');
      lost = false;
      for (const webhook of arrived) {
        after = webhook.seq;
        await pass(webhook);
        if (over.aborted) return;
      }
    } catch {
      if (over.aborted) return;
      if (!lost) note(`the built-in receiver at ${log} does not answer; waiting for it`);
      lost = true;
    }
    await pause(POLL_MILLISECONDS, undefined, { signal: over }).catch(() => undefined);
  }
}

async function forward(to: URL, { headers, body }: Arrived): Promise<Forwarded> {
  const began = performance.now();
  const ms = (): number => Math.round(performance.now() - began);
  const kept = Object.fromEntries(FORWARDED.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])));
  try {
    const response = await fetch(to, { method: 'POST', headers: kept, body, redirect: 'manual', signal: AbortSignal.timeout(FORWARD_MILLISECONDS) });
    await response.body?.cancel();
    return { status: response.status, ms: ms() };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
    return { problem: cause?.code ?? cause?.message ?? message, ms: ms() };
  }
}

/** `14:02:11 --> SUCCESS 7d9f…  signature ok  POST http://localhost:8080/hooks [200] 12 ms`. */
function asLine(webhook: Arrived, { secret, forwardTo }: Listening, forwarded: Forwarded | undefined): string {
  const line = `${new Date().toISOString().slice(11, 19)} --> ${whatItSays(webhook)}  ${isSigned(webhook, secret) ? 'signature ok' : 'SIGNATURE WRONG'}`;
  if (forwarded === undefined || forwardTo === undefined) return line;
  return `${line}  POST ${forwardTo.href} [${'status' in forwarded ? forwarded.status : forwarded.problem}] ${forwarded.ms} ms`;
}

function asJson(webhook: Arrived, { secret, forwardTo }: Listening, forwarded: Forwarded | undefined): string {
  return JSON.stringify({
    at: new Date().toISOString(),
    webhookId: webhook.headers['webhook-id'] ?? null,
    body: webhook.body,
    signature: isSigned(webhook, secret) ? 'ok' : 'wrong',
    ...(forwarded === undefined ? {} : { forwardedTo: forwardTo?.href, ...forwarded }),
  });
}

/** A remark beside the webhooks; stdout belongs to them. */
function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
