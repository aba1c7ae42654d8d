import type { RawData, WebSocket } from 'ws';
import type { HostedCheckout } from '#api/checkout/hosted.ts';
import type { Live } from '#api/checkout/live.ts';
import type { ClientFrame, Snapshot } from '#api/checkout/page/snapshot.ts';
import type { Deps } from '#api/deps.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { toServiceError } from './envelope.ts';
import { rateLimit } from './rate-limit.ts';
import { type Command, errorText, pingText, readClientFrame, snapshotText } from './socket-frames.ts';

/** How a socket ended, for the metric. */
export type SocketEnd = 'client' | 'lost' | 'dead' | 'slow' | 'protocol' | 'shutdown';

/** Close codes (RFC 6455 7.4.1). */
const CLOSE = { goingAway: 1001, unsupported: 1003, policy: 1008 } as const;
/** What the other side, or the library on its behalf, calls a broken frame. */
const PROTOCOL_CODES: readonly number[] = [1002, 1003, 1007, 1008, 1009];
const CLIENT_CODES: readonly number[] = [1000, 1001, 1005];

/** What is said on one socket. */
export interface Conversation {
  /** Sends an update. */
  show(snapshot: Snapshot): void;
  /** Says goodbye because this process stops; settles when the socket is closed. */
  leave(): Promise<unknown>;
  /** Ends it without waiting for anybody. */
  cut(): void;
  ended: Promise<SocketEnd>;
}

/** Everything one conversation is about. */
export interface ConversationParts {
  paymentId: string;
  clientIp: string;
  /** What it begins with. */
  first: Snapshot;
  serverTime(): string;
  live: Live;
  hosted: Pick<HostedCheckout, 'select' | 'simulate'>;
  pingMs: number;
  backlogBytes: number;
}

/**
 * Speaks with one page (ux 0.1): a `snapshot`, an `update` for whatever changes, a `ping` now and then, and an `update` or an
 * `error` for each command. A page that answers no ping is taken for gone, one that reads nothing is cut off: it opens another
 * socket, and misses nothing, because every frame tells everything.
 */
export function converse(deps: Deps, socket: WebSocket, at: ConversationParts): Conversation {
  const { paymentId, clientIp, hosted, live } = at;
  let why: SocketEnd | undefined;
  let answered = true;
  let working = 0;
  let nonsense = 0;
  let heard = 0;

  const cut = (reason: SocketEnd): void => {
    why ??= reason;
    socket.terminate();
  };
  const send = (text: string): void => {
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > at.backlogBytes) cut('slow');
    else socket.send(text);
  };
  const show = (snapshot: Snapshot): void => send(snapshotText('update', snapshot));

  const pinging = setInterval(() => {
    if (!answered) {
      cut('dead');
      return;
    }
    answered = false;
    heard = 0;
    socket.ping();
    send(pingText(at.serverTime()));
  }, at.pingMs);
  socket.on('pong', () => {
    answered = true;
  });

  const fail = (command: Command | null, thrown: unknown): void => {
    const error = toServiceError(thrown);
    if (error.cause !== undefined) deps.log.error({ paymentId, command, error: error.cause }, error.code);
    send(errorText(command, error));
  };
  const obey = async (frame: ClientFrame): Promise<void> => {
    await rateLimit(deps, { operationId: frame.type === 'select' ? 'selectOffer' : 'simulateSandboxPayment', clientIp });
    if (frame.type === 'select') await hosted.select(deps, { paymentId, offerId: frame.offerId });
    else {
      const { type: _, ...simulation } = frame;
      await hosted.simulate(deps, { paymentId, clientIp, simulation });
    }
    show(await live.refresh(paymentId));
  };
  const hear = (bytes: Uint8Array): void => {
    const read = readClientFrame(bytes);
    if ('error' in read) {
      fail(read.command, read.error);
      nonsense += 1;
      if (nonsense > POLICY.socketNonsense) socket.close(CLOSE.policy);
      return;
    }
    const { frame } = read;
    if (working >= POLICY.socketCommandsAtOnce) {
      fail(frame.type, new ServiceError('rate_limit_exceeded', { retryAfterSeconds: 1 }));
      return;
    }
    working += 1;
    obey(frame)
      .catch((error: unknown) => fail(frame.type, error))
      .finally(() => {
        working -= 1;
      });
  };
  socket.on('message', (data, isBinary) => {
    heard += 1;
    if (heard > POLICY.socketMessagesPerPing) cut('protocol');
    else if (isBinary) socket.close(CLOSE.unsupported);
    else if (socket.readyState === socket.OPEN) hear(bytesOf(data));
  });
  // After a frame that breaks the protocol the library answers why, and hears nothing more: not even the goodbye.
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code?.startsWith('WS_ERR_') === true) why ??= 'protocol';
  });
  const ended = new Promise<SocketEnd>((resolve) => {
    socket.on('close', (code) => {
      clearInterval(pinging);
      resolve(why ?? endOf(code));
    });
  });

  send(snapshotText('snapshot', at.first));
  return {
    show,
    leave() {
      why ??= 'shutdown';
      socket.close(CLOSE.goingAway);
      return ended;
    },
    cut: () => socket.terminate(),
    ended,
  };
}

function endOf(code: number): SocketEnd {
  if (PROTOCOL_CODES.includes(code)) return 'protocol';
  return CLIENT_CODES.includes(code) ? 'client' : 'lost';
}

function bytesOf(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}
