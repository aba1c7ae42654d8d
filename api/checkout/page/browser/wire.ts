import type { ServerFrame, Snapshot } from '../snapshot.ts';
import type { Socket, SocketEvents, SnapshotAnswer } from './connection.ts';

/** What came of a command: the envelope's error in short, and what the server says about asking again. */
export type CommandAnswer =
  | { kind: 'done' }
  /** 202: call again after that long. */
  | { kind: 'working'; waitMs: number }
  /** The payment, or the network, is not up to it; asking again will not help. */
  | { kind: 'refused' }
  | { kind: 'later'; reason: 'busy' | 'unavailable'; waitMs: number | null }
  /** No answer, or none that can be read. */
  | { kind: 'failed' };

/** Longest pause that an answer may ask for, milliseconds. */
const LONGEST_WAIT_MS = 120_000;
/** A select may take the server 5 s before it answers. */
const COMMAND_TIMEOUT_MS = 20_000;

/** Opens the payment's socket at `url`; whatever cannot be read as a frame is nobody's. */
export function openSocket(url: string, events: SocketEvents): Socket {
  let over = false;
  const closed = (code: number): void => {
    if (over) return;
    over = true;
    events.closed(code);
  };
  try {
    const socket = new WebSocket(url);
    socket.onmessage = ({ data }) => {
      const frame = readFrame(data);
      if (!over && frame) events.frame(frame);
    };
    socket.onclose = ({ code }) => closed(code);
    return {
      close: () => {
        over = true;
        socket.close(1000);
      },
    };
  } catch {
    // A browser that may not open it (a policy, an extension) is one whose network refuses sockets.
    setTimeout(() => closed(1006));
    return {
      close: () => {
        over = true;
      },
    };
  }
}

/** Reads the snapshot at `path`. @throws what fetch throws without an answer */
export async function fetchSnapshot(path: string, signal: AbortSignal): Promise<SnapshotAnswer> {
  const response = await fetch(path, { signal, cache: 'no-store', credentials: 'omit', headers: { accept: 'application/json' } });
  // A proxy in between says the same while nothing is behind it; only the service knows the payment.
  if (response.status === 403 || response.status === 404) return { kind: isRefusal(await response.json()) ? 'refused' : 'failed' };
  const later = readLater(response);
  if (later) return { ...later, waitMs: later.waitMs ?? 0 };
  const body: unknown = response.ok ? await response.json() : null;
  return isEnvelope<Snapshot>(body) ? { kind: 'snapshot', snapshot: body.data } : { kind: 'failed' };
}

/** Sends a command of the checkout's channel as JSON; never throws. */
export async function sendCommand(path: string, body: object): Promise<CommandAnswer> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      signal: AbortSignal.timeout(COMMAND_TIMEOUT_MS),
      cache: 'no-store',
      credentials: 'omit',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const later = readLater(response);
    if (later) return later;
    if (!response.ok) return { kind: 'refused' };
    if (response.status !== 202) return { kind: 'done' };
    const answer: unknown = await response.json();
    return { kind: 'working', waitMs: isEnvelope<{ retryAfterMs?: number }>(answer) ? (answer.data.retryAfterMs ?? 0) : 0 };
  } catch {
    return { kind: 'failed' };
  }
}

/** What 429 and 5xx say; null of any other answer. */
function readLater(response: Response): Extract<CommandAnswer, { kind: 'later' }> | null {
  const reason = response.status === 429 ? 'busy' : response.status >= 500 ? 'unavailable' : null;
  if (reason === null) return null;
  const said = /^\d+$/.exec(response.headers.get('retry-after') ?? '')?.[0];
  return { kind: 'later', reason, waitMs: said === undefined ? null : Math.min(Number(said) * 1_000, LONGEST_WAIT_MS) };
}

function readFrame(data: unknown): ServerFrame | null {
  try {
    const frame: unknown = typeof data === 'string' ? JSON.parse(data) : null;
    return typeof frame === 'object' && frame !== null && 'type' in frame ? (frame as ServerFrame) : null;
  } catch {
    return null;
  }
}

function isRefusal(body: unknown): boolean {
  const code = (body as { error?: { code?: unknown } | null } | null)?.error?.code;
  return code === 'not_found' || code === 'forbidden';
}

function isEnvelope<Data>(body: unknown): body is { data: Data } {
  return typeof body === 'object' && body !== null && 'data' in body && typeof body.data === 'object' && body.data !== null;
}
