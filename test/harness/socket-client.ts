import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { ServerFrame, Snapshot } from '#api/checkout/page/snapshot.ts';
import { waitFor } from '#ops/dev/services/wait.ts';

/** Snapshots and updates, in the order they came. */
type Shown = Extract<ServerFrame, Snapshot>;

/** A page's end of the live channel, without the page. */
export interface SocketClient {
  /** Everything that was said so far. */
  frames: ServerFrame[];
  /** Every state that was shown so far. */
  shown(): Shown[];
  /** Waits until a frame like this is there, and answers the first one. */
  heard<T extends ServerFrame['type']>(type: T, like?: (frame: Extract<ServerFrame, { type: T }>) => boolean): Promise<Extract<ServerFrame, { type: T }>>;
  /** Waits until the latest state is like this, and answers it. */
  shows(like: (snapshot: Snapshot) => boolean): Promise<Shown>;
  send(frame: unknown): void;
  /** Its close code. */
  closed: Promise<number>;
  socket: WebSocket;
}

/** A refusal: an answer where there should have been an upgrade. */
export interface Refused {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  code: string;
}

const urlOf = (origin: string, paymentId: string, root: string): string => `${origin.replace(/^http/, 'ws')}${root}/ws/payments/${paymentId}`;

/** Opens a socket and waits for its snapshot. @throws when it is refused */
export async function openSocket(origin: string, paymentId: string, { root = '', headers = {} } = {}): Promise<SocketClient> {
  const socket = new WebSocket(urlOf(origin, paymentId, root), { headers });
  const frames: ServerFrame[] = [];
  socket.on('message', (data) => frames.push(JSON.parse(String(data)) as ServerFrame));
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await once(socket, 'open');
  socket.on('error', () => undefined);
  const client: SocketClient = {
    frames,
    shown: () => frames.filter((frame): frame is Shown => frame.type === 'snapshot' || frame.type === 'update'),
    heard: (type, like = () => true) =>
      waitFor(() => frames.find((frame): frame is Extract<ServerFrame, { type: typeof type }> => frame.type === type && like(frame as never)), {
        what: `a frame ${type}`,
      }) as never,
    shows: (like) =>
      waitFor(
        () => {
          const latest = client.shown().at(-1);
          return latest !== undefined && like(latest) && latest;
        },
        { what: 'a state to be shown' },
      ),
    send: (frame) => socket.send(typeof frame === 'string' || frame instanceof Uint8Array ? frame : JSON.stringify(frame)),
    closed,
    socket,
  };
  await client.heard('snapshot');
  return client;
}

/** Opens a socket that must be refused, and answers how. */
export async function refusedSocket(origin: string, paymentId: string, { root = '', headers = {} } = {}): Promise<Refused> {
  const socket = new WebSocket(urlOf(origin, paymentId, root), { headers });
  socket.on('error', () => undefined);
  return new Promise((resolve, reject) => {
    socket.once('open', () => reject(new Error('the socket was opened')));
    socket.once('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { error } = JSON.parse(Buffer.concat(chunks).toString()) as { error: { code: string } };
        socket.terminate();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, code: error.code });
      });
    });
  });
}
